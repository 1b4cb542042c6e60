"""The shelf as a model: OpenAI's API, so that Open WebUI and any chat client can ask it."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import AsyncGenerator, Callable, Iterator
from hashlib import sha256
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from sse_starlette import ServerSentEvent

from kiwiresearch.ids import canonical_json
from kiwiresearch.web.chat_body import OFFERED, Asked, CompletionBody, Offered, asked_of
from kiwiresearch.web.chat_errors import ChatRoute, error_record, unknown_model
from kiwiresearch.web.chat_reply import Envelope, Record, Writer
from kiwiresearch.web.replies import Json
from kiwiresearch.web.room import Room
from kiwiresearch.web.streams import LINE_END, Slots, flowing, sse_response

Clock = Callable[[], float]

LAST = "[DONE]"
STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {"schema": {"type": "string"}},
        },
        "description": "A `chat.completion`, or with `stream` its chunks and then `[DONE]`. "
        "Token counts are estimates. `sources` stands beside the choices; in a stream, sources are events.",
    }
}


# Clients of this API want a date on all that they get: it is told, and nothing depends on it.
def router(room: Room, now: Clock = time.time) -> APIRouter:  # noqa: TID251
    """Models that are ways to ask the shelf, and conversations with them."""
    routes = APIRouter(prefix="/v1", tags=["openai"], route_class=ChatRoute)
    chats = Chats(room, now)

    @routes.get("/models", response_class=Json)
    def models() -> Json:
        """List the ways to ask: by mode, or without a language model."""
        return Json({"object": "list", "data": [_model(offered, now) for offered in OFFERED.values()]})

    @routes.get("/models/{model}", response_class=Json)
    def model(model: str) -> Response:
        """Tell of one of them."""
        return Json(_model(OFFERED[model], now)) if model in OFFERED else unknown_model(model, OFFERED)

    @routes.post("/chat/completions", response_class=Response, responses=STREAMED)
    async def chat_completions(body: CompletionBody) -> Response:
        """Answer the last user message from the books."""
        return await chats.reply(body)

    return routes


class Chats:
    """Conversations on their way; how many at once is bounded."""

    def __init__(self, room: Room, now: Clock) -> None:
        self._room = room
        self._now = now
        self._slots = Slots(room.desk.settings.serve.at_once)
        self._count = itertools.count(1)

    async def reply(self, body: CompletionBody) -> Response:
        offered = body.offered()
        if offered is None:
            return unknown_model(body.model, OFFERED)
        asked = asked_of(body, offered)
        writer = self._writer(body, asked)
        if body.stream:
            return await self._streamed(self._chunks(writer, asked))
        if asked.reply is not None:
            return Json(writer.plain(asked.reply))
        async with contextlib.aclosing(flowing(self._slots.holding(self._events(asked)))) as flow:
            return Json(writer.whole([event async for event in flow]))

    def _events(self, asked: Asked) -> Iterator[Any]:
        return self._room.asker.events(asked.question, asked.wish)

    def _chunks(self, writer: Writer, asked: Asked) -> Iterator[Record]:
        if asked.reply is not None:
            return writer.plain_chunks(asked.reply)
        return writer.chunks(self._events(asked))

    async def _streamed(self, chunks: Iterator[Record]) -> Response:
        """The first chunk is awaited here, so that what goes wrong before it still has a status of its own."""
        flow = flowing(self._slots.holding(chunks))
        first = await anext(flow)
        return sse_response(_told(first, flow))

    def _writer(self, body: CompletionBody, asked: Asked) -> Writer:
        created = int(self._now())
        named = f"{next(self._count)}\n{created}\n{asked.question}".encode("utf-8", "replace")
        envelope = Envelope(f"chatcmpl-{sha256(named).hexdigest()[:24]}", created, body.model)
        return Writer(envelope, self._room.link, self._room.page_url, asked.texts, body.with_usage)


async def _told(first: Record, flow: AsyncGenerator[Record, None]) -> AsyncGenerator[ServerSentEvent, None]:
    async with contextlib.aclosing(flow):
        try:
            yield _data(first)
            async for chunk in flow:
                yield _data(chunk)
        except Exception as problem:  # the status is sent already, so the client hears of it here
            yield _data(error_record(problem))
        yield ServerSentEvent(LAST, sep=LINE_END)


def _data(record: Record) -> ServerSentEvent:
    return ServerSentEvent(canonical_json(record).encode("utf-8", "replace").decode("utf-8"), sep=LINE_END)


def _model(offered: Offered, now: Clock) -> Record:
    return {"id": offered.id, "object": "model", "created": int(now()), "owned_by": "kiwiresearch"}
