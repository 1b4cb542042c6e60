"""The research pages: the form, the lists of jobs and runs, and the progress of a job.

One class has all their handlers, since they share the queue and what a visitor may see.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Query, Request
from starlette.responses import Response

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import KiwiError, without_paths
from kiwiresearch.jobs import FamilyRequest, Job, JobQueue, ResearchRequest, UnreadableRequest
from kiwiresearch.runs import CrawlProgress, JournalFollower, VisitedPage
from kiwiresearch.web import job_requests
from kiwiresearch.web.addresses import case_address, job_address, run_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.browser import browser_key, browser_to_remember, remember_browser
from kiwiresearch.web.desk.family_frame import found_people
from kiwiresearch.web.desk.pages import ListPlace, PageRenderer, RemovedNotice, list_page, redirect, removed_notice_in
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
from kiwiresearch.web.guard import RoleRouter, current_visitor, requires_role
from kiwiresearch.web.job_requests import job_url
from kiwiresearch.web.problems import Problem, problem_of
from kiwiresearch.web.replies import Json
from kiwiresearch.web.run_view import run_views
from kiwiresearch.workspace import Settings

MAX_SHOWN = 200
"""How many of the latest pages are shown; the finished run has all of them."""

NO_PROGRESS = CrawlProgress()


@dataclass(frozen=True, slots=True)
class JobView:
    """A job with its progress and its addresses."""

    job: Job
    most: int
    """The maximum number of pages; 0 for a family case."""
    so_far: CrawlProgress = NO_PROGRESS
    note: str = ""
    """The latest note of the job about itself, in English."""
    waiting: int = 0
    """For a family, how many searches are left as far as is known now: relatives that are found add to them."""
    has_books: bool = True
    """Whether its books can be read now; a job in the queue waits for them."""

    @property
    def is_run(self) -> bool:
        """Whether it reads pages and becomes a run."""
        return isinstance(self.job.request, ResearchRequest)

    @property
    def topic(self) -> str:
        """Its name; empty for a family case, whose name depends on who reads it."""
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
    def can_be_written(self) -> bool:
        """Whether it was stopped, and has read pages from which a brief can be written."""
        return self.is_run and self.job.is_resumable and bool(self.so_far.pages)

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
        if self.so_far.ended or (isinstance(self.job.request, ResearchRequest) and self.job.request.read_no_more):
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

    def newest(self, after: int = 0) -> tuple[VisitedPage, ...]:
        """The pages after a number, the latest first."""
        return tuple(reversed([page for page in self.so_far.pages if page.number > after][-MAX_SHOWN:]))


class JobViews:
    """The jobs of a server as pages show them."""

    def __init__(self, jobs: JobQueue) -> None:
        self._jobs = jobs
        self._followed = JournalFollower()

    def get(self, job_id: str) -> JobView:
        """A job with its progress."""
        job = self._jobs.get(job_id)
        has_books = job.state != "queued" or self._jobs.can_do(job_id)
        if isinstance(job.request, FamilyRequest):
            step = self._last_event(job, "step")
            note, waiting = str(step.get("words", "")), int(str(step.get("waiting", 0)))
            return JobView(job, 0, note=note, waiting=waiting, has_books=has_books)
        note = str(self._last_event(job, "note").get("text", ""))
        return JobView(job, self._most(job), self._so_far(job), note, has_books=has_books)

    def unfinished(self) -> list[JobView]:
        """All jobs that are not done, the newest first, without their pages."""
        return [JobView(job, self._most(job)) for job in self._jobs.all() if job.state != "done"]

    def _most(self, job: Job) -> int:
        return (job.request.max_pages or self._jobs.max_pages) if isinstance(job.request, ResearchRequest) else 0

    def _so_far(self, job: Job) -> CrawlProgress:
        if not isinstance(job.request, ResearchRequest):
            return NO_PROGRESS
        # The run may end at any moment, and removes its journal then.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return self._followed.read_progress(self._jobs.journal_file(job))
        return NO_PROGRESS

    def _last_event(self, job: Job, kind: str) -> Mapping[str, object]:
        """The last event of a kind in an open job; empty if there is none yet."""
        if job.is_open:
            with contextlib.suppress(KiwiError):  # another server works on it
                events = self._jobs.events_after(job.id).events
                return next((event.data for event in reversed(events) if event.data.get("event") == kind), {})
        return {}


RUNS_PER_PAGE = 20
MIN_TIMED_PAGES = 3
MAX_TIMED = 20
MAX_TO_COMPARE = 100
"""How many of the newest runs the form for comparing offers."""

JobId = Annotated[str, Path(max_length=200)]
Switch = Annotated[int, Query(ge=0, le=1)]


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The form, the lists, and the page of a job."""
    routes = RoleRouter("reader", include_in_schema=False)
    shown = ResearchPages(context, jobs, pages)
    routes.get("/research")(shown.empty_form)
    routes.post("/research")(shown.start)
    routes.get("/research/{job_id}")(shown.job)
    routes.get("/research/{job_id}/news")(shown.news)
    routes.post("/research/{job_id}/stop")(shown.stop)
    routes.post("/research/{job_id}/resume")(shown.resume)
    routes.post("/research/{job_id}/finish")(shown.finish)
    routes.post("/research/{job_id}/remove")(shown.remove)
    return routes


def own_jobs(jobs: JobQueue) -> frozenset[str]:
    """The ended jobs of the visitor, who may delete and archive them; owners may do so with all work."""
    who = current_visitor()
    if not who.name or not who.may("researcher"):
        return frozenset()
    return frozenset(job.id for job in jobs.all() if not job.is_open and who.may_change(job.user, job.asked_at))


def seconds_per_page(jobs: JobQueue) -> float:
    """How long a page has taken in the latest finished research; 0 if there is none to measure."""
    took = [
        (datetime.fromisoformat(job.ended_at) - datetime.fromisoformat(job.started_at)).total_seconds() / job.pages
        for job in jobs.all()
        if isinstance(job.request, ResearchRequest)
        and job.state == "done"
        and job.started_at
        and job.ended_at
        and not job.kept
        and not job.request.read_no_more
        and job.pages >= MIN_TIMED_PAGES
    ]
    return median(took[:MAX_TIMED]) if took else 0.0


class ResearchPages:
    """The pages and actions of the routes."""

    def __init__(self, context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> None:
        self._jobs = jobs
        self._pages = pages
        self._context = context
        self._shelf = context.shelf
        self._views = JobViews(jobs)
        self._runs = run_views(context, jobs)
        self._families = Families(context, jobs)
        self._books = BookChoices(context)

    @property
    def _settings(self) -> Settings:
        return self._context.workspace.settings

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
        offer = FormOptions(self._settings, self._books.all(), seconds_per_page(self._jobs))
        status = problem.status if problem else 422 if faults else 200
        values: dict[str, Any] = {"typed": offer.field_values(form), "faults": faults or {}, "problem": problem}
        values["has_more"] = offer.has_more(form) or bool(values["faults"].keys() - {"topic", "size"})
        return self._pages.show(
            request,
            "research.html",
            self._lists(request, page),
            status=status,
            offer=offer,
            missing=self._shelf.missing,
            removed_title=self._title_of(removed_notice_in(request)),
            **values,
        )

    @requires_role("researcher", "research")
    def start(self, request: Request, form: Annotated[ResearchForm, Form()]) -> Response:
        """Start a run and go to its page; a form with faults is shown again."""
        found = check_form(form, FormOptions(self._settings, self._books.all()))
        if found.request is None:
            return self._form(request, form, faults=dict(found.faults))
        try:
            browser = browser_to_remember(request)
            job = job_requests.start_job(self._jobs, found.request, browser=browser_key(browser))
        except KiwiError as error:
            return self._form(request, form, problem=problem_of(error))
        reply = redirect(job_address(job.id))
        remember_browser(request, reply, browser)
        return reply

    def job(self, request: Request, job_id: JobId, stopping: Switch = 0, still: Switch = 0) -> Response:
        """The current state of a job; a finished one redirects to its run."""
        job_requests.job_for_visitor(self._jobs, job_id)
        view = self._views.get(job_id)
        if view.job.state == "done" and (view.is_run or view.case):
            return redirect(view.run)
        values = self._job_values(request, view) | {
            "stopping": bool(stopping) and view.job.state == "running",
            "still": bool(still),
        }
        return self._pages.show(request, "research_job.html", values)

    def news(self, request: Request, job_id: JobId, after: Annotated[int, Query(ge=0, le=10**9)] = 0) -> Response:
        """Changes in a job, for the script of its page."""
        job_requests.job_for_visitor(self._jobs, job_id)
        view = self._views.get(job_id)
        values = self._job_values(request, view, after)
        return Json(
            {
                "open": view.job.is_open,
                "last": len(view.so_far.pages),
                "status": self._pages.render(request, "research_status.html", **values),
                "pages": self._pages.render(request, "research_pages.html", **values),
                "family": self._pages.render(request, "research_family.html", **values) if view.case else "",
            },
            headers={"Cache-Control": "no-store"},
        )

    @requires_role("researcher", "stop")
    def stop(self, job_id: JobId) -> Response:
        job = job_requests.cancel_job(self._jobs, job_id)
        return redirect(job_address(job.id) + ("?stopping=1" if job.is_open else ""))

    @requires_role("researcher", "resume")
    def resume(self, job_id: JobId) -> Response:
        """Resume a job; one that cannot be resumed is only shown."""
        if self._jobs.get(job_id).is_resumable:
            job_requests.resume_job(self._jobs, job_id)
        return redirect(job_address(job_id))

    @requires_role("researcher", "resume")
    def finish(self, job_id: JobId) -> Response:
        """Write the brief from the pages that were read; a job that cannot do that is only shown."""
        if self._views.get(job_id).can_be_written:
            job_requests.resume_job(self._jobs, job_id, read_no_more=True)
        return redirect(job_address(job_id))

    @requires_role("researcher", "remove")
    def remove(self, job_id: JobId) -> Response:
        """Remove a job that produced nothing; any other is only shown."""
        view = self._views.get(job_id)
        if not view.came_to_nothing:
            return redirect(view.url)
        job_requests.remove_job(self._jobs, job_id)
        return redirect("/research")

    def _title_of(self, notice: RemovedNotice | None) -> str:
        """The topic of the research that was just deleted, archived or restored; empty if there is none."""
        if notice is None or notice.kind != "run":
            return ""
        if notice.state == "restored":
            return next((run.topic for run in self._runs.all() if run.id == notice.id), "")
        items = (*self._jobs.removed.items("deleted"), *self._jobs.removed.items("archived"))
        return next((item.title for item in items if (item.kind, item.id) == ("run", notice.id)), "")

    def _lists(self, request: Request, page: int) -> JsonDict:
        archived = self._jobs.removed.ids("run", "archived")
        runs = [run for run in self._runs.all() if run.id not in archived]
        views = [view for view in self._views.unfinished() if view.job.id not in archived]
        ended = [view for view in views if not view.job.is_open]
        return {
            "under_way": [view for view in views if view.job.is_open],
            "stopped": [view for view in ended if not view.came_to_nothing][:RUNS_PER_PAGE],
            "fruitless": [view for view in ended if view.came_to_nothing][:RUNS_PER_PAGE],
            "shown": list_page(runs, page, ListPlace("/research", parameter="page", anchor="#runs"), RUNS_PER_PAGE),
            "comparable": runs[:MAX_TO_COMPARE],
            "families": family_names(self._families, request, [view.job for view in views]),
            "own_jobs": own_jobs(self._jobs),
            "has_archive": bool(self._jobs.removed.items("archived") or self._jobs.removed.items("deleted")),
        }

    def _job_values(self, request: Request, view: JobView, after: int = 0) -> JsonDict:
        return {
            "view": view,
            **self._family_values(request, view.job.request),
            "taken": view.newest(after),
            "language_of": self._books.language,
            "most_shown": MAX_SHOWN,
        }

    def _family_values(self, request: Request, work: object) -> JsonDict:
        """The family of a job and its people as found; None for other jobs, or if it cannot be read now."""
        case = work.case if isinstance(work, FamilyRequest) else ""
        with contextlib.suppress(KiwiError):
            if case and (known := self._families.named_record(request, case)):
                with self._families.open_case(request, case, None) as (found, mode):
                    return {"family": known, "found": found_people(found, mode), "base": case_address(case)}
        return {"family": None, "found": None, "base": ""}


def family_names(families: Families, request: Request, jobs: Sequence[Job]) -> dict[str, JsonDict]:
    """The families of jobs, by the id of the job, with the names that the visitor may read."""
    found = {
        job.id: families.named_record(request, job.request.case)
        for job in jobs
        if isinstance(job.request, FamilyRequest)
    }
    return {job: known for job, known in found.items() if known}
