"""Routes of research: jobs and their progress, finished runs, their files and exports."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Header, Path, Query
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt
from sse_starlette import ServerSentEvent
from starlette.concurrency import run_in_threadpool

from kiwiresearch.ask.settings import Mode
from kiwiresearch.claims.claim import ClaimType, claim_record
from kiwiresearch.codec import Record
from kiwiresearch.errors import KiwiError
from kiwiresearch.export.formats import FORMATS
from kiwiresearch.jobs.job import (
    BULK_TABLES,
    MAX_ROWS,
    NO_EVENTS_SEEN,
    BulkRequest,
    QuestionsRequest,
    event_position,
)
from kiwiresearch.jobs.queue import JobQueue, JobUpdate
from kiwiresearch.runs.run import ClaimFilter, Runs
from kiwiresearch.web import job_requests
from kiwiresearch.web.bodies import MAX_PASSAGES, Name, Words
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.exports import download_response
from kiwiresearch.web.desk.run_view import run_views
from kiwiresearch.web.job_requests import (
    MAX_BOOKS,
    JobReply,
    JobsReply,
    ResearchBody,
    RunClaimsReply,
    RunReply,
    RunsReply,
    job_reply,
    job_url,
    run_reply,
    run_url,
)
from kiwiresearch.web.replies import Json, JsonRoute
from kiwiresearch.web.streams import sse_event, sse_response
from kiwiresearch.workspace.users import utc_now

MAX_LISTED_ROWS = 1_000
SANDBOX_POLICY = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
REPORT_POLICY = f"{SANDBOX_POLICY}; style-src 'unsafe-inline'; img-src data:"
"""A report is made from books, whose content nobody vouches for: it shows itself, and can do nothing."""

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
        "description": "Events `progress`, each with an id to go on from, then one of `done`, `failed`, "
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
CaseFilter = Annotated[str, Query(max_length=200, description="Only those that work on the case of this id.")]
LastEventId = Annotated[str, Header(alias="Last-Event-ID", description="Only what came after the event of this id.")]
Share = Annotated[float, Query(ge=0, le=1, allow_inf_nan=False)]


def make_jobs(room: ServerContext) -> JobQueue:
    """The jobs of a server, to be closed when it ends."""
    shelf = room.shelf
    return JobQueue(
        room.desk, shelf.current_books, now=utc_now, all_books=room.all_books, missing=shelf.currently_missing
    )


def router(room: ServerContext, jobs: JobQueue | None = None, *, closing: bool = False) -> APIRouter:
    """Research and its runs; jobs are closed when the app ends where `closing` says so, or none are passed in."""
    ours = jobs or make_jobs(room)

    @contextlib.asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if jobs is None or closing:
                await run_in_threadpool(ours.close)

    routes = APIRouter(prefix="/api", tags=["research"], route_class=JsonRoute, lifespan=lifespan)
    _add_jobs(routes, ours)
    _add_steps(routes, ours)
    _add_runs(routes, ours.runs)
    return routes


def _add_jobs(routes: APIRouter, jobs: JobQueue) -> None:
    @routes.post("/research", status_code=202, response_model=JobReply)
    def start(body: ResearchBody) -> Response:
        """Research a topic; the answer comes at once, and the work goes on beside it."""
        job = job_requests.start_job(jobs, body.job_request())
        return Json(job_reply(job), 202, {"Location": job_url(job.id)})

    @routes.get("/research")
    def jobs_there_are(limit: Limit = 100, offset: Offset = 0, case: CaseFilter = "") -> JobsReply:
        """All jobs, the newest first."""
        found = [job for job in jobs.all() if not case or getattr(job.wish, "case", "") == case]
        return JobsReply(tuple(job_reply(job) for job in found[offset : offset + limit]), len(found))

    @routes.get("/research/{job_id}")
    def job(job_id: JobId) -> JobReply:
        """A job, and how far it is."""
        return job_reply(jobs.get(job_id))


def _add_steps(routes: APIRouter, jobs: JobQueue) -> None:
    @routes.get("/research/{job_id}/events", response_class=Response, responses=EVENTS_DOC)
    def events(job_id: JobId, last_event_id: LastEventId = "") -> Response:
        """The steps of a run as it makes them, from the first that is remembered."""
        job_requests.job_for_visitor(jobs, job_id)
        place = event_position(last_event_id)
        jobs.events_after(job_id, place)  # what is wrong with the request is told before the stream begins
        return sse_response(_stream(jobs, job_id, place))

    @routes.post("/research/{job_id}/cancel", status_code=202)
    def cancel(job_id: JobId) -> JobReply:
        """Stop a run between two steps; what it did is kept. One that has ended stays as it is."""
        return job_reply(job_requests.cancel_job(jobs, job_id))

    @routes.post("/research/{job_id}/resume", status_code=202, response_model=JobReply)
    def resume(job_id: JobId) -> Response:
        """Go on with a run that was cancelled or interrupted, or that failed; nothing is done twice."""
        return Json(job_reply(job_requests.resume_job(jobs, job_id)), 202, {"Location": job_url(job_id)})


def _add_runs(routes: APIRouter, runs: Runs) -> None:
    @routes.get("/runs")
    def runs_there_are(limit: Limit = 100, offset: Offset = 0) -> RunsReply:
        """All finished runs, also those that were put into the folder by other means."""
        found = runs.all()
        return RunsReply(tuple(run_reply(run) for run in found[offset : offset + limit]), len(found))

    @routes.get("/runs/{run_id}")
    def run(run_id: RunId) -> RunReply:
        """A finished run and its files."""
        return run_reply(runs.get(run_id))

    @routes.get("/runs/{run_id}/files/{name}", response_class=Response, responses=FILE_DOC)
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
        """The claims of a run that fit, in the order of its pages."""
        wish = ClaimFilter(type, page, hedged, min_confidence)
        found = runs.claims(run_id, wish, limit=limit, offset=offset)
        claims = tuple(claim_record(claim) for claim in found.claims)
        return RunClaimsReply(run_id, found.total, offset, limit, claims)


async def _stream(jobs: JobQueue, job_id: str, place: tuple[int, int]) -> AsyncGenerator[ServerSentEvent, None]:
    """What a job tells, until it has ended; no thread waits meanwhile."""
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and its readers with it
            loop.call_soon_threadsafe(news.set)

    with jobs.listening(wake):
        while True:
            news.clear()
            seen = await run_in_threadpool(_job_since, jobs, job_id, place)
            for event in seen.events if seen else ():
                yield sse_event("progress", event.data, event.id)
                place = max(place, event.position)
            if seen is None:
                return
            if not seen.job.is_open:
                yield sse_event(seen.job.state, job_reply(seen.job))
                return
            await news.wait()


def _job_since(jobs: JobQueue, job_id: str, place: tuple[int, int] = NO_EVENTS_SEEN) -> JobUpdate | None:
    """What there is to see; None when the job was taken from us while it was watched."""
    try:
        return jobs.events_after(job_id, place)
    except KiwiError:
        return None


ANSWERS_DOC: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/jsonl": {}}, "description": "A line of JSON for each question, in their order."}
}


class AskJobBody(BaseModel):
    """Questions that are answered one after the other."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["ask"]
    questions: Annotated[list[Words], Field(min_length=1, max_length=MAX_ROWS, examples=[["What is a comet?"]])]
    mode: Annotated[Mode, Field(description="How a model words the answers.")] = "default"
    passages: Annotated[StrictInt, Field(ge=0, le=MAX_PASSAGES, description="0 is as the settings say.")] = 0
    books: Annotated[list[Name], Field(max_length=MAX_BOOKS, description="Only these books of the shelf.")] = []
    model: Annotated[StrictBool, Field(description="`false` works by rules alone even where a model is set.")] = True

    def job_request(self) -> QuestionsRequest:
        rows = tuple(json.dumps({"question": question}, ensure_ascii=False) for question in self.questions)
        return QuestionsRequest(rows, self.mode, self.passages, tuple(self.books), self.model)


class BulkJobBody(BaseModel):
    """A whole book that becomes tables, in a folder of the server."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["bulk"]
    book: Annotated[Name, Field(min_length=1, description="A book of the shelf: name, title or UUID.")]
    what: Annotated[
        list[Literal["titles", "pages", "links", "claims", "people"]],
        Field(min_length=1, max_length=len(BULK_TABLES), examples=[["titles", "links"]]),
    ]

    def job_request(self) -> BulkRequest:
        return BulkRequest(self.book, tuple(self.what))


JobBody = Annotated[AskJobBody | BulkJobBody, Body(discriminator="kind")]


def job_router(room: ServerContext, jobs: JobQueue) -> APIRouter:  # noqa: ARG001 (as all routes of runs are made)
    """Jobs that are no runs; they are listed, stopped and resumed as runs are."""
    routes = APIRouter(prefix="/api/jobs", tags=["research"], route_class=JsonRoute)

    @routes.post("", status_code=202, response_model=JobReply)
    def add_job(body: JobBody) -> Response:
        """Put a batch of questions, or a whole book, in line."""
        job = job_requests.start_job(jobs, body.job_request())
        return Json(job_reply(job), 202, {"Location": job_url(job.id)})

    @routes.get("/{job_id}/answers", response_class=Response, responses=ANSWERS_DOC)
    def answers(job_id: JobId) -> Response:
        """The answers of a batch that is done; what somebody asked is for them, and for owners."""
        job_requests.job_for_visitor(jobs, job_id)
        return Response(jobs.answers(job_id), media_type="application/jsonl")

    return routes


FormatName = Annotated[str, Path(max_length=40, description="The `name` of a format.", examples=["epub"])]
EXPORT_TYPES = [form.media_type for form in sorted(FORMATS.values(), key=lambda form: form.ending)]
EXPORT_DOC: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind.partition(";")[0]: {} for kind in EXPORT_TYPES}, "description": "The file."}
}


@dataclass(frozen=True, slots=True)
class FormatReply(Record):
    """A format that a run can be had in."""

    name: str
    ending: str
    """Of its file, such as `.epub`; several files come as one `.zip`."""
    readers: str
    """The programs that it is for."""
    with_notes: bool
    """Whether the notes on the run go along."""
    url: str
    """Where the run is had in this format."""


@dataclass(frozen=True, slots=True)
class FormatsReply(Record):
    """All formats of a run."""

    run: str
    formats: tuple[FormatReply, ...]


def export_router(room: ServerContext, jobs: JobQueue) -> APIRouter:
    """Exporting; the runs stay as they are, and nothing is written on the server."""
    routes = APIRouter(prefix="/api/runs/{run_id}/export", tags=["research"], route_class=JsonRoute)
    runs = run_views(room, jobs)

    @routes.get("")
    def formats(run_id: RunId) -> FormatsReply:
        """The formats that a run can be had in."""
        place = f"{run_url(runs.get(run_id).id)}/export"
        return FormatsReply(
            run_id,
            tuple(
                FormatReply(form.name, form.ending, form.readers, form.with_notes, f"{place}/{form.name}")
                for form in FORMATS.values()
            ),
        )

    @routes.get("/{form}", response_class=Response, responses=EXPORT_DOC)
    def file(run_id: RunId, form: FormatName) -> Response:
        """A run in one format, made when it is asked for: the same run with the same notes gives the same bytes."""
        return download_response(runs.get(run_id), form)

    return routes
