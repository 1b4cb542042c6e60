"""From the bytes of a GEDCOM file to its text, in whichever character set it is written."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from kiwiresearch.kin.gedcom.ansel import from_ansel

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
WITHOUT_MARK = ((b"0\x00", "utf-16-le"), (b"\x000", "utf-16-be"))
NAMED = {"UTF-8": "utf-8", "UTF8": "utf-8", "ASCII": "utf-8", "UNICODE": "utf-8", "ANSEL": "ansel", "ANSI": "cp1252"}
NAMED |= {"WINDOWS-1252": "cp1252", "CP1252": "cp1252", "ISO8859-1": "cp1252", "ISO-8859-1": "cp1252"}
NAMED |= {"LATIN1": "cp1252", "IBMPC": "cp437", "IBM-PC": "cp437", "OEM": "cp437", "MACINTOSH": "mac_roman"}
HEAD_BYTES = 20_000
CHARACTER_SET = re.compile(rb"^[ \t]*1[ \t]+CHAR[ \t]+([A-Za-z0-9_-]+)", re.MULTILINE)


class Decoded(NamedTuple):
    """The text, and what had to be guessed."""

    text: str
    note: str = ""


def decoded(data: bytes) -> Decoded:
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return Decoded(data[len(mark) :].decode(encoding, "replace"))
    for start, encoding in WITHOUT_MARK:
        if data.startswith(start):
            return Decoded(data.decode(encoding, "replace"))
    found = CHARACTER_SET.search(data.replace(b"\r", b"\n", HEAD_BYTES), 0, HEAD_BYTES)
    name = found[1].decode("ascii").upper() if found else ""
    encoding = NAMED.get(name, "utf-8")
    if data.isascii():
        return Decoded(data.decode("ascii"))
    if encoding == "ansel":
        return _ansel(data)
    return _plain(data, encoding, name)


def _ansel(data: bytes) -> Decoded:
    """Programs wrote 'ANSEL' over UTF-8 often enough that bytes which are clean UTF-8 are taken for it."""
    try:
        return Decoded(data.decode("utf-8"), "The file calls itself ANSEL and is UTF-8; it was read as UTF-8.")
    except UnicodeDecodeError:
        return Decoded(from_ansel(data))


def _plain(data: bytes, encoding: str, name: str) -> Decoded:
    try:
        return Decoded(data.decode(encoding))
    except UnicodeDecodeError:
        said = f"calls itself {name!r}" if name else "does not say its character set"
        return Decoded(data.decode("cp1252", "replace"), f"The file {said}; its letters were read as Windows-1252.")
