"""What one pass over a page's markup finds, before it becomes a PageDoc."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from kiwiresearch.page.cuts import Group
from kiwiresearch.page.doc import Block, BlockKind, Cell, MarkKind


class RawLink(NamedTuple):
    """A link of the text, and the kind of block it is in."""

    href: str
    start: int
    end: int
    section: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class OuterLink:
    """A link outside the article's text: in a menu, a note, a box."""

    href: str
    text: str
    group: Group


class Note(NamedTuple):
    """An editors' note about the page: the classes and ids of its box, and what it says, in small letters."""

    signs: str
    said: str


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, from before its first word to behind its last."""

    level: int
    anchor: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table of the text."""

    section: int
    caption: str
    rows: list[list[Cell]]


@dataclass(slots=True)
class Flow:
    """What one pass has found."""

    text: str = ""
    links: list[RawLink] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    tables: list[RawTable] = field(default_factory=list)
    marks: list[tuple[MarkKind, int]] = field(default_factory=list)
    outer_links: list[OuterLink] = field(default_factory=list)
    infoboxes: list[str] = field(default_factory=list)
    hatnotes: list[str] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    listed_references: int = 0
