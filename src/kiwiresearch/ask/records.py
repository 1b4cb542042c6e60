"""An answer as it is written to JSON: by the command, by the server, and in the rows of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from kiwiresearch.ask.answer import (
    Answer,
    AnswerBook,
    AnswerCitation,
    DroppedSentence,
    PassageKind,
    Route,
    Verdict,
)
from kiwiresearch.ask.formats import CitationLink
from kiwiresearch.ask.settings import Mode
from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.search import SenseRecord
from kiwiresearch.zim import MissingBooks


@dataclass(frozen=True, slots=True)
class CitationRecord(Record):
    """Where an answer was taken from: the page's own words, and where they are read."""

    id: str
    """The key that the answer's lines use."""
    number: int
    """The number it goes by in the answer's text."""
    title: str
    """The page's title."""
    url: str
    """Opens the page with the quoted words marked."""
    snippet: str
    """The passage around the quote."""
    book: str
    """The book's name."""
    book_id: str
    """The book's UUID."""
    date: str
    """When the book was made."""
    flavour: str
    """What the book leaves out, such as `nopic`."""
    path: str
    section: str
    """The heading that the quote stands below; empty in the introduction."""
    anchor: str
    quote: str
    """The page's words, letter by letter."""
    start: int
    """Where the quote begins in the `plain_text` of the page."""
    end: int
    sha: str
    """A short hash of the quote."""


@dataclass(frozen=True, slots=True)
class PassageRecord(Record):
    """A part of a page that was read closely."""

    id: str
    book_id: str
    path: str
    title: str
    section: str
    anchor: str
    kind: PassageKind
    """Running text, a row of a table, or a row of an infobox."""
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ConflictRecord(Record):
    """Two passages that do not agree."""

    kind: str
    a: str
    b: str
    a_quote: str
    b_quote: str
    words: str
    """The disagreement in a sentence."""


@dataclass(frozen=True, slots=True)
class AnswerLineRecord(Record):
    """A sentence of an answer and the ids of the citations it rests on."""

    text: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExaminedRecord(Record):
    """A page that was looked at."""

    book_id: str
    path: str
    title: str
    score: float


@dataclass(frozen=True, slots=True)
class FoundRecord(Record):
    """The data of the event `citations`: what is known before the first word of the answer."""

    citations: tuple[CitationRecord, ...]
    route: Route
    """Which step of the search gave the answer; `none` is a refusal."""
    why: str
    """Why this step, in a sentence."""
    books: tuple[AnswerBook, ...]
    passages: tuple[PassageRecord, ...]
    """What was read closest, best first."""
    conflicts: tuple[ConflictRecord, ...]
    grounded: bool
    """Whether the books hold an answer. `false` is a refusal, or general words."""


@dataclass(frozen=True, slots=True)
class AnswerRecord(FoundRecord):
    """An answer with its citations, or the reason why there is none."""

    question: str
    asked: str
    """The question as it was understood: a follow-up with its subject put in."""
    subject: str
    """What it is about, for the next question of the conversation."""
    answer: str
    """The answer; empty where there is none."""
    short: str
    """The few words that are the answer, where they can be read off."""
    verdict: Verdict
    """The answer to a question for yes or no, where the text bears it out."""
    chosen: str
    """Of two things that are compared, the one that the figures cited for both give."""
    sure: float
    """How often answers with such evidence were right, from 0 to 1."""
    closest: tuple[CitationRecord, ...]
    """Where nothing is claimed to answer: the sentences that come closest, best first."""
    senses: tuple[SenseRecord, ...]
    """What else a name in the question may mean."""
    book_date: str
    """The date of the book, where the question is about the present."""
    lines: tuple[AnswerLineRecord, ...]
    pages: tuple[str, ...]
    """Paths of the pages that were looked at, best first."""
    looked: tuple[ExaminedRecord, ...]
    notices: tuple[str, ...]
    """What a reader should know beside the answer."""
    mode: Mode
    model: str
    """The model that put it into words; empty where the words are the page's own."""
    reader: str
    """The reading model that chose the sentences; empty where words alone did."""
    dropped: tuple[DroppedSentence, ...]
    missing: tuple[MissingBooks, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    """There only where a host that has books is away."""

    @property
    def found(self) -> FoundRecord:
        """What was known before the first word."""
        return FoundRecord(*(getattr(self, one.name) for one in fields(FoundRecord)))


def record_of(answer: Answer, link: CitationLink) -> AnswerRecord:
    """Everything about an answer, best first wherever there is an order."""
    return AnswerRecord(
        question=answer.question,
        asked=answer.asked,
        subject=answer.subject,
        route=answer.route,
        why=answer.why,
        grounded=answer.grounded,
        answer=answer.text,
        short=answer.short,
        verdict=answer.verdict,
        chosen=answer.chosen,
        sure=round(answer.sure, 2),
        lines=tuple(AnswerLineRecord(line.text, tuple(line.keys)) for line in answer.lines),
        citations=tuple(_citation(cited, link) for cited in answer.citations),
        closest=tuple(_citation(cited, link) for cited in answer.closest),
        senses=tuple(sense.record() for sense in answer.senses),
        book_date=answer.present.date if answer.present else "",
        passages=tuple(PassageRecord(one.key, one.ref.book, one.ref.path, *one[1:]) for one in answer.passages),
        pages=tuple(page.ref.path for page in answer.pages),
        looked=tuple(
            ExaminedRecord(page.ref.book, page.ref.path, page.title, round(page.score, 2)) for page in answer.pages
        ),
        conflicts=tuple(
            ConflictRecord(one.kind, one.a_key, one.b_key, one.a_quote, one.b_quote, one.words)
            for one in answer.conflicts
        ),
        books=answer.books,
        notices=answer.notices,
        mode=answer.mode,
        model=answer.model,
        reader=answer.reader,
        dropped=answer.dropped,
        missing=answer.missing or None,
    )


def _citation(cited: AnswerCitation, link: CitationLink) -> CitationRecord:
    citation, quote = cited.citation, cited.citation.quote
    return CitationRecord(
        cited.key,
        cited.number,
        citation.title,
        link(cited),
        cited.snippet,
        cited.book.name,
        quote.ref.book,
        cited.book.date,
        cited.book.flavour,
        quote.ref.path,
        citation.section,
        citation.anchor,
        quote.text,
        quote.start,
        quote.end,
        quote.sha,
    )
