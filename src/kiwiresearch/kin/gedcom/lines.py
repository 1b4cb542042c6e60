"""The lines of a GEDCOM file as records: a line, and those below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LONGEST_LINE = 65_536
MOST_LINES = 2_000_000
DEEPEST = 24
MOST_NOTES = 100
LINE = re.compile(r"[ \t]*([0-9]{1,2})[ \t]+(?:@([^@\s][^@]{0,60})@[ \t]+)?([A-Za-z0-9_]{1,60})(?: ([^\n]*))?")
BREAK = re.compile(r"\r\n|\n|\r")
POINTER = re.compile(r"@([^@#\s][^@]{0,60})@[ \t]*")
VERSION = re.compile(
    r"[ \t]*1[ \t]+GEDC[^\n\r]*[\r\n]+(?:[ \t]*2[ \t]+FORM[^\n\r]*[\r\n]+)?[ \t]*2[ \t]+VERS[ \t]+([0-9.]+)"
)
NOWHERE = "VOID"
"""What GEDCOM 7 points to where there is nothing to point to."""


@dataclass(slots=True)
class Line:
    """A line and those below it; open to more of them while the file is read."""

    tag: str
    number: int
    """Which line of the file it is, counted from 1."""
    start: int
    end: int
    """The letters of the file that it and those below it take."""
    xref: str = ""
    parts: list[str] = field(default_factory=list)
    below: list[Line] = field(default_factory=list)

    @property
    def value(self) -> str:
        return "".join(self.parts)

    @property
    def points_to(self) -> str:
        """The record it points to, or nothing."""
        found = POINTER.fullmatch(self.parts[0]) if len(self.parts) == 1 else None
        return found[1] if found and found[1] != NOWHERE else ""

    def all(self, *tags: str) -> Iterator[Line]:
        return (line for line in self.below if line.tag in tags)

    def first(self, *tags: str) -> Line | None:
        return next(self.all(*tags), None)

    def get(self, tag: str) -> str:
        """The value of the first line below with this tag."""
        found = self.first(tag)
        return found.value.strip() if found else ""


@dataclass(slots=True)
class Notes:
    """What could not be read, with the line it stands on; a broken file does not fill the memory with it."""

    found: list[str] = field(default_factory=list)
    more: int = 0
    unread: dict[str, list[int]] = field(default_factory=dict)
    """How often a tag was left out, and the first line it was on."""

    def add(self, number: int, what: str) -> None:
        if len(self.found) < MOST_NOTES:
            self.found.append(f"Line {number}: {what}")
        else:
            self.more += 1

    def leave_out(self, line: Line, path: str = "") -> None:
        """A line that no rule reads, by its tag, or by the path to it."""
        called = path or line.tag
        if called in self.unread or len(self.unread) < MOST_NOTES:
            self.unread.setdefault(called, [0, line.number])[0] += 1

    def told(self) -> tuple[str, ...]:
        more = (f"And {self.more} more notes of this kind.",) if self.more else ()
        unread = (
            f"{tag} is not read: {count} {'line' if count == 1 else 'lines'}, the first is {first}."
            for tag, (count, first) in sorted(self.unread.items())
        )
        return (*self.found, *more, *unread)


def version_of(text: str) -> str:
    """The version the file names, or an empty string."""
    found = VERSION.search(text, 0, 50_000)
    return found[1] if found else ""


def records(text: str, notes: Notes) -> list[Line]:
    """The records of a file; a line that is none is left out, and noted."""
    is_seven = version_of(text).startswith("7")
    found: list[Line] = []
    stack: list[Line] = []
    for number, start, end in _spans(text):
        if number > MOST_LINES:
            notes.add(number, f"the file has more than {MOST_LINES} lines; the rest is not read")
            break
        match = LINE.fullmatch(text, start, end) if end - start <= LONGEST_LINE else None
        if match is None:
            if text[start:end].strip():
                notes.add(number, "this is no line of GEDCOM, and is left out")
            continue
        level = int(match[1])
        if level > len(stack) or level > DEEPEST:
            notes.add(number, f"its level is {level}, and the line before allows {len(stack)} at most; it is left out")
            continue
        del stack[level:]
        _place(match, number, found, stack, is_seven=is_seven)
    return found


def _spans(text: str) -> Iterator[tuple[int, int, int]]:
    start = number = 0
    for found in BREAK.finditer(text):
        number += 1
        yield number, start, found.start()
        start = found.end()
    if start < len(text):
        yield number + 1, start, len(text)


def _place(match: re.Match[str], number: int, found: list[Line], stack: list[Line], *, is_seven: bool) -> None:
    tag, value = match[3].upper(), match[4] or ""
    for above in stack:
        above.end = match.end()
    line = Line(tag, number, match.start(), match.end(), match[2] or "")
    if value:
        line.parts.append(value if POINTER.fullmatch(value) else _unescaped(value, is_seven=is_seven))
    if tag in ("CONT", "CONC") and stack:
        stack[-1].parts.extend(("\n" if tag == "CONT" else "", *line.parts))
    elif stack:
        stack[-1].below.append(line)
    else:
        found.append(line)
    stack.append(line)


def _unescaped(value: str, *, is_seven: bool) -> str:
    if is_seven:
        return value[1:] if value.startswith("@@") else value
    return value.replace("@@", "@")
