"""Research as jobs: real processes on the sample book, stopped, killed, taken up again, and in line."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.llm.servers import Told, serving
from tests.research.job_tools import (
    TOPIC,
    Gate,
    a_desk,
    a_wish,
    awaited,
    by_command,
    ended,
    files,
    jobs_on,
    kinds,
    on_disk,
)

from kiwiresearch.errors import BadUsage, BookNotFound, CannotWrite, FolderTaken, Interrupted, RunError, RunNotFound
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.job import Job, JobWish, place_of
from kiwiresearch.research.job_files import JobFiles
from kiwiresearch.research.jobs import Jobs, Limits
from kiwiresearch.research.run_folder import RunFolder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no signals")

LITTLE = Limits(running=1, queued=2)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of a user, with what is built once for all runs."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def model() -> Iterator[tuple[Told, list[Gate]]]:
    """A model server; the gate that was put up last answers."""
    gates = [Gate(holds=0)]
    with serving(lambda talk: gates[-1](talk)) as told:
        yield told, gates


@pytest.fixture(scope="module")
def with_model(
    home: Path, model: tuple[Told, list[Gate]], sample_zim: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, bytes]:
    """The files of a run in one go with that model, in a home that keeps no reply for the others."""
    place = tmp_path_factory.mktemp("with model")
    return by_command(place / "home", sample_zim, place / "run", **asking(model[0]))


def asking(told: Told) -> dict[str, str]:
    return {"KIWIRESEARCH_MODEL_URL": told.address, "KIWIRESEARCH_MODEL_PAGES": "3"}


@pytest.fixture
def gate(model: tuple[Told, list[Gate]]) -> Iterator[Gate]:
    """A model that keeps the run waiting in the middle of its third page."""
    model[1].append(Gate())
    yield model[1][-1]
    model[1][-1].opened.set()


@pytest.fixture
def held_up(model: tuple[Told, list[Gate]], gate: Gate, tmp_path: Path) -> Desk:
    """A desk with the model that keeps runs waiting, and no replies from before."""
    return a_desk(tmp_path / "home", tmp_path / "runs", **asking(model[0]))


def begun(jobs: Jobs, gate: Gate) -> Job:
    """A job that has two pages and is in the middle of the third."""
    job = jobs.start(a_wish())
    assert gate.reached.wait(60)
    return awaited(jobs, job.id, lambda seen: kinds(seen).count("page") == 2).job


def test_a_job_gives_the_bytes_of_the_command(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """Every file of a run is the same whether the command line or a server made it; its steps are told on the way."""
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        job = jobs.start(a_wish())
        assert (job.id, job.state, job.attempt) == ("bronze-age-collapse-1", "running", 1)
        done = ended(jobs, job.id)
        told = jobs.since(job.id)
        assert (done.state, done.pages, done.kept, done.problem) == ("done", 6, 0, "")
        assert on_disk(jobs, job.id)["state"] == "done"
    steps = [kind for kind in kinds(told) if kind not in ("note", "left", "put back", "learned")]
    assert steps == ["stage", "stage", "begun", *["page"] * 6, "ended", "stage"]
    pages = [event.data for event in told.events if event.data["event"] == "page"]
    assert [page["order"] for page in pages] == [1, 2, 3, 4, 5, 6]
    assert all(page["reason"] and page["title"] and page["score"] > 0 for page in pages)
    assert sorted(entry.name for entry in (tmp_path / "runs").iterdir()) == [job.id, f"{job.id}.job.json"]
    assert files(tmp_path / "runs" / job.id) == by_command(home, sample_zim, tmp_path / "command")


def test_a_job_that_is_cancelled_stops_between_steps_and_goes_on(
    held_up: Desk, gate: Gate, sample_zim: Path, with_model: dict[str, bytes]
) -> None:
    """Nothing is half-written, the step under way is kept, and resuming repeats none and gives the same bytes."""
    with jobs_on(held_up, sample_zim) as jobs:
        job = begun(jobs, gate)
        assert jobs.cancel(job.id).state == "running"
        gate.opened.set()
        stopped = ended(jobs, job.id)
        assert (stopped.state, stopped.pages, stopped.is_resumable) == ("cancelled", 3, True)
        assert jobs.cancel(job.id) == stopped
        folder = jobs.folder / job.id
        assert [entry.name for entry in folder.iterdir()] == [".journal"]
        asked = len(gate.asked)
        assert jobs.resume(job.id).attempt == 2
        done = ended(jobs, job.id)
        assert (done.state, done.kept, done.pages) == ("done", 3, 6)
        told = [event.data["order"] for event in jobs.since(job.id).events if event.data["event"] == "page"]
        assert told == [1, 2, 3, 4, 5, 6]
        assert files(folder) == with_model
        assert not set(gate.asked[:asked]) & set(gate.asked[asked:])
        with pytest.raises(FolderTaken, match="is done"):
            jobs.resume(job.id)


def test_a_killed_process_costs_nothing(
    held_up: Desk, gate: Gate, sample_zim: Path, with_model: dict[str, bytes]
) -> None:
    """After kill -9 the job says so in words, and resuming gives the bytes of a run in one go."""
    with jobs_on(held_up, sample_zim) as jobs:
        job = begun(jobs, gate)
        pid = jobs.pid(job.id)
        assert pid
        os.kill(pid, signal.SIGKILL)
        killed = ended(jobs, job.id)
        assert (killed.state, killed.problem) == ("interrupted", "The process of the run ended by SIGKILL.")
        gate.opened.set()
        jobs.resume(job.id)
        done = ended(jobs, job.id)
        assert (done.state, done.kept, done.problem) == ("done", 2, "")
        assert files(jobs.folder / job.id) == with_model


def test_the_next_server_finds_all_jobs(held_up: Desk, gate: Gate, sample_zim: Path) -> None:
    """What ran when a server ended is interrupted and can go on; what waited is in line again, and its turn comes."""
    with jobs_on(held_up, sample_zim, LITTLE) as jobs:
        job, waiting = begun(jobs, gate), jobs.start(JobWish("zzzz qqqq"))
        assert waiting.state == "queued"
        gate.opened.set()
    assert (on_disk(jobs, job.id)["state"], on_disk(jobs, waiting.id)["state"]) == ("interrupted", "queued")
    with pytest.raises(Interrupted, match="being stopped"):
        jobs.start(a_wish())
    with jobs_on(held_up, sample_zim, LITTLE) as later:
        assert [(one.id, one.turn) for one in later.all()] == [(waiting.id, 2), (job.id, 1)]
        assert later.get(job.id).problem == "The server was stopped while the run went on."
        assert later.get(job.id).is_resumable
        failed = ended(later, waiting.id)
        problem = "There is nothing about 'zzzz qqqq' in 'kiwiresearch sample book'."
        assert (failed.state, failed.problem, failed.pages) == ("failed", problem, 0)
        assert not (later.folder / waiting.id).exists()


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system does not tell when a stranger ends")
def test_no_process_outlives_its_server(
    held_up: Desk, gate: Gate, model: tuple[Told, list[Gate]], sample_zim: Path
) -> None:
    """When a server is killed, its runs end by themselves, and the next server finds them interrupted."""
    program = (
        "import sys, threading\n"
        "from kiwiresearch.research.desk import open_desk\n"
        "from kiwiresearch.research.job import JobWish\n"
        "from kiwiresearch.research.jobs import Jobs\n"
        "desk = open_desk()\n"
        "jobs = Jobs(desk, desk.shelf([sys.argv[1]]).books, now=str)\n"
        f"job = jobs.start(JobWish({TOPIC!r}, max_pages=6))\n"
        "told = threading.Event()\n"
        "with jobs.listening(told.set):\n"
        "    while jobs.pid(job.id) is None: told.wait(); told.clear()\n"
        "print(jobs.pid(job.id), flush=True)\n"
        "threading.Event().wait()\n"
    )
    environment = dict(os.environ) | {
        "KIWIRESEARCH_HOME": str(held_up.folders.config),
        "KIWIRESEARCH_SERVE_RUNS": held_up.settings.serve.runs,
        **asking(model[0]),
    }
    with subprocess.Popen(
        [sys.executable, "-c", program, str(sample_zim)], env=environment, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout
        child = int(server.stdout.readline())
        assert gate.reached.wait(60)
        with jobs_on(held_up, sample_zim) as other:
            assert [job.state for job in other.all()] == ["running"]
            for question in (other.since, other.cancel, other.resume):
                with pytest.raises(FolderTaken, match=r"Another server|already"):
                    question("bronze-age-collapse-1")
        server.kill()
    gate.opened.set()
    with contextlib.suppress(ProcessLookupError):  # it has ended already
        watch = os.pidfd_open(child)
        assert select.select([watch], [], [], 60)[0]
        os.close(watch)
    with jobs_on(held_up, sample_zim) as next_one:
        (lost,) = next_one.all()
        assert (lost.state, lost.problem) == ("interrupted", "The server ended while the run went on.")


def test_jobs_wait_in_line(held_up: Desk, gate: Gate, sample_zim: Path) -> None:
    """So many run at once, others wait in order, and no more than may wait; any can be cancelled.

    One that hangs in the middle of a step is ended when its grace is over.
    """
    with jobs_on(held_up, sample_zim, replace(LITTLE, grace_s=0.01)) as jobs:
        first = begun(jobs, gate)
        second, third = jobs.start(a_wish()), jobs.start(a_wish())
        assert [job.id.rpartition("-")[2] for job in (first, second, third)] == ["1", "2", "3"]
        assert [job.state for job in jobs.all()] == ["queued", "queued", "running"]
        assert jobs.is_full
        with pytest.raises(RunError, match="2 runs are waiting already"):
            jobs.start(a_wish())
        with pytest.raises(FolderTaken, match="is in line already"):
            jobs.resume(second.id)
        with pytest.raises(FolderTaken, match="runs already"):
            jobs.resume(first.id)
        assert jobs.cancel(third.id).state == "cancelled"
        assert jobs.cancel(second.id).state == "cancelled"
        assert not jobs.is_full
        assert jobs.since(second.id).events == ()
        jobs.cancel(first.id)
        assert (ended(jobs, first.id).state, jobs.get(first.id).pages) == ("cancelled", 2)


def test_a_process_that_cannot_be_started_is_told(
    home: Path, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system refuses a process, the job fails in words and can be resumed."""
    monkeypatch.setattr("sys.executable", "/no/such/python")
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        failed = ended(jobs, jobs.start(a_wish()).id)
    assert (failed.state, failed.is_resumable) == ("failed", True)
    assert failed.problem == "The process of the run cannot be started: No such file or directory."


@pytest.mark.parametrize(
    ("wish", "problem"),
    [
        (JobWish(""), "The topic has no words."),
        (JobWish("x" * 501), "The topic has 501 characters"),
        (JobWish("a\0b"), "control character"),
        (JobWish("Rome", focus="\x1b[2J"), "The focus holds a control character"),
        (JobWish("Rome", depth=101), "depth is 101."),
        (JobWish("Rome", max_pages=0), "max_pages is 0."),
        (JobWish("Rome", strategy="dfs"), "strategy is 'dfs'."),
    ],
)
def test_a_wish_that_cannot_be_met_is_refused(
    home: Path, sample_zim: Path, tmp_path: Path, wish: JobWish, problem: str
) -> None:
    """Topics and bounds are refused as the command line refuses them, and leave nothing behind."""
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        with pytest.raises(BadUsage) as refused:
            jobs.start(wish)
        assert problem in refused.value.message
    assert not (tmp_path / "runs").exists()


def test_books_are_those_of_the_shelf(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """A book is named as it is on the shelf; the path of a file is no name, not even of a book that is there."""
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        for name in (str(sample_zim), "/etc/passwd", "~nobody-here", "http://127.0.0.1:1", "", "\0"):
            with pytest.raises(BookNotFound):
                jobs.start(replace(a_wish(), books=(name,)))


@pytest.mark.parametrize(
    "job_id", ["", ".", "..", "../x-1", "a/b-1", "x\0-1", ".hidden-1", "x-0", "nobody-1", "x" * 500]
)
def test_no_id_leads_out_of_the_folder(home: Path, sample_zim: Path, tmp_path: Path, job_id: str) -> None:
    """An id that is none, or names a file elsewhere, is not found."""
    row = json.dumps({"id": "x-1", "state": "failed"})
    (tmp_path / "x-1.job.json").write_text(row)
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        for question in (jobs.get, jobs.cancel, jobs.resume, jobs.since):
            with pytest.raises(RunNotFound):
                question(job_id)


@pytest.mark.parametrize("kept", ["", "notes.txt", ".journal/notes.txt", "manifest.json", ".journal/corpus"])
def test_a_removed_job_leaves_no_folder_behind(home: Path, sample_zim: Path, tmp_path: Path, kept: str) -> None:
    """A run that was killed before its first page is gone with its job; a folder that holds more stays whole."""
    runs = tmp_path / "runs"
    files_of = JobFiles(runs)
    held = files_of.new(Job("", JobWish("Rome")))
    files_of.changed(held, replace(held.job, state="interrupted"))
    held.let_go()
    killed = RunFolder.open(runs / "rome-1", "fingerprint", "Rome")
    killed.journal.append({"step": "begun"})
    killed.close()
    if kept:
        (runs / "rome-1" / kept).write_text("words")
    before = files(runs / "rome-1")
    with jobs_on(a_desk(home, runs), sample_zim) as jobs:
        jobs.remove("rome-1")
        assert [job.id for job in jobs.all()] == []
    assert [entry.name for entry in runs.iterdir()] == (["rome-1"] if kept else [])
    assert not kept or files(runs / "rome-1") == before
    assert files_of.new(Job("", JobWish("Rome"))).job.id == ("rome-2" if kept else "rome-1")


def test_a_removed_job_leaves_no_empty_folder_behind(tmp_path: Path) -> None:
    """A run that was killed at once has made its folder and nothing in it; a link is somebody else's."""
    (tmp_path / "elsewhere").mkdir()
    files_of = JobFiles(tmp_path)
    (tmp_path / "rome-1").mkdir()
    files_of.remove("rome-1")
    (tmp_path / "rome-2").symlink_to(tmp_path / "elsewhere")
    files_of.remove("rome-2")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["elsewhere", "rome-2"]


def test_what_is_no_job_is_passed_over(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """Files that are damaged, misnamed or links to others are no jobs, and their names are not given again."""
    files_of = JobFiles(tmp_path / "runs")
    held = files_of.new(Job("", JobWish("Rome")))
    held.let_go()
    whole = (tmp_path / "runs" / "rome-1.job.json").read_text()
    (tmp_path / "elsewhere").write_text(whole.replace("rome-1", "rome-2"))
    (tmp_path / "runs" / "rome-2.job.json").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "runs" / "rome-3.job.json").write_text(whole)
    (tmp_path / "runs" / "rome-4.job.json").write_text(whole.replace("rome-1", "rome-4")[:-9])
    (tmp_path / "runs" / "rome-5.job.json").write_text(whole.replace("rome-1", "rome-5").replace("queued", "lost"))
    (tmp_path / "runs" / "rome-6.job.json").write_text("[" * 10_000)
    (tmp_path / "runs" / "rome-7").mkdir()
    assert [job.id for job in files_of.all()] == ["rome-1"]
    assert files_of.new(Job("", JobWish("Rome"))).job.id == "rome-8"


@pytest.mark.parametrize(
    ("topic", "job_id"),
    [
        ("Καταστροφή!", "καταστροφη-1"),
        ("\U00020000" * 90, "\U00020000" * 40 + "-1"),
        ("+", "topic-1"),
        ("CON", "con-1"),
    ],
)
def test_an_id_is_a_name_that_files_can_have(tmp_path: Path, topic: str, job_id: str) -> None:
    """Whatever the script and the length of a topic, its job can be written and found."""
    held = JobFiles(tmp_path).new(Job("", JobWish(topic)))
    held.let_go()
    assert held.job.id == job_id
    assert JobFiles(tmp_path).read(job_id) == held.job


def test_a_folder_that_cannot_be_made_is_told(home: Path, sample_zim: Path, tmp_path: Path) -> None:
    """Where a file is in the folder's place, no job begins, and the words name no place of the machine."""
    (tmp_path / "runs").write_text("no folder")
    with jobs_on(a_desk(home, tmp_path / "runs"), sample_zim) as jobs:
        assert jobs.all() == []
        with pytest.raises(CannotWrite) as refused:
            jobs.start(a_wish())
    assert str(tmp_path) not in str(refused.value)


@pytest.mark.parametrize(
    ("event_id", "place"),
    [("2.15", (2, 15)), ("", (0, 0)), ("15", (0, 0)), ("a.b", (0, 0)), ("1.²", (0, 0)), ("9" * 5000 + ".1", (0, 0))],
)
def test_the_id_of_an_event_is_its_place(event_id: str, place: tuple[int, int]) -> None:
    """What a client saw last is understood, and anything else is the beginning."""
    assert place_of(event_id) == place
