"""A report before it is Markdown or HTML: headings, lines with links, facts with their proofs, tables, pictures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import quote

SCHEMES = ("http://", "https://", "zim://", "#")
"""What a link may lead to; the text of a source never chooses another."""
NOT_IN_ADDRESS = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\u202a-\u202e\u2066-\u2069]")

Tone = Literal["", "good", "fair", "weak", "bad"]
"""How well something is supported; it is always said in words as well."""


class Span(NamedTuple):
    """Some words; with an address they are a link. Words of a source keep their own direction."""

    text: str
    url: str = ""
    emphasis: bool = False
    strong: bool = False
    foreign: bool = False
    tone: Tone = ""


Line = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """Words above a part; by its anchor it can be linked to."""

    line: Line
    level: int = 2
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    line: Line
    role: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """A list; with an anchor it is numbered, and each of its lines can be linked to: 'source-3'."""

    lines: tuple[Line, ...]
    role: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words of a source, where they stand, and what kind of evidence they are."""

    words: str
    cite: Line
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FactEntry:
    """A fact and its proof, which unfolds."""

    line: Line
    badge: str
    tone: Tone
    quotes: tuple[Quotation, ...] = ()
    notes: tuple[Line, ...] = ()
    is_open: bool = False
    is_repeat: bool = False
    """A tie that is shown with its first person too."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a person."""

    entries: tuple[FactEntry, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows; the first cell of each names it."""

    header: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    label: str
    """What it shows, for those who cannot see it."""
    role: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of a family in words, so deep below the first."""

    depth: int
    line: Line


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, and the same in words for where there are no pictures."""

    svg: str
    label: str
    caption: str
    branches: tuple[Branch, ...] = ()


Block = Heading | Paragraph | Items | Facts | Quotation | Table | Picture


@dataclass(frozen=True, slots=True)
class Document:
    """A title and what follows it."""

    title: str
    blocks: tuple[Block, ...]
    language: str = "eng"


def address(url: str) -> str:
    """An address without what no address holds: white space, control characters and marks that turn the direction."""
    return NOT_IN_ADDRESS.sub(lambda found: quote(found[0]), url)


def external_url(url: str) -> str:
    """The address of a source, if it may be one; never a place in the report."""
    return url if url.startswith(SCHEMES) and not url.startswith("#") else ""


def encodable(text: str) -> str:
    """Text that every file can hold: half a character, which JSON lets through, becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def line_of(*parts: str | Span) -> Line:
    """A line of plain words and spans."""
    return tuple(part if isinstance(part, Span) else Span(part) for part in parts if part)


def plain_text(line: Line) -> str:
    """The words of a line alone."""
    return "".join(span.text for span in line)
