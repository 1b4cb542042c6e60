"""Routes for research: jobs and their progress, finished runs and their files."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Header, Path, Query
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt
from sse_starlette import ServerSentEvent
from starlette.concurrency import run_in_threadpool

from kiwiresearch.ask import AskMode
from kiwiresearch.claims import ClaimType, claim_record
from kiwiresearch.errors import KiwiError
from kiwiresearch.jobs import (
    BULK_TABLES,
    MAX_ROWS,
    NO_EVENTS_SEEN,
    BulkRequest,
    BulkTable,
    JobQueue,
    JobUpdate,
    QuestionsRequest,
    event_position,
)
from kiwiresearch.runs import ClaimFilter, Runs
from kiwiresearch.web import job_requests
from kiwiresearch.web.bodies import MAX_PASSAGES, Name, Words
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import RoleRouter, requires_role
from kiwiresearch.web.job_requests import (
    MAX_BOOKS,
    JobReply,
    JobsReply,
    ResearchBody,
    RunClaimsReply,
    RunReply,
    RunsReply,
    accepted,
    job_reply,
    run_reply,
)
from kiwiresearch.web.replies import JsonRoute
from kiwiresearch.web.streams import sse_event, sse_response
from kiwiresearch.workspace import utc_now

MAX_LISTED_ROWS = 1_000
SANDBOX_POLICY = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
REPORT_POLICY = f"{SANDBOX_POLICY}; style-src 'unsafe-inline'; img-src data:"
"""A report is made from books, whose content is not trusted: it may be displayed, and do nothing else."""

MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "jsonl": "application/jsonl",
    "log": "text/plain; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
}
EVENTS_DOC: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"text/event-stream": {}},
        "description": "Events `progress`, each with an ID to continue from, then one of `done`, `failed`, "
        "`cancelled` and `interrupted` with the job.",
    }
}
FILE_DOC: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind.partition(";")[0]: {} for kind in MEDIA_TYPES.values()}, "description": "The file."}
}

JobId = Annotated[str, Path(max_length=200, description="The `id` of a job.", examples=["bronze-age-collapse-1"])]
RunId = Annotated[str, Path(max_length=255, description="The `id` of a run.", examples=["bronze-age-collapse-1"])]
FileName = Annotated[str, Path(max_length=255, examples=["report.md"])]
Limit = Annotated[int, Query(ge=1, le=MAX_LISTED_ROWS)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
CaseFilter = Annotated[str, Query(max_length=200, description="Only jobs that work on the case with this ID.")]
LastEventId = Annotated[str, Header(alias="Last-Event-ID", description="Only events after the one with this ID.")]
Share = Annotated[float, Query(ge=0, le=1, allow_inf_nan=False)]


def make_jobs(context: ServerContext) -> JobQueue:
    """The jobs of a server, to be closed when it shuts down."""
    shelf = context.shelf
    return JobQueue(
        context.workspace,
        shelf.current_books,
        now=utc_now,
        is_partial_shelf=context.is_partial_shelf,
        missing=shelf.currently_missing,
    )


def router(jobs: JobQueue) -> APIRouter:
    """Routes for research and its runs."""
    routes = RoleRouter("reader", prefix="/api", tags=["research"], route_class=JsonRoute)
    _add_jobs(routes, jobs)
    _add_steps(routes, jobs)
    _add_runs(routes, jobs.runs)
    return routes


def _add_jobs(routes: APIRouter, jobs: JobQueue) -> None:
    @routes.post("/research", status_code=202, response_model=JobReply)
    @requires_role("researcher", "research")
    def start(body: ResearchBody) -> Response:
        """Research a topic. The reply is a job, which runs in the background."""
        return accepted(job_requests.start_job(jobs, body.job_request()))

    @routes.get("/research")
    def list_jobs(limit: Limit = 100, offset: Offset = 0, case: CaseFilter = "") -> JobsReply:
        """All jobs, newest first."""
        found = [job for job in jobs.all() if not case or getattr(job.request, "case", "") == case]
        return JobsReply(tuple(job_reply(job) for job in found[offset : offset + limit]), len(found))

    @routes.get("/research/{job_id}")
    def job(job_id: JobId) -> JobReply:
        """A job and its progress."""
        return job_reply(jobs.get(job_id))


def _add_steps(routes: APIRouter, jobs: JobQueue) -> None:
    @routes.get("/research/{job_id}/events", response_class=Response, responses=EVENTS_DOC)
    def events(job_id: JobId, last_event_id: LastEventId = "") -> Response:
        """The steps of a job as they happen, from the first one saved."""
        job_requests.job_for_visitor(jobs, job_id)
        place = event_position(last_event_id)
        jobs.events_after(job_id, place)  # an error in the request is reported before the stream begins
        return sse_response(_stream(jobs, job_id, place))

    @routes.post("/research/{job_id}/cancel", status_code=202)
    @requires_role("researcher", "stop")
    def cancel(job_id: JobId) -> JobReply:
        """Stop a job between two steps; its progress is saved. A job that has ended does not change."""
        return job_reply(job_requests.cancel_job(jobs, job_id))

    @routes.post("/research/{job_id}/resume", status_code=202, response_model=JobReply)
    @requires_role("researcher", "resume")
    def resume(job_id: JobId) -> Response:
        """Continue a job that was cancelled, was interrupted or failed; nothing is done twice."""
        return accepted(job_requests.resume_job(jobs, job_id))

    @routes.post("/research/{job_id}/finish", status_code=202, response_model=JobReply)
    @requires_role("researcher", "resume")
    def finish(job_id: JobId) -> Response:
        """Write the brief of a run that was stopped from the pages it has read; it cannot be resumed after that."""
        return accepted(job_requests.resume_job(jobs, job_id, read_no_more=True))


def _add_runs(routes: APIRouter, runs: Runs) -> None:
    @routes.get("/runs")
    def list_runs(limit: Limit = 100, offset: Offset = 0) -> RunsReply:
        """All finished runs, including those copied into the folder."""
        found = runs.all()
        return RunsReply(tuple(run_reply(run) for run in found[offset : offset + limit]), len(found))

    @routes.get("/runs/{run_id}")
    def run(run_id: RunId) -> RunReply:
        """A finished run and its files."""
        return run_reply(runs.get(run_id))

    @routes.get("/runs/{run_id}/files/{name}", response_class=Response, responses=FILE_DOC)
    @requires_role("reader", "export")
    def file(run_id: RunId, name: FileName) -> Response:
        """A file of a run, byte for byte."""
        place = runs.get(run_id).file(name)
        policy = REPORT_POLICY if name.endswith(".html") else SANDBOX_POLICY
        headers = {"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff"}
        kind = MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
        return FileResponse(place, headers=headers, media_type=kind)

    @routes.get("/runs/{run_id}/claims")
    def claims(
        run_id: RunId,
        type: Annotated[ClaimType | None, Query()] = None,  # noqa: A002 (the name that clients use)
        page: Annotated[str, Query(max_length=500, description="The title or path of a page.")] = "",
        hedged: Annotated[bool | None, Query()] = None,
        min_confidence: Share = 0.0,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> RunClaimsReply:
        """The matching claims of a run, in the order of its pages."""
        claim_filter = ClaimFilter(type, page, hedged, min_confidence)
        found = runs.claims(run_id, claim_filter, limit=limit, offset=offset)
        claims = tuple(claim_record(claim) for claim in found.claims)
        return RunClaimsReply(run_id, found.total, offset, limit, claims)


async def _stream(jobs: JobQueue, job_id: str, place: tuple[int, int]) -> AsyncGenerator[ServerSentEvent, None]:
    """The events of a job until it has ended; no thread waits meanwhile."""
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and its reader with it
            loop.call_soon_threadsafe(news.set)

    with jobs.listeners.listening(wake):
        while True:
            # Before looking, so that news that arrive meanwhile end the next wait at once.
            news.clear()
            update = await run_in_threadpool(_job_since, jobs, job_id, place)
            for event in update.events if update else ():
                yield sse_event("progress", event.data, event.id)
                place = max(place, event.position)
            if update is None:
                return
            if not update.job.is_open:
                yield sse_event(update.job.state, job_reply(update.job))
                return
            await news.wait()


def _job_since(jobs: JobQueue, job_id: str, place: tuple[int, int] = NO_EVENTS_SEEN) -> JobUpdate | None:
    """The news about a job; None if it was removed meanwhile."""
    try:
        return jobs.events_after(job_id, place)
    except KiwiError:
        return None


ANSWERS_DOC: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/jsonl": {}}, "description": "One line of JSON per question, in the same order."}
}


class AskJobBody(BaseModel):
    """Questions to answer one after another."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["ask"]
    questions: Annotated[list[Words], Field(min_length=1, max_length=MAX_ROWS, examples=[["What is a comet?"]])]
    mode: Annotated[AskMode, Field(description="How a model writes the answers.")] = "default"
    passages: Annotated[StrictInt, Field(ge=0, le=MAX_PASSAGES, description="0 uses the settings.")] = 0
    books: Annotated[list[Name], Field(max_length=MAX_BOOKS, description="Only these books.")] = []
    model: Annotated[StrictBool, Field(description="`false` uses rules only, even if a model is set up.")] = True

    def job_request(self) -> QuestionsRequest:
        rows = tuple(json.dumps({"question": question}, ensure_ascii=False) for question in self.questions)
        return QuestionsRequest(rows, self.mode, self.passages, tuple(self.books), self.model)


class BulkJobBody(BaseModel):
    """A whole book to write into tables, in a folder of the server."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["bulk"]
    book: Annotated[Name, Field(min_length=1, description="A book in the library: its name, title or UUID.")]
    what: Annotated[
        list[BulkTable],
        Field(min_length=1, max_length=len(BULK_TABLES), examples=[["titles", "links"]]),
    ]

    def job_request(self) -> BulkRequest:
        return BulkRequest(self.book, tuple(self.what))


JobBody = Annotated[AskJobBody | BulkJobBody, Body(discriminator="kind")]


def job_router(jobs: JobQueue) -> APIRouter:
    """Routes for jobs other than research; they are listed, stopped and resumed like research."""
    routes = RoleRouter("reader", prefix="/api/jobs", tags=["research"], route_class=JsonRoute)

    @routes.post("", status_code=202, response_model=JobReply)
    @requires_role("researcher", "research")
    def add_job(body: JobBody) -> Response:
        """Queue a batch of questions, or the tables of a whole book."""
        return accepted(job_requests.start_job(jobs, body.job_request()))

    @routes.get("/{job_id}/answers", response_class=Response, responses=ANSWERS_DOC)
    def answers(job_id: JobId) -> Response:
        """The answers of a finished batch, for the user who asked."""
        job_requests.job_for_visitor(jobs, job_id)
        return Response(jobs.answers(job_id), media_type="application/jsonl")

    return routes
