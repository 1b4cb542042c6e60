"""A text with headings, lists and links, before it is Markdown or HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote


class Span(NamedTuple):
    """Some words; with an address they are a link, and they may be set apart."""

    text: str
    url: str = ""
    emphasis: bool = False


Line = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """Words above a part of the text."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    line: Line


@dataclass(frozen=True, slots=True)
class Items:
    """A list; numbered where the order says something."""

    lines: tuple[Line, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class Rows:
    """A table."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Block = Heading | Paragraph | Items | Rows


@dataclass(frozen=True, slots=True)
class Document:
    """A title and what follows it."""

    title: str
    blocks: tuple[Block, ...]
    language: str = "eng"


def address(url: str) -> str:
    """An address without what no address holds: white space and control characters are percent-encoded."""
    return re.sub(r"[\x00-\x20\x7f-\xa0\u2028\u2029]", lambda found: quote(found[0]), url)


def words(*parts: str | Span) -> Line:
    """A line of plain words and spans."""
    return tuple(part if isinstance(part, Span) else Span(part) for part in parts)
