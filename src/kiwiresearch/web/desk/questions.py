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

from kiwiresearch.ask.answer import Answer, AnswerText, Done, Event, EvidenceFound, Preview, Thought
from kiwiresearch.ask.settings import AskOptions, ConversationTurn
from kiwiresearch.errors import CannotWrite, KiwiError
from kiwiresearch.ids import canonical_json
from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.messages.catalogue import Catalogue
from kiwiresearch.runs.journal import cannot_write
from kiwiresearch.system import FileLock, write_atomically
from kiwiresearch.text.display import printable
from kiwiresearch.text.languages import three_letter_code
from kiwiresearch.web.bodies import MAX_WORDS, Name, Words, has_words
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.answers import answer_as_text, answer_view, further_reading
from kiwiresearch.web.desk.intent import guess_language, other_actions
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.shelf import BookChoices
from kiwiresearch.web.guard.identity import current_visitor
from kiwiresearch.web.guard.roles import RoleRouter, allow
from kiwiresearch.web.problems import logged_problem, problem_of
from kiwiresearch.web.streams import StreamSlots, sse_event, sse_response, stream_in_thread
from kiwiresearch.workspace.workspace import Workspace

MAX_QUESTIONS = 50
MAX_QUESTION_CHARS = 300
"""A longer question is not kept: it is a text, and no line of a list."""

FILE = "questions.jsonl"
LOCK = ".questions.lock"
USERS = "questions"
TIMEOUT_S = 1.0


class QuestionHistory:
    """What was asked in the browser, the newest first; a file that cannot be read or written costs the list alone.

    Where a token is set, nothing is kept: several people share such a server,
    and what one of them asks is no other's business. Users have a list each.
    """

    def __init__(self, desk: Workspace) -> None:
        serve = desk.settings.serve
        self.is_kept = serve.remember_questions and not serve.token
        self._folder: Path = desk.folders.state

    @property
    def _file(self) -> Path:
        who = current_visitor()
        if not who.name:
            return self._folder / FILE
        told = f"{who.name}\n{who.since}".encode("utf-8", "replace")
        return self._folder / USERS / f"{sha256(told).hexdigest()[:32]}.jsonl"

    def add(self, question: str) -> None:
        """Keep a question, once."""
        if not self.is_kept or not question.strip() or len(question) > MAX_QUESTION_CHARS:
            return
        with self._locked() as is_alone:
            if is_alone:
                others = [one for one in self._all() if one.casefold() != question.casefold()]
                self._write([question, *others][:MAX_QUESTIONS])

    def latest(self, count: int) -> tuple[str, ...]:
        """The newest questions."""
        return tuple(self._all()[:count]) if self.is_kept else ()

    def forget(self) -> None:
        """Forget all of them; where that cannot be done, their reader is told."""
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
        """Whether nobody else changes the file, in this server or another: what one forgets, none writes back."""
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
"""So much of an earlier answer goes along: who or what it named stands in its beginning."""
MAX_TURNS_IN_ADDRESS = 4_000
"""Letters of an address that earlier turns may take; the oldest give way."""

EarlierAnswer = Annotated[str, Field(max_length=MAX_EARLIER_ANSWER)]


class QuestionForm(BaseModel):
    """What the page to ask on is opened with."""

    q: Words = ""
    model: bool = False
    """Whether a model may put the answer into words."""
    live: bool = False
    """Whether a script will show the answer as it comes."""
    via: Name = ""
    """`go` where the first page's box led here."""
    page: Name = ""
    """Answer from this page alone."""
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
        """Where the same is asked again without a script, with `own_words` without a model as well."""
        given = [("q", self.q), ("page", self.page), ("book", self.book)]
        given += [("model", "on" if self.model and not own_words else "")]
        return f"/ask?{urlencode([row for row in given if row[1]] + turn_fields(self.turns), errors='replace')}"

    def after(self, answer: Answer) -> tuple[ConversationTurn, ...]:
        """The conversation that the next question continues: as much of it as an address can bear.

        What was said is put into one line: a browser sends a line's end as two characters, which would make it longer
        than it may be.
        """
        said = printable(answer.text)[:MAX_EARLIER_ANSWER]
        last = ConversationTurn(answer.question[:MAX_WORDS], answer.subject[:MAX_EARLIER_ANSWER], said)
        turns = (*self.turns, last)[-MAX_TURNS:]
        while len(turns) > 1 and len(urlencode(turn_fields(turns), errors="replace")) > MAX_TURNS_IN_ADDRESS:
            turns = turns[1:]
        return turns


def turn_fields(turns: tuple[ConversationTurn, ...]) -> list[tuple[str, str]]:
    """A conversation as the fields of a form."""
    return [
        field for turn in turns for field in (("before", turn.question), ("about", turn.subject), ("said", turn.answer))
    ]


EMPTY_PAGE: dict[str, Any] = {"one": None, "problem": None, "offers": ()}


def router(room: ServerContext, jobs: JobQueue, pages: Pages) -> APIRouter:  # noqa: ARG001 (as all parts of the desk are made)
    """The page at /ask, and the stream that its script reads."""
    routes = RoleRouter("reader", include_in_schema=False)
    shown = QuestionPages(room, pages, QuestionHistory(room.desk))
    routes.get("/ask")(shown.page)
    routes.post("/ask/stream")(shown.stream)
    return routes


class QuestionPages:
    """Answers as pages and as parts of pages."""

    def __init__(self, room: ServerContext, pages: Pages, questions: QuestionHistory) -> None:
        self._room = room
        self._pages = pages
        self._questions = questions
        self._slots = StreamSlots(room.desk.settings.serve.at_once)
        self._books = BookChoices(room)
        self._has_model = bool(room.desk.settings.model_url.strip())

    @allow("reader", "ask")
    def page(self, request: Request, asked: Annotated[QuestionForm, Query()]) -> Response:
        """The box; with a question, its answer below, or the place where a script will show it."""
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
        """The same as events; what goes wrong before the first one still has a status of its own."""
        events = self._room.asker.events(asked.q, asked.options(with_model=asked.model))
        flow = stream_in_thread(self._slots.occupy(self._page_events(request, asked, events)))
        return sse_response(_whole_stream(await anext(flow), flow, catalogue_for(request)))

    def _show(self, request: Request, asked: QuestionForm, *, status: int = 200, **values: Any) -> Response:
        known = EMPTY_PAGE | {"asked": asked, "has_model": self._has_model, "fields": turn_fields(asked.turns)}
        return self._pages.show(request, "ask.html", status=status, **(known | values))

    def _values(self, request: Request, asked: QuestionForm, answer: Answer) -> dict[str, Any]:
        """What the part of the page shows that holds the answer; the question counts as asked from here on."""
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
        """The languages of the books where a question seems to be in none of them: what they hold is not found so."""
        languages = self._books.languages()
        return () if guess_language(question, three_letter_code(reader)) in languages else languages

    def _page_events(self, request: Request, asked: QuestionForm, events: Iterator[Event]) -> Iterator[ServerSentEvent]:
        for event in events:
            match event:
                case Preview(answer) | EvidenceFound(answer):
                    one = answer_view(answer, self._room)
                    told = {"html": self._pages.render(request, "ask_chips.html", sources=one.sources)}
                    if asked.model and self._has_model and one.lines:
                        told["meanwhile"] = self._pages.render(request, "ask_preview.html", one=one)
                    yield sse_event("chips", told)
                case AnswerText(text):
                    yield sse_event("token", {"text": text})
                case Done(answer):
                    values = self._values(request, asked, answer) | {"asked": asked, "has_model": self._has_model}
                    yield sse_event("done", {"html": self._pages.render(request, "ask_answer.html", **values)})
                case Thought():
                    pass


async def _whole_stream(
    first: ServerSentEvent, flow: AsyncGenerator[ServerSentEvent, None], words: Catalogue
) -> AsyncGenerator[ServerSentEvent, None]:
    async with contextlib.aclosing(flow):
        try:
            yield first
            async for event in flow:
                yield event
        except Exception as problem:  # the status is sent already: the reader hears of it here
            told = logged_problem(problem)
            data = {"detail": told.detail, "remedy": told.remedy}
            if told.log_id:
                data |= {"id": told.log_id, "told": words("problems.id", id=told.log_id)}
            yield sse_event("error", data)
