"""The pages for questions: the form, the answer at once or as a stream, and the history of questions."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Iterator
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
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
from kiwiresearch.errors import CannotWrite, KiwiError
from kiwiresearch.ids import canonical_json
from kiwiresearch.jobs import JobQueue
from kiwiresearch.messages import Catalogue
from kiwiresearch.runs import cannot_write
from kiwiresearch.system import FileLock, write_atomically
from kiwiresearch.text import printable, three_letter_code
from kiwiresearch.web.bodies import MAX_WORDS, Name, Words, has_words
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.answers import answer_as_text, answer_view, further_reading
from kiwiresearch.web.desk.intent import guess_language, other_actions
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.shelf import BookChoices
from kiwiresearch.web.guard import RoleRouter, allow, current_visitor
from kiwiresearch.web.problems import logged_problem, problem_of
from kiwiresearch.web.streams import StreamSlots, sse_event, sse_response, stream_in_thread
from kiwiresearch.workspace import Workspace

MAX_QUESTIONS = 50
MAX_QUESTION_CHARS = 300
"""Longer questions are not stored: they would not fit a list."""

FILE = "questions.jsonl"
LOCK = ".questions.lock"
USERS = "questions"
TIMEOUT_S = 1.0


class QuestionHistory:
    """Questions asked in the browser, the newest first. If the file fails, the list is lost, not the page.

    With a server token nothing is stored, because several people share such a server and must not see each other's
    questions. Users have a list each.
    """

    def __init__(self, workspace: Workspace) -> None:
        serve = workspace.settings.serve
        self.is_on = serve.remember_questions and not serve.token
        self._folder: Path = workspace.folders.state

    @property
    def _file(self) -> Path:
        who = current_visitor()
        if not who.name:
            return self._folder / FILE
        # With the day of joining, so that a later user of the same name does not see the list of an earlier one.
        key = f"{who.name}\n{who.since}".encode("utf-8", "replace")
        return self._folder / USERS / f"{sha256(key).hexdigest()[:32]}.jsonl"

    def add(self, question: str) -> None:
        """Store a question; one that was asked before moves to the top."""
        if not self.is_on or not question.strip() or len(question) > MAX_QUESTION_CHARS:
            return
        with self._locked() as is_alone:
            if is_alone:
                others = [one for one in self._all() if one.casefold() != question.casefold()]
                self._write([question, *others][:MAX_QUESTIONS])

    def latest(self, count: int) -> tuple[str, ...]:
        """The newest questions."""
        return tuple(self._all()[:count]) if self.is_on else ()

    def forget(self) -> None:
        """Forget all of them; CannotWrite if that fails."""
        if not self._file.exists():
            return
        with self._locked() as is_alone:
            if not is_alone:
                raise CannotWrite("The questions could not be forgotten: their file is in use.", remedy="Try again.")
            try:
                self._file.unlink(missing_ok=True)
            except OSError as problem:
                raise cannot_write(self._file, problem) from problem

    @contextlib.contextmanager
    def _locked(self) -> Iterator[bool]:
        """Lock the file against this server and others; yields whether that worked.

        Without the lock, another server could write back questions that this one has just removed.
        """
        lock, is_alone = FileLock(self._file.with_name(LOCK)), False
        with contextlib.suppress(OSError):
            is_alone = lock.wait(TIMEOUT_S)
        try:
            yield is_alone
        finally:
            lock.release()

    def _all(self) -> list[str]:
        try:
            rows = [json.loads(line) for line in self._file.read_text(encoding="utf-8").splitlines()]
            return [str(row["question"])[:MAX_QUESTION_CHARS] for row in rows[:MAX_QUESTIONS]]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return []

    def _write(self, questions: list[str]) -> None:
        lines = (canonical_json({"question": question}) + "\n" for question in questions)
        with contextlib.suppress(OSError, UnicodeError):
            write_atomically(self._file, "".join(lines))


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
        """The conversation so far, the oldest turn first."""
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


EMPTY_PAGE: dict[str, Any] = {"one": None, "problem": None, "offers": ()}


def router(room: ServerContext, jobs: JobQueue, pages: Pages) -> APIRouter:  # noqa: ARG001 (as all parts of the desk are made)
    """The page at /ask, and the stream that its script reads."""
    routes = RoleRouter("reader", include_in_schema=False)
    shown = QuestionPages(room, pages, QuestionHistory(room.workspace))
    routes.get("/ask")(shown.page)
    routes.post("/ask/stream")(shown.stream)
    return routes


class QuestionPages:
    """Answers as a page, and as a stream of parts of a page."""

    def __init__(self, room: ServerContext, pages: Pages, questions: QuestionHistory) -> None:
        self._room = room
        self._pages = pages
        self._questions = questions
        self._slots = StreamSlots(room.workspace.settings.serve.at_once)
        self._books = BookChoices(room)
        self._has_model = bool(room.workspace.settings.model_url.strip())

    @allow("reader", "ask")
    def page(self, request: Request, asked: Annotated[QuestionForm, Query()]) -> Response:
        """The box, and below it the answer, or an empty place that the script fills."""
        led = other_actions(asked.q, excluding="ask") if asked.via and asked.q else ()
        if not asked.q.strip() or (asked.live and has_words(asked.q)):
            return self._show(request, asked, offers=led)
        try:
            answer = self._room.asker.ask(asked.q, asked.options(with_model=asked.model))
        except KiwiError as error:
            problem = problem_of(error)
            return self._show(request, asked, status=problem.status, problem=problem, offers=led)
        return self._show(request, asked, offers=led, **self._values(request, asked, answer))

    @allow("reader", "ask")
    async def stream(self, request: Request, asked: Annotated[QuestionForm, Form()]) -> Response:
        """The answer as events; an error before the first one still has its own status."""
        events = self._room.asker.events(asked.q, asked.options(with_model=asked.model))
        flow = stream_in_thread(self._slots.occupy(self._page_events(request, asked, events)))
        return sse_response(_with_last_error(await anext(flow), flow, catalogue_for(request)))

    def _show(self, request: Request, asked: QuestionForm, *, status: int = 200, **values: Any) -> Response:
        known = EMPTY_PAGE | {"asked": asked, "has_model": self._has_model, "fields": turn_fields(asked.turns)}
        return self._pages.show(request, "ask.html", status=status, **(known | values))

    def _values(self, request: Request, asked: QuestionForm, answer: Answer) -> dict[str, Any]:
        """The values of the part of the page with the answer; the question is stored as asked."""
        self._questions.add(answer.asked or answer.question)
        one, t = answer_view(answer, self._room), catalogue_for(request)
        return {
            "one": one,
            "copy": answer_as_text(one, t),
            "speak": () if answer.grounded else self._languages_to_suggest(answer.question, t.language),
            "more": further_reading(self._room, one.sources[0]) if one.sources else None,
            "follow": turn_fields(asked.after(answer)),
        }

    def _languages_to_suggest(self, question: str, reader: str) -> tuple[str, ...]:
        """The languages of the books, if the question seems to be in none of them, since then nothing can be found."""
        languages = self._books.languages()
        return () if guess_language(question, three_letter_code(reader)) in languages else languages

    def _page_events(self, request: Request, asked: QuestionForm, events: Iterator[Event]) -> Iterator[ServerSentEvent]:
        for event in events:
            match event:
                case Preview(answer) | EvidenceFound(answer):
                    one = answer_view(answer, self._room)
                    data = {"html": self._pages.render(request, "ask_chips.html", sources=one.sources)}
                    if asked.model and self._has_model and one.lines:
                        data["meanwhile"] = self._pages.render(request, "ask_preview.html", one=one)
                    yield sse_event("chips", data)
                case AnswerText(text):
                    yield sse_event("token", {"text": text})
                case Done(answer):
                    values = self._values(request, asked, answer) | {"asked": asked, "has_model": self._has_model}
                    yield sse_event("done", {"html": self._pages.render(request, "ask_answer.html", **values)})
                case Thought():
                    pass


async def _with_last_error(
    first: ServerSentEvent, flow: AsyncGenerator[ServerSentEvent, None], words: Catalogue
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
                data |= {"id": problem.log_id, "told": words("problems.id", id=problem.log_id)}
            yield sse_event("error", data)
