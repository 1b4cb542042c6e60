"""Routes that answer questions: as a stream of events with the citations first, or as one document."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response
from sse_starlette import ServerSentEvent

from kiwiresearch.ask import (
    Answer,
    AnswerRecord,
    AnswerText,
    Done,
    Event,
    EvidenceFound,
    Preview,
    Thought,
    answer_record,
)
from kiwiresearch.web.bodies import AskBody, AskQuery, ChatBody, PageAskBody, QuestionOptions
from kiwiresearch.web.book_pages import page_at
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import RoleRouter, requires_role
from kiwiresearch.web.problems import logged_problem
from kiwiresearch.web.replies import Json
from kiwiresearch.web.streams import StreamSlots, sse_event, stream_in_thread, stream_response

EVENT_STREAM = "text/event-stream"

EVENT_DOC: dict[str, Any] = {
    "itemSchema": {
        "type": "object",
        "properties": {
            "event": {"type": "string", "enum": ["citations", "reasoning", "token", "done", "error"]},
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
        "model": AnswerRecord,
        "description": f"The answer; or as a stream: {STREAM_DESCRIPTION}",
        "content": {EVENT_STREAM: EVENT_DOC},
    }
}

Accept = Annotated[str, Header(include_in_schema=False)]


def router(context: ServerContext) -> APIRouter:
    """Questions about the shelf, or about one page."""
    routes = RoleRouter("reader", prefix="/api", tags=["ask"])
    replies = AnswerResponder(context)

    @routes.post("/ask", response_class=Json, responses=DOCUMENT_OR_STREAM)
    @requires_role("reader", "ask")
    async def ask(body: AskBody, accept: Accept = "") -> Response:
        """Answer a question from the books."""
        return await replies.respond(body, accept)

    @routes.get("/ask", response_class=Json, responses=DOCUMENT_OR_STREAM)
    @requires_role("reader", "ask")
    async def ask_by_address(query: Annotated[AskQuery, Query()], accept: Accept = "") -> Response:
        """Answer a question from the books, for browsers and EventSource."""
        return await replies.respond(query, accept)

    @routes.post("/chat", response_class=Response, responses=STREAMED)
    @requires_role("reader", "ask")
    async def chat(body: ChatBody) -> Response:
        """Answer a question from the books as a stream, always."""
        return await replies.stream(context.asker.events(body.question, body.options()))

    @routes.post("/answer_from_page", response_class=Response, responses=STREAMED)
    @requires_role("reader", "ask")
    async def answer_from_page(body: PageAskBody) -> Response:
        """Answer a question from one page only, as a stream."""
        return await replies.stream(_page_events(context, body))

    return routes


class AnswerResponder:
    """Sends answers; limits how many are made at once."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._slots = StreamSlots(context.workspace.settings.serve.at_once)

    async def respond(self, body: QuestionOptions, accept: str) -> Response:
        """A stream or a document, as the client prefers."""
        events = self._context.asker.events(body.question, body.options())
        # `stream` in the body decides; the header only if the body leaves it open.
        wants_stream = EVENT_STREAM in accept.lower() if body.stream is None else body.stream
        return await (self.stream(events) if wants_stream else self.document(events))

    async def document(self, events: Iterator[Event]) -> Response:
        async with contextlib.aclosing(stream_in_thread(self._slots.occupy(events))) as flow:
            answers = [event.answer async for event in flow if isinstance(event, Done)]
        return Json(self._record(answers[-1]))

    async def stream(self, events: Iterator[Event]) -> Response:
        return await stream_response(self._slots.occupy(events), self._to_sse, _sse_error)

    def _to_sse(self, event: Event) -> ServerSentEvent:
        match event:
            case Preview(answer) | EvidenceFound(answer):
                return sse_event("citations", self._record(answer).found)
            case Thought(text):
                return sse_event("reasoning", {"text": text})
            case AnswerText(text):
                return sse_event("token", {"text": text})
            case Done(answer):
                return sse_event("done", self._record(answer))

    def _record(self, answer: Answer) -> AnswerRecord:
        return answer_record(answer, self._context.citation_url)


def _sse_error(problem: Exception) -> ServerSentEvent:
    return sse_event("error", logged_problem(problem).record())


def _page_events(context: ServerContext, body: PageAskBody) -> Iterator[Event]:
    """The answer from one page, which is looked up in the thread that answers, since books are slow."""
    with context.locked_finder() as finder:
        place = page_at(finder, body.path, body.book)
    options = replace(body.options(), page=place.path, book=place.book.book.id)
    yield from context.asker.events(body.question, options)
