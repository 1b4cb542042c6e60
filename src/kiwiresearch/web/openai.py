"""The shelf as a model: OpenAI's API for Open WebUI and other chat clients."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from fastapi import APIRouter
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from sse_starlette import ServerSentEvent
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from kiwiresearch.ask.answer import Answer, AnswerCitation, AnswerText, Done, Event, EvidenceFound, Preview, Thought
from kiwiresearch.ask.formats import CitationLink, body_markdown, defused, footer_markdown, markdown_of
from kiwiresearch.ask.presentation import numbered
from kiwiresearch.errors import KiwiError
from kiwiresearch.evidence import PageAddress
from kiwiresearch.llm.model import estimate_prompt, estimate_tokens
from kiwiresearch.web.chat_requests import (
    MODEL_CHOICES,
    ChatQuestion,
    CompletionBody,
    ModelChoice,
    first_fault,
    read_conversation,
    unreadable_body,
)
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard.roles import RoleRouter, allow
from kiwiresearch.web.problems import logged_problem, openai_error
from kiwiresearch.web.replies import Json
from kiwiresearch.web.streams import LINE_END, StreamSlots, sse_event, sse_response, stream_in_thread

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


class ChatRoute(APIRoute):
    """A route whose problems are told in the form its clients know."""

    def get_route_handler(self) -> Endpoint:
        answer = super().get_route_handler()

        async def told(request: Request) -> Response:
            try:
                return await answer(request)
            except (KiwiError, RequestValidationError, HTTPException) as problem:
                return error_response(problem)

        return told


def error_response(problem: Exception) -> Response:
    """A problem before the first word: with a status of its own."""
    if isinstance(problem, RequestValidationError):
        wrong = first_fault(problem.errors())
        return Json(
            _error(wrong.words, 400, "invalid_value" if wrong.place else "invalid_body", wrong.place or None), 400
        )
    if isinstance(problem, HTTPException) and problem.status_code == 400:  # which reading a body ends in
        return Json(_error(unreadable_body(problem.__cause__), 400, "invalid_body"), 400)
    told = logged_problem(problem)
    return Json(openai_error(told), told.status, headers=dict(told.headers))


def error_record(problem: Exception) -> dict[str, Any]:
    """A problem in the midst of a stream; one that nobody foresaw is told to the server's log."""
    return openai_error(logged_problem(problem))


def unknown_model(name: str, known: Iterable[str]) -> Response:
    """What OpenAI's API says to a name it does not know."""
    message = f"The model {name[:100]!r} does not exist. Known are: {', '.join(known)}."
    return Json(_error(message, 404, "model_not_found", "model"), 404)


def _error(message: str, status: int, code: str, param: str | None = None) -> dict[str, Any]:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Envelope:
    """What every chunk of one reply carries."""

    id: str
    created: int
    model: str

    def chunk(self, delta: Record, *, finish: str | None = None, **extra: Any) -> Record:
        """A chunk; one that only carries an event has an empty delta, since many clients read `choices[0]` unasked."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return self._of("chat.completion.chunk", [choice]) | extra

    def usage(self, count: Record) -> Record:
        return self._of("chat.completion.chunk", []) | {"usage": count}

    def completion(self, message: Record, count: Record, sources: Sequence[Record]) -> Record:
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return self._of("chat.completion", [choice]) | {"usage": count, "sources": list(sources)}

    def _of(self, kind: str, choices: list[Record]) -> Record:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model, "choices": choices}


@dataclass(frozen=True, slots=True)
class ChatWriter:
    """Turns the events of an answer into what chat clients read."""

    envelope: Envelope
    link: CitationLink
    address: PageAddress
    texts: tuple[str, ...] = ()
    with_usage: bool = False

    def completion(self, events: Iterable[Event]) -> Record:
        """The answer in one piece."""
        thoughts = ""
        answer = None
        for event in events:
            match event:
                case Thought(text):
                    thoughts += text
                case Done(done):
                    answer = done
        assert answer is not None
        content = markdown_of(answer, self.link, self.address)
        message: Record = {"role": "assistant", "content": content, "refusal": None}
        if thoughts:
            message["reasoning_content"] = thoughts
        return self.envelope.completion(message, usage_of(self.texts, content), sources_of(answer, self.link))

    def plain_completion(self, content: str) -> Record:
        """A reply that no book was opened for."""
        message = {"role": "assistant", "content": content, "refusal": None}
        return self.envelope.completion(message, usage_of(self.texts, content), ())

    def chunks(self, events: Iterable[Event]) -> Iterator[Record]:
        """Sources first, then the words, then what stands below them.

        Words of a book are given with their numbers when the answer is whole. A model may cite what was
        offered first, under its number; a page that it fetched on the way comes when it is done.
        """
        make, said, ruled = self.envelope.chunk, "", ""
        sent: set[str] = set()
        for event in events:
            match event:
                case EvidenceFound(found):
                    ruled = found.text
                    yield make({"role": "assistant", "content": ""}, event=_status(found))
                    sent = {cited.key for cited in found.citations}
                    yield from (make({}, event=_event("source", row)) for row in sources_of(found, self.link))
                case Preview():
                    pass  # clients add each source to those before it, and cannot take one back
                case Thought(text):
                    yield make({"reasoning_content": text})
                case AnswerText(text) if text != ruled or said:
                    said += text
                    yield make({"content": defused(text)})
                case Done(answer):
                    rows = [row for row in sources_of(answer, self.link) if row["source"]["id"] not in sent]
                    yield from (make({}, event=_event("source", row)) for row in rows)
                    words = "" if said else body_markdown(answer)
                    rest = [words, footer_markdown(answer, self.link, self.address)]
                    yield from (make({"content": part}) for part in rest if part)
                    yield from self._end(said + "".join(rest))

    def plain_chunks(self, content: str) -> Iterator[Record]:
        yield self.envelope.chunk({"role": "assistant", "content": content})
        yield from self._end(content)

    def _end(self, content: str) -> Iterator[Record]:
        yield self.envelope.chunk({}, finish="stop")
        if self.with_usage:
            yield self.envelope.usage(usage_of(self.texts, content))


def usage_of(texts: Iterable[str], content: str) -> Record:
    """Tokens, estimated: the books are not read in tokens, and clients want a number."""
    prompt, completion = estimate_prompt(texts), estimate_tokens(content)
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def sources_of(answer: Answer, link: CitationLink) -> list[Record]:
    """The citations as Open WebUI reads them, in the order of their numbers.

    It takes sources of one id, and numbers of one name, for the same: so both differ for each. An address
    as id would be shown in place of the name; `source_url` is what it opens, without asking anybody on
    the internet for an icon.
    """
    names: dict[str, int] = {}
    rows = []
    for source in numbered(answer):
        name = source.cited.citation.words
        names[name] = names.get(name, 0) + 1
        shown = f"{name} ({names[name]})" if names[name] > 1 else name
        rows.append(_source(source.cited, shown, link(source.cited)))
    return rows


def _source(cited: AnswerCitation, name: str, url: str) -> Record:
    citation, book = cited.citation, cited.book
    return {
        "source": {"id": cited.key, "name": name, "url": url},
        "document": [citation.quote.text],
        "metadata": [
            {
                "source": cited.key,
                "source_url": url,
                "name": name,
                "title": citation.title,
                "section": citation.section,
                "book": book.title or book.name,
                "date": book.date,
                "flavour": book.flavour,
            }
        ],
    }


def _status(found: Answer) -> Record:
    pages = ", ".join(dict.fromkeys(passage.title for passage in found.passages))
    told = f"{found.why} Read: {pages}." if pages else found.why
    return _event("status", {"description": told, "done": True})


def _event(kind: str, data: Record) -> Record:
    return {"type": kind, "data": data}


Clock = Callable[[], float]

DONE_MARK = "[DONE]"
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
def router(room: ServerContext, now: Clock = time.time) -> APIRouter:  # noqa: TID251
    """Models that are ways to ask the shelf, and conversations with them."""
    routes = RoleRouter("reader", prefix="/v1", tags=["openai"], route_class=ChatRoute)
    chats = Chats(room, now)

    @routes.get("/models", response_class=Json)
    def models() -> Json:
        """List the ways to ask: by mode, or without a language model."""
        return Json({"object": "list", "data": [_model(offered, now) for offered in MODEL_CHOICES.values()]})

    @routes.get("/models/{model}", response_class=Json)
    def model(model: str) -> Response:
        """Tell of one of them."""
        return (
            Json(_model(MODEL_CHOICES[model], now)) if model in MODEL_CHOICES else unknown_model(model, MODEL_CHOICES)
        )

    @routes.post("/chat/completions", response_class=Response, responses=STREAMED)
    @allow("reader", "ask")
    async def chat_completions(body: CompletionBody) -> Response:
        """Answer the last user message from the books."""
        return await chats.reply(body)

    return routes


class Chats:
    """Conversations on their way; how many at once is bounded."""

    def __init__(self, room: ServerContext, now: Clock) -> None:
        self._room = room
        self._now = now
        self._slots = StreamSlots(room.desk.settings.serve.at_once)
        self._count = itertools.count(1)

    async def reply(self, body: CompletionBody) -> Response:
        offered = body.choice()
        if offered is None:
            return unknown_model(body.model, MODEL_CHOICES)
        asked = read_conversation(body, offered)
        writer = self._writer(body, asked)
        if body.stream:
            return await self._streamed(self._chunks(writer, asked))
        if asked.reply is not None:
            return Json(writer.plain_completion(asked.reply))
        async with contextlib.aclosing(stream_in_thread(self._slots.occupy(self._events(asked)))) as flow:
            return Json(writer.completion([event async for event in flow]))

    def _events(self, asked: ChatQuestion) -> Iterator[Any]:
        return self._room.asker.events(asked.question, asked.wish)

    def _chunks(self, writer: ChatWriter, asked: ChatQuestion) -> Iterator[Record]:
        if asked.reply is not None:
            return writer.plain_chunks(asked.reply)
        return writer.chunks(self._events(asked))

    async def _streamed(self, chunks: Iterator[Record]) -> Response:
        """The first chunk is awaited here, so that what goes wrong before it still has a status of its own."""
        flow = stream_in_thread(self._slots.occupy(chunks))
        first = await anext(flow)
        return sse_response(_sse_events(first, flow))

    def _writer(self, body: CompletionBody, asked: ChatQuestion) -> ChatWriter:
        created = int(self._now())
        named = f"{next(self._count)}\n{created}\n{asked.question}".encode("utf-8", "replace")
        envelope = Envelope(f"chatcmpl-{sha256(named).hexdigest()[:24]}", created, body.model)
        return ChatWriter(envelope, self._room.citation_url, self._room.page_url, asked.texts, body.with_usage)


async def _sse_events(first: Record, flow: AsyncGenerator[Record, None]) -> AsyncGenerator[ServerSentEvent, None]:
    async with contextlib.aclosing(flow):
        try:
            yield sse_event(None, first)
            async for chunk in flow:
                yield sse_event(None, chunk)
        except Exception as problem:  # the status is sent already, so the client hears of it here
            yield sse_event(None, error_record(problem))
        yield ServerSentEvent(DONE_MARK, sep=LINE_END)


def _model(offered: ModelChoice, now: Clock) -> Record:
    return {"id": offered.id, "object": "model", "created": int(now()), "owned_by": "kiwiresearch"}
