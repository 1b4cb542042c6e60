"""The pages for questions: the form, the answer at once or as a stream, and the history of questions."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterator
from itertools import zip_longest
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from pydantic import BaseModel, Field
from sse_starlette import ServerSentEvent
from starlette.responses import Response

from kiwiresearch.ask import (
    Answer,
    AnswerText,
    AskOptions,
    ConversationTurn,
    Done,
    Event,
    EvidenceFound,
    Preview,
    Thought,
)
from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import KiwiError
from kiwiresearch.jobs import JobQueue
from kiwiresearch.messages import Catalogue
from kiwiresearch.text import is_searchable, printable, three_letter_code
from kiwiresearch.web.bodies import MAX_WORDS, Name, Words
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.answers import answer_as_text, answer_picture, answer_view, further_reading
from kiwiresearch.web.desk.browser import browser_of, browser_to_remember, remember_browser
from kiwiresearch.web.desk.pages import PageRenderer
from kiwiresearch.web.desk.question_history import QuestionHistory
from kiwiresearch.web.desk.shelf import BookChoices
from kiwiresearch.web.desk.typed_words import Action, guess_language, other_actions, person_in
from kiwiresearch.web.guard import RoleRouter, requires_role
from kiwiresearch.web.problems import logged_problem, problem_of
from kiwiresearch.web.streams import StreamSlots, sse_event, sse_response, stream_in_thread

MAX_TURNS = 8
MAX_EARLIER_ANSWER = 300
"""Characters of an earlier answer that are sent along: its beginning names its subject."""
MAX_TURNS_IN_ADDRESS = 4_000
"""Characters that earlier turns may take in an address; the oldest are left out."""

EarlierAnswer = Annotated[str, Field(max_length=MAX_EARLIER_ANSWER)]


class QuestionForm(BaseModel):
    """The query of the page, and what its form sends."""

    q: Words = ""
    model: bool = False
    """Whether a model may write the answer."""
    live: bool = False
    """Whether a script will show the answer as it comes."""
    via: Name = ""
    """`go` if the box of the home page led here."""
    page: Name = ""
    """The page to answer from; empty for all pages."""
    book: Name = ""
    before: Annotated[list[Words], Field(max_length=MAX_TURNS)] = []
    about: Annotated[list[Name], Field(max_length=MAX_TURNS)] = []
    said: Annotated[list[EarlierAnswer], Field(max_length=MAX_TURNS)] = []

    @property
    def turns(self) -> tuple[ConversationTurn, ...]:
        """The conversation so far, oldest first."""
        rows = list(zip_longest(self.before, self.about, self.said, fillvalue=""))
        return tuple(ConversationTurn(*row) for row in rows[: len(self.before)])

    def options(self, *, with_model: bool) -> AskOptions:
        return AskOptions(turns=self.turns, with_model=with_model, page=self.page, book=self.book if self.page else "")

    def address(self, *, own_words: bool = False) -> str:
        """Where the same question is asked without a script, and with `own_words` also without a model."""
        given = [("q", self.q), ("page", self.page), ("book", self.book)]
        given += [("model", "on" if self.model and not own_words else "")]
        return f"/ask?{urlencode([row for row in given if row[1]] + turn_fields(self.turns), errors='replace')}"

    def after(self, answer: Answer) -> tuple[ConversationTurn, ...]:
        """The conversation that the next question continues, as far as it fits into an address.

        An answer is put on one line: browsers send a line break as two characters, which could make it too long.
        """
        said = printable(answer.text)[:MAX_EARLIER_ANSWER]
        last = ConversationTurn(answer.question[:MAX_WORDS], answer.subject[:MAX_EARLIER_ANSWER], said)
        turns = (*self.turns, last)[-MAX_TURNS:]
        while len(turns) > 1 and len(urlencode(turn_fields(turns), errors="replace")) > MAX_TURNS_IN_ADDRESS:
            turns = turns[1:]
        return turns


def turn_fields(turns: tuple[ConversationTurn, ...]) -> list[tuple[str, str]]:
    """A conversation as hidden fields of a form."""
    return [
        field for turn in turns for field in (("before", turn.question), ("about", turn.subject), ("said", turn.answer))
    ]


EMPTY_PAGE: dict[str, Any] = {"answer_view": None, "problem": None, "offers": ()}


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:  # noqa: ARG001 (all desk routers share this signature)
    """The page at /ask, and the stream that its script reads."""
    routes = RoleRouter("reader", include_in_schema=False)
    shown = QuestionPages(context, pages, QuestionHistory(context.workspace))
    routes.get("/ask")(shown.page)
    routes.post("/ask/stream")(shown.stream)
    return routes


class QuestionPages:
    """Answers as a page, and as a stream of parts of a page."""

    def __init__(self, context: ServerContext, pages: PageRenderer, questions: QuestionHistory) -> None:
        self._context = context
        self._pages = pages
        self._questions = questions
        self._slots = StreamSlots(context.workspace.settings.serve.at_once)
        self._books = BookChoices(context)

    @property
    def _has_model(self) -> bool:
        return bool(self._context.workspace.settings.model_url.strip())

    @requires_role("reader", "ask")
    def page(self, request: Request, asked: Annotated[QuestionForm, Query()]) -> Response:
        """The box, and below it the answer, or an empty place that the script fills."""
        browser = browser_to_remember(request)
        reply = self._page(request, asked, browser)
        if asked.q.strip() and self._questions.is_on:
            remember_browser(request, reply, browser)
        return reply

    def _page(self, request: Request, asked: QuestionForm, browser: str) -> Response:
        offers = self._other_readings(asked.q) if asked.via and asked.q else ()
        if not asked.q.strip() or (asked.live and is_searchable(asked.q)):
            return self._show(request, asked, {"offers": offers})
        try:
            answer = self._context.asker.ask(asked.q, asked.options(with_model=asked.model))
        except KiwiError as error:
            problem = problem_of(error)
            return self._show(request, asked, {"problem": problem, "offers": offers}, status=problem.status)
        if not answer.grounded:  # a refusal offers to search itself
            offers = tuple(offer for offer in offers if offer[0] != "find")
        return self._show(request, asked, self._values(request, asked, answer, browser) | {"offers": offers})

    def _other_readings(self, words: str) -> tuple[tuple[Action, str], ...]:
        """What else the words could have meant. The answer itself offers to research its subject."""
        offers = other_actions(words, excluding="ask", person=person_in(self._context, words))
        return tuple(offer for offer in offers if offer[0] != "research")

    @requires_role("reader", "ask")
    async def stream(self, request: Request, asked: Annotated[QuestionForm, Form()]) -> Response:
        """The answer as events; an error before the first one still has its own status."""
        events = self._context.asker.events(asked.q, asked.options(with_model=asked.model))
        flow = stream_in_thread(self._slots.occupy(self._page_events(request, asked, events)))
        return sse_response(_with_last_error(await anext(flow), flow, catalogue_for(request)))

    def _show(self, request: Request, asked: QuestionForm, values: JsonDict, *, status: int = 200) -> Response:
        known = EMPTY_PAGE | {"asked": asked, "has_model": self._has_model, "fields": turn_fields(asked.turns)}
        shown = known | values
        answered = (asked.q.strip(), *([shown["answer_view"].answer.asked] if shown["answer_view"] else ()))
        shown["questions"] = self._questions.recent(browser_of(request), without=answered)
        return self._pages.show(request, "ask.html", shown, status=status)

    def _values(self, request: Request, asked: QuestionForm, answer: Answer, browser: str) -> JsonDict:
        """The values of the part of the page with the answer; the question is stored as asked."""
        self._questions.add(answer.asked or answer.question, browser)
        view, t = answer_view(answer, self._context), catalogue_for(request)
        return {
            "answer_view": view,
            "copy": answer_as_text(view, t),
            "suggested_languages": () if answer.grounded else self._languages_to_suggest(answer.question, t.language),
            "picture": answer_picture(self._pages.pictures, view),
            "of_several": len(self._context.shelf.books) > 1,
            "more": further_reading(self._context, view.sources[0]) if view.sources else None,
            "follow": turn_fields(asked.after(answer)),
            "fields": turn_fields(asked.turns),
        }

    def _languages_to_suggest(self, question: str, reader: str) -> tuple[str, ...]:
        """The languages of the books, if the question seems to be in none of them, since then nothing can be found."""
        languages = self._books.languages()
        return () if guess_language(question, three_letter_code(reader)) in languages else languages

    def _page_events(self, request: Request, asked: QuestionForm, events: Iterator[Event]) -> Iterator[ServerSentEvent]:
        for event in events:
            match event:
                case Preview(answer) | EvidenceFound(answer):
                    view = answer_view(answer, self._context)
                    data = {"html": self._pages.render(request, "ask_chips.html", places=view.places)}
                    if asked.model and self._has_model and view.lines:
                        data["meanwhile"] = self._pages.render(request, "ask_preview.html", answer_view=view)
                    yield sse_event("chips", data)
                case AnswerText(text):
                    yield sse_event("token", {"text": text})
                case Done(answer):
                    values = self._values(request, asked, answer, browser_of(request))
                    values |= {"asked": asked, "has_model": self._has_model}
                    yield sse_event("done", {"html": self._pages.render(request, "ask_answer.html", **values)})
                case Thought():
                    pass


async def _with_last_error(
    first: ServerSentEvent, flow: AsyncGenerator[ServerSentEvent, None], catalogue: Catalogue
) -> AsyncGenerator[ServerSentEvent, None]:
    async with contextlib.aclosing(flow):
        try:
            yield first
            async for event in flow:
                yield event
        except Exception as error:  # the status is already sent, so the error is sent as an event
            problem = logged_problem(error)
            data = {"detail": problem.detail, "remedy": problem.remedy}
            if problem.log_id:
                data |= {"id": problem.log_id, "reference": catalogue("problems.id", id=problem.log_id)}
            yield sse_event("error", data)
