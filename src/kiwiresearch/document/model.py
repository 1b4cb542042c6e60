"""A document with headings, lists, tables, links, quotes and proofs, before it is Markdown or HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import quote

ALLOWED_LINK_STARTS = ("http://", "https://", "zim://", "#")
"""The allowed link targets; text from a source cannot add others."""

NOT_IN_ADDRESS = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\u202a-\u202e\u2066-\u2069]")

Tone = Literal["", "good", "fair", "weak", "bad"]
"""How well something is supported; the text says so too."""


class Span(NamedTuple):
    """Some words, a link if they have a URL. Foreign ones are shown in the direction of their own script."""

    text: str
    url: str = ""
    emphasis: bool = False
    strong: bool = False
    foreign: bool = False
    tone: Tone = ""


BREAK = Span("\n")
"""A line break that the author put within a sentence."""

Line = tuple[Span, ...]


class Cite(NamedTuple):
    """A place in a book: as readers name it, where they open it, and where its words are marked when they do."""

    words: str
    url: str
    marked_url: str


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words of a source, their place, and notes on them."""

    words: str
    source: Line
    notes: tuple[str, ...] = ()
    before: str = ""
    """The words right before the quoted ones, if they are shown; `after` likewise."""
    after: str = ""
    others: tuple[str, ...] = ()
    """Further quotes from the same place."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The support of a sentence: a few places always shown, and all quotes once unfolded."""

    cites: tuple[Cite, ...]
    more: int
    """How many more pages say the same."""
    certainty: str
    quotations: tuple[Quotation, ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words and their proof; in prose, `doubt` follows in brackets."""

    line: Line
    proof: Proof | None = None
    doubt: str = ""


Sentences = tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; it can be linked to by its anchor."""

    line: Line
    level: int = 2
    anchor: str = ""
    new_page: bool = False
    """Whether it starts a new page on paper."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain text; `css_class` is the class of its HTML element."""

    line: Line
    css_class: str = ""


class CitedSentences(NamedTuple):
    """Sentences that are cited once, at their end."""

    sentences: Sentences
    proof: Proof


@dataclass(frozen=True, slots=True)
class CitedParagraph:
    """A paragraph of prose, cited wherever its sources change."""

    groups: tuple[CitedSentences, ...]


@dataclass(frozen=True, slots=True)
class LineList:
    """A list; with an anchor, each line can be linked to by its number, such as 'source-3'."""

    lines: tuple[Line, ...]
    css_class: str = ""
    anchor: str = ""
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class SentenceList:
    """A list of sentences with their proofs; with an anchor, each entry can be linked to by its number."""

    entries: tuple[Sentences, ...]
    css_class: str = ""
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class FactEntry:
    """A fact with a badge that says how well it is supported; its notes and quotes unfold."""

    line: Line
    badge: str
    tone: Tone
    quotations: tuple[Quotation, ...] = ()
    notes: tuple[Line, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class FactList:
    """The facts about one thing."""

    entries: tuple[FactEntry, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class PlainTable:
    """A table of plain words."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of sentences with their proofs; the first cell of a row names it."""

    header: tuple[str, ...]
    rows: tuple[tuple[Sentences, ...], ...]
    label: str
    """A description for screen readers."""
    css_class: str = ""
    labels_cells: bool = False
    """Whether cells carry the heading of their column, for layouts that show rows as cards."""


@dataclass(frozen=True, slots=True)
class CollapsedList:
    """A list that most readers do not need, below a line that says what it is."""

    label: str
    items: LineList


@dataclass(frozen=True, slots=True)
class Image:
    """An image file next to the text, with its caption."""

    address: str
    alt: str
    caption: Line


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of a nested list."""

    depth: int
    line: Line


@dataclass(frozen=True, slots=True)
class Diagram:
    """A picture in HTML, and in Markdown the nested list that says the same, if there is one."""

    svg: str
    label: str
    caption: str
    branches: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerSpace:
    """Empty lines to write on."""

    lines: int


Block = (
    Heading
    | Paragraph
    | CitedParagraph
    | LineList
    | SentenceList
    | FactList
    | PlainTable
    | Table
    | CollapsedList
    | Image
    | Diagram
    | AnswerSpace
)


@dataclass(frozen=True, slots=True)
class Document:
    """A title and what follows it."""

    title: str
    blocks: tuple[Block, ...]
    language: str = "eng"


def safe_address(url: str) -> str:
    """An address with white space, control characters and direction marks escaped."""
    return NOT_IN_ADDRESS.sub(lambda found: quote(found[0]), url)


def external_url(url: str) -> str:
    """The address of a source, or "" if it is not a link or is one within the document."""
    return url if url.startswith(ALLOWED_LINK_STARTS) and not url.startswith("#") else ""


def line_of(*parts: str | Span) -> Line:
    """A line of plain words and spans."""
    return tuple(part if isinstance(part, Span) else Span(part) for part in parts if part)


def cell(*parts: str | Span) -> Sentences:
    """A table cell of one sentence that needs no proof."""
    return (Sentence(line_of(*parts)),)


def plain_text(line: Line) -> str:
    """The words of a line alone."""
    return "".join(span.text for span in line)


def more_pages(count: int) -> str:
    """How many pages support a sentence beyond those that are named."""
    return f"and {count} more page{'' if count == 1 else 's'}"
