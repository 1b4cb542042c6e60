"""Texts as others may read them: prompts, log lines, messages and file names without the living."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple, Self

from kiwiresearch.kin.fields import Living
from kiwiresearch.kin.privacy.contacts import contacts_in
from kiwiresearch.kin.privacy.hidden import Hidden, hidden_in
from kiwiresearch.kin.privacy.redact import Mode, checked
from kiwiresearch.kin.tree import PersonId, Tree

DETAILS = re.compile(r"\s*\([^()\n]{0,200}\d[^()\n]{0,200}\)")
"""What a book puts behind a name: '(born 3 May 1990 in Leeds)'."""


class Cut(NamedTuple):
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
        overrides: Mapping[PersonId, Living] | None = None,
    ) -> None:
        self._wear(hidden_in(tree, year, years_after_death=years_after_death, overrides=overrides), mode)

    @classmethod
    def of(cls, hidden: Hidden, mode: Mode) -> Self:
        """The mask for a tree of which it is known who is kept back."""
        mask = cls.__new__(cls)
        mask._wear(hidden, mode)
        return mask

    def _wear(self, hidden: Hidden, mode: Mode) -> None:
        checked(mode)
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

    def _cuts(self, text: str, mark: str) -> list[Cut]:
        cuts = [Cut(one.start, one.end, f"[{one.kind}]") for one in contacts_in(text)]
        for trace in self._hidden.traces.find(text):
            if self._mode == "private" and trace.kind == "name":
                continue
            details = DETAILS.match(text, trace.end) if trace.kind == "name" else None
            end = details.end() if details else trace.end
            cuts.append(Cut(trace.start, end, mark.format(self._hidden.numbers[trace.person])))
        return _apart(cuts)


def _apart(cuts: list[Cut]) -> list[Cut]:
    """Cuts that do not overlap: of two, the one that starts first takes the other in."""
    found: list[Cut] = []
    for cut in sorted(cuts, key=lambda one: (one.start, -one.end)):
        if found and cut.start < found[-1].end:
            found[-1] = found[-1]._replace(end=max(found[-1].end, cut.end))
        else:
            found.append(cut)
    return found
