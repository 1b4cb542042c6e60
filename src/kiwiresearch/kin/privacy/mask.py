"""Texts as others may read them: prompts, log lines, messages and file names without withheld people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from kiwiresearch.kin.privacy.redaction import PrivacyMode, check_mode
from kiwiresearch.kin.privacy.text_parts import contacts_in
from kiwiresearch.kin.privacy.withheld_people import WithheldPeople
from kiwiresearch.kin.tree import PersonId

DETAILS = re.compile(r"\s*\([^()\n]{0,200}\d[^()\n]{0,200}\)")
"""What a book adds after a name: '(born 3 May 1990 in Leeds)'."""


class MaskedSpan(NamedTuple):
    """A span to cut, and the mark that replaces it."""

    start: int
    end: int
    mark: str


class Mask:
    """Replaces withheld people in texts by '[LIVING-n]', with the number that the redacted tree gives them."""

    def __init__(self, withheld: WithheldPeople, mode: PrivacyMode) -> None:
        check_mode(mode)
        self._mode = mode
        self._withheld = withheld

    def text(self, text: str) -> str:
        """The text with names, dates, places and contacts of withheld people replaced."""
        return self._without(text, "[LIVING-{}]")

    def file_name(self, name: str) -> str:
        """A file name or a part of an address without withheld people: 'living-3.svg'."""
        return self._without(name, "living-{}")

    @cached_property
    def people(self) -> Mapping[str, PersonId]:
        """The person each mark replaces, to read an answer by. For the owner only."""
        unlisted = set(self._withheld.unlisted_relatives)
        numbers = self._withheld.pseudonym_numbers
        return {f"[LIVING-{number}]": item for item, number in numbers.items() if item not in unlisted}

    def _without(self, text: str, mark: str) -> str:
        if self._mode == "owner":
            return text
        # From the end, so that the offsets of earlier cuts stay right.
        for cut in reversed(self._replacements(text, mark)):
            text = f"{text[: cut.start]}{cut.mark}{text[cut.end :]}"
        return text

    def _replacements(self, text: str, mark: str) -> list[MaskedSpan]:
        cuts = [MaskedSpan(contact.start, contact.end, f"[{contact.kind}]") for contact in contacts_in(text)]
        for trace in self._withheld.traces.find(text):
            if self._mode == "private" and trace.kind == "name":
                continue
            details = DETAILS.match(text, trace.end) if trace.kind == "name" else None
            end = details.end() if details else trace.end
            cuts.append(MaskedSpan(trace.start, end, mark.format(self._withheld.pseudonym_numbers[trace.person])))
        return _without_overlaps(cuts)


def _without_overlaps(cuts: list[MaskedSpan]) -> list[MaskedSpan]:
    """The cuts with overlapping ones merged into the one that starts first."""
    found: list[MaskedSpan] = []
    for cut in sorted(cuts, key=lambda replacement: (replacement.start, -replacement.end)):
        if found and cut.start < found[-1].end:
            found[-1] = found[-1]._replace(end=max(found[-1].end, cut.end))
        else:
            found.append(cut)
    return found
