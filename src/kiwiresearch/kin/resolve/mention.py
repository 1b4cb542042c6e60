"""Where a source names a person: two names in one list, row or sentence are two people, elsewhere they may be one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kiwiresearch.kin.tree import Evidence, Person, Source
from kiwiresearch.text import fold

LABEL_ENDS = "\t", ":\n"
"""What separates the label of a row from its value."""


@dataclass(frozen=True, slots=True)
class MentionSpan:
    """A place of a source that names a person."""

    start: int
    end: int
    entry_of: str = ""
    """The box, or the lists and tables, of which it is an entry; empty in running text."""

    @property
    def is_unlocated(self) -> bool:
        """Whether the place is not known, or the whole source is about the person."""
        return self.start < 0


NO_POSITION = MentionSpan(-1, -1)


def mention_in(evidence: Evidence, person: Person, source: Source | None) -> MentionSpan:
    """Where a quote names a person."""
    is_own_page = source is not None and source.url == person.external.get("record")
    if is_own_page or evidence.start < 0:
        return NO_POSITION
    is_entry = any(end in evidence.snippet for end in LABEL_ENDS) or _begins_with_name(evidence.snippet, person)
    return MentionSpan(evidence.start, evidence.end, evidence.method if is_entry else "")


def _begins_with_name(snippet: str, person: Person) -> bool:
    text = f"{fold(snippet)} "
    return any(text.startswith(f"{fold(name)} ") for name in (person.name, *person.names))


def are_listed_together(one: Sequence[MentionSpan], other: Sequence[MentionSpan]) -> bool:
    """Whether the box, the lists or a sentence of a source names both people: none of them names anybody twice."""
    return any(
        first.is_unlocated
        or second.is_unlocated
        or (first.start < second.end and second.start < first.end)
        or bool(first.entry_of and first.entry_of == second.entry_of)
        for first in one
        for second in other
    )
