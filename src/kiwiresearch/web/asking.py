"""Routes that answer questions: as a stream of events with the citations first, or as one document."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response
from sse_starlette import ServerSentEvent

from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.events import Done, Event, Found, Glance, Thought, Token
from kiwiresearch.ask.record import record_of
from kiwiresearch.ask.wish import AskWish
from kiwiresearch.web.answer_replies import AnswerReply, FoundReply
from kiwiresearch.web.bodies import AskBody, AskQuery, ChatBody, Choosing, PageAskBody
from kiwiresearch.web.places import page_at
from kiwiresearch.web.problems import unexpected
from kiwiresearch.web.replies import Json
from kiwiresearch.web.room import Room
from kiwiresearch.web.streams import Slots, flowing, sse_event, sse_response

EVENT_STREAM = "text/event-stream"
FOUND_FIELDS = tuple(FoundReply.model_fields)

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
STREAM_WORDS = (
    "The events `citations` (once, first), `reasoning` and `token` (any number), "
    "then `done` with the whole answer, or `error` with a problem."
)
STREAMED: dict[int | str, dict[str, Any]] = {200: {"description": STREAM_WORDS, "content": {EVENT_STREAM: EVENT_DOC}}}
EITHER: dict[int | str, dict[str, Any]] = {
    200: {
        "model": AnswerReply,
        "description": f"The answer; or as a stream: {STREAM_WORDS}",
        "content": {EVENT_STREAM: EVENT_DOC},
    }
}

Accept = Annotated[str, Header(include_in_schema=False)]


def router(room: Room) -> APIRouter:
    """Questions to the shelf and to single pages."""
    routes = APIRouter(prefix="/api", tags=["ask"])
    replies = Replies(room)

    @routes.post("/ask", response_class=Json, responses=EITHER)
    async def ask(body: AskBody, accept: Accept = "") -> Response:
        """Answer a question from the books."""
        return await replies.to(body, accept)

    @routes.get("/ask", response_class=Json, responses=EITHER)
    async def ask_by_address(query: Annotated[AskQuery, Query()], accept: Accept = "") -> Response:
        """Answer a question from the books, for browsers and EventSource."""
        return await replies.to(query, accept)

    @routes.post("/chat", response_class=Response, responses=STREAMED)
    async def chat(body: ChatBody) -> Response:
        """Answer a question from the books as a stream, always."""
        return await replies.streamed(room.asker.events(body.question, body.wish()))

    @routes.post("/answer_from_page", response_class=Response, responses=STREAMED)
    async def answer_from_page(body: PageAskBody) -> Response:
        """Answer a question from one page alone, as a stream."""
        return await replies.streamed(_from_page(room, body))

    return routes


class Replies:
    """Answers on their way to clients; how many at once is bounded."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._slots = Slots(room.desk.settings.serve.at_once)

    async def to(self, body: Choosing, accept: str) -> Response:
        """A stream or a document, as the client wants it."""
        events = self._room.asker.events(body.question, body.wish())
        wants_stream = EVENT_STREAM in accept.lower() if body.stream is None else body.stream
        return await (self.streamed(events) if wants_stream else self.whole(events))

    async def whole(self, events: Iterator[Event]) -> Response:
        async with contextlib.aclosing(flowing(self._slots.holding(events))) as flow:
            answers = [event.answer async for event in flow if isinstance(event, Done)]
        return Json(self._record(answers[-1]))

    async def streamed(self, events: Iterator[Event]) -> Response:
        """The first event is awaited here, so that what goes wrong before it still has a status of its own."""
        flow = flowing(self._slots.holding(events))
        first = await anext(flow)
        return sse_response(self._told(first, flow))

    async def _told(self, first: Event, flow: AsyncGenerator[Event, None]) -> AsyncGenerator[ServerSentEvent, None]:
        async with contextlib.aclosing(flow):
            try:
                yield self._as_sse(first)
                async for event in flow:
                    yield self._as_sse(event)
            except Exception as problem:  # the status is sent already: the client hears of it here
                yield sse_event("error", unexpected(problem).record())

    def _as_sse(self, event: Event) -> ServerSentEvent:
        match event:
            case Glance(answer) | Found(answer):
                record = self._record(answer)
                return sse_event("citations", {name: record[name] for name in FOUND_FIELDS})
            case Thought(text):
                return sse_event("reasoning", {"text": text})
            case Token(text):
                return sse_event("token", {"text": text})
            case Done(answer):
                return sse_event("done", self._record(answer))

    def _record(self, answer: Answer) -> dict[str, Any]:
        return record_of(answer, self._room.link)


def _from_page(room: Room, body: PageAskBody) -> Iterator[Event]:
    """The answer from the page of this path; the page is looked up where the work is done, as books are slow."""
    with room.reading() as finder:
        place = page_at(finder, body.path, body.book)
    wish: AskWish = replace(body.wish(), page=place.path, book=place.book.book.id)
    yield from room.asker.events(body.question, wish)
