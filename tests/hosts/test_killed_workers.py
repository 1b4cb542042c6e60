"""Many jobs, several hosts, and workers that are killed again and again: all is done, once, and to the same bytes."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.bulk.bulk_book import tables_here
from tests.hosts.host_tools import Host, end, kill
from tests.hosts.valley_book import PERSON, TOWNS, build_valley

from kiwiresearch.cases.json_records import TreeRecord
from kiwiresearch.cases.record_builder import graph_record
from kiwiresearch.cases.registry import open_registry
from kiwiresearch.cli.start import run as command
from kiwiresearch.jobs.job import (
    BulkRequest,
    FamilyRequest,
    Job,
    JobRequest,
    QuestionsRequest,
    ResearchRequest,
    research_task,
)
from kiwiresearch.jobs.queue import JobQueue, QueueLimits
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.runs.research import Research
from kiwiresearch.version import __version__
from kiwiresearch.workspace import workspace
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace, open_workspace

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no signals")

JOBS = 36
KILL_S = 1.0
"""A worker is killed as often as this."""
JOBS_A_KILL = 8
"""So many jobs end before the next is killed, however slow the machine is: else hardly any would, where all is slow."""
LOOK_S = 0.25
TIMEOUT_S = 180.0
"""How long all workers together may show no progress: leases lapse, and machines are busy."""
TOPICS = [ResearchRequest(f"{town} Town", max_pages=pages) for town in TOWNS for pages in (2, 3)]
QUESTIONS = QuestionsRequest(tuple(json.dumps({"question": f"When was {town} Town founded?"}) for town in TOWNS[:2]))
TABLES = BulkRequest("valley_en", ("titles", "pages", "links"))


@pytest.fixture(scope="module")
def valley(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_valley(tmp_path_factory.mktemp("valley") / "valley.zim")


@pytest.fixture(autouse=True)
def _stores_are_closed() -> Iterator[None]:
    yield
    workspace.close_stores()


class Hosts:
    """Hosts as they are needed, over one store and one folder for tables."""

    def __init__(self, place: Path, store: str, book: Path) -> None:
        self._place, self._store, self._book = place, store, book
        self._count = 0
        self.tables = place / "tables"

    def new(self) -> Host:
        self._count += 1
        home = self._place / f"host{self._count}"
        return Host(home, self._store, [self._book], {"KIWIRESEARCH_SERVE_BULK": str(self.tables)})


def job_requests(case: str) -> Iterator[JobRequest]:
    """Mostly short runs, some batches of questions, a few tables, and one family."""
    yield FamilyRequest(case)
    yield from [TABLES] * 2
    yield from [QUESTIONS] * 7
    for number in range(JOBS - 10):
        yield TOPICS[number % len(TOPICS)]


def test_many_jobs_with_workers_killed_all_along(
    postgres_server: Callable[[], str], valley: Path, tmp_path: Path
) -> None:
    """Every job is done exactly once, whatever happens to workers, and makes the bytes that it makes alone."""
    hosts = Hosts(tmp_path, postgres_server(), valley)
    first = hosts.new()
    desk = first.desk
    with contextlib.closing(
        JobQueue(desk, shelf_of(desk).books, now=str, limits=QueueLimits(running=0, queued=JOBS))
    ) as jobs:
        with shelf_of(desk) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
            case = jobs.cases.start(CaseSettings(seeds=(PERSON,)), finder)
        asked = [jobs.start(request, user=f"user {number % 4}").id for number, request in enumerate(job_requests(case))]
        assert len(set(asked)) == JOBS
        killed = run_all(jobs, [first, hosts.new(), hosts.new()], hosts)
        done = {job.id: job for job in jobs.all()}
        assert Counter(job.state for job in done.values()) == {"done": JOBS}, [
            (job.id, job.problem) for job in done.values() if job.state != "done"
        ]
        assert killed > 2
        assert any(job.losses for job in done.values()), "no worker was killed while it had a job"
        assert all(job.attempt == len(job.losses) + 1 for job in done.values())
        compare(jobs, [done[job_id] for job_id in asked], desk, hosts, tmp_path)


def run_all(jobs: JobQueue, running_on: list[Host], hosts: Hosts) -> int:
    """Have all jobs done by some workers, of which one is killed again and again, and another takes its place."""
    workers = [(host, host.start("worker", "--at-once", "1")) for host in running_on]
    killed, due = 0, time.monotonic() + KILL_S
    try:
        while progressed(jobs, (killed + 1) * JOBS_A_KILL, due):
            victim = next_victim(jobs, [worker for _, worker in workers])
            if victim is None:  # it is tried again after the next look
                continue
            host, worker = workers.pop(victim)
            kill(worker)
            killed, due = killed + 1, time.monotonic() + KILL_S
            # Every second time the host comes back at once; else its leases must lapse.
            host = host if killed % 2 else hosts.new()
            workers.append((host, host.start("worker", "--at-once", "1")))
    finally:
        rows = [end(worker) for _, worker in workers]
    assert not [text for text in rows if "Traceback" in text], rows
    return killed


def progressed(jobs: JobQueue, wanted: int, due: float) -> bool:
    """Wait until a kill is due and so many jobs have ended, as long as some go on; False if all have ended."""
    never, seen, looks = threading.Event(), None, 0
    while True:
        waiting, running_count = jobs.store.jobs.counts()
        if not waiting + running_count:
            return False
        now = [(row.id, row.attempt, row.report.get("pages")) for row in jobs.store.jobs.all(states=("running",))]
        looks, seen = (0, now) if now != seen else (looks + 1, seen)
        assert looks * LOOK_S < TIMEOUT_S, f"nothing goes on: {waiting} wait, and {now} run"
        never.wait(LOOK_S)
        if JOBS - waiting - running_count >= wanted and running_count and time.monotonic() >= due:
            return True


def next_victim(jobs: JobQueue, workers: list[subprocess.Popen[bytes]]) -> int | None:
    """The oldest worker that has a job, frozen; by the rule a job that is lost three times fails, so who has one that
    was lost twice lives, and goes on.
    """
    for number, worker in enumerate(workers):
        worker.send_signal(signal.SIGSTOP)
        rows = jobs.store.jobs.all(states=("running",))
        losses = [len(row.losses) for row in rows if f".{worker.pid}." in row.worker]
        if losses and max(losses) < 2:
            return number
        worker.send_signal(signal.SIGCONT)
    return None


def compare(jobs: JobQueue, done: list[Job], desk: Workspace, hosts: Hosts, place: Path) -> None:
    """Compare the outputs of each job with those of the same job done alone."""
    alone = {order: made_alone(order, desk, place / "alone" / str(number)) for number, order in enumerate(TOPICS)}
    answers = answers_alone(desk, place / "questions.jsonl")
    tables = tables_here(shelf_file(desk), TABLES.what, place / "whole", version=__version__)
    for job in done:
        match job.request:
            case ResearchRequest() as order:
                run = jobs.runs.get(job.id)
                files = {name: run.file(name).read_bytes() for name in run.files}
                times = json.loads(files.pop("timings.json"))
                assert files == alone[order], job.id
                assert times["pages_kept"] + len(times["seconds_by_page"]) == job.pages, job.id
                assert jobs.store.unfinished_files.sizes(job.id) == {}
            case QuestionsRequest():
                assert jobs.answers(job.id) == answers, job.id
            case BulkRequest():
                made = json.loads((hosts.tables / job.id / "manifest.json").read_text())
                assert {name: row["digest"] for name, row in made["tables"].items()} == {
                    name: table.digest for name, table in tables.tables.items()
                }
            case FamilyRequest(case=case):
                with jobs.cases.reading(case) as seen:
                    assert graph_record(seen.tree("owner")) == family_alone(place / "family", shelf_file(desk))


def answers_alone(desk: Workspace, file: Path) -> str:
    """What the command answers to the questions."""
    file.write_text("\n".join(QUESTIONS.rows))
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as out:
        patch.setenv("KIWIRESEARCH_HOME", str(desk.folders.config))
        assert command(["ask", "--batch", str(file)]) == 0
    return out.getvalue()


def made_alone(request: ResearchRequest, desk: Workspace, out: Path) -> dict[str, bytes]:
    with shelf_of(desk) as shelf, Finder(desk, shelf) as finder:
        Research(finder, research_task(request, desk.settings)).run(out)
    return {file.name: file.read_bytes() for file in out.iterdir() if file.name != "timings.json"}


def family_alone(home: Path, book: Path) -> TreeRecord:
    """The people and ties that the case has when one process works on it from the first step to the last."""
    desk = open_workspace({"KIWIRESEARCH_HOME": str(home)})
    with (
        contextlib.closing(open_registry(desk)) as cases,
        shelf_of(desk, [str(book)]) as shelf,
        Finder(desk, shelf) as finder,
    ):
        case = cases.start(CaseSettings(seeds=(PERSON,)), finder)
        with cases.opened_exclusively(case) as work:
            work.finder = finder
            assert [took.what for took in work.steps()][-1] == "stop"
        with cases.reading(case) as seen:
            return graph_record(seen.tree("owner"))


def shelf_file(desk: Workspace) -> Path:
    return shelf_of(desk).books[0].source.path
