"""What is kept of imported files, as far as a privacy mode shows it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kiwiresearch.kin.gedcom.kept_lines import KeptRecord, references
from kiwiresearch.kin.gedcom.nodes import Node
from kiwiresearch.kin.gedcom.tags import is_for_owner
from kiwiresearch.kin.privacy import PrivacyMode, WithheldPeople, contacts_in
from kiwiresearch.kin.tree import PersonId

FOR_OWNER = frozenset({"OBJE", "SUBM", "ANCI", "DESI"})
"""Pictures and documents may show anyone, and submitters are alive, so only the owner gets them."""


@dataclass(frozen=True, slots=True)
class ShownRecords:
    """Kept records that a privacy mode shows; the writer takes no others."""

    records: tuple[KeptRecord, ...] = ()


NOTHING_KEPT = ShownRecords()


def shown_records(kept: Iterable[KeptRecord], withheld: WithheldPeople, mode: PrivacyMode) -> ShownRecords:
    """The kept records without everything that is about a withheld person, mentions one or refers to one.

    Unlike facts, kept lines are not made less exact: a line is shown or it is left out.
    """
    records = tuple(kept)
    return ShownRecords(records if mode == "owner" else tuple(_Filter(withheld, records).shown(records)))


class _Filter:
    def __init__(self, withheld: WithheldPeople, records: Iterable[KeptRecord]) -> None:
        self._withheld = withheld
        self._mention_cache: dict[str, bool] = {}
        self._people = _people_by_reference(records)
        """Whom the note and media records are about: the people of all records that refer to them."""

    def shown(self, records: Iterable[KeptRecord]) -> Iterator[KeptRecord]:
        for record in records:
            if record.kind == "head" or any(map(self._withheld.withholds, (*record.people, *record.children))):
                # A family keeps its id, since lines of others refer to it, but none of its lines.
                if record.kind == "family" and not any(map(self._withheld.withholds, record.people)):
                    children = tuple(child for child in record.children if not self._withheld.withholds(child))
                    yield replace(record, lines=(), children=children)
                continue
            people = tuple(self._people.get(record.reference, ())) or record.people
            lines = tuple(self._lines(record.lines, people))
            if lines or record.kind == "family":
                yield replace(record, lines=lines)

    def _lines(self, lines: Iterable[Node], people: tuple[PersonId, ...]) -> Iterator[Node]:
        for line in lines:
            if line.tag not in FOR_OWNER and not self._is_revealing(line, people):
                yield replace(line, below=list(self._lines(line.below, people)))

    def _is_revealing(self, line: Node, people: tuple[PersonId, ...]) -> bool:
        if is_for_owner(line.get("RESN")):
            return True
        if line.kind == "pointer":
            kind, _, target = line.value.partition(":")
            return kind == "person" and self._withheld.withholds(target)
        return self._mentions_withheld(line.value) or self._withheld.reveals_relative(line.value, people, by_name=True)

    def _mentions_withheld(self, text: str) -> bool:
        if text not in self._mention_cache:
            has_contact = any(contact.kind in ("e-mail", "handle", "phone") for contact in contacts_in(text))
            self._mention_cache[text] = has_contact or self._withheld.traces.has_any(text)
        return self._mention_cache[text]


def _people_by_reference(records: Iterable[KeptRecord]) -> dict[str, set[PersonId]]:
    found: dict[str, set[PersonId]] = defaultdict(set)
    rows = [(record, set(references(record.lines))) for record in records]
    for _ in range(2):  # a note may be cited by a media record, which a person refers to
        for record, targets in rows:
            people = {*record.people, *found[record.reference]}
            for target in targets:
                found[target] |= people
    return found
