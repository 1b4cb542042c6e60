"""The lines of a GEDCOM file that is written: a tree of nodes, and their text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from kiwiresearch.kin.gedcom.dates import Version

MAX_LINE_CHARS = 250
"""GEDCOM 5.5.1 allows 255 characters in a line, including its level, tag and line end."""
# All that any program takes for a line break, since a value with one would end its line there.
BREAKS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
# Control characters except tabs and line breaks, surrogates, and two code points that never are characters.
FORBIDDEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")

NodeKind = Literal["text", "pointer", "date"]
"""What its value is; in a date, '@' is part of the grammar."""


@dataclass(slots=True)
class Node:
    """A line and those below it."""

    tag: str
    value: str = ""
    kind: NodeKind = "text"
    xref: str = ""
    below: list[Node] = field(default_factory=list)
    is_anchor: bool = False
    """Whether a line kept from an import only locates the line written from the tree: lines below it are additional."""
    number: int = field(default=0, compare=False)
    """The number of the line in the file it was read from."""

    def all(self, *tags: str) -> Iterator[Node]:
        return (node for node in self.below if node.tag in tags)

    def first(self, *tags: str) -> Node | None:
        return next(self.all(*tags), None)

    def get(self, tag: str) -> str:
        """The value of the first line below with this tag."""
        found = self.first(tag)
        return found.value if found else ""


def one_line(text: str) -> str:
    """A value on one line. Unlike `text.one_line`, it shows that a character is missing which GEDCOM forbids."""
    return " ".join(_clean(text).split())


def _clean(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", BREAKS.sub("\n", text))


@dataclass(slots=True)
class GedcomWriter:
    """A file being written, line by line."""

    version: Version
    records: list[Node] = field(default_factory=list)

    def pointer(self, level: int, tag: str, xref: str) -> None:
        self._add(level, Node(tag, xref, "pointer"))

    def record(self, xref: str, tag: str) -> None:
        self._add(0, Node(tag, xref=xref))

    def date(self, level: int, date: str) -> None:
        self._add(level, Node("DATE", date, "date"))

    def line(self, level: int, tag: str, value: str = "") -> None:
        self._add(level, Node(tag, one_line(value)))

    def text(self, level: int, tag: str, value: str) -> None:
        """A value with all its lines."""
        self._add(level, Node(tag, _clean(value)))

    def _add(self, level: int, node: Node) -> None:
        above = self.records
        for _ in range(level):
            above = above[-1].below
        above.append(node)

    def content(self) -> str:
        return gedcom_text(self.records, self.version)


def gedcom_text(records: Iterable[Node], version: Version) -> str:
    """The text of a file with these records."""
    return "\r\n".join((*(row for record in records for row in _rows(record, 0, version)), ""))


def _rows(node: Node, level: int, version: Version) -> Iterator[str]:
    lead = f"{level} @{node.xref}@ {node.tag}" if node.xref else f"{level} {node.tag}"
    if node.kind == "pointer":
        yield f"{lead} @{node.value}@"
    elif node.kind == "date":
        yield f"{lead} {node.value}".rstrip()
    else:
        first, *more = _clean(node.value).split("\n")
        yield from _pieces(lead, first, level + 1, version)
        for line in more:
            yield from _pieces(f"{level + 1} CONT", line, level + 1, version)
    for below in node.below:
        yield from _rows(below, level + 1, version)


def _pieces(lead: str, value: str, below: int, version: Version) -> Iterator[str]:
    """A line, cut into several where the version limits its length."""
    if version == "7.0":
        escaped = "@" + value if value.startswith("@") else value
        yield f"{lead} {escaped}" if escaped else lead
        return
    rest = value.replace("@", "@@")
    while True:
        cut = _cut(rest, MAX_LINE_CHARS - len(lead) - 1)
        yield f"{lead} {rest[:cut]}" if rest else lead
        rest = rest[cut:]
        if not rest:
            return
        lead = f"{below} CONC"


def _cut(text: str, max_chars: int) -> int:
    """Where to cut: not next to a space, which readers would lose, and not inside an escape."""
    if len(text) <= max_chars:
        return len(text)
    for cut in range(max_chars, max_chars // 2, -1):
        if not (text[cut - 1].isspace() or text[cut].isspace() or "@" in text[cut - 1 : cut + 1]):
            return cut
    # Each '@' is written twice: an odd number before the cut would divide a pair.
    signs = max_chars - len(text[:max_chars].rstrip("@"))
    return max_chars - signs % 2
