"""Pages to ask on: the whole answer at once, or its sources first and its words as they come."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from sse_starlette import ServerSentEvent
from starlette.responses import Response

from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.events import Done, Event, Found, Glance, Thought, Token
from kiwiresearch.errors import KiwiError
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.text.languages import three_letter_code
from kiwiresearch.web.bodies import has_words
from kiwiresearch.web.desk.answers import shown, to_copy
from kiwiresearch.web.desk.asked import Asked, fields_of
from kiwiresearch.web.desk.books_here import BooksHere
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.questions import Questions
from kiwiresearch.web.desk.read_on import read_on
from kiwiresearch.web.desk.telling import language_of, offers
from kiwiresearch.web.desk.words import Words, words_for
from kiwiresearch.web.problems import problem_of, unexpected
from kiwiresearch.web.room import Room
from kiwiresearch.web.streams import Slots, flowing, sse_event, sse_response

NOTHING: dict[str, Any] = {"one": None, "problem": None, "offers": ()}


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:  # noqa: ARG001 (as all parts of the desk are made)
    """The page at /ask, and the stream that its script reads."""
    routes = APIRouter(include_in_schema=False)
    desk = AskDesk(room, pages, Questions(room.desk))

    @routes.get("/ask")
    def ask(request: Request, asked: Annotated[Asked, Query()]) -> Response:
        return desk.page(request, asked)

    @routes.post("/ask/stream")
    async def stream(request: Request, asked: Annotated[Asked, Form()]) -> Response:
        return await desk.stream(request, asked)

    return routes


class AskDesk:
    """Answers as pages and as parts of pages."""

    def __init__(self, room: Room, pages: Pages, questions: Questions) -> None:
        self._room = room
        self._pages = pages
        self._questions = questions
        self._slots = Slots(room.desk.settings.serve.at_once)
        self._books = BooksHere(room)
        self._has_model = bool(room.desk.settings.model_url.strip())

    def page(self, request: Request, asked: Asked) -> Response:
        """The box; with a question, its answer below, or the place where a script will show it."""
        led = offers(asked.q, but="ask") if asked.via and asked.q else ()
        if not asked.q.strip() or (asked.live and has_words(asked.q)):
            return self._show(request, asked, offers=led)
        try:
            answer = self._room.asker.ask(asked.q, asked.wish(with_model=asked.model))
        except KiwiError as error:
            problem = problem_of(error)
            return self._show(request, asked, status=problem.status, problem=problem, offers=led)
        return self._show(request, asked, offers=led, **self._values(request, asked, answer))

    async def stream(self, request: Request, asked: Asked) -> Response:
        """The same as events; what goes wrong before the first one still has a status of its own."""
        events = self._room.asker.events(asked.q, asked.wish(with_model=asked.model))
        flow = flowing(self._slots.holding(self._told(request, asked, events)))
        return sse_response(_flowing_on(await anext(flow), flow, words_for(request)))

    def _show(self, request: Request, asked: Asked, *, status: int = 200, **values: Any) -> Response:
        known = NOTHING | {"asked": asked, "has_model": self._has_model, "fields": fields_of(asked.turns)}
        return self._pages.show(request, "ask.html", status=status, **(known | values))

    def _values(self, request: Request, asked: Asked, answer: Answer) -> dict[str, Any]:
        """What the part of the page shows that holds the answer; the question counts as asked from here on."""
        self._questions.add(answer.asked or answer.question)
        one, t = shown(answer, self._room), words_for(request)
        return {
            "one": one,
            "copy": to_copy(one, t),
            "speak": () if answer.grounded else self._to_speak(answer.question, t.language),
            "more": read_on(self._room, one.sources[0]) if one.sources else None,
            "follow": fields_of(asked.after(answer)),
        }

    def _to_speak(self, question: str, reader: str) -> tuple[str, ...]:
        """The languages of the books where a question seems to be in none of them: what they hold is not found so."""
        languages = self._books.languages()
        return () if language_of(question, three_letter_code(reader)) in languages else languages

    def _told(self, request: Request, asked: Asked, events: Iterator[Event]) -> Iterator[ServerSentEvent]:
        for event in events:
            match event:
                case Glance(answer) | Found(answer):
                    one = shown(answer, self._room)
                    told = {"html": self._pages.drawn(request, "ask_chips.html", sources=one.sources)}
                    if asked.model and self._has_model and one.lines:
                        told["meanwhile"] = self._pages.drawn(request, "ask_meanwhile.html", one=one)
                    yield sse_event("chips", told)
                case Token(text):
                    yield sse_event("token", {"text": text})
                case Done(answer):
                    values = self._values(request, asked, answer) | {"asked": asked, "has_model": self._has_model}
                    yield sse_event("done", {"html": self._pages.drawn(request, "ask_answer.html", **values)})
                case Thought():
                    pass


async def _flowing_on(
    first: ServerSentEvent, flow: AsyncGenerator[ServerSentEvent, None], words: Words
) -> AsyncGenerator[ServerSentEvent, None]:
    async with contextlib.aclosing(flow):
        try:
            yield first
            async for event in flow:
                yield event
        except Exception as problem:  # the status is sent already: the reader hears of it here
            told = unexpected(problem)
            data = {"detail": told.detail, "remedy": told.remedy}
            for name, mark in told.more:
                if name == "id":
                    data |= {"id": mark, "told": words("problems.id", id=mark)}
            yield sse_event("error", data)
