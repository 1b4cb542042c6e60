"""The home page: the box, the visitor's recent work, the shelf and the model; and where typed words lead."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import KiwiError
from kiwiresearch.jobs import FamilyRequest, Job, JobQueue, ResearchRequest
from kiwiresearch.runs import Run
from kiwiresearch.web.addresses import job_address, page_address, run_address
from kiwiresearch.web.bodies import MAX_WORDS, Name, Words
from kiwiresearch.web.book_pages import books_named
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.browser import browser_of, is_own
from kiwiresearch.web.desk.covers import picture_address
from kiwiresearch.web.desk.examples import Examples
from kiwiresearch.web.desk.explore import ExplorePages
from kiwiresearch.web.desk.pages import PageRenderer, redirect
from kiwiresearch.web.desk.question_history import QuestionHistory
from kiwiresearch.web.desk.research import family_names
from kiwiresearch.web.desk.shelf import DeskState
from kiwiresearch.web.desk.typed_words import Action, Intent, action_address, allowed_actions, intent_of, other_actions
from kiwiresearch.web.families import Families
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.workspace import hidden_books
from kiwiresearch.zim import EntryRef

MAX_RUNS = 6
MAX_BOOKS = 6
MAX_RANDOM_TRIES = 20
"""Neighbours that are tried if a random title leads nowhere."""

Choice = Literal["auto", "ask", "research", "find", "family"]
QuestionPlace = Annotated[Literal["/", "/ask"], Form()]
"""The pages that list questions, to which their forms lead back."""


def _choices() -> tuple[Choice, ...]:
    return ("auto", *allowed_actions())


class BoxQuery(BaseModel):
    """What the form of the box sends."""

    q: Words = ""
    way: Choice = "auto"
    live: bool = False
    model: bool = False

    @property
    def script(self) -> dict[str, str]:
        """Parameters that the script adds, to be passed on to the page that answers."""
        return {name: "on" for name, is_on in (("live", self.live), ("model", self.model)) if is_on}


@dataclass(frozen=True, slots=True)
class RecentWork:
    """A job or a run in the list of recent work."""

    name: str
    """The topic; empty for work on a family, whose name depends on who reads it."""
    state: str
    address: str
    at: str = ""
    pages: int = 0
    family: JsonDict | None = None
    """The family, with the names that the visitor may read."""
    picture: str = ""
    """Where the lead picture of the topic's own page is; empty if the run is not finished or has no such page."""


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The home page, its box, and the button that clears the questions."""
    routes = RoleRouter("reader", include_in_schema=False)
    questions, desk_state, runs = QuestionHistory(context.workspace), DeskState(context), jobs.runs
    explore, examples, families = ExplorePages(context, pages), Examples(context), Families(context, jobs)

    @routes.api_route("/", methods=["GET", "HEAD"])
    def home(request: Request) -> Response:
        policy, all_runs = context.workspace.settings.policy, runs.all()
        return pages.show(
            request,
            "home.html",
            choices=_choices(),
            examples=[example for example in examples.latest() if example.kind in allowed_actions()],
            max_books=MAX_BOOKS,
            left_out=len(hidden_books(context.workspace.shelf_file.books(), policy)) if policy.books else 0,
            recent=recent_work(families, request, jobs_of_visitor(jobs, browser_of(request)), all_runs),
            has_research=bool(all_runs),
            questions=questions.recent(browser_of(request)),
            keeps_questions=questions.is_on,
            books=None if (books := desk_state.books()) is None else list(books),
            titles=[book.title or book.name for book in context.shelf.books],
            model=desk_state.model(),
            has_model=desk_state.has_model,
            is_sample=context.shelf.is_sample,
            missing=context.shelf.missing,
            day_events=explore.today_on_home(),
        )

    @routes.get("/go")
    def go(request: Request, wanted: Annotated[BoxQuery, Query()]) -> Response:
        place = _destination(context, wanted)
        if isinstance(place, str):
            return redirect(place)
        words = wanted.q.strip()
        return pages.show(
            request,
            "home_choice.html",
            choices=_choices(),
            words=words,
            intent=place,
            offers=_offers(words, place),
            has_model=desk_state.has_model,
        )

    @routes.post("/go")
    def go_by_form(request: Request, wanted: Annotated[BoxQuery, Form()]) -> Response:
        return go(request, wanted)

    @routes.get("/random")
    def random_page(book: Annotated[Name, Query()] = "") -> Response:
        return redirect(_random_address(context, book))

    @routes.post("/questions/forget")
    def forget(request: Request, back: QuestionPlace = "/") -> Response:
        questions.forget(browser_of(request))
        return redirect(f"{back}?deleted=questions.all")

    @routes.post("/questions/delete")
    def delete_question(
        request: Request, q: Annotated[str, Form(max_length=MAX_WORDS)] = "", back: QuestionPlace = "/"
    ) -> Response:
        questions.delete(q, browser_of(request))
        return redirect(f"{back}?deleted=questions.one")

    @routes.post("/questions/restore")
    def restore_questions(request: Request, back: QuestionPlace = "/") -> Response:
        questions.restore(browser_of(request))
        return redirect(back)

    return routes


def jobs_of_visitor(jobs: JobQueue, browser: str) -> list[Job]:
    """The jobs that the visitor started and has not archived, the newest first."""
    archived = jobs.removed.ids("run", "archived")
    return [job for job in jobs.all() if job.id not in archived and is_own(job, browser)]


def recent_work(families: Families, request: Request, jobs: list[Job], runs: list[Run]) -> tuple[RecentWork, ...]:
    """The first jobs of a list as the page shows them."""
    finished = {run.id: run for run in runs} if jobs else {}
    named = family_names(families, request, jobs[:MAX_RUNS])
    return tuple(_of_job(job, finished.get(job.id), named.get(job.id)) for job in jobs[:MAX_RUNS])


def _of_job(job: Job, run: Run | None, family: JsonDict | None) -> RecentWork:
    is_family = isinstance(job.request, FamilyRequest)
    is_run = job.state == "done" and isinstance(job.request, ResearchRequest)
    is_early = is_run and isinstance(job.request, ResearchRequest) and job.request.read_no_more
    address = run_address(job.id) if is_run else job_address(job.id)
    return RecentWork(
        "" if is_family else job.request.name,
        "stopped_early" if is_early else job.state,
        address,
        job.ended_at or job.asked_at,
        job.pages,
        family,
        picture_address(head) if (head := EntryRef.parse(run.manifest.head_page) if run else None) else "",
    )


def _random_address(context: ServerContext, name: str) -> str:
    """The address of a random article; the home page if no book here can list its articles."""
    with context.locked_finder() as finder:
        books = books_named(finder, name)
        first = secrets.randbelow(len(books)) if books else 0
        for book in (*books[first:], *books[:first]):
            # Books of other servers cannot list their titles, and a policy may hide the page that was drawn.
            with contextlib.suppress(KiwiError):
                start = secrets.randbelow(max(book.book.articles, 1))
                for entry in islice(book.archive.titles(start), MAX_RANDOM_TRIES):
                    if (path := book.archive.resolve(entry.path)) is not None:
                        return page_address(book.ref(path))
    return "/"


def _destination(context: ServerContext, wanted: BoxQuery) -> str | Intent:
    """Where words lead: a question to its answer, other words to a search; for a name the reader chooses."""
    words = wanted.q.strip()
    if not words:
        return "/"
    if wanted.way != "auto":
        return action_address(wanted.way, words, **(wanted.script if wanted.way == "ask" else {}))
    intent = intent_of(context, words)
    if intent.kind == "question":
        return action_address("ask", words, via="go", **wanted.script)
    if intent.kind in {"name", "request"}:
        return intent
    return action_address("find", intent.request.subject if intent.request else words, via="go")


def _offers(words: str, intent: Intent) -> tuple[tuple[Action, str], ...]:
    """What can be done with the words besides reading the page, or getting what was requested."""
    if intent.request is None:
        return other_actions(words, person=words if intent.is_person else "")
    return other_actions(intent.request.subject, excluding=intent.request.thing)
