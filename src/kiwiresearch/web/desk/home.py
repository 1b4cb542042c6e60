"""The home page: the box, recent work, the shelf and the model; and where words typed into the box lead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from kiwiresearch.jobs import FamilyRequest, Job, JobQueue, ResearchRequest
from kiwiresearch.runs import Run
from kiwiresearch.web.addresses import job_address, run_address
from kiwiresearch.web.bodies import Words
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.intent import Intent, action_address, allowed_actions, intent_of, other_actions
from kiwiresearch.web.desk.pages import Pages, redirect
from kiwiresearch.web.desk.questions import QuestionHistory
from kiwiresearch.web.desk.shelf import DeskState
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.workspace import hidden_books

MAX_RUNS = 6
MAX_QUESTIONS = 8

Choice = Literal["auto", "ask", "research", "find", "family"]


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
    """The topic; empty for work on a family, whose name must not be shown here."""
    state: str
    address: str
    at: str = ""
    pages: int = 0


def router(room: ServerContext, jobs: JobQueue, pages: Pages) -> APIRouter:
    """The home page, its box, and the button that clears the questions."""
    routes = RoleRouter("reader", include_in_schema=False)
    questions, around, runs = QuestionHistory(room.workspace), DeskState(room), jobs.runs

    @routes.api_route("/", methods=["GET", "HEAD"])
    def home(request: Request) -> Response:
        policy = room.workspace.settings.policy
        return pages.show(
            request,
            "home.html",
            choices=_choices(),
            left_out=len(hidden_books(room.workspace.shelf_file.books(), policy)) if policy.books else 0,
            recent=recent_work(jobs.all(), runs.all()),
            questions=questions.latest(MAX_QUESTIONS),
            keeps_questions=questions.is_on,
            books=around.books(),
            titles=[book.title or book.name for book in room.shelf.books],
            model=around.model(),
            has_model=around.has_model,
            is_sample=room.shelf.is_sample,
            missing=room.shelf.missing,
        )

    @routes.get("/go")
    def go(request: Request, wanted: Annotated[BoxQuery, Query()]) -> Response:
        place = _destination(room, wanted)
        if isinstance(place, str):
            return redirect(place)
        words = wanted.q.strip()
        return pages.show(
            request,
            "home_choice.html",
            choices=_choices(),
            words=words,
            intent=place,
            offers=other_actions(words),
            has_model=around.has_model,
        )

    @routes.post("/go")
    def go_by_form(request: Request, wanted: Annotated[BoxQuery, Form()]) -> Response:
        return go(request, wanted)

    @routes.post("/questions/forget")
    def forget() -> Response:
        questions.forget()
        return redirect("/")

    return routes


def recent_work(jobs: list[Job], runs: list[Run]) -> tuple[RecentWork, ...]:
    """The latest work, the newest first; runs that no job made come last."""
    known = {job.id for job in jobs}
    others = [
        RecentWork(run.topic or run.id, "done", run_address(run.id), pages=run.manifest.page_count)
        for run in runs
        if run.id not in known
    ]
    return tuple([*map(_of_job, jobs), *others][:MAX_RUNS])


def _of_job(job: Job) -> RecentWork:
    is_family = isinstance(job.request, FamilyRequest)
    is_run = job.state == "done" and isinstance(job.request, ResearchRequest)
    address = run_address(job.id) if is_run else job_address(job.id)
    return RecentWork(
        "" if is_family else job.request.name, job.state, address, job.ended_at or job.asked_at, job.pages
    )


def _destination(room: ServerContext, wanted: BoxQuery) -> str | Intent:
    """Where words lead: a question to its answer, other words to a search; for a name the reader chooses."""
    words = wanted.q.strip()
    if not words:
        return "/"
    if wanted.way != "auto":
        return action_address(wanted.way, words, **(wanted.script if wanted.way == "ask" else {}))
    intent = intent_of(room, words)
    if intent.kind == "question":
        return action_address("ask", words, via="go", **wanted.script)
    return intent if intent.kind == "name" else action_address("find", words, via="go")
