"""Jobs and runs as clients see them, and the checks of a visitor's role and limits before a job is started."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt
from starlette.responses import Response

from kiwiresearch.codec import Record, extend
from kiwiresearch.crawl import Strategy
from kiwiresearch.errors import LimitReached, NotAllowed, without_paths
from kiwiresearch.jobs import (
    SETTING_OF_OPTION,
    FamilyRequest,
    Job,
    JobKind,
    JobQueue,
    JobRequest,
    JobState,
    QuestionsRequest,
    ResearchRequest,
    UnreadableRequest,
)
from kiwiresearch.runs import Run
from kiwiresearch.web.bodies import REPLACE_SURROGATES
from kiwiresearch.web.guard import current_visitor, refuse_without_role, require_creator_or_owner
from kiwiresearch.web.problems import RETRY_AFTER_S
from kiwiresearch.web.replies import Json
from kiwiresearch.workspace import RANGES

MAX_BOOKS = 100
MAX_WORDS = 500
NO_TOPIC = ResearchRequest("")
RESEARCH_OPTIONS = tuple(field.name for field in fields(ResearchRequest) if field.name != "read_no_more")

Text = Annotated[str, Field(max_length=MAX_WORDS), REPLACE_SURROGATES]


def _bounds(option: str) -> Any:
    key = SETTING_OF_OPTION[option]
    low, high = RANGES[key]
    return Field(ge=int(low), le=int(high))


class ResearchBody(BaseModel):
    """A topic to research, and how. Values you do not give are taken from the server's settings."""

    model_config = ConfigDict(extra="forbid")

    topic: Annotated[Text, Field(min_length=1, description="The topic to research.", examples=["Bronze Age collapse"])]
    focus: Annotated[
        Text, Field(description="The search terms that matter most.", examples=["metallurgy, drought"])
    ] = ""
    aspect: Annotated[Text, Field(description="The aspect of the topic to look at.", examples=["causes"])] = ""
    depth: Annotated[
        Annotated[StrictInt, _bounds("depth")] | None,
        Field(description="How many links away from the starting pages to go."),
    ] = None
    max_pages: Annotated[
        Annotated[StrictInt, _bounds("max_pages")] | None, Field(description="The maximum number of pages to read.")
    ] = None
    max_links: Annotated[
        Annotated[StrictInt, _bounds("max_links")] | None,
        Field(description="The maximum number of new pages from the links of one page."),
    ] = None
    strategy: Annotated[
        Strategy | None, Field(description="`priority`: the best page next; `bfs`: depth by depth.")
    ] = None
    books: Annotated[
        list[Text],
        Field(max_length=MAX_BOOKS, description="Only these books: their names, titles or UUIDs."),
    ] = []
    critic: Annotated[StrictBool, Field(description="Check what a model wrote a second time.")] = False
    model: Annotated[StrictBool, Field(description="`false` uses rules only, even if a model is set up.")] = True

    def job_request(self) -> ResearchRequest:
        return ResearchRequest(**dict(self) | {"books": tuple(self.books)})


@dataclass(frozen=True, slots=True)
class JobReply(Record):
    """A job, such as research or work on a family, and its progress."""

    id: str
    kind: JobKind | Literal["damaged"]
    """`research`, `ask` (a batch of questions), `bulk` (a book's tables) or `kin`; `damaged` if the row of the job
    cannot be read.
    """
    state: JobState
    user: str
    """Who requested it; empty without users."""
    priority: int
    """Higher priorities come first."""
    topic: str
    focus: str
    aspect: str
    """The aspect of the topic; empty if none was requested."""
    depth: int | None
    max_pages: int | None
    max_links: int | None
    strategy: str | None
    books: tuple[str, ...]
    critic: bool
    model: bool
    attempt: int
    """How often it was started."""
    pages: int
    """How many pages were read so far; for a family, how many steps."""
    kept: int
    """How many of them were read before it was resumed."""
    story: str
    """How it started and why it ended, in a sentence."""
    problem: str
    """Why it failed or was interrupted."""
    remedy: str
    resumable: bool
    asked_at: str
    started_at: str
    ended_at: str
    url: str
    """The address of this job."""
    events: str
    """Where its events are streamed."""
    run: str
    """The address of its run; empty until it is done."""
    losses: tuple[str, ...]
    """Why it was restarted, once for each time."""
    case: str
    """The address of the case it works on; empty for other jobs."""


@dataclass(frozen=True, slots=True)
class JobsReply(Record):
    """Jobs, newest first."""

    jobs: tuple[JobReply, ...]
    total: int


@dataclass(frozen=True, slots=True)
class RunBook(Record):
    """A book that a run used."""

    id: str
    name: str
    title: str
    date: str


@dataclass(frozen=True, slots=True)
class RunReply(Record):
    """A finished run."""

    id: str
    topic: str
    focus: str
    aspect: str
    version: str
    fingerprint: str
    """Runs with the same one have the same files."""
    pages: int
    claims: int
    books: tuple[RunBook, ...]
    files: dict[str, str]
    """The address of each file, by its name."""


@dataclass(frozen=True, slots=True)
class RunsReply(Record):
    """Finished runs by their names."""

    runs: tuple[RunReply, ...]
    total: int


@dataclass(frozen=True, slots=True)
class RunClaimsReply(Record):
    """Claims of a run, in the order of its pages."""

    run: str
    total: int
    """How many claims match."""
    offset: int
    limit: int
    claims: tuple[Mapping[str, Any], ...]
    """Claims as in `claims.jsonl`."""


def job_url(job_id: str) -> str:
    return f"/api/research/{quote(job_id)}"


def job_reply(job: Job) -> JobReply:
    """The view of a job for clients."""
    url = job_url(job.id)
    request = job.request if isinstance(job.request, ResearchRequest) else NO_TOPIC
    case = job.request.case if isinstance(job.request, FamilyRequest) else ""
    # A job of another kind has the same keys, with the values of an empty request.
    options = {name: getattr(request, name) for name in RESEARCH_OPTIONS}
    return extend(
        JobReply,
        job,
        **options | {"books": tuple(job.request.books), "model": job.request.model},
        kind=job.request.kind,
        problem=without_paths(job.problem),
        remedy=without_paths(job.remedy),
        resumable=job.is_resumable,
        url=url,
        events=f"{url}/events",
        # `request` is that of the job only for research: no other job has a run.
        run=run_url(job.id) if job.state == "done" and request is job.request else "",
        case=case_url(case) if case else "",
    )


def accepted(job: Job) -> Response:
    """The reply to a request that started a job, or resumed one."""
    return Json(job_reply(job), 202, {"Location": job_url(job.id)})


def case_url(case_id: str) -> str:
    return f"/api/family/{quote(case_id)}"


def run_url(run_id: str) -> str:
    return f"/api/runs/{quote(run_id, errors='replace')}"


def run_reply(run: Run) -> RunReply:
    """The view of a run for clients."""
    url = run_url(run.id)
    return extend(
        RunReply,
        run.manifest,
        id=run.id,
        pages=run.manifest.page_count,
        claims=run.manifest.claim_count,
        books=tuple(extend(RunBook, book) for book in run.books),
        files={name: f"{url}/files/{quote(name)}" for name in run.files},
    )


_START_LOCK = threading.Lock()
"""Held while jobs are counted and one is started, so that two requests at once cannot exceed a limit."""


def start_job(jobs: JobQueue, request: JobRequest, *, browser: str = "") -> Job:
    """Queue a job for the visitor, if role and limits allow it; `browser` is a key for their browser."""
    refuse_without_role("researcher")
    who = current_visitor()
    if isinstance(request, QuestionsRequest) and who.limits.questions_a_day:
        raise NotAllowed(
            f"You can ask {who.limits.questions_a_day} questions a day, but not in batches.",
            remedy="Ask them one at a time, or ask an owner of this server to remove the limit.",
        )
    with _START_LOCK:
        _check_queue(jobs)
        request = _limit_pages(request, who.limits.max_pages, jobs.max_pages)
        return jobs.start(request, user=who.name, browser=browser)


def job_for_visitor(jobs: JobQueue, job_id: str) -> Job:
    """A job that the visitor may see: runs are for everybody, questions only for the user who asked them.

    Jobs whose row is damaged may have been questions, which nobody can read any more: owners see that they are there.
    """
    job = jobs.get(job_id)
    if isinstance(job.request, QuestionsRequest) and job.user != current_visitor().name:
        raise NotAllowed(
            "Only the user who asked these questions can see them and their answers.",
            remedy="An owner of this server can stop them.",
        )
    if isinstance(job.request, UnreadableRequest):
        require_creator_or_owner(job.user)
    return job


def resume_job(jobs: JobQueue, job_id: str, *, read_no_more: bool = False) -> Job:
    """Queue a job of the visitor again, or only the writing of its brief; owners may do so with any job."""
    require_creator_or_owner(jobs.get(job_id).user)
    with _START_LOCK:
        _check_queue(jobs)
        return jobs.resume(job_id, read_no_more=read_no_more)


def cancel_job(jobs: JobQueue, job_id: str) -> Job:
    """Stop a job of the visitor; owners may stop any job."""
    require_creator_or_owner(jobs.get(job_id).user)
    return jobs.cancel(job_id)


def remove_job(jobs: JobQueue, job_id: str) -> None:
    """Remove a job of the visitor that produced nothing; owners may remove any such job."""
    require_creator_or_owner(jobs.get(job_id).user)
    jobs.remove(job_id)


def _check_queue(jobs: JobQueue) -> None:
    who = current_visitor()
    if not (who.name and who.limits.queued):
        return
    queued, _ = jobs.store.jobs.counts(who.name)
    if queued >= who.limits.queued:
        raise LimitReached(
            f"You already have {queued} research jobs waiting, which is your limit.",
            retry_after_s=RETRY_AFTER_S,
            remedy="Try again when one has started, or stop one of them.",
        )


def _limit_pages(request: JobRequest, max_pages: int, default: int) -> JobRequest:
    """The request with no more pages than the visitor may have; an explicit request for more is refused."""
    if not (max_pages and isinstance(request, ResearchRequest)):
        return request
    if request.max_pages is None:
        return replace(request, max_pages=max_pages) if default > max_pages else request
    if request.max_pages > max_pages:
        raise NotAllowed(
            f"Your research can read {max_pages} pages at most, not {request.max_pages}.",
            remedy=f"Set {max_pages} or fewer, or ask an owner of this server to raise your limit.",
        )
    return request
