"""Lines of GEDCOM as they are written: escaped, cut where a version wants it, each ended as the standard asks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kiwiresearch.kin.gedcom.dates import Version

LONGEST = 250
"""GEDCOM 5.5.1 allows 255 letters in a line, its level, its tag and its end among them."""
BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
FORBIDDEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


def one_line(text: str) -> str:
    return " ".join(_clean(text).split())


def _clean(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", BREAKS.sub("\n", text))


@dataclass(slots=True)
class Writing:
    """A file while it is written."""

    version: Version
    rows: list[str] = field(default_factory=list)

    def pointer(self, level: int, tag: str, xref: str) -> None:
        self.rows.append(f"{level} {tag} @{xref}@")

    def record(self, xref: str, tag: str) -> None:
        self.rows.append(f"0 @{xref}@ {tag}")

    def date(self, level: int, date: str) -> None:
        """A date, in which '@' is part of the grammar."""
        self.rows.append(f"{level} DATE {date}")

    def line(self, level: int, tag: str, value: str = "") -> None:
        """A value that has no lines."""
        self.text(level, tag, one_line(value))

    def text(self, level: int, tag: str, value: str) -> None:
        """A value with all its lines."""
        first, *more = _clean(value).split("\n")
        self._put(level, tag, first, level + 1)
        for line in more:
            self._put(level + 1, "CONT", line, level + 1)

    def _put(self, level: int, tag: str, value: str, below: int) -> None:
        if self.version == "7.0":
            escaped = "@" + value if value.startswith("@") else value
            self.rows.append(f"{level} {tag} {escaped}" if escaped else f"{level} {tag}")
            return
        rest = value.replace("@", "@@")
        lead = f"{level} {tag}"
        while True:
            cut = _cut(rest, LONGEST - len(lead) - 1)
            self.rows.append(f"{lead} {rest[:cut]}" if rest else lead)
            rest = rest[cut:]
            if not rest:
                return
            lead = f"{below} CONC"

    def whole(self) -> str:
        return "\r\n".join((*self.rows, ""))


def _cut(text: str, most: int) -> int:
    """Where to cut so that no space is at an edge, where readers lose it, and no escape is split."""
    if len(text) <= most:
        return len(text)
    for cut in range(most, most // 2, -1):
        if not (text[cut - 1].isspace() or text[cut].isspace() or "@" in text[cut - 1 : cut + 1]):
            return cut
    signs = most - len(text[:most].rstrip("@"))
    return most - signs % 2
