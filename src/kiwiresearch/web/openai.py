"""The shelf as a model: OpenAI's API for Open WebUI and other chat clients."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from sse_starlette import ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from kiwiresearch.ask import Event
from kiwiresearch.codec import Record
from kiwiresearch.errors import KiwiError
from kiwiresearch.web.chat_replies import ChatReply, ChatWriter
from kiwiresearch.web.chat_requests import (
    MODEL_CHOICES,
    ChatQuestion,
    CompletionBody,
    first_fault,
    read_conversation,
    unreadable_body,
)
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import RoleRouter, requires_role
from kiwiresearch.web.problems import logged_problem, openai_error, openai_error_reply
from kiwiresearch.web.replies import Json
from kiwiresearch.web.streams import LINE_END, StreamSlots, sse_event, stream_in_thread, stream_response

Clock = Callable[[], float]

STREAM_END = ServerSentEvent("[DONE]", sep=LINE_END)
STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/event-stream": {"schema": {"type": "string"}},
        },
        "description": "A `chat.completion`, or with `stream` its chunks and then `[DONE]`. "
        "Token counts are estimates. `sources` is next to the choices; in a stream, sources are events.",
    }
}


@dataclass(frozen=True, slots=True)
class ModelReply(Record):
    """One of the ways to ask the shelf, as a model."""

    id: str
    created: int
    object: Literal["model"] = "model"
    owned_by: str = "kiwiresearch"


@dataclass(frozen=True, slots=True)
class ModelsReply(Record):
    """All of them."""

    data: tuple[ModelReply, ...]
    object: Literal["list"] = "list"


class ChatRoute(APIRoute):
    """A route that reports problems in the form its clients know."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_problems(request: Request) -> Response:
            try:
                return await handle(request)
            except (KiwiError, RequestValidationError, HTTPException) as problem:
                return error_response(problem)

        return handle_problems


def error_response(problem: Exception) -> Response:
    """A problem before the first word, with its own status."""
    if isinstance(problem, RequestValidationError):
        fault = first_fault(problem.errors())
        code = "invalid_value" if fault.place else "invalid_body"
        return Json(openai_error_reply(fault.words, 400, code, fault.place or None), 400)
    if isinstance(problem, HTTPException) and problem.status_code == 400:  # FastAPI could not read the body
        return Json(openai_error_reply(unreadable_body(problem.__cause__), 400, "invalid_body"), 400)
    shown = logged_problem(problem)
    return Json(openai_error(shown), shown.status, headers=dict(shown.headers))


def unknown_model(name: str) -> Response:
    """OpenAI's error for an unknown model name."""
    message = f"The model {name[:100]!r} does not exist. Available models: {', '.join(MODEL_CHOICES)}."
    return Json(openai_error_reply(message, 404, "model_not_found", "model"), 404)


# Clients of this API want a date on everything: nothing depends on it.
def router(context: ServerContext, now: Clock = time.time) -> APIRouter:  # noqa: TID251
    """Models, which are ways to ask the shelf, and conversations with them."""
    routes = RoleRouter("reader", prefix="/v1", tags=["openai"], route_class=ChatRoute)
    chats = Chats(context, now)

    @routes.get("/models", response_class=Json)
    def models() -> Json:
        """List the models to choose from: by mode, or without a language model."""
        return Json(ModelsReply(tuple(ModelReply(name, int(now())) for name in MODEL_CHOICES)))

    @routes.get("/models/{model}", response_class=Json)
    def model(model: str) -> Response:
        """Show one of them."""
        return Json(ModelReply(model, int(now()))) if model in MODEL_CHOICES else unknown_model(model)

    @routes.post("/chat/completions", response_class=Response, responses=STREAMED)
    @requires_role("reader", "ask")
    async def chat_completions(body: CompletionBody) -> Response:
        """Answer the last user message from the books."""
        return await chats.reply(body)

    return routes


class Chats:
    """Replies to conversations; limits how many are made at once."""

    def __init__(self, context: ServerContext, now: Clock) -> None:
        self._context = context
        self._now = now
        self._slots = StreamSlots(context.workspace.settings.serve.at_once)
        self._count = itertools.count(1)

    async def reply(self, body: CompletionBody) -> Response:
        choice = MODEL_CHOICES.get(body.model)
        if choice is None:
            return unknown_model(body.model)
        asked = read_conversation(body, choice)
        writer = self._writer(body, asked)
        if body.stream:
            chunks = self._slots.occupy(self._chunks(writer, asked))
            return await stream_response(chunks, lambda chunk: sse_event(None, chunk), _sse_error, STREAM_END)
        if asked.reply is not None:
            return Json(writer.plain_completion(asked.reply))
        async with contextlib.aclosing(stream_in_thread(self._slots.occupy(self._events(asked)))) as flow:
            return Json(writer.completion([event async for event in flow]))

    def _events(self, asked: ChatQuestion) -> Iterator[Event]:
        return self._context.asker.events(asked.question, asked.options)

    def _chunks(self, writer: ChatWriter, asked: ChatQuestion) -> Iterator[ChatReply]:
        if asked.reply is not None:
            return writer.plain_chunks(asked.reply)
        return writer.chunks(self._events(asked))

    def _writer(self, body: CompletionBody, asked: ChatQuestion) -> ChatWriter:
        created = int(self._now())
        # Unique without a random number: the count differs for each reply of this process.
        named = f"{next(self._count)}\n{created}\n{asked.question}".encode("utf-8", "replace")
        chat_id = f"chatcmpl-{sha256(named).hexdigest()[:24]}"
        links = self._context.citation_url, self._context.page_url
        return ChatWriter(chat_id, created, body.model, *links, asked.texts, body.with_usage)


def _sse_error(problem: Exception) -> ServerSentEvent:
    return sse_event(None, openai_error(logged_problem(problem)))
