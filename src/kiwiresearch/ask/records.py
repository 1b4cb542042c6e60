"""An answer as it is written to JSON: by the command, by the server, and in the rows of a batch."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from kiwiresearch.ask.answer import (
    Answer,
    AnswerBook,
    AnswerCitation,
    PassageKind,
    RejectedSentence,
    Route,
    YesNo,
)
from kiwiresearch.ask.formats import CitationLink
from kiwiresearch.ask.settings import AskMode
from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.search import SenseRecord
from kiwiresearch.zim import MissingBooks


@dataclass(frozen=True, slots=True)
class CitationRecord(Record):
    """The source of an answer: the quote, and where to read it."""

    id: str
    """The ID that the answer's lines use."""
    number: int
    """Its number in the answer's text."""
    title: str
    """The page's title."""
    url: str
    """Opens the page with the quote highlighted."""
    snippet: str
    """The passage around the quote."""
    book: str
    """The book's name."""
    book_id: str
    """The book's UUID."""
    date: str
    """The date of the book."""
    flavour: str
    """What the book does not include, such as `nopic`."""
    path: str
    section: str
    """The heading above the quote; empty in the introduction."""
    anchor: str
    quote: str
    """The page's text, letter by letter."""
    start: int
    """Where the quote starts in the `plain_text` of the page."""
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
class DisagreementRecord(Record):
    """Two passages that disagree."""

    kind: str
    a: str
    b: str
    a_quote: str
    b_quote: str
    words: str
    """The disagreement in a sentence."""


@dataclass(frozen=True, slots=True)
class AnswerLineRecord(Record):
    """A sentence of an answer and the IDs of its citations."""

    text: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExaminedRecord(Record):
    """A page that was considered."""

    book_id: str
    path: str
    title: str
    score: float


@dataclass(frozen=True, slots=True)
class FoundRecord(Record):
    """The data of the event `citations`: what is known before the first word of the answer."""

    citations: tuple[CitationRecord, ...]
    route: Route
    """Which step of the search found the answer; `none` is a refusal."""
    why: str
    """Why this step, in a sentence."""
    books: tuple[AnswerBook, ...]
    passages: tuple[PassageRecord, ...]
    """The passages that were read most closely, best first."""
    conflicts: tuple[DisagreementRecord, ...]
    grounded: bool
    """Whether the books have an answer. `false` is a refusal, or a general reply by a model."""


@dataclass(frozen=True, slots=True)
class AnswerRecord(FoundRecord):
    """An answer with its citations, or the reason why there is none."""

    question: str
    asked: str
    """The question as it was understood: a follow-up with its subject."""
    subject: str
    """What it is about, for the next question of the conversation."""
    answer: str
    """The answer; empty if there is none."""
    short: str
    """The short answer, if there is one."""
    verdict: YesNo
    """The answer to a yes-or-no question, if the text supports one."""
    chosen: str
    """If two things are compared, the one that the cited figures give."""
    sure: float
    """How often answers with similar evidence were right, from 0 to 1."""
    closest: tuple[CitationRecord, ...]
    """If there is no answer: the closest sentences, best first."""
    senses: tuple[SenseRecord, ...]
    """Other meanings of a name in the question."""
    book_date: str
    """The date of the book, if the question is about the present."""
    lines: tuple[AnswerLineRecord, ...]
    pages: tuple[str, ...]
    """Paths of the pages that were considered, best first."""
    looked: tuple[ExaminedRecord, ...]
    notices: tuple[str, ...]
    """What a reader should know in addition to the answer."""
    mode: AskMode
    model: str
    """The model that wrote it; empty if the text is the page's own."""
    reader: str
    """The reading model that chose the sentences; empty if they were chosen by words alone."""
    dropped: tuple[RejectedSentence, ...]
    missing: tuple[MissingBooks, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    """Present only if a host with books is offline."""

    @property
    def found(self) -> FoundRecord:
        """What was known before the first word."""
        return FoundRecord(*(getattr(self, item.name) for item in fields(FoundRecord)))


def answer_record(answer: Answer, link: CitationLink) -> AnswerRecord:
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
        sure=round(answer.confidence, 2),
        lines=tuple(AnswerLineRecord(line.text, tuple(line.keys)) for line in answer.lines),
        citations=tuple(_citation(cited, link) for cited in answer.citations),
        closest=tuple(_citation(cited, link) for cited in answer.closest),
        senses=tuple(sense.record() for sense in answer.senses),
        book_date=answer.as_of_book.date if answer.as_of_book else "",
        passages=tuple(
            PassageRecord(passage.key, passage.ref.book, passage.ref.path, *passage[1:]) for passage in answer.passages
        ),
        pages=tuple(page.ref.path for page in answer.pages),
        looked=tuple(
            ExaminedRecord(page.ref.book, page.ref.path, page.title, round(page.score, 2)) for page in answer.pages
        ),
        conflicts=tuple(
            DisagreementRecord(
                conflict.kind, conflict.a_key, conflict.b_key, conflict.a_quote, conflict.b_quote, conflict.words
            )
            for conflict in answer.conflicts
        ),
        books=answer.books,
        notices=answer.notices,
        mode=answer.mode,
        model=answer.model,
        reader=answer.reader,
        dropped=answer.rejected,
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
