"""Routes that answer questions, as a stream of events with the citations first or as one document, and their models."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response
from sse_starlette import ServerSentEvent

from kiwiresearch.ask.answer import (
    Answer,
    AnswerText,
    Done,
    Event,
    EvidenceFound,
    PassageKind,
    Preview,
    Route,
    Thought,
    Verdict,
)
from kiwiresearch.ask.formats import record_of
from kiwiresearch.ask.settings import AskOptions, Mode
from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.web.bodies import AskBody, AskQuery, ChatBody, PageAskBody, QuestionOptions
from kiwiresearch.web.book_pages import page_at
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.problems import logged_problem
from kiwiresearch.web.replies import Json, MissingReply, SenseReply
from kiwiresearch.web.streams import StreamSlots, sse_event, sse_response, stream_in_thread


@dataclass(frozen=True, slots=True)
class CitationReply(Record):
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
class PassageReply(Record):
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
class ConflictReply(Record):
    """Two passages that do not agree."""

    kind: str
    a: str
    b: str
    a_quote: str
    b_quote: str
    words: str
    """The disagreement in a sentence."""


@dataclass(frozen=True, slots=True)
class BookNoteReply(Record):
    """A book that an answer was taken from."""

    id: str
    name: str
    title: str
    date: str
    flavour: str
    language: str


@dataclass(frozen=True, slots=True)
class AnswerLineReply(Record):
    """A sentence of an answer and the ids of the citations it rests on."""

    text: str
    citations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LookedReply(Record):
    """A page that was looked at."""

    book_id: str
    path: str
    title: str
    score: float


@dataclass(frozen=True, slots=True)
class DroppedReply(Record):
    """Something a model said that is not shown, and why."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class FoundReply(Record):
    """The data of the event `citations`: what is known before the first word of the answer."""

    citations: tuple[CitationReply, ...]
    route: Route
    """Which step of the search gave the answer; `none` is a refusal."""
    why: str
    """Why this step, in a sentence."""
    books: tuple[BookNoteReply, ...]
    passages: tuple[PassageReply, ...]
    """What was read closest, best first."""
    conflicts: tuple[ConflictReply, ...]
    grounded: bool
    """Whether the books hold an answer. `false` is a refusal, or general words."""


@dataclass(frozen=True, slots=True)
class AnswerReply(FoundReply):
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
    closest: tuple[CitationReply, ...]
    """Where nothing is claimed to answer: the sentences that come closest, best first."""
    senses: tuple[SenseReply, ...]
    """What else a name in the question may mean."""
    book_date: str
    """The date of the book, where the question is about the present."""
    lines: tuple[AnswerLineReply, ...]
    pages: tuple[str, ...]
    """Paths of the pages that were looked at, best first."""
    looked: tuple[LookedReply, ...]
    notices: tuple[str, ...]
    """What a reader should know beside the answer."""
    mode: Mode
    model: str
    """The model that put it into words; empty where the words are the page's own."""
    reader: str
    """The reading model that chose the sentences; empty where words alone did."""
    dropped: tuple[DroppedReply, ...]
    missing: tuple[MissingReply, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    """There only where a host that has books is away."""


EVENT_STREAM = "text/event-stream"
FOUND_FIELDS = tuple(one.name for one in fields(FoundReply))

EVENT_NAMES = ("citations", "reasoning", "token", "done", "error")

EVENT_DOC: dict[str, Any] = {
    "itemSchema": {
        "type": "object",
        "properties": {
            "event": {"type": "string", "enum": list(EVENT_NAMES)},
            "data": {"type": "string", "contentMediaType": "application/json"},
        },
        "required": ["event", "data"],
    }
}
STREAM_DESCRIPTION = (
    "The events `citations` (once, first), `reasoning` and `token` (any number), "
    "then `done` with the whole answer, or `error` with a problem."
)
STREAMED: dict[int | str, dict[str, Any]] = {
    200: {"description": STREAM_DESCRIPTION, "content": {EVENT_STREAM: EVENT_DOC}}
}
DOCUMENT_OR_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "model": AnswerReply,
        "description": f"The answer; or as a stream: {STREAM_DESCRIPTION}",
        "content": {EVENT_STREAM: EVENT_DOC},
    }
}

Accept = Annotated[str, Header(include_in_schema=False)]


def router(room: ServerContext) -> APIRouter:
    """Questions to the shelf and to single pages."""
    routes = APIRouter(prefix="/api", tags=["ask"])
    replies = AnswerResponder(room)

    @routes.post("/ask", response_class=Json, responses=DOCUMENT_OR_STREAM)
    async def ask(body: AskBody, accept: Accept = "") -> Response:
        """Answer a question from the books."""
        return await replies.respond(body, accept)

    @routes.get("/ask", response_class=Json, responses=DOCUMENT_OR_STREAM)
    async def ask_by_address(query: Annotated[AskQuery, Query()], accept: Accept = "") -> Response:
        """Answer a question from the books, for browsers and EventSource."""
        return await replies.respond(query, accept)

    @routes.post("/chat", response_class=Response, responses=STREAMED)
    async def chat(body: ChatBody) -> Response:
        """Answer a question from the books as a stream, always."""
        return await replies.stream(room.asker.events(body.question, body.options()))

    @routes.post("/answer_from_page", response_class=Response, responses=STREAMED)
    async def answer_from_page(body: PageAskBody) -> Response:
        """Answer a question from one page alone, as a stream."""
        return await replies.stream(_page_events(room, body))

    return routes


class AnswerResponder:
    """Answers on their way to clients; how many at once is bounded."""

    def __init__(self, room: ServerContext) -> None:
        self._room = room
        self._slots = StreamSlots(room.desk.settings.serve.at_once)

    async def respond(self, body: QuestionOptions, accept: str) -> Response:
        """A stream or a document, as the client wants it."""
        events = self._room.asker.events(body.question, body.options())
        wants_stream = EVENT_STREAM in accept.lower() if body.stream is None else body.stream
        return await (self.stream(events) if wants_stream else self.document(events))

    async def document(self, events: Iterator[Event]) -> Response:
        async with contextlib.aclosing(stream_in_thread(self._slots.occupy(events))) as flow:
            answers = [event.answer async for event in flow if isinstance(event, Done)]
        return Json(self._record(answers[-1]))

    async def stream(self, events: Iterator[Event]) -> Response:
        """The first event is awaited here, so that what goes wrong before it still has a status of its own."""
        flow = stream_in_thread(self._slots.occupy(events))
        first = await anext(flow)
        return sse_response(self._sse_events(first, flow))

    async def _sse_events(
        self, first: Event, flow: AsyncGenerator[Event, None]
    ) -> AsyncGenerator[ServerSentEvent, None]:
        async with contextlib.aclosing(flow):
            try:
                yield self._sse_event(first)
                async for event in flow:
                    yield self._sse_event(event)
            except Exception as problem:  # the status is sent already: the client hears of it here
                yield sse_event("error", logged_problem(problem).record())

    def _sse_event(self, event: Event) -> ServerSentEvent:
        match event:
            case Preview(answer) | EvidenceFound(answer):
                record = self._record(answer)
                return sse_event("citations", {name: record[name] for name in FOUND_FIELDS})
            case Thought(text):
                return sse_event("reasoning", {"text": text})
            case AnswerText(text):
                return sse_event("token", {"text": text})
            case Done(answer):
                return sse_event("done", self._record(answer))

    def _record(self, answer: Answer) -> dict[str, Any]:
        return record_of(answer, self._room.citation_url)


def _page_events(room: ServerContext, body: PageAskBody) -> Iterator[Event]:
    """The answer from the page of this path; the page is looked up where the work is done, as books are slow."""
    with room.locked_finder() as finder:
        place = page_at(finder, body.path, body.book)
    wish: AskOptions = replace(body.options(), page=place.path, book=place.book.book.id)
    yield from room.asker.events(body.question, wish)
