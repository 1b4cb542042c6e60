"""What workers are made of: processes that do one job after the other, and names by which the dead are known."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.job_tools import TOPIC, a_desk, jobs_on, wait_for_job

from kiwiresearch.bulk.tables import CHOICES
from kiwiresearch.cli.shelf import ALL_TABLES
from kiwiresearch.codec import plain
from kiwiresearch.errors import BadUsage, CannotWrite, FolderInUse, HostUnreachable, KiwiError, StoreUnreachable
from kiwiresearch.jobs import child
from kiwiresearch.jobs.assignment import JobAssignment
from kiwiresearch.jobs.job import (
    BULK_TABLES,
    JOB_STATES,
    MAX_ROWS,
    OPEN_STATES,
    BulkRequest,
    FamilyRequest,
    Job,
    JobRequest,
    QuestionsRequest,
    ResearchRequest,
    checked_request,
    request_from_record,
)
from kiwiresearch.jobs.process import MAX_JOBS_PER_PROCESS, JobSpec, ProcessPool, spec_from_line
from kiwiresearch.jobs.worker_state import LeasedJob, WorkerLock
from kiwiresearch.store import job_row
from kiwiresearch.system import FileLock
from kiwiresearch.workspace import workspace
from kiwiresearch.workspace.settings import Settings
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import store_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no signals")

DYING = """
import sys
from pathlib import Path
from kiwiresearch.jobs.worker_state import WorkerLock

life = WorkerLock(Path(sys.argv[1]))
print(life.name, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _stores_are_closed() -> Iterator[None]:
    yield
    workspace.close_stores()


def an_order(tmp_path: Path, book: Path, number: int) -> JobSpec:
    desk = a_desk(tmp_path / "home", tmp_path / "runs")
    request = ResearchRequest(TOPIC, max_pages=1)
    books = tuple(shelf_of(desk, [str(book)]).books)
    return JobSpec(desk.folders, desk.settings, books, True, request, tmp_path / "runs" / f"r-{number}", f"r-{number}")


def test_a_process_does_one_job_after_the_other(tmp_path: Path, sample_zim: Path) -> None:
    """It is used again while it is sound, leaves SIGTERM to its worker, and ends with the last that need it."""
    processes = ProcessPool()
    seen = []
    for number in (1, 2):
        process = processes.acquire()
        rows = [event["event"] for event in process.events(an_order(tmp_path, sample_zim, number))]
        assert (process.last["event"], rows.count("page")) == ("done", 1)
        seen.append(process.pid)
        os.kill(process.pid, signal.SIGTERM)
        processes.release(process)
    assert seen[0] == seen[1]
    processes.close_idle(idle_s=0.0)
    assert not process.is_usable
    with pytest.raises(ProcessLookupError):
        os.kill(seen[0], 0)
    assert process.jobs_run == 2 < MAX_JOBS_PER_PROCESS


def test_a_job_that_is_stopped_before_it_begins_does_nothing(tmp_path: Path, sample_zim: Path) -> None:
    """The word to stop is heard though the order comes after it, long before its grace is over."""
    processes = ProcessPool()
    process = processes.acquire()
    process.stop(600)
    rows = [event["event"] for event in process.events(an_order(tmp_path, sample_zim, 1))]
    assert (process.last, "page" in rows) == ({"event": "stopped"}, False)
    assert process.ending(is_cancelled=False) is None
    processes.release(process)
    assert not (tmp_path / "runs").exists()


def test_the_dead_are_known_at_once(tmp_path: Path) -> None:
    """A live worker is not taken for dead, a killed one is, and once reported it is forgotten."""
    ours = WorkerLock(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", DYING, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        name = other.stdout.readline().strip()
        assert ours.dead_workers() == ()
        other.kill()
    assert ours.dead_workers() == (name,)
    ours.forget(ours.dead_workers())
    assert ours.dead_workers() == ()
    ours.end()
    assert list((tmp_path / "workers").iterdir()) == []


def test_a_neighbour_that_comes_too_early_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that takes a new worker for dead, and forgets it, keeps the lock from it for a moment only."""
    before = WorkerLock(tmp_path)
    monkeypatch.setattr("kiwiresearch.jobs.worker_state.secrets.token_hex", lambda _: "same")
    file = tmp_path / "workers" / f"{before.name.rpartition('.')[0]}.same"
    neighbour = FileLock(file)
    assert neighbour.acquire()

    def forget() -> None:
        file.unlink()
        neighbour.release()

    forgetting = threading.Timer(0.1, forget)
    forgetting.start()
    new = WorkerLock(tmp_path)
    forgetting.join()
    assert not FileLock(file).acquire()
    assert (new.name, before.dead_workers()) == (file.name, ())
    new.end()
    before.end()


def test_events_are_stored_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads that report about a job at the same time swap nothing, and report nothing twice."""
    store = store_of(a_desk(tmp_path / "home", tmp_path / "runs"))
    store.jobs.add("x", "research", {})
    row = store.leases.lease_next("worker", ("research",), lease_s=60)
    assert row is not None
    held = LeasedJob(store, row, Job(row.id, ResearchRequest("x"), "running", attempt=1))
    add, started, go_on = store.jobs.add_events, threading.Event(), threading.Event()

    def slowly(*entry: Any) -> None:
        if not started.is_set():
            started.set()
            go_on.wait(60)
        add(*entry)

    monkeypatch.setattr(store.jobs, "add_events", slowly)
    threads = [threading.Thread(target=held.store_events) for _ in range(2)]
    held.add_event({"event": "first"})
    threads[0].start()
    assert started.wait(60)
    held.add_event({"event": "second"})
    threads[1].start()
    threads[1].join(0.2)  # it has time to come first, if it could
    go_on.set()
    for thread in threads:
        thread.join()
    assert [entry[2]["event"] for entry in store.jobs.events(row.id)] == ["first", "second"]


@pytest.mark.parametrize("problem", [HostUnreachable("x"), StoreUnreachable("x"), FolderInUse("x")], ids=type)
def test_a_temporary_problem_does_not_fail_a_job(
    tmp_path: Path, sample_zim: Path, monkeypatch: pytest.MonkeyPatch, problem: KiwiError
) -> None:
    """A host, a store or a folder that is unavailable for now is reported as such, and the job can be tried again."""

    class Recorder:
        def __init__(self) -> None:
            self.events: list[dict[str, Any]] = []

        def send(self, **event: Any) -> None:
            self.events.append(event)

    def refused(*_: object) -> None:
        raise problem

    received = Recorder()
    monkeypatch.setattr(child, "run_job", refused)
    child._run_and_report(an_order(tmp_path, sample_zim, 1), threading.Event(), received)  # type: ignore[arg-type]
    assert received.events == [{"event": "unavailable", "problem": "x"}]


def test_a_store_that_is_away_when_a_job_begins_fails_none(
    tmp_path: Path, sample_zim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job goes back into the line with the reason."""

    def refused(*_: object) -> JobSpec:
        raise StoreUnreachable("The store is away.")

    monkeypatch.setattr(JobAssignment, "spec", refused)
    with jobs_on(a_desk(tmp_path / "home", tmp_path / "runs"), sample_zim) as jobs:
        job = jobs.start(ResearchRequest(TOPIC))
        waiting = wait_for_job(jobs, job.id, lambda seen: bool(seen.job.losses)).job
        assert (waiting.state, waiting.losses) == ("queued", ("The store is away.",))


def test_a_folder_without_locks_is_reported(tmp_path: Path) -> None:
    """If no lock can be made, the error says what to do."""
    (tmp_path / "workers").write_text("no folder")
    with pytest.raises(CannotWrite, match="Could not write"):
        WorkerLock(tmp_path)


def test_the_tables_of_a_job_are_those_of_the_command() -> None:
    """A job may ask for every table that can be made, and for no other."""
    assert set(BULK_TABLES) == set(CHOICES)
    assert tuple(ALL_TABLES.split(",")) == BULK_TABLES


WISHES: list[JobRequest] = [
    ResearchRequest("Rome", "walls", 1, 2, 3, "bfs", ("a", "b"), True, False, "causes"),
    FamilyRequest("5f0c9a3be812", 4, False, "abc"),
    QuestionsRequest(('{"question": "What?"}', "", "½ \ud800"), "eli10", 3, ("a",), False),
    BulkRequest("valley_en", ("titles", "links")),
]


@pytest.mark.parametrize("job_request", WISHES, ids=lambda job_request: job_request.kind)
def test_a_request_survives_serialization(tmp_path: Path, job_request: JobRequest) -> None:
    """A request that is written to a file, or sent to a process, is the same afterwards."""
    desk = a_desk(tmp_path / "home", tmp_path / "runs")
    order = JobSpec(desk.folders, desk.settings, (), False, job_request, tmp_path / "x", "x-1", "worker#1", 3)
    assert request_from_record(plain(job_request)) == job_request
    assert spec_from_line(order.to_line()) == order


@pytest.mark.parametrize(
    ("job_request", "problem"),
    [
        (QuestionsRequest(()), "The file has no questions."),
        (QuestionsRequest(("", " ")), "The file has no questions."),
        (QuestionsRequest(("x",) * (MAX_ROWS + 1)), "One job cannot take all 5,001 questions."),
        (QuestionsRequest(("x" * 2**20, "x")), "One job cannot take all 2 questions."),
        (QuestionsRequest(("x",), mode="rude"), "Unknown mode 'rude'."),
        (BulkRequest("valley_en", ()), "No tables chosen."),
        (BulkRequest("valley_en", ("titles", "poems")), "Unknown table 'poems'."),
        (BulkRequest(" ", ("titles",)), "No book chosen."),
    ],
)
def test_an_invalid_request_is_refused(job_request: JobRequest, problem: str) -> None:
    """Each refusal says what is wrong."""
    with pytest.raises(BadUsage) as refused:
        checked_request(job_request, Settings())
    assert refused.value.message == problem


def test_jobs_have_the_states_that_the_store_accepts() -> None:
    """Both list the states, so that the store's libraries are loaded only where they are needed."""
    assert {*JOB_STATES} == {*job_row.OPEN_STATES, *job_row.ENDED_STATES}
    assert OPEN_STATES == job_row.OPEN_STATES
