"""The first page: one box that tells what is meant, what was done lately, the shelf, and the state of things."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Form, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from kiwiresearch.research.finished import FinishedRun
from kiwiresearch.research.job import FamilyWish, Job, JobWish
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.research.policy import left_out
from kiwiresearch.web.bodies import Words
from kiwiresearch.web.desk.pages import Pages, go_to
from kiwiresearch.web.desk.questions import Questions
from kiwiresearch.web.desk.state import Surroundings
from kiwiresearch.web.desk.telling import Told, address_for, offers, tell, ways_open
from kiwiresearch.web.room import Room

MOST_RUNS = 6
MOST_QUESTIONS = 8

Choice = Literal["auto", "ask", "research", "find", "family"]


def _left_out(room: Room) -> int:
    """How many books of the shelf the policy of the desk does not allow."""
    policy = room.desk.settings.policy
    return len(left_out(room.desk.shelf_file.books(), policy)) if policy.books else 0


def _choices() -> tuple[Choice, ...]:
    return ("auto", *ways_open())


class Wanted(BaseModel):
    """What the box sends."""

    q: Words = ""
    way: Choice = "auto"
    live: bool = False
    model: bool = False

    @property
    def script(self) -> dict[str, str]:
        """What a script adds, to be passed on to the page that answers."""
        return {name: "on" for name, is_on in (("live", self.live), ("model", self.model)) if is_on}


@dataclass(frozen=True, slots=True)
class Recent:
    """A piece of work that was done here, or goes on."""

    name: str
    """The topic; empty for work on a family, which is named nowhere."""
    state: str
    address: str
    at: str = ""
    pages: int = 0


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:
    """The first page, where its box leads, and how questions are forgotten."""
    routes = APIRouter(include_in_schema=False)
    questions, around, runs = Questions(room.desk), Surroundings(room), jobs.runs

    @routes.api_route("/", methods=["GET", "HEAD"])
    def home(request: Request) -> Response:
        return pages.show(
            request,
            "home.html",
            choices=_choices(),
            left_out=_left_out(room),
            recent=recent(jobs.all(), runs.all()),
            questions=questions.latest(MOST_QUESTIONS),
            keeps_questions=questions.is_kept,
            books=around.books(),
            titles=[book.title or book.name for book in room.shelf.books],
            model=around.model(),
            has_model=around.has_model,
            is_sample=room.shelf.is_sample,
            missing=room.shelf.missing,
        )

    def led(request: Request, wanted: Wanted) -> Response:
        place = _place(room, wanted)
        if isinstance(place, str):
            return go_to(place)
        words = wanted.q.strip()
        values: dict[str, Any] = {"words": words, "told": place, "offers": offers(words), "has_model": around.has_model}
        return pages.show(request, "home_go.html", choices=_choices(), **values)

    @routes.get("/go")
    def go(request: Request, wanted: Annotated[Wanted, Query()]) -> Response:
        return led(request, wanted)

    @routes.post("/go")
    def went(request: Request, wanted: Annotated[Wanted, Form()]) -> Response:
        return led(request, wanted)

    @routes.post("/questions/forget")
    def forget() -> Response:
        questions.forget()
        return go_to("/")

    return routes


def recent(jobs: list[Job], runs: list[FinishedRun]) -> tuple[Recent, ...]:
    """The latest work, the newest first; runs that were put there by other means come last."""
    known = {job.id for job in jobs}
    ours = [_of_job(job) for job in jobs]
    others = [_of_run(run) for run in runs if run.id not in known]
    return tuple([*ours, *others][:MOST_RUNS])


def _of_job(job: Job) -> Recent:
    is_family = isinstance(job.wish, FamilyWish)
    is_run = job.state == "done" and isinstance(job.wish, JobWish)
    address = f"/runs/{quote(job.id)}" if is_run else f"/research/{quote(job.id)}"
    return Recent("" if is_family else job.wish.name, job.state, address, job.ended_at or job.asked_at, job.pages)


def _of_run(run: FinishedRun) -> Recent:
    pages = run.manifest.get("pages")
    address = f"/runs/{quote(run.id, errors='replace')}"
    name = str(run.manifest.get("topic") or run.id)
    return Recent(name, "done", address, pages=pages if isinstance(pages, int) else 0)


def _place(room: Room, wanted: Wanted) -> str | Told:
    """Where words lead: a question to its answer, other words to a search; a name leaves the choice to the reader."""
    words = wanted.q.strip()
    if not words:
        return "/"
    if wanted.way != "auto":
        return address_for(wanted.way, words, **(wanted.script if wanted.way == "ask" else {}))
    told = tell(room, words)
    if told.kind == "question":
        return address_for("ask", words, via="go", **wanted.script)
    return told if told.kind == "name" else address_for("find", words, via="go")
