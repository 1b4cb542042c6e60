"""Pages of research: the form that begins a run, all work and all runs, and how a job comes along."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request
from starlette.responses import Response

from kiwiresearch.errors import KiwiError
from kiwiresearch.research.job import FamilyWish, Job
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web import starting
from kiwiresearch.web.desk.books_here import BooksHere
from kiwiresearch.web.desk.job_view import MOST_SHOWN, JobView, JobViews
from kiwiresearch.web.desk.pages import Pages, go_to
from kiwiresearch.web.desk.research_form import Fault, Offer, ResearchForm, ResearchQuery, checked
from kiwiresearch.web.desk.run_frame import frames_of
from kiwiresearch.web.family import Families
from kiwiresearch.web.problems import Problem, problem_of
from kiwiresearch.web.replies import Json
from kiwiresearch.web.room import Room

ROWS = 20
MOST_TO_COMPARE = 100
"""How many runs, the newest, the two lists offer from which runs are compared."""

JobId = Annotated[str, Path(max_length=200)]
Switch = Annotated[int, Query(ge=0, le=1)]


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:
    """The form, the lists, and the page of a job."""
    routes = APIRouter(include_in_schema=False)
    desk = ResearchPages(room, jobs, pages)

    @routes.get("/research")
    def research(request: Request, form: Annotated[ResearchQuery, Query()]) -> Response:
        return desk.form(request, form, page=form.page)

    @routes.post("/research")
    def start(request: Request, form: Annotated[ResearchForm, Form()]) -> Response:
        return desk.start(request, form)

    _add_job(routes, desk)
    return routes


def _add_job(routes: APIRouter, desk: ResearchPages) -> None:
    @routes.get("/research/{job_id}")
    def job(request: Request, job_id: JobId, stopping: Switch = 0, still: Switch = 0) -> Response:
        return desk.job(request, job_id, stopping=bool(stopping), still=bool(still))

    @routes.get("/research/{job_id}/news")
    def news(request: Request, job_id: JobId, after: Annotated[int, Query(ge=0, le=10**9)] = 0) -> Response:
        return desk.news(request, job_id, after)

    @routes.post("/research/{job_id}/stop")
    def stop(job_id: JobId) -> Response:
        return desk.stop(job_id)

    @routes.post("/research/{job_id}/resume")
    def resume(job_id: JobId) -> Response:
        return desk.resume(job_id)

    @routes.post("/research/{job_id}/remove")
    def remove(job_id: JobId) -> Response:
        return desk.remove(job_id)


class ResearchPages:
    """What the routes show."""

    def __init__(self, room: Room, jobs: Jobs, pages: Pages) -> None:
        self._jobs = jobs
        self._pages = pages
        self._settings = room.desk.settings
        self._shelf = room.shelf
        self._views = JobViews(jobs, self._settings.max_pages)
        self._runs = frames_of(room, jobs)
        self._families = Families(room, jobs)
        self._books = BooksHere(room)

    def form(
        self,
        request: Request,
        form: ResearchForm,
        *,
        page: int = 1,
        faults: dict[str, Fault] | None = None,
        problem: Problem | None = None,
    ) -> Response:
        """The form with what was typed and what is wrong with it, and below it all work and all runs."""
        offer = Offer(self._settings, self._books.all())
        status = problem.status if problem else 422 if faults else 200
        told: dict[str, Any] = {"offer": offer, "typed": offer.shown(form), "faults": faults or {}, "problem": problem}
        told["missing"] = self._shelf.missing
        return self._pages.show(request, "research.html", status=status, **told, **self._lists(page))

    def start(self, request: Request, form: ResearchForm) -> Response:
        """Begin a run and go to its page; a form that is wrong comes again."""
        found = checked(form, Offer(self._settings, self._books.all()))
        if found.wish is None:
            return self.form(request, form, faults=dict(found.faults))
        try:
            job = starting.start(self._jobs, found.wish)
        except KiwiError as error:
            return self.form(request, form, problem=problem_of(error))
        return go_to(self._address(job))

    def job(self, request: Request, job_id: str, *, stopping: bool, still: bool) -> Response:
        """A job as it is now; one that is done has become a run."""
        starting.look_at(self._jobs, job_id)
        view = self._views.get(job_id)
        if view.job.state == "done" and view.is_run:
            return go_to(view.run)
        values = self._told(view) | {"stopping": stopping and view.job.state == "running", "still": still}
        wish = view.job.wish
        family = self._families.whose(request, wish.case) if isinstance(wish, FamilyWish) else ""
        return self._pages.show(request, "research_job.html", **values, family=family)

    def news(self, request: Request, job_id: str, after: int) -> Response:
        """What is new of a job, for the script of its page."""
        starting.look_at(self._jobs, job_id)
        view = self._views.get(job_id)
        told = self._told(view, after)
        return Json(
            {
                "open": view.job.is_open,
                "last": len(view.so_far.pages),
                "status": self._pages.drawn(request, "research_status.html", **told),
                "pages": self._pages.drawn(request, "research_taken.html", **told),
            },
            headers={"Cache-Control": "no-store"},
        )

    def stop(self, job_id: str) -> Response:
        job = starting.cancel(self._jobs, job_id)
        return go_to(self._address(job) + ("?stopping=1" if job.is_open else ""))

    def resume(self, job_id: str) -> Response:
        """Go on with a job; one that is under way or done is only shown."""
        job = self._jobs.get(job_id)
        return go_to(self._address(starting.resume(self._jobs, job_id) if job.is_resumable else job))

    def remove(self, job_id: str) -> Response:
        """Forget a job that came to nothing; one that has something to keep is only shown."""
        starting.look_at(self._jobs, job_id)
        view = self._views.get(job_id)
        if not view.came_to_nothing:
            return go_to(view.url)
        starting.remove(self._jobs, job_id)
        return go_to("/research")

    def _lists(self, page: int) -> dict[str, Any]:
        runs, views = self._runs.all(), self._views.unfinished()
        ended = [view for view in views if not view.job.is_open]
        first = (page - 1) * ROWS
        return {
            "under_way": [view for view in views if view.job.is_open],
            "stopped": [view for view in ended if not view.came_to_nothing][:ROWS],
            "fruitless": [view for view in ended if view.came_to_nothing][:ROWS],
            "runs": runs[first : first + ROWS],
            "comparable": runs[:MOST_TO_COMPARE],
            "total": len(runs),
            "page": page,
            "last_page": max(1, -(-len(runs) // ROWS)),
        }

    def _told(self, view: JobView, after: int = 0) -> dict[str, Any]:
        return {
            "view": view,
            "taken": view.newest(after),
            "language_of": self._books.language,
            "most_shown": MOST_SHOWN,
        }

    def _address(self, job: Job) -> str:
        return JobView(job, 0).url
