"""A text with headings, lists, tables, links and proofs, before it is Markdown or HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from kiwiresearch.evidence import Quote

SCHEMES = ("http://", "https://", "zim://", "#")
"""What a link may lead to; a book's text never chooses another."""

NOT_IN_ADDRESS = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class Span(NamedTuple):
    """Some words; with an address they are a link, and they may be set apart."""

    text: str
    url: str = ""
    emphasis: bool = False
    strong: bool = False


BREAK = Span("\n")
"""The end of a line within a sentence, where its writer has put one."""

Line = tuple[Span, ...]


class QuoteInContext(NamedTuple):
    """A quote, and the words right before and after it on its page."""

    quote: Quote
    before: str = ""
    after: str = ""


def without_overlaps(several: Iterable[QuoteInContext]) -> list[QuoteInContext]:
    """What stands around quotes that are shown together, without what another one shows."""
    rows = list(several)
    shown = {row.quote[:3] for row in rows}
    found = []
    for row in rows:
        ref, start, end, _ = row.quote
        first, last = start - len(row.before), end + len(row.after)
        for page, other_start, other_end in shown:
            if page == ref and other_start < start:
                first = max(first, min(other_end, start))
            if page == ref and other_end > end:
                last = min(last, max(other_start, end))
        shown.add((ref, first, last))
        before = row.before[len(row.before) - start + first :]
        found.append(QuoteInContext(row.quote, before.lstrip(), row.after[: last - end].rstrip()))
    return found


class Cite(NamedTuple):
    """A place in a book: as readers name it, where they open it, and where its words are marked when they do."""

    words: str
    url: str
    marked_url: str


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """A claim, for a reader who wants to see what a sentence rests on."""

    says: str
    """What it was read as; empty where the quote says just that."""
    around: QuoteInContext
    """Its first quote, which says so, in its place."""
    others: tuple[str, ...]
    """Its other quotes."""
    cite: Cite
    hedges: tuple[str, ...]
    confidence: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What a sentence rests on: a few places for every reader, and all of it for those who unfold it."""

    cites: tuple[Cite, ...]
    more: int
    """Pages that say so too."""
    sureness: str
    evidence: tuple[ClaimEvidence, ...]


DOUBTS = frozenset({"hedged", "disputed"})
"""What running text says of a sentence in brackets; that several pages say it is seen from the places it cites."""


@dataclass(frozen=True, slots=True)
class DocumentSentence:
    """Words and what they rest on."""

    line: Line
    proof: Proof | None = None

    @property
    def doubt(self) -> str:
        """How sure it is, where a reader should be careful."""
        return self.proof.sureness if self.proof and self.proof.sureness in DOUBTS else ""


Sentences = tuple[DocumentSentence, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """Words above a part of the text; by its anchor it can be linked to."""

    text: str
    level: int = 2
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text; its role says what it is for where that can be shown."""

    line: Line
    role: str = ""


class CitedSentences(NamedTuple):
    """Sentences of running text that are cited once, at their end, and all of their proofs as one."""

    sentences: Sentences
    proof: Proof


def cite_together(sentences: Sentences) -> CitedSentences:
    """Sentences that rest on the same places, with the quotes of all of them."""
    proofs = [one.proof for one in sentences if one.proof is not None]
    evidence = tuple(one for proof in proofs for one in proof.evidence)
    return CitedSentences(sentences, Proof(proofs[0].cites, max(proof.more for proof in proofs), "", evidence))


@dataclass(frozen=True, slots=True)
class CitedParagraph:
    """A paragraph of running text, cited where the places change that it rests on."""

    runs: tuple[CitedSentences, ...]


@dataclass(frozen=True, slots=True)
class LineList:
    """A list; numbered where the order says something."""

    lines: tuple[Line, ...]
    numbered: bool = False


@dataclass(frozen=True, slots=True)
class SentenceList:
    """A list of sentences with their proofs; with an anchor, each point can be linked to by its number."""

    entries: tuple[Sentences, ...]
    role: str = ""
    anchor: str = ""


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
    """What it shows, for those who cannot see it."""
    role: str = ""


@dataclass(frozen=True, slots=True)
class CollapsedList:
    """A list that most readers do not need, below a line that says what it is."""

    label: str
    items: LineList


@dataclass(frozen=True, slots=True)
class Image:
    """A picture beside the text, with the words under it."""

    address: str
    alt: str
    caption: Line


Block = Heading | Paragraph | CitedParagraph | LineList | SentenceList | PlainTable | Table | CollapsedList | Image


@dataclass(frozen=True, slots=True)
class Document:
    """A title and what follows it."""

    title: str
    blocks: tuple[Block, ...]
    language: str = "eng"


def safe_address(url: str) -> str:
    """An address without what no address holds: white space, control characters and marks that turn the direction."""
    return NOT_IN_ADDRESS.sub(lambda found: quote(found[0]), url)


def spans(*parts: str | Span) -> Line:
    """A line of plain words and spans."""
    return tuple(part if isinstance(part, Span) else Span(part) for part in parts)


def plain_text(*parts: str | Span) -> Sentences:
    """A text of one sentence that needs no proof."""
    return (DocumentSentence(spans(*parts)),)


def more_pages(count: int) -> str:
    """How many pages stand behind a sentence beyond those that are named."""
    return f"and {count} more page{'' if count == 1 else 's'}"
