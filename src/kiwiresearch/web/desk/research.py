"""The research pages: the form, the lists of jobs and runs, and the progress of a job."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request
from starlette.responses import Response

from kiwiresearch.errors import KiwiError, without_paths
from kiwiresearch.jobs import FamilyRequest, Job, JobQueue, ResearchRequest, UnreadableRequest
from kiwiresearch.runs import JournalFollower, PagesSoFar, TakenPage
from kiwiresearch.web import job_requests
from kiwiresearch.web.addresses import case_address, job_address, run_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import ListPlace, Pages, list_page, redirect
from kiwiresearch.web.desk.research_form import (
    FieldFault,
    FormOptions,
    ResearchForm,
    ResearchQuery,
    check_form,
    request_address,
)
from kiwiresearch.web.desk.shelf import BookChoices
from kiwiresearch.web.families import Families
from kiwiresearch.web.guard import RoleRouter, allow
from kiwiresearch.web.job_requests import job_url
from kiwiresearch.web.problems import Problem, problem_of
from kiwiresearch.web.replies import Json
from kiwiresearch.web.run_view import run_views

MAX_SHOWN = 200
"""How many of the latest pages are shown; the finished run has all of them."""

NO_PROGRESS = PagesSoFar()


@dataclass(frozen=True, slots=True)
class JobView:
    """A job with its progress and its addresses."""

    job: Job
    most: int
    """The maximum number of pages; 0 for a family case."""
    so_far: PagesSoFar = NO_PROGRESS
    note: str = ""
    """The latest note of the job about itself, in English."""
    has_books: bool = True
    """Whether its books can be read now; a job in the queue waits for them."""

    @property
    def is_run(self) -> bool:
        """Whether it reads pages and becomes a run."""
        return isinstance(self.job.request, ResearchRequest)

    @property
    def topic(self) -> str:
        """Its name; empty for a family case, whose name must not be shown here."""
        return "" if self.case else self.job.request.name

    @property
    def focus(self) -> str:
        return self.job.request.focus if isinstance(self.job.request, ResearchRequest) else ""

    @property
    def aspect(self) -> str:
        return self.job.request.aspect if isinstance(self.job.request, ResearchRequest) else ""

    @property
    def case(self) -> str:
        """The address of its family case; empty for a run."""
        return case_address(self.job.request.case) if isinstance(self.job.request, FamilyRequest) else ""

    @property
    def url(self) -> str:
        return job_address(self.job.id)

    @property
    def run(self) -> str:
        """The address of its result."""
        return self.case or (run_address(self.job.id) if self.is_run else self.url)

    @property
    def again(self) -> str:
        """The address of the form, filled in with the same request; empty for other jobs."""
        return request_address(self.job.request) if isinstance(self.job.request, ResearchRequest) else ""

    @property
    def came_to_nothing(self) -> bool:
        """Whether it failed before it read a page, or its row is damaged: it cannot be resumed."""
        is_bare = self.is_run and not self.pages
        return self.job.state == "failed" and (is_bare or isinstance(self.job.request, UnreadableRequest))

    @property
    def events(self) -> str:
        return f"{job_url(self.job.id)}/events"

    @property
    def stage(self) -> str:
        """Its current activity, as a key of the catalogue."""
        if self.job.state == "queued" and not self.has_books:
            return "away"
        if self.job.state != "running":
            return self.job.state
        if not self.is_run:
            return "family" if self.case else self.job.request.kind
        if self.so_far.ended:
            return "writing"
        return "gathering" if self.pages else "opening"

    @property
    def pages(self) -> int:
        return max(self.job.pages, len(self.so_far.pages))

    @property
    def problem(self) -> str:
        return without_paths(self.job.problem)

    @property
    def last_loss(self) -> str:
        """Why it was last put back into the queue."""
        return without_paths(self.job.losses[-1]) if self.job.losses else ""

    @property
    def remedy(self) -> str:
        return without_paths(self.job.remedy)

    def newest(self, after: int = 0) -> tuple[TakenPage, ...]:
        """The pages after a number, the latest first."""
        return tuple(reversed([page for page in self.so_far.pages if page.number > after][-MAX_SHOWN:]))


class JobViews:
    """The jobs of a server as pages show them."""

    def __init__(self, jobs: JobQueue, max_pages: int) -> None:
        self._jobs = jobs
        self._max_pages = max_pages
        self._followed = JournalFollower()

    def get(self, job_id: str) -> JobView:
        """A job with its progress."""
        job = self._jobs.get(job_id)
        has_books = job.state != "queued" or self._jobs.can_do(job_id)
        return JobView(job, self._most(job), self._so_far(job), self._note(job), has_books)

    def unfinished(self) -> list[JobView]:
        """All jobs that are not done, the newest first, without their pages."""
        return [JobView(job, self._most(job)) for job in self._jobs.all() if job.state != "done"]

    def _most(self, job: Job) -> int:
        return (job.request.max_pages or self._max_pages) if isinstance(job.request, ResearchRequest) else 0

    def _so_far(self, job: Job) -> PagesSoFar:
        if not isinstance(job.request, ResearchRequest):
            return NO_PROGRESS
        # The run may end at any moment, and removes its journal then.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return self._followed.read_progress(self._jobs.steps_file(job))
        return NO_PROGRESS

    def _note(self, job: Job) -> str:
        if not job.is_open or isinstance(job.request, FamilyRequest):
            return ""
        with contextlib.suppress(KiwiError):  # another server works on it
            events = self._jobs.events_after(job.id).events
            return next((str(one.data["text"]) for one in reversed(events) if one.data.get("event") == "note"), "")
        return ""


RUNS_PER_PAGE = 20
MAX_TO_COMPARE = 100
"""How many of the newest runs the form for comparing offers."""

JobId = Annotated[str, Path(max_length=200)]
Switch = Annotated[int, Query(ge=0, le=1)]


def router(room: ServerContext, jobs: JobQueue, pages: Pages) -> APIRouter:
    """The form, the lists, and the page of a job."""
    routes = RoleRouter("reader", include_in_schema=False)
    shown = ResearchPages(room, jobs, pages)
    routes.get("/research")(shown.empty_form)
    routes.post("/research")(shown.start)
    routes.get("/research/{job_id}")(shown.job)
    routes.get("/research/{job_id}/news")(shown.news)
    routes.post("/research/{job_id}/stop")(shown.stop)
    routes.post("/research/{job_id}/resume")(shown.resume)
    routes.post("/research/{job_id}/remove")(shown.remove)
    return routes


class ResearchPages:
    """The pages and actions of the routes."""

    def __init__(self, room: ServerContext, jobs: JobQueue, pages: Pages) -> None:
        self._jobs = jobs
        self._pages = pages
        self._settings = room.workspace.settings
        self._shelf = room.shelf
        self._views = JobViews(jobs, self._settings.max_pages)
        self._runs = run_views(room, jobs)
        self._families = Families(room, jobs)
        self._books = BookChoices(room)

    def empty_form(self, request: Request, form: Annotated[ResearchQuery, Query()]) -> Response:
        """The form with the values from a link."""
        return self._form(request, form, page=form.page)

    def _form(
        self,
        request: Request,
        form: ResearchForm,
        *,
        page: int = 1,
        faults: dict[str, FieldFault] | None = None,
        problem: Problem | None = None,
    ) -> Response:
        """The form with the typed values and their faults, and below it all jobs and runs."""
        offer = FormOptions(self._settings, self._books.all())
        status = problem.status if problem else 422 if faults else 200
        values: dict[str, Any] = {"typed": offer.field_values(form), "faults": faults or {}, "problem": problem}
        return self._pages.show(
            request,
            "research.html",
            status=status,
            offer=offer,
            missing=self._shelf.missing,
            **values,
            **self._lists(page),
        )

    @allow("researcher", "research")
    def start(self, request: Request, form: Annotated[ResearchForm, Form()]) -> Response:
        """Start a run and go to its page; a form with faults is shown again."""
        found = check_form(form, FormOptions(self._settings, self._books.all()))
        if found.request is None:
            return self._form(request, form, faults=dict(found.faults))
        try:
            job = job_requests.start_job(self._jobs, found.request)
        except KiwiError as error:
            return self._form(request, form, problem=problem_of(error))
        return redirect(job_address(job.id))

    def job(self, request: Request, job_id: JobId, stopping: Switch = 0, still: Switch = 0) -> Response:
        """The current state of a job; a finished one redirects to its run."""
        job_requests.job_for_visitor(self._jobs, job_id)
        view = self._views.get(job_id)
        if view.job.state == "done" and view.is_run:
            return redirect(view.run)
        values = self._job_values(view) | {
            "stopping": bool(stopping) and view.job.state == "running",
            "still": bool(still),
        }
        wish = view.job.request
        family = self._families.seed_names(request, wish.case) if isinstance(wish, FamilyRequest) else ""
        return self._pages.show(request, "research_job.html", **values, family=family)

    def news(self, request: Request, job_id: JobId, after: Annotated[int, Query(ge=0, le=10**9)] = 0) -> Response:
        """Changes in a job, for the script of its page."""
        job_requests.job_for_visitor(self._jobs, job_id)
        view = self._views.get(job_id)
        values = self._job_values(view, after)
        return Json(
            {
                "open": view.job.is_open,
                "last": len(view.so_far.pages),
                "status": self._pages.render(request, "research_status.html", **values),
                "pages": self._pages.render(request, "research_pages.html", **values),
            },
            headers={"Cache-Control": "no-store"},
        )

    @allow("researcher", "stop")
    def stop(self, job_id: JobId) -> Response:
        job = job_requests.cancel_job(self._jobs, job_id)
        return redirect(job_address(job.id) + ("?stopping=1" if job.is_open else ""))

    @allow("researcher", "resume")
    def resume(self, job_id: JobId) -> Response:
        """Resume a job; one that cannot be resumed is only shown."""
        if self._jobs.get(job_id).is_resumable:
            job_requests.resume_job(self._jobs, job_id)
        return redirect(job_address(job_id))

    @allow("researcher", "remove")
    def remove(self, job_id: JobId) -> Response:
        """Remove a job that produced nothing; any other is only shown."""
        job_requests.job_for_visitor(self._jobs, job_id)
        view = self._views.get(job_id)
        if not view.came_to_nothing:
            return redirect(view.url)
        job_requests.remove_job(self._jobs, job_id)
        return redirect("/research")

    def _lists(self, page: int) -> dict[str, Any]:
        runs, views = self._runs.all(), self._views.unfinished()
        ended = [view for view in views if not view.job.is_open]
        return {
            "under_way": [view for view in views if view.job.is_open],
            "stopped": [view for view in ended if not view.came_to_nothing][:RUNS_PER_PAGE],
            "fruitless": [view for view in ended if view.came_to_nothing][:RUNS_PER_PAGE],
            "shown": list_page(runs, page, ListPlace("/research", parameter="page", anchor="#runs"), RUNS_PER_PAGE),
            "comparable": runs[:MAX_TO_COMPARE],
        }

    def _job_values(self, view: JobView, after: int = 0) -> dict[str, Any]:
        return {
            "view": view,
            "taken": view.newest(after),
            "language_of": self._books.language,
            "most_shown": MAX_SHOWN,
        }
