"""A page that can be quoted: one text, with everything else as offsets into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from kiwiresearch.zim import EntryRef, title_of_path

BlockKind = Literal["paragraph", "item", "row", "heading", "caption", "quote", "code"]
MarkKind = Literal["reference", "citation needed", "disputed", "editor note"]
LinkPlace = Literal[
    "lead", "body", "list", "table", "caption", "infobox", "see also",
    "hatnote", "navigation", "references", "note", "categories", "hidden",
]  # fmt: skip
Basis = Literal["seen", "inferred", "absent"]


class Section(NamedTuple):
    """A heading and the text up to the next one; the first section is the lead, which has no heading.

    `text[heading_start:start]` contains the heading, `text[start:end]` the text below it.
    """

    heading: str
    level: int
    anchor: str
    heading_start: int
    start: int
    end: int
    references: int


class Block(NamedTuple):
    """A paragraph, list item, table row or the like: `text[start:end]`."""

    kind: BlockKind
    start: int
    end: int


class Link(NamedTuple):
    """A link to a page of the same book.

    `target` is the path as the page spells it: following redirects is up to the
    archive. Links in menus, navigation boxes and notes are outside the text: they
    have no offsets (-1) and no sentence.
    """

    target: str
    anchor: str
    text: str
    place: LinkPlace
    section: int
    start: int = -1
    end: int = -1
    sentence_start: int = -1
    sentence_end: int = -1

    @property
    def in_text(self) -> bool:
        return self.start >= 0

    @property
    def target_title(self) -> str:
        return title_of_path(self.target)


class Cell(NamedTuple):
    """A cell of a table: `text[start:end]`."""

    start: int
    end: int
    is_header: bool


@dataclass(frozen=True, slots=True)
class PageTable:
    """The rows of a table, and the number of its section."""

    section: int
    caption: str
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class InfoboxRow:
    """A row of an infobox: its label, its value `text[start:end]`, and as `group` the heading above it, if any."""

    key: str
    value: str
    group: str
    start: int
    end: int
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Infobox:
    """An infobox: `text[start:end]`, after the article's own text."""

    title: str
    start: int
    end: int
    rows: tuple[InfoboxRow, ...]


class Mark(NamedTuple):
    """A reference number or an editor's note, and the offset of the text at which it was removed."""

    kind: MarkKind
    offset: int


@dataclass(frozen=True, slots=True)
class Signal:
    """Whether something is true of the page, whether it was seen or inferred, and the evidence."""

    holds: bool
    basis: Basis = "absent"
    why: str = ""

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, slots=True)
class PageSignals:
    """Signals about the page's quality and kind."""

    stub: Signal
    citation_needed: Signal
    disputed: Signal
    disambiguation: Signal
    list_page: Signal
    references: int
    length: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """Which revision of the original page this is."""

    revision: int | None = None
    edited: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class PageDoc:
    """A page, read.

    All offsets point into `text`: the article as a reader sees it, then the
    infoboxes. Blocks are separated by line breaks, cells of a row by tabs.
    """

    ref: EntryRef
    id: str
    title: str
    url: str
    language: str
    text: str
    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]
    sentences: tuple[int, ...]
    """Offsets at which sentences start; each ends where the next starts or its block ends."""
    links: tuple[Link, ...]
    infoboxes: tuple[Infobox, ...]
    tables: tuple[PageTable, ...]
    marks: tuple[Mark, ...]
    categories: tuple[str, ...]
    hatnotes: tuple[str, ...]
    signals: PageSignals
    provenance: Provenance
    redirect: str = ""
    """The target path, for a page that only redirects."""
    is_cut: bool = False
    """Whether only the beginning was read, because the page is too large."""

    @property
    def lead(self) -> str:
        first = self.sections[0]
        return self.text[first.start : first.end]

    @property
    def article_end(self) -> int:
        """Where the article's own text ends and that of the infoboxes begins."""
        return self.sections[-1].end

    def is_in_infobox(self, offset: int) -> bool:
        return offset >= self.article_end and any(box.start <= offset < box.end for box in self.infoboxes)

    def section_text(self, section: Section) -> str:
        return self.text[section.start : section.end]

    def below(self, heading: str) -> tuple[Section, ...]:
        """The section with this heading or anchor, ignoring case, and its subsections; none if there is none."""
        folded = heading.casefold().strip()
        for index, section in enumerate(self.sections):
            if folded in (section.heading.casefold(), section.anchor.casefold()):
                end = index + 1
                while end < len(self.sections) and self.sections[end].level > section.level:
                    end += 1
                return self.sections[index:end]
        return ()

    def headings(self, number: int) -> tuple[str, ...]:
        """The headings above a section, the outermost first, and its own; none for the lead."""
        found: list[str] = []
        level = 0
        # Upwards from the section: a heading contains it only if its level is above that of all between.
        for section in reversed(self.sections[1 : number + 1]):
            if not found or section.level < level:
                found.append(section.heading)
                level = section.level
        return tuple(reversed(found))

    def sentence(self, link: Link) -> str:
        """The sentence that contains a link; empty for links outside the text."""
        return self.text[link.sentence_start : link.sentence_end] if link.in_text else ""
