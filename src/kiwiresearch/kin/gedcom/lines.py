"""Parses the bytes of a GEDCOM file into records: character sets, lines, and nested lines."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

# ANSEL (ANSI/NISO Z39.47), the character set of most files before UTF-8.
LETTERS = dict(
    zip(
        (*range(0xA1, 0xAF), *range(0xB0, 0xBB), 0xBC, 0xBD, 0xBE, 0xBF, *range(0xC0, 0xC9), 0xCD, 0xCE, 0xCF),
        "ŁØĐÞÆŒʹ·♭®±ƠƯʼʻłøđþæœʺı£ðơư□■°ℓ℗©♯¿¡ß€eoß",
        strict=True,
    )
)
ACCENTS = dict(
    zip(
        (*range(0xE0, 0xFD), 0xFE),
        "\u0309\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030c\u030a\ufe20\ufe21\u0315\u030b\u0310"
        "\u0327\u0328\u0323\u0324\u0325\u0333\u0332\u0326\u031c\u032e\ufe22\ufe23\u0338\u0313",
        strict=True,
    )
)
UNKNOWN = "\ufffd"


def decode_ansel(data: bytes) -> str:
    """Decode ANSEL; an undefined byte becomes the replacement character."""
    if data.isascii():
        return data.decode("ascii")
    out: list[str] = []
    accents: list[str] = []
    for byte in data:
        if byte in ACCENTS:
            accents.append(ACCENTS[byte])
            continue
        # In ANSEL accents come before their letter, in Unicode after it.
        out.append(chr(byte) if byte < 0x80 else LETTERS.get(byte, UNKNOWN))
        if accents:
            out.extend(accents)
            accents.clear()
    out.extend(accents)
    return unicodedata.normalize("NFC", "".join(out))


MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
WITHOUT_MARK = ((b"0\x00", "utf-16-le"), (b"\x000", "utf-16-be"))
CODECS_BY_NAME = {
    "UTF-8": "utf-8",
    "UTF8": "utf-8",
    "ASCII": "utf-8",
    "UNICODE": "utf-8",
    "ANSEL": "ansel",
    "ANSI": "cp1252",
}
CODECS_BY_NAME |= {"WINDOWS-1252": "cp1252", "CP1252": "cp1252", "ISO8859-1": "cp1252", "ISO-8859-1": "cp1252"}
CODECS_BY_NAME |= {"LATIN1": "cp1252", "IBMPC": "cp437", "IBM-PC": "cp437", "OEM": "cp437", "MACINTOSH": "mac_roman"}
HEAD_BYTES = 20_000
CHARACTER_SET = re.compile(rb"^[ \t]*1[ \t]+CHAR[ \t]+([A-Za-z0-9_-]+)", re.MULTILINE)


class Decoded(NamedTuple):
    """The text, and what had to be guessed."""

    text: str
    note: str = ""


def decode(data: bytes) -> Decoded:
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return Decoded(data[len(mark) :].decode(encoding, "replace"))
    # A file begins with '0 HEAD': whether the zero byte comes first or second shows the order of UTF-16.
    for start, encoding in WITHOUT_MARK:
        if data.startswith(start):
            return Decoded(data.decode(encoding, "replace"))
    # Files of old Macs have '\r' alone at the end of a line.
    found = CHARACTER_SET.search(data.replace(b"\r", b"\n", HEAD_BYTES), 0, HEAD_BYTES)
    name = found[1].decode("ascii").upper() if found else ""
    encoding = CODECS_BY_NAME.get(name, "utf-8")
    if data.isascii():
        return Decoded(data.decode("ascii"))
    if encoding == "ansel":
        return _decode_ansel_or_utf8(data)
    return _decode_plain(data, encoding, name)


def _decode_ansel_or_utf8(data: bytes) -> Decoded:
    """Many programs wrote 'ANSEL' over UTF-8, so bytes that are valid UTF-8 are read as that."""
    try:
        return Decoded(data.decode("utf-8"), "The file says it is ANSEL but is UTF-8. It was read as UTF-8.")
    except UnicodeDecodeError:
        return Decoded(decode_ansel(data))


def _decode_plain(data: bytes, encoding: str, name: str) -> Decoded:
    try:
        return Decoded(data.decode(encoding))
    except UnicodeDecodeError:
        said = f"says its character set is {name!r}" if name else "does not name its character set"
        return Decoded(data.decode("cp1252", "replace"), f"The file {said}. It was read as Windows-1252.")


# The file is not trusted: what exceeds these limits is skipped, and noted in the import.
MAX_LINE_LENGTH = 65_536
MAX_LINES = 2_000_000
MAX_LEVEL = 24
MAX_NOTES = 100
# '1 BIRT', '0 @I1@ INDI' and '2 DATE 3 MAY 1801', but not 'DATE 3 MAY 1801', which has no level.
LINE = re.compile(r"[ \t]*([0-9]{1,2})[ \t]+(?:@([^@\s][^@]{0,60})@[ \t]+)?([A-Za-z0-9_]{1,60})(?: ([^\n]*))?")
BREAK = re.compile(r"\r\n|\n|\r")
# '@I1@', but not '@#DJULIAN@', which begins a date, nor 'ann@example.org'.
POINTER = re.compile(r"@([^@#\s][^@]{0,60})@[ \t]*")
# '1 GEDC' and '2 VERS 7.0' on the next line, or with '2 FORM LINEAGE-LINKED' in between.
VERSION = re.compile(
    r"[ \t]*1[ \t]+GEDC[^\n\r]*[\r\n]+(?:[ \t]*2[ \t]+FORM[^\n\r]*[\r\n]+)?[ \t]*2[ \t]+VERS[ \t]+([0-9.]+)"
)
VOID = "VOID"
"""The null pointer of GEDCOM 7."""


@dataclass(slots=True)
class GedcomLine:
    """A line and those below it; more are added while the file is read."""

    tag: str
    number: int
    """The number of the line in the file, from 1."""
    start: int
    end: int
    """The offsets of it and the lines below it are `start` to `end`."""
    xref: str = ""
    parts: list[str] = field(default_factory=list)
    children: list[GedcomLine] = field(default_factory=list)

    @property
    def value(self) -> str:
        return "".join(self.parts)

    @property
    def points_to(self) -> str:
        """The xref it points to; empty if it is not a pointer."""
        found = POINTER.fullmatch(self.parts[0]) if len(self.parts) == 1 else None
        return found[1] if found and found[1] != VOID else ""

    def all(self, *tags: str) -> Iterator[GedcomLine]:
        return (line for line in self.children if line.tag in tags)

    def first(self, *tags: str) -> GedcomLine | None:
        return next(self.all(*tags), None)

    def get(self, tag: str) -> str:
        """The value of the first line below with this tag."""
        found = self.first(tag)
        return found.value.strip() if found else ""


@dataclass(slots=True)
class ImportNotes:
    """Problems of a file, with line numbers; limited, so that a broken file does not fill the memory."""

    found: list[str] = field(default_factory=list)
    more: int = 0

    def add(self, number: int, what: str) -> None:
        if len(self.found) < MAX_NOTES:
            self.found.append(f"Line {number}: {what}")
        else:
            self.more += 1

    def problems(self) -> tuple[str, ...]:
        """The errors of the file."""
        return (*self.found, *((f"{self.more} more notes of this kind.",) if self.more else ()))


def version_of(text: str) -> str:
    """The version the file names; empty if none."""
    found = VERSION.search(text, 0, 50_000)
    return found[1] if found else ""


def records(text: str, notes: ImportNotes) -> list[GedcomLine]:
    """The records of a file; invalid lines are skipped and noted."""
    is_seven = version_of(text).startswith("7")
    found: list[GedcomLine] = []
    stack: list[GedcomLine] = []
    for number, start, end in _spans(text):
        if number > MAX_LINES:
            notes.add(number, f"the file has more than {MAX_LINES} lines; the rest was skipped")
            break
        match = LINE.fullmatch(text, start, end) if end - start <= MAX_LINE_LENGTH else None
        if match is None:
            if text[start:end].strip():
                notes.add(number, "not a GEDCOM line; skipped")
            continue
        level = int(match[1])
        if level > len(stack) or level > MAX_LEVEL:
            notes.add(
                number, f"its level is {level}, but after the line before it can be at most {len(stack)}; skipped"
            )
            continue
        del stack[level:]
        _attach(match, number, found, stack, is_seven=is_seven)
    return found


def _spans(text: str) -> Iterator[tuple[int, int, int]]:
    start = number = 0
    for found in BREAK.finditer(text):
        number += 1
        yield number, start, found.start()
        start = found.end()
    if start < len(text):
        yield number + 1, start, len(text)


def _attach(
    match: re.Match[str], number: int, found: list[GedcomLine], stack: list[GedcomLine], *, is_seven: bool
) -> None:
    tag, value = match[3].upper(), match[4] or ""
    for above in stack:
        above.end = match.end()
    line = GedcomLine(tag, number, match.start(), match.end(), match[2] or "")
    if value:
        line.parts.append(value if POINTER.fullmatch(value) else _unescaped(value, is_seven=is_seven))
    if tag in ("CONT", "CONC") and stack:
        stack[-1].parts.extend(("\n" if tag == "CONT" else "", *line.parts))
    elif stack:
        stack[-1].children.append(line)
    else:
        found.append(line)
    stack.append(line)


def _unescaped(value: str, *, is_seven: bool) -> str:
    if is_seven:
        return value[1:] if value.startswith("@@") else value
    return value.replace("@@", "@")
