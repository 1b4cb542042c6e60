"""Routes of research: runs as jobs with their progress, and the runs that are finished."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import FileResponse, Response
from sse_starlette import ServerSentEvent
from starlette.concurrency import run_in_threadpool

from kiwiresearch.claims.claim import ClaimType
from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import canonical_json
from kiwiresearch.research.finished import ClaimWish, FinishedRuns
from kiwiresearch.research.job import NOTHING_SEEN, JobEvent, place_of
from kiwiresearch.research.jobs import Jobs, Seen
from kiwiresearch.web import starting
from kiwiresearch.web.replies import Json
from kiwiresearch.web.research_replies import (
    JobReply,
    JobsReply,
    ResearchBody,
    RunClaimsReply,
    RunReply,
    RunsReply,
    job_record,
    job_url,
    run_record,
)
from kiwiresearch.web.room import Room
from kiwiresearch.web.streams import LINE_END, sse_event, sse_response

MOST_ROWS = 1_000
SHUT_OFF = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
REPORT_POLICY = f"{SHUT_OFF}; style-src 'unsafe-inline'; img-src data:"
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
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
OfCase = Annotated[str, Query(max_length=200, description="Only those that work on the case of this id.")]
LastSeen = Annotated[str, Header(alias="Last-Event-ID", description="Only what came after the event of this id.")]
Share = Annotated[float, Query(ge=0, le=1, allow_inf_nan=False)]


def jobs_of(room: Room) -> Jobs:
    """The jobs of a server, to be closed when it ends."""
    shelf = room.shelf
    return Jobs(room.desk, shelf.books_now, now=_now, all_books=room.all_books, missing=shelf.missing_now)


def router(room: Room, jobs: Jobs | None = None, *, closing: bool = False) -> APIRouter:
    """Research and its runs; jobs are closed when the app ends where `closing` says so, or none are passed in."""
    ours = jobs or jobs_of(room)

    @contextlib.asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if jobs is None or closing:
                await run_in_threadpool(ours.close)

    routes = APIRouter(prefix="/api", tags=["research"], lifespan=lifespan)
    _add_jobs(routes, ours)
    _add_steps(routes, ours)
    _add_runs(routes, ours.runs)
    return routes


def _add_jobs(routes: APIRouter, jobs: Jobs) -> None:
    @routes.post("/research", status_code=202, response_class=Json, responses={202: {"model": JobReply}})
    def start(body: ResearchBody) -> Response:
        """Research a topic; the answer comes at once, and the work goes on beside it."""
        job = starting.start(jobs, body.wish())
        return Json(job_record(job), 202, {"Location": job_url(job.id)})

    @routes.get("/research", response_class=Json, responses={200: {"model": JobsReply}})
    def jobs_there_are(limit: Limit = 100, offset: Offset = 0, case: OfCase = "") -> Response:
        """All jobs, the newest first."""
        found = [job for job in jobs.all() if not case or getattr(job.wish, "case", "") == case]
        return Json({"jobs": [job_record(job) for job in found[offset : offset + limit]], "total": len(found)})

    @routes.get("/research/{job_id}", response_class=Json, responses={200: {"model": JobReply}})
    def job(job_id: JobId) -> Response:
        """A job, and how far it is."""
        return Json(job_record(jobs.get(job_id)))


def _add_steps(routes: APIRouter, jobs: Jobs) -> None:
    @routes.get("/research/{job_id}/events", response_class=Response, responses=EVENTS_DOC)
    def events(job_id: JobId, last_event_id: LastSeen = "") -> Response:
        """The steps of a run as it makes them, from the first that is remembered."""
        starting.look_at(jobs, job_id)
        place = place_of(last_event_id)
        jobs.since(job_id, place)  # what is wrong with the request is told before the stream begins
        return sse_response(_stream(jobs, job_id, place))

    @routes.post(
        "/research/{job_id}/cancel", status_code=202, response_class=Json, responses={202: {"model": JobReply}}
    )
    def cancel(job_id: JobId) -> Response:
        """Stop a run between two steps; what it did is kept. One that has ended stays as it is."""
        return Json(job_record(starting.cancel(jobs, job_id)), 202)

    @routes.post(
        "/research/{job_id}/resume", status_code=202, response_class=Json, responses={202: {"model": JobReply}}
    )
    def resume(job_id: JobId) -> Response:
        """Go on with a run that was cancelled or interrupted, or that failed; nothing is done twice."""
        return Json(job_record(starting.resume(jobs, job_id)), 202, {"Location": job_url(job_id)})


def _add_runs(routes: APIRouter, runs: FinishedRuns) -> None:
    @routes.get("/runs", response_class=Json, responses={200: {"model": RunsReply}})
    def runs_there_are(limit: Limit = 100, offset: Offset = 0) -> Response:
        """All finished runs, also those that were put into the folder by other means."""
        found = runs.all()
        return Json({"runs": [run_record(run) for run in found[offset : offset + limit]], "total": len(found)})

    @routes.get("/runs/{run_id}", response_class=Json, responses={200: {"model": RunReply}})
    def run(run_id: RunId) -> Response:
        """A finished run and its files."""
        return Json(run_record(runs.get(run_id)))

    @routes.get("/runs/{run_id}/files/{name}", response_class=Response, responses=FILE_DOC)
    def file(run_id: RunId, name: FileName) -> Response:
        """A file of a run, byte for byte."""
        place = runs.get(run_id).file(name)
        policy = REPORT_POLICY if name.endswith(".html") else SHUT_OFF
        headers = {"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff"}
        kind = MEDIA_TYPES.get(name.rpartition(".")[2], "application/octet-stream")
        return FileResponse(place, headers=headers, media_type=kind)

    @routes.get("/runs/{run_id}/claims", response_class=Json, responses={200: {"model": RunClaimsReply}})
    def claims(
        run_id: RunId,
        type: Annotated[ClaimType | None, Query()] = None,  # noqa: A002 (the name that clients use)
        page: Annotated[str, Query(max_length=500, description="The title or path of a page.")] = "",
        hedged: Annotated[bool | None, Query()] = None,
        min_confidence: Share = 0.0,
        limit: Limit = 100,
        offset: Offset = 0,
    ) -> Response:
        """The claims of a run that fit, in the order of its pages."""
        wish = ClaimWish(type, page, hedged, min_confidence)
        found = runs.claims(run_id, wish, limit=limit, offset=offset)
        shown = {"run": run_id, "total": found.total, "offset": offset, "limit": limit}
        return Json(shown | {"claims": list(found.rows)})


async def _stream(jobs: Jobs, job_id: str, place: tuple[int, int]) -> AsyncGenerator[ServerSentEvent, None]:
    """What a job tells, until it has ended; no thread waits meanwhile."""
    loop, news = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and its readers with it
            loop.call_soon_threadsafe(news.set)

    with jobs.listening(wake):
        while True:
            news.clear()
            seen = await run_in_threadpool(_seen, jobs, job_id, place)
            for event in seen.events if seen else ():
                yield _told(event)
                place = max(place, event.place)
            if seen is None:
                return
            if not seen.job.is_open:
                yield sse_event(seen.job.state, job_record(seen.job))
                return
            await news.wait()


def _seen(jobs: Jobs, job_id: str, place: tuple[int, int] = NOTHING_SEEN) -> Seen | None:
    """What there is to see; None when the job was taken from us while it was watched."""
    try:
        return jobs.since(job_id, place)
    except KiwiError:
        return None


def _told(event: JobEvent) -> ServerSentEvent:
    text = canonical_json(event.data).encode("utf-8", "replace").decode("utf-8")
    return ServerSentEvent(text, event="progress", id=event.id, sep=LINE_END)


def _now() -> str:
    """When something was asked for, begun or ended: it is written into the file of a job, and into no run."""
    return datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251
