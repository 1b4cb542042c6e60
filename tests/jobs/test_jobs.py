"""Research as jobs: real processes on the sample book, stopped, killed, taken up again, and in line."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.job_tools import (
    TOPIC,
    Gate,
    a_desk,
    by_command,
    files,
    in_store,
    jobs_on,
    kinds,
    put_row,
    research_request,
    wait_for_end,
    wait_for_job,
)
from tests.llm.servers import ModelServer, serving

from kiwiresearch.codec import plain
from kiwiresearch.errors import (
    BookNotFound,
    CannotWrite,
    Interrupted,
    RunError,
    RunNotFound,
    StoreDamaged,
    StoreUnreachable,
    WrongJobState,
)
from kiwiresearch.jobs.job import BulkRequest, Job, ResearchRequest, event_position
from kiwiresearch.jobs.process import PROCESS_POOL
from kiwiresearch.jobs.queue import JobQueue, QueueLimits
from kiwiresearch.runs.writer import RunWriter
from kiwiresearch.store.job_row import JobRow
from kiwiresearch.workspace.output_folders import bulk_folder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no signals")

JOB = "bronze-age-collapse-1"
LITTLE = QueueLimits(running=1, queued=2)
IDLE = QueueLimits(running=0)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of a user, with what is built once for all runs."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def model() -> Iterator[tuple[ModelServer, list[Gate]]]:
    """A model server; the gate that was put up last answers."""
    gates = [Gate(holds=0)]
    with serving(lambda talk: gates[-1](talk)) as model_server:
        yield model_server, gates


@pytest.fixture(scope="module")
def with_model(
    home: Path, model: tuple[ModelServer, list[Gate]], sample_zim: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    """The files of a run in one go with that model, in a home that keeps no reply for the others."""
    place = tmp_path_factory.mktemp("with model")
    return by_command(place / "home", sample_zim, place / "run", **asking(model[0]))


def asking(model_server: ModelServer, pages: int = 3) -> dict[str, str]:
    return {"KIWIRESEARCH_MODEL_URL": model_server.address, "KIWIRESEARCH_MODEL_PAGES": str(pages)}


@pytest.fixture
def gate(model: tuple[ModelServer, list[Gate]]) -> Iterator[Gate]:
    """A model that keeps the run waiting in the middle of its third page."""
    model[1].append(Gate())
    yield model[1][-1]
    model[1][-1].opened.set()


@pytest.fixture
def slow_workspace(model: tuple[ModelServer, list[Gate]], gate: Gate, tmp_path: Path) -> Workspace:
    """A workspace with the model that keeps runs waiting, and no saved replies."""
    return a_desk(tmp_path / "home", tmp_path / "runs", **asking(model[0]))


def start_job(jobs: JobQueue, gate: Gate) -> Job:
    """A job that has two pages and is in the middle of the third."""
    job = jobs.start(research_request())
    assert gate.reached.wait(60)
    return wait_for_job(jobs, job.id, lambda seen: kinds(seen).count("page") == 2).job


def test_a_job_gives_the_bytes_of_the_command(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """Every file of a run is the same whether the command line or a server made it; its steps are reported."""
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        job = jobs.start(research_request())
        assert (job.id, job.state, job.attempt) == ("bronze-age-collapse-1", "running", 1)
        done = wait_for_end(jobs, job.id)
        result = jobs.events_after(job.id)
        assert (done.state, done.pages, done.kept, done.problem) == ("done", 6, 0, "")
        assert in_store(jobs, job.id).state == "done"
    steps = [kind for kind in kinds(result) if kind not in ("note", "left", "put back", "learned")]
    assert steps == ["stage", "stage", "begun", *["page"] * 6, "ended", "stage"]
    pages = [event.data for event in result.events if event.data["event"] == "page"]
    assert [page["order"] for page in pages] == [1, 2, 3, 4, 5, 6]
    assert all(page["reason"] and page["title"] and page["score"] > 0 for page in pages)
    assert [entry.name for entry in (tmp_path / "runs").iterdir()] == [job.id]
    assert files(tmp_path / "runs" / job.id) == by_command(home, sample_zim, tmp_path / "command")


def test_a_cancelled_job_stops_between_steps_and_can_be_resumed(
    slow_workspace: Workspace, gate: Gate, sample_zim: Path, with_model: dict[str, bytes]
) -> None:
    """Nothing is half-written, the step under way is kept, and resuming repeats none and gives the same bytes."""
    with jobs_on(slow_workspace, sample_zim) as jobs:
        job = start_job(jobs, gate)
        assert jobs.cancel(job.id).state == "running"
        gate.opened.set()
        stopped = wait_for_end(jobs, job.id)
        assert (stopped.state, stopped.pages, stopped.is_resumable) == ("cancelled", 3, True)
        assert jobs.cancel(job.id) == stopped
        folder = jobs.folder / job.id
        assert [entry.name for entry in folder.iterdir()] == [".journal"]
        asked = len(gate.asked)
        assert jobs.resume(job.id).attempt == 2
        done = wait_for_end(jobs, job.id)
        assert (done.state, done.kept, done.pages) == ("done", 3, 6)
        rows = [event.data["order"] for event in jobs.events_after(job.id).events if event.data["event"] == "page"]
        assert rows == [1, 2, 3, 4, 5, 6]
        assert files(folder) == with_model
        assert not set(gate.asked[:asked]) & set(gate.asked[asked:])
        with pytest.raises(WrongJobState, match="is already done"):
            jobs.resume(job.id)


def test_a_killed_process_costs_nothing(
    slow_workspace: Workspace, gate: Gate, sample_zim: Path, with_model: dict[str, bytes]
) -> None:
    """After kill -9, as by a system out of memory, the job continues by itself and gives the same bytes."""
    with jobs_on(slow_workspace, sample_zim) as jobs:
        job = start_job(jobs, gate)
        pid = jobs.pid(job.id)
        assert pid
        os.kill(pid, signal.SIGKILL)
        wait_for_job(jobs, job.id, lambda seen: seen.job.attempt == 2)
        gate.opened.set()
        done = wait_for_end(jobs, job.id)
        assert (done.state, done.kept, done.problem) == ("done", 2, "")
        assert done.losses == ("its process was killed",)
        assert files(jobs.folder / job.id) == with_model


def test_the_next_server_finds_all_jobs(
    model: tuple[ModelServer, list[Gate]], gate: Gate, sample_zim: Path, tmp_path: Path
) -> None:
    """What ran when a server was stopped goes on by itself, no step is repeated, and what waited has its turn after."""
    desk = a_desk(tmp_path / "home", tmp_path / "runs", **asking(model[0], pages=6))
    gate.beyond.clear()
    with jobs_on(desk, sample_zim, LITTLE) as jobs:
        job, waiting = start_job(jobs, gate), jobs.start(ResearchRequest("zzzz qqqq"))
        assert waiting.state == "queued"
        gate.opened.set()
    gate.beyond.set()
    stopped, asked = in_store(jobs, job.id), len(gate.asked)
    assert (stopped.state, in_store(jobs, waiting.id).state) == ("queued", "queued")
    assert [row["why"] for row in stopped.losses] == ["its worker was stopped"]
    with pytest.raises(Interrupted, match="shutting down"):
        jobs.start(research_request())
    with jobs_on(desk, sample_zim, LITTLE) as later:
        assert [(one.id, one.turn) for one in later.all()] == [(waiting.id, 2), (job.id, 1)]
        done = wait_for_end(later, job.id)
        assert (done.state, done.kept, done.attempt, done.pages) == ("done", 3, 2, 6)
        assert not set(gate.finished) & set(gate.asked[asked:])
        failed = wait_for_end(later, waiting.id)
        problem = "No results for 'zzzz qqqq' in 'kiwiresearch sample book'."
        assert (failed.state, failed.problem, failed.pages) == ("failed", problem, 0)
        assert not (later.folder / waiting.id).exists()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system does not tell when a stranger ends")
def test_no_process_outlives_its_server(
    slow_workspace: Workspace, gate: Gate, model: tuple[ModelServer, list[Gate]], sample_zim: Path
) -> None:
    """When a server is killed, its processes end by themselves, and the next server continues where they were."""
    program = (
        "import sys, threading\n"
        "from kiwiresearch.workspace.workspace import open_workspace\n"
        "from kiwiresearch.jobs.job import ResearchRequest\n"
        "from kiwiresearch.jobs.queue import JobQueue\n"
        "from kiwiresearch.workspace.shelf import shelf_of\n"
        "desk = open_workspace()\n"
        "jobs = JobQueue(desk, shelf_of(desk, [sys.argv[1]]).books, now=str)\n"
        f"job = jobs.start(ResearchRequest({TOPIC!r}, max_pages=6))\n"
        "told = threading.Event()\n"
        "with jobs.listeners.listening(told.set):\n"
        "    while jobs.pid(job.id) is None: told.wait(); told.clear()\n"
        "print(jobs.pid(job.id), flush=True)\n"
        "threading.Event().wait()\n"
    )
    environment = dict(os.environ) | {
        "KIWIRESEARCH_HOME": str(slow_workspace.folders.config),
        "KIWIRESEARCH_SERVE_RUNS": slow_workspace.settings.serve.runs,
        **asking(model[0]),
    }
    with subprocess.Popen(
        [sys.executable, "-c", program, str(sample_zim)], env=environment, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout
        child = int(server.stdout.readline())
        assert gate.reached.wait(60)
        with jobs_on(slow_workspace, sample_zim) as other:
            assert [job.state for job in other.all()] == ["running"]
            assert wait_for_job(other, JOB, lambda seen: kinds(seen).count("page") == 2).job.pages == 2
            with pytest.raises(WrongJobState, match="is already running"):
                other.resume(JOB)
        server.kill()
    gate.opened.set()
    with contextlib.suppress(ProcessLookupError):  # it has ended already
        watch = os.pidfd_open(child)
        assert select.select([watch], [], [], 60)[0]
        os.close(watch)
    with jobs_on(slow_workspace, sample_zim) as next_one:
        done = wait_for_end(next_one, JOB)
        assert (done.state, done.attempt, done.kept >= 2, done.pages) == ("done", 2, True, 6)
        assert done.losses == ("the process of its worker ended",)


def test_jobs_wait_in_line(slow_workspace: Workspace, gate: Gate, sample_zim: Path) -> None:
    """So many run at once, others wait in order, and no more than may wait; any can be cancelled.

    One that hangs in the middle of a step is ended when its grace is over.
    """
    with jobs_on(slow_workspace, sample_zim, replace(LITTLE, grace_s=0.01)) as jobs:
        first = start_job(jobs, gate)
        second, third = jobs.start(research_request()), jobs.start(research_request())
        assert [job.id.rpartition("-")[2] for job in (first, second, third)] == ["1", "2", "3"]
        assert [job.state for job in jobs.all()] == ["queued", "queued", "running"]
        assert jobs.is_full
        with pytest.raises(RunError, match="2 jobs are already waiting"):
            jobs.start(research_request())
        with pytest.raises(WrongJobState, match="is already queued"):
            jobs.resume(second.id)
        with pytest.raises(WrongJobState, match="is already running"):
            jobs.resume(first.id)
        assert jobs.cancel(third.id).state == "cancelled"
        assert jobs.cancel(second.id).state == "cancelled"
        assert not jobs.is_full
        assert jobs.events_after(second.id).events == ()
        jobs.cancel(first.id)
        assert (wait_for_end(jobs, first.id).state, jobs.get(first.id).pages) == ("cancelled", 2)


def test_a_process_that_cannot_be_started_is_reported(
    home: Path, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the system refuses a process, the job fails with a message and can be resumed."""
    PROCESS_POOL.close_idle(idle_s=0.0)
    monkeypatch.setattr("sys.executable", "/no/such/python")
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        failed = wait_for_end(jobs, jobs.start(research_request()).id)
    assert (failed.state, failed.is_resumable) == ("failed", True)
    assert failed.problem == "Could not start a process for the job: No such file or directory."


def test_books_are_those_of_the_shelf(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """A book is named as it is on the shelf; the path of a file is not a name, not even of a book that is there."""
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        for name in (str(sample_zim), "/etc/passwd", "~nobody-here", "http://127.0.0.1:1", "", "\0"):
            with pytest.raises(BookNotFound):
                jobs.start(replace(research_request(), books=(name,)))


def test_a_server_leaves_jobs_for_books_it_does_not_have(
    home: Path, sample_zim: Path, tmp_path: Path, a_book: Any
) -> None:
    """A server of one book does its own jobs, and none for the whole shelf or for another book."""
    desk = a_desk(home, tmp_path / "runs")
    other = shelf_of(desk, [str(a_book({"Rome": "<p>Rome is a city.</p>"}))]).books
    with jobs_on(desk, sample_zim, IDLE) as jobs:
        whole, named = jobs.start(ResearchRequest("Rome")), jobs.start(research_request())
        some = JobQueue(desk, other, now=str, is_partial_shelf=True)
        own = some.start(ResearchRequest("Rome"))
        assert (wait_for_end(some, own.id).state, some.has_work()) == ("done", False)
        some.close()
        assert [jobs.get(job.id).state for job in (whole, named)] == ["queued", "queued"]
        assert [jobs.can_do(job.id) for job in (whole, named, own)] == [True, True, False]


@pytest.mark.parametrize(
    "job_id", ["", ".", "..", "../x-1", "a/b-1", "x\0-1", ".hidden-1", "x-0", "nobody-1", "x" * 500]
)
def test_no_id_leads_out_of_the_folder(home: Path, sample_zim: Path, tmp_path: Path, job_id: str) -> None:
    """An id that is none, or names a file elsewhere, is not found."""
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        for question in (jobs.get, jobs.cancel, jobs.resume, jobs.events_after):
            with pytest.raises(RunNotFound):
                question(job_id)


@pytest.mark.parametrize("kept", ["", "notes.txt", ".journal/notes.txt", "manifest.json", ".journal/corpus"])
def test_a_removed_job_leaves_no_folder_behind(home: Path, sample_zim: Path, tmp_path: Path, kept: str) -> None:
    """A run that was killed before its first page is removed with its job; a folder with other files stays complete."""
    runs = tmp_path / "runs"
    killed = RunWriter.open(runs / "rome-1", "fingerprint", "Rome")
    killed.journal.append({"step": "begun"})
    killed.close()
    if kept:
        (runs / "rome-1" / kept).write_text("words")
    before = files(runs / "rome-1")
    with jobs_on(a_desk(home, runs), sample_zim, IDLE) as jobs:
        put_row(jobs.store, JobRow("rome-1", "research", plain(ResearchRequest("Rome")), state="interrupted"))
        jobs.remove("rome-1")
        assert [job.id for job in jobs.all()] == []
        assert (runs / "rome-1").exists() == bool(kept)
        assert not kept or files(runs / "rome-1") == before
        assert jobs.start(ResearchRequest("Rome")).id == ("rome-2" if kept else "rome-1")


def test_a_removed_job_leaves_no_empty_folder_behind(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """A run that was killed at once has made its folder and nothing in it; a link is somebody else's."""
    runs = tmp_path / "runs"
    (tmp_path / "elsewhere").mkdir()
    (runs / "rome-1").mkdir(parents=True)
    (runs / "rome-2").symlink_to(tmp_path / "elsewhere")
    with jobs_on(a_desk(home, runs), sample_zim, IDLE) as jobs:
        for job_id in ("rome-1", "rome-2"):
            put_row(jobs.store, JobRow(job_id, "research", plain(ResearchRequest("Rome")), state="interrupted"))
            jobs.remove(job_id)
    assert sorted(entry.name for entry in runs.iterdir() if entry.suffix == "") == ["rome-2"]


def test_tables_that_were_left_are_not_written_into(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """The plan of a job that was removed stays in its folder, and the next job has another."""
    desk = a_desk(home, tmp_path / "runs")
    with jobs_on(desk, sample_zim, IDLE) as jobs:
        request = BulkRequest("sample", ("titles",))
        first = jobs.start(request)
        (bulk_folder(desk) / first.id).mkdir(parents=True)
        jobs.cancel(first.id)
        jobs.remove(first.id)
        assert jobs.start(request).id == first.id.removesuffix("1") + "2"


def test_a_user_is_asked_about_once_for_a_look_along_the_line(
    home: Path, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many jobs of somebody wait who has no room, the store is asked about them once."""
    asked: list[str] = []

    def nobody(store: object, limits: object, user: str) -> bool:
        asked.append(user)
        return False

    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim, IDLE) as jobs:
        for user in ("ada", "bob") * 3:
            jobs.start(research_request(), user=user)
        monkeypatch.setattr("kiwiresearch.jobs.assignment.may_start_job", nobody)
        assert (
            jobs.store.leases.lease_next("worker", ("research",), lease_s=60, can_do=jobs.assignment.eligibility())
            is None
        )
    assert sorted(asked) == ["ada", "bob"]


def test_the_end_of_a_users_work_reaches_the_audit(
    home: Path, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the store goes away between the end of a job and the audit, the audit is written when it is back."""
    problems = iter([StoreUnreachable("It is away.")])
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        add = jobs.store.audit.add

        def now_and_then(*result: Any) -> None:
            for problem in problems:
                raise problem
            add(*result)

        monkeypatch.setattr(jobs.store.audit, "add", now_and_then)
        job = jobs.start(ResearchRequest("zzzz qqqq"), user="ada")
        news = threading.Event()
        with jobs.listeners.listening(news.set):
            while not jobs.is_idle:
                assert news.wait(60)
                news.clear()
        assert [(row.user, row.subject) for row in jobs.store.audit.rows()] == [("ada", job.id)]


def test_a_row_that_is_not_a_job_is_reported_and_removed(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """A row that others wrote into the store is a failed job with a reason; removing it deletes no files."""
    desk = a_desk(home, tmp_path / "runs")
    with jobs_on(desk, sample_zim, IDLE) as jobs:
        odd = [jobs.store.jobs.add("odd", kind, {"topic": [1]}) for kind in ("research", "ask", "kin")]
        outside = JobRow("../odd-1", "research", plain(research_request()))
        put_row(jobs.store, outside)
        odd.append(outside)
        odd.append(jobs.store.jobs.add("odd", "dance", {}))
        assert {job.id for job in jobs.all()} == {row.id for row in odd}
        assert {job.state for job in jobs.all()} == {"failed"}
        assert jobs.get("odd-4").problem.endswith("damaged: its kind 'dance' is unknown.")
        with pytest.raises(StoreDamaged, match="'odd-1' in the store is damaged: its 'request' was changed"):
            jobs.resume("odd-1")
    (tmp_path / "odd-1").mkdir()
    (tmp_path / "runs" / "odd-1").mkdir(parents=True)
    with jobs_on(desk, sample_zim) as jobs:
        assert {in_store(jobs, row.id).state for row in odd[:-1]} == {"failed"}
        job = wait_for_end(jobs, jobs.start(replace(research_request(), max_pages=1)).id)
        assert job.state == "done"
        left = [jobs.remove(row.id) for row in odd]
        assert [job.id for job in jobs.all()] == [job.id]
    assert left == [tmp_path / "runs" / "odd-1", None, None, None, None]
    assert (tmp_path / "odd-1").is_dir()


def test_outputs_of_a_damaged_job_are_not_removed_while_it_runs(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """The removal is refused before anything is gone, with what to do."""
    notes = tmp_path / "runs" / "odd-1" / "notes.jsonl"
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim, IDLE) as jobs:
        jobs.store.jobs.add("odd", "research", {"topic": [1]})
        assert jobs.store.leases.lease_next("w", ["research"], lease_s=60)
        notes.parent.mkdir(parents=True)
        notes.write_text("kept")
        with pytest.raises(WrongJobState, match=r"'odd-1' is running\..*jobs cancel odd-1"):
            jobs.remove("odd-1", with_run=True)
        assert notes.read_text() == "kept"


@pytest.mark.parametrize(
    ("topic", "job_id"),
    [
        ("Καταστροφή!", "καταστροφη-1"),
        ("\U00020000" * 90, "\U00020000" * 40 + "-1"),
        ("+", "topic-1"),
        ("CON", "con-1"),
    ],
)
def test_an_id_is_a_name_that_files_can_have(
    home: Path, sample_zim: Path, tmp_path: Path, topic: str, job_id: str
) -> None:
    """Whatever the script and the length of a topic, its job can be written and found."""
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim, IDLE) as jobs:
        job = jobs.start(ResearchRequest(topic))
        assert job.id == job_id
        assert jobs.get(job_id) == job


def test_a_folder_that_cannot_be_created_is_reported(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """If a file is in the folder's place, the job fails with a message that names no path of the machine."""
    (tmp_path / "runs").write_text("no folder")
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        assert jobs.all() == []
        failed = wait_for_end(jobs, jobs.start(research_request()).id)
    assert failed.problem.startswith("The folder 'runs/bronze-age-collapse-1' cannot be created")
    assert str(tmp_path) not in failed.problem + failed.remedy


def test_a_state_folder_that_cannot_be_created_is_reported(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """If a file is in the place of the program's own folder, nothing starts, and the error says what to do."""
    (tmp_path / "state").write_text("no folder")
    with pytest.raises(CannotWrite, match="Could not write"), jobs_on(a_desk(home, tmp_path / "runs"), sample_zim):
        pass


@pytest.mark.parametrize(
    ("event_id", "place"),
    [("2.15", (2, 15)), ("", (0, 0)), ("15", (0, 0)), ("a.b", (0, 0)), ("1.²", (0, 0)), ("9" * 5000 + ".1", (0, 0))],
)
def test_the_id_of_an_event_is_its_place(event_id: str, place: tuple[int, int]) -> None:
    """What a client saw last is understood, and anything else is the beginning."""
    assert event_position(event_id) == place
