"""Texts as others may read them: prompts, log lines, messages and file names without the living."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, Self

from kiwiresearch.kin.privacy.hidden_people import HiddenPeople, find_hidden_people
from kiwiresearch.kin.privacy.redaction import Mode, check_mode
from kiwiresearch.kin.privacy.text_parts import contacts_in
from kiwiresearch.kin.tree import LivingStatus, PersonId, Tree

DETAILS = re.compile(r"\s*\([^()\n]{0,200}\d[^()\n]{0,200}\)")
"""What a book puts behind a name: '(born 3 May 1990 in Leeds)'."""


class Replacement(NamedTuple):
    """What goes, and what takes its place."""

    start: int
    end: int
    mark: str


class Mask:
    """Takes hidden people out of texts; each is '[LIVING-n]', with the number the redacted tree gives them."""

    def __init__(
        self,
        tree: Tree,
        mode: Mode,
        year: int,
        *,
        years_after_death: int = 0,
        overrides: Mapping[PersonId, LivingStatus] | None = None,
    ) -> None:
        self._set_up(find_hidden_people(tree, year, years_after_death=years_after_death, overrides=overrides), mode)

    @classmethod
    def for_hidden(cls, hidden: HiddenPeople, mode: Mode) -> Self:
        """The mask for a tree of which it is known who is kept back."""
        mask = cls.__new__(cls)
        mask._set_up(hidden, mode)
        return mask

    def _set_up(self, hidden: HiddenPeople, mode: Mode) -> None:
        check_mode(mode)
        self._mode = mode
        self._hidden = hidden

    def text(self, text: str) -> str:
        """The text with names, dates, places and contacts of hidden people replaced."""
        return self._without(text, "[LIVING-{}]")

    def file_name(self, name: str) -> str:
        """A file name or a part of an address without hidden people: 'living-3.svg'."""
        return self._without(name, "living-{}")

    @cached_property
    def people(self) -> Mapping[str, PersonId]:
        """Who is behind each mark, to read an answer by. It stays with the owner."""
        strangers = set(self._hidden.strangers)
        return {f"[LIVING-{n}]": one for one, n in self._hidden.numbers.items() if one not in strangers}

    def _without(self, text: str, mark: str) -> str:
        if self._mode == "owner":
            return text
        for cut in reversed(self._cuts(text, mark)):
            text = f"{text[: cut.start]}{cut.mark}{text[cut.end :]}"
        return text

    def _cuts(self, text: str, mark: str) -> list[Replacement]:
        cuts = [Replacement(one.start, one.end, f"[{one.kind}]") for one in contacts_in(text)]
        for trace in self._hidden.traces.find(text):
            if self._mode == "private" and trace.kind == "name":
                continue
            details = DETAILS.match(text, trace.end) if trace.kind == "name" else None
            end = details.end() if details else trace.end
            cuts.append(Replacement(trace.start, end, mark.format(self._hidden.numbers[trace.person])))
        return _without_overlaps(cuts)


def _without_overlaps(cuts: list[Replacement]) -> list[Replacement]:
    """Cuts that do not overlap: of two, the one that starts first takes the other in."""
    found: list[Replacement] = []
    for cut in sorted(cuts, key=lambda one: (one.start, -one.end)):
        if found and cut.start < found[-1].end:
            found[-1] = found[-1]._replace(end=max(found[-1].end, cut.end))
        else:
            found.append(cut)
    return found
