"""Jobs on the sample book, a model that makes them wait, and the files to compare their runs with."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from sqlalchemy import insert
from tests.llm.servers import Talk, whole

from kiwiresearch.cli.start import run
from kiwiresearch.codec import plain
from kiwiresearch.jobs.job import Job, ResearchRequest
from kiwiresearch.jobs.queue import JobQueue, JobUpdate, QueueLimits
from kiwiresearch.store.job_row import JobRow, job_columns
from kiwiresearch.store.jobs import NEW_JOB, QUEUE_LOCK
from kiwiresearch.store.store import Store
from kiwiresearch.store.tables import JOB
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace, open_workspace

TOPIC = "Bronze Age collapse"
TIMEOUT_S = 60


@dataclass
class Gate:
    """A model that finds no claims, and delays its reply about the page number `holds` until `opened` is set.

    To let only that page through, clear `beyond` first: replies about later pages wait until it is set again.
    """

    holds: int = 3
    asked: list[str] = field(default_factory=list)
    """The pages it was asked about, once for each part of them."""
    reached: threading.Event = field(default_factory=threading.Event)
    """Set when the model is asked about the page whose reply it delays."""
    opened: threading.Event = field(default_factory=threading.Event)
    beyond: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.beyond.set()

    @property
    def finished(self) -> list[str]:
        """The pages up to the delayed one: a job that is stopped there has read them, and none after them."""
        return list(dict.fromkeys(self.asked))[: self.holds]

    def __call__(self, talk: Talk) -> None:
        about = re.search(r"The article is about:\n<data[^>]*>\n(.*)", talk.body["messages"][-1]["content"])
        if about:
            self.asked.append(about[1])
            number = len(set(self.asked))
            if number == self.holds:
                self.reached.set()
                self.opened.wait(TIMEOUT_S)
            elif number > self.holds:
                self.beyond.wait(TIMEOUT_S)
        talk.send(200, whole('{"claims": []}'))


def a_desk(home: Path, runs: Path, **more: str) -> Workspace:
    """A workspace whose runs are in a folder; tests that share a home each have their own jobs."""
    environment = {"KIWIRESEARCH_HOME": str(home), "KIWIRESEARCH_SERVE_RUNS": str(runs)}
    environment |= {"KIWIRESEARCH_ASK_READER": "false"}
    desk = open_workspace(environment | more)
    if home.parent == runs.parent:
        return desk
    return replace(desk, folders=replace(desk.folders, state=runs.parent / "state"))


@contextlib.contextmanager
def jobs_on(desk: Workspace, book: Path, limits: QueueLimits | None = None) -> Iterator[JobQueue]:
    """The jobs of a server on one book; each reading of its clock gives the next number."""
    readings = itertools.count(1)
    jobs = JobQueue(desk, shelf_of(desk, [str(book)]).books, now=lambda: f"stroke {next(readings)}", limits=limits)
    try:
        yield jobs
    finally:
        jobs.close()


def wait_for_job(jobs: JobQueue, job_id: str, is_so: Callable[[JobUpdate], bool]) -> JobUpdate:
    """Wait until an update of a job fulfils a condition."""
    news = threading.Event()
    with jobs.listeners.listening(news.set):
        while True:
            news.clear()
            seen = jobs.events_after(job_id)
            if is_so(seen):
                return seen
            assert seen.job.is_open, seen.job
            assert news.wait(TIMEOUT_S), seen


def wait_for_end(jobs: JobQueue, job_id: str) -> Job:
    return wait_for_job(jobs, job_id, lambda seen: not seen.job.is_open).job


def kinds(seen: JobUpdate) -> list[str]:
    return [event.data["event"] for event in seen.events]


def research_request() -> ResearchRequest:
    return ResearchRequest(TOPIC, max_pages=6, books=("sample",))


def files(folder: Path) -> dict[str, bytes]:
    """All files of a run but the timings."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name != "timings.json"
    }


def by_command(home: Path, book: Path, out: Path, **environment: str) -> dict[str, bytes]:
    """The files that the command line makes."""
    words = [TOPIC, "-b", str(book), "--max-pages", "6", "--out", str(out), "--json"]
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        for name, value in {"KIWIRESEARCH_HOME": str(home), **environment}.items():
            patch.setenv(name, value)
        assert run(words) == 0
    return files(out)


def in_store(jobs: JobQueue, job_id: str) -> JobRow:
    """The job as others see it."""
    row = jobs.store.jobs.get(job_id)
    assert row is not None
    return row


def put_row(store: Store, row: JobRow, **columns: object) -> None:
    """Write a job into the store as it is, as somebody else might."""
    with store.jobs._db.writing(QUEUE_LOCK) as connection:
        connection.execute(insert(JOB).values({**job_columns(row), **NEW_JOB, **columns}))


def job_row(job: Job) -> JobRow:
    """A job as the store has it."""
    return JobRow(
        job.id,
        job.request.kind,
        plain(job.request),
        state=job.state,
        turn=job.turn,
        report={name: getattr(job, name) for name in ("pages", "kept", "story", "problem", "remedy")},
    )
