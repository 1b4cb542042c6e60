"""What clients get of an answer, as the OpenAPI shows it: every field of its record."""

from __future__ import annotations

from pydantic import BaseModel, Field

from kiwiresearch.ask.answer import Route, Verdict
from kiwiresearch.ask.passages import Kind
from kiwiresearch.ask.settings import Mode
from kiwiresearch.web.replies import MissingReply, SenseReply


class CitationReply(BaseModel):
    """Where an answer was taken from: the page's own words, and where they are read."""

    id: str = Field(description="The key that the answer's lines use.")
    number: int = Field(description="The number it goes by in the answer's text.")
    title: str = Field(description="The page's title.")
    url: str = Field(description="Opens the page with the quoted words marked.")
    snippet: str = Field(description="The passage around the quote.")
    book: str = Field(description="The book's name.")
    book_id: str = Field(description="The book's UUID.")
    date: str = Field(description="When the book was made.")
    flavour: str = Field(description="What the book leaves out, such as `nopic`.")
    path: str
    section: str = Field(description="The heading that the quote stands below; empty in the introduction.")
    anchor: str
    quote: str = Field(description="The page's words, letter by letter.")
    start: int = Field(description="Where the quote begins in the `plain_text` of the page.")
    end: int
    sha: str = Field(description="A short hash of the quote.")


class PassageReply(BaseModel):
    """A part of a page that was read closely."""

    id: str
    book_id: str
    path: str
    title: str
    section: str
    anchor: str
    kind: Kind = Field(description="Running text, a row of a table, or a row of an infobox.")
    start: int
    end: int
    text: str


class ConflictReply(BaseModel):
    """Two passages that do not agree."""

    kind: str
    a: str
    b: str
    a_quote: str
    b_quote: str
    words: str = Field(description="The disagreement in a sentence.")


class BookNoteReply(BaseModel):
    """A book that an answer was taken from."""

    id: str
    name: str
    title: str
    date: str
    flavour: str
    language: str


class LineReply(BaseModel):
    """A sentence of an answer and the ids of the citations it rests on."""

    text: str
    citations: list[str]


class LookedReply(BaseModel):
    """A page that was looked at."""

    book_id: str
    path: str
    title: str
    score: float


class DroppedReply(BaseModel):
    """Something a model said that is not shown, and why."""

    text: str
    reason: str


class FoundReply(BaseModel):
    """The data of the event `citations`: what is known before the first word of the answer."""

    citations: list[CitationReply]
    route: Route = Field(description="Which step of the search gave the answer; `none` is a refusal.")
    why: str = Field(description="Why this step, in a sentence.")
    books: list[BookNoteReply]
    passages: list[PassageReply] = Field(description="What was read closest, best first.")
    conflicts: list[ConflictReply]
    grounded: bool = Field(description="Whether the books hold an answer. `false` is a refusal, or general words.")


class AnswerReply(FoundReply):
    """An answer with its citations, or the reason why there is none."""

    question: str
    asked: str = Field(description="The question as it was understood: a follow-up with its subject put in.")
    subject: str = Field(description="What it is about, for the next question of the conversation.")
    answer: str = Field(description="The answer; empty where there is none.")
    short: str = Field(description="The few words that are the answer, where they can be read off.")
    verdict: Verdict = Field(description="The answer to a question for yes or no, where the text bears it out.")
    chosen: str = Field(description="Of two things that are compared, the one that the figures cited for both give.")
    sure: float = Field(description="How often answers with such evidence were right, from 0 to 1.")
    closest: list[CitationReply] = Field(
        description="Where nothing is claimed to answer: the sentences that come closest, best first."
    )
    senses: list[SenseReply] = Field(description="What else a name in the question may mean.")
    book_date: str = Field(description="The date of the book, where the question is about the present.")
    lines: list[LineReply]
    pages: list[str] = Field(description="Paths of the pages that were looked at, best first.")
    looked: list[LookedReply]
    notices: list[str] = Field(description="What a reader should know beside the answer.")
    mode: Mode
    model: str = Field(description="The model that put it into words; empty where the words are the page's own.")
    reader: str = Field(description="The reading model that chose the sentences; empty where words alone did.")
    dropped: list[DroppedReply]
    missing: list[MissingReply] | None = Field(None, description="There only where a host that has books is away.")
