"""Work that lives in a store: gone on with on any host, never twice, and seen from everywhere.

The store is the same on both engines (tests/store); here PostgreSQL has all of it, and a file the whole of a job.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.jobs.job_tools import (
    TOPIC,
    Gate,
    by_command,
    files,
    in_store,
    jobs_on,
    kinds,
    research_request,
    wait_for_end,
)
from tests.llm.servers import ModelServer, serving

from kiwiresearch.cli.start import run as run_command
from kiwiresearch.codec import plain
from kiwiresearch.errors import LeaseLost, RunNotFound, StoreDamaged, StoreUnreachable, WrongJobState
from kiwiresearch.jobs.job import BulkRequest, Job, JobRequest, QuestionsRequest, ResearchRequest
from kiwiresearch.jobs.process import JobSpec
from kiwiresearch.jobs.queue import JobQueue, QueueLimits
from kiwiresearch.jobs.work import JobResult, run_job
from kiwiresearch.runs import store_copy
from kiwiresearch.runs.notes import NoteOpinion, NoteTarget, add_note, change_note, read_notes
from kiwiresearch.runs.store_copy import JobFilesCopy, JobLost, WorkStopped, download_files
from kiwiresearch.store.job_row import JobRow
from kiwiresearch.store.runs import RunFiles
from kiwiresearch.store.store import Store
from kiwiresearch.web.desk.research import JobViews
from kiwiresearch.workspace import workspace
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace, open_workspace, store_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no signals")

IDLE = QueueLimits(running=0)
BY_WORDS = {"KIWIRESEARCH_ASK_READER": "false"}
"""Each process of jobs would take longer to load the reading model than for most jobs."""
NOW = "2026-01-01T00:00:00+00:00"
SMALL = ResearchRequest(TOPIC, max_pages=2, model=False)
QUESTIONS = QuestionsRequest(
    ('{"question": "When was Ugarit destroyed?"}', "", "no JSON", '{"question": "Who dug at Pylos?"}'), model=False
)


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new store that keeps all: of a server, unless a test wants a file."""
    if getattr(request, "param", "") == "sqlite":
        return f"sqlite:///{tmp_path / 'kept.sqlite'}"
    server: Callable[[], str] = request.getfixturevalue("postgres_server")
    return server()


both_engines = pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture(autouse=True)
def _stores_are_closed() -> Iterator[None]:
    yield
    workspace.close_stores()


@pytest.fixture
def gated() -> Iterator[tuple[Gate, ModelServer]]:
    """A model that keeps a run waiting in the middle of its third page."""
    gate = Gate()
    with serving(gate) as model_server:
        yield gate, model_server
        gate.opened.set()


def a_host(tmp_path: Path, name: str, url: str, **more: str) -> Workspace:
    """The desk of a host that shares nothing with others but the store."""
    return open_workspace({"KIWIRESEARCH_HOME": str(tmp_path / name), "KIWIRESEARCH_STORE": url, **BY_WORDS, **more})


def an_order(jobs: JobQueue, job: Job, worker: str) -> JobSpec:
    """The order of a job that a worker of this name has taken."""
    row = jobs.store.leases.lease_next(worker, (job.request.kind,), lease_s=60)
    assert row is not None
    assert row.id == job.id
    return jobs.assignment.spec(row, job)


def done(order: JobSpec, *, stop_at: str = "") -> tuple[JobResult, list[str]]:
    """Do an order in this process, and stop after the first event of a kind; returns the events of its steps."""
    reports: list[str] = []
    stop = threading.Event()

    def report(**event: Any) -> None:
        reports.append(event["event"])
        if event["event"] == stop_at:
            stop.set()

    try:
        return run_job(order, report, stop), reports
    except WorkStopped:
        return JobResult(), reports


def test_a_server_without_books_researches_the_sample_book(url: str, tmp_path: Path) -> None:
    """The sample book, which an empty library shows, is also the one that jobs get."""
    host = a_host(tmp_path, "here", url)
    with shelf_of(host) as shelf:
        assert shelf.is_sample
        assert shelf.current_books() == shelf.books == (host.sample(),)
        with closing(JobQueue(host, shelf.current_books, now=lambda: NOW, limits=IDLE)) as jobs:
            assert an_order(jobs, jobs.start(SMALL), "w").books == (host.sample(),)


def test_a_run_is_seen_from_every_host(url: str, sample_zim: Path, tmp_path: Path) -> None:
    """Its job, its events and its files, byte for byte, are there where nobody worked on it; its folder is a copy."""
    here, there = a_host(tmp_path, "here", url), a_host(tmp_path, "there", url)
    with jobs_on(here, sample_zim) as jobs, jobs_on(there, sample_zim, IDLE) as others:
        job = jobs.start(SMALL, user="ada")
        assert wait_for_end(jobs, job.id).state == "done"
        seen = others.events_after(job.id)
        assert (seen.job.pages, seen.job.user, seen.job.story) == (2, "ada", jobs.get(job.id).story)
        assert kinds(seen) == kinds(jobs.events_after(job.id))
        assert kinds(seen).count("page") == 2
        (listed,) = others.runs.all()
        assert [entry.name for entry in listed.path.iterdir()] == ["manifest.json"]
        assert listed.files == jobs.runs.get(job.id).files
        assert listed.file("report.md").read_bytes() == (jobs.folder / job.id / "report.md").read_bytes()
        assert files(others.runs.get(job.id).path) == files(jobs.folder / job.id)
        assert jobs.store.unfinished_files.sizes(job.id) == {}
        (others.folder / job.id / "report.md").unlink()
        assert others.runs.get(job.id).file("report.md").is_file()
        with pytest.raises(RunNotFound):
            others.runs.get("nobody-1")


@both_engines
def test_notes_are_shared(url: str, sample_zim: Path, tmp_path: Path) -> None:
    """A note that is written on one host is read and changed on the other, and both have all lines."""
    here, there = a_host(tmp_path, "here", url), a_host(tmp_path, "there", url)
    with jobs_on(here, sample_zim, IDLE) as jobs, jobs_on(there, sample_zim, IDLE) as others:
        job = jobs.start(SMALL)
        done(an_order(jobs, job, "somebody"))
        mine, theirs = jobs.runs.get(job.id), others.runs.get(job.id)
        note = add_note(mine.path, NoteTarget("run"), NoteOpinion("doubt", "Why?"), now=NOW, note_lines=mine.note_lines)
        change_note(theirs.path, note.id, NoteOpinion("agree", "So."), now=NOW, note_lines=theirs.note_lines)
        for run in (jobs.runs.get(job.id), others.runs.get(job.id)):
            assert [one.opinion for one in read_notes(run.path).notes] == [NoteOpinion("agree", "So.")]
            assert len((run.path / "notes.jsonl").read_bytes().splitlines()) == 2


def test_a_removed_run_is_gone_everywhere(url: str, sample_zim: Path, tmp_path: Path) -> None:
    """Its job, files and notes go, and the copies of hosts that knew it; what others put beside it stays."""
    here, there = a_host(tmp_path, "here", url), a_host(tmp_path, "there", url)
    with jobs_on(here, sample_zim, IDLE) as jobs, jobs_on(there, sample_zim, IDLE) as others:
        job = jobs.start(SMALL)
        order = an_order(jobs, job, "somebody")
        with pytest.raises(WrongJobState, match=r"is running or queued\. Cancel it first"):
            jobs.remove(job.id, with_run=True)
        jobs.store.jobs.end(order.holder, job.id, "done", plain(done(order)[0]))
        run = jobs.runs.get(job.id)
        add_note(run.path, NoteTarget("run"), NoteOpinion("doubt", "Why?"), now=NOW, note_lines=run.note_lines)
        assert len(others.runs.all()) == 1
        (others.runs.get(job.id).path / "mine.txt").write_text("mine")
        with pytest.raises(WrongJobState, match=f"has results.*jobs remove {job.id} --yes"):
            jobs.remove(job.id)
        assert jobs.remove(job.id, with_run=True) is None
        assert (jobs.all(), jobs.runs.all(), jobs.store.run_files.runs(), jobs.store.notes.lines(job.id)) == (
            [],
            [],
            [],
            [],
        )
        assert not run.path.exists()
        assert others.runs.all() == []
        assert [file.name for file in (others.folder / job.id).iterdir()] == ["mine.txt"]
        assert others.start(SMALL).id != job.id, "who still has a copy would take it for the new run"


def test_a_run_that_the_store_has_lost_stays_where_a_copy_is(url: str, sample_zim: Path, tmp_path: Path) -> None:
    """A store that was brought back from a backup takes no run away that nobody has removed."""
    with jobs_on(a_host(tmp_path, "here", url), sample_zim, IDLE) as jobs:
        job = jobs.start(SMALL)
        done(an_order(jobs, job, "somebody"))
        before = files(jobs.runs.get(job.id).path)
        jobs.store.run_files.remove(job.id)
        assert [run.id for run in jobs.runs.all()] == [job.id]
        assert files(jobs.runs.get(job.id).path) == before


def test_unfinished_work_is_removed_if_it_is_meant(url: str, sample_zim: Path, tmp_path: Path) -> None:
    """A run and a batch that were stopped after their first step leave nothing, neither here nor in the store."""
    with jobs_on(a_host(tmp_path, "here", url), sample_zim, IDLE) as jobs:
        for request, stop_at in ((SMALL, "page"), (QUESTIONS, "answer")):
            job = jobs.start(request)
            order = an_order(jobs, job, "somebody")
            done(order, stop_at=stop_at)
            jobs.store.jobs.end(order.holder, job.id, "cancelled", {"pages": 1})
            assert jobs.store.unfinished_files.sizes(job.id)
            assert jobs.remove(job.id, with_run=True) is None
            assert (jobs.store.unfinished_files.sizes(job.id), list(jobs.folder.iterdir())) == ({}, [])


def test_files_of_a_run_are_brought_piece_by_piece(
    url: str, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large file is never in memory whole, and one that is damaged is not put into the folder."""
    store = store_of(a_host(tmp_path, "here", url))
    store.run_files.put("", "x-1", {"large": bytes(2**21), "small": b"x"})
    monkeypatch.setattr(RunFiles, "read", None)
    download_files(store, "x-1", tmp_path / "run")
    assert (tmp_path / "run" / "large").read_bytes() == bytes(2**21)
    monkeypatch.setattr(RunFiles, "pieces", torn)
    with pytest.raises(StoreDamaged):
        download_files(store, "x-1", tmp_path / "other")
    assert list((tmp_path / "other").iterdir()) == []


def torn(*_: object) -> Iterator[bytes]:
    yield b"half"
    raise StoreDamaged("It is torn.")


def test_another_host_goes_on_where_one_stopped(
    url: str, gated: tuple[Gate, ModelServer], sample_zim: Path, tmp_path: Path
) -> None:
    """No page is read twice by the model, whichever host reads it, and the bytes are those of a run in one go."""
    gate, result = gated
    gate.beyond.clear()
    model = {"KIWIRESEARCH_MODEL_URL": result.address, "KIWIRESEARCH_MODEL_PAGES": "6"}
    with jobs_on(a_host(tmp_path, "here", url, **model), sample_zim) as jobs:
        job = jobs.start(research_request())
        assert gate.reached.wait(60)
        gate.opened.set()
    gate.beyond.set()
    waiting, asked = in_store(jobs, job.id), len(gate.asked)
    assert (waiting.state, [row["why"] for row in waiting.losses]) == ("queued", ["its worker was stopped"])
    with jobs_on(a_host(tmp_path, "there", url, **model), sample_zim) as others:
        finished = wait_for_end(others, job.id)
        assert (finished.state, finished.kept, finished.pages, finished.attempt) == ("done", 3, 6, 2)
        assert not set(gate.finished) & set(gate.asked[asked:])
        whole = by_command(tmp_path / "alone", sample_zim, tmp_path / "run", **model)
        assert files(others.folder / job.id) == whole


def test_a_worker_that_was_given_up_writes_nothing_more(
    url: str, gated: tuple[Gate, ModelServer], sample_zim: Path, tmp_path: Path
) -> None:
    """A worker whose job was taken by another ends it at its next step; the other's work is kept."""
    gate, result = gated
    model = {"KIWIRESEARCH_MODEL_URL": result.address, "KIWIRESEARCH_MODEL_PAGES": "3"}
    with jobs_on(a_host(tmp_path, "here", url, **model), sample_zim) as slow:
        job = slow.start(research_request())
        assert gate.reached.wait(60)
        assert slow._worker is not None
        slow._worker._max_running = 0  # it has no room to take the job itself once more
        lost: list[JobRow] = []
        while not lost:  # a row that its worker is just writing is left out
            lost = slow.store.leases.expire(max_lost_starts=3, is_dead=lambda _: True)
        assert [(row.id, row.state) for row in lost] == [(job.id, "queued")]
        with jobs_on(a_host(tmp_path, "there", url, **model), sample_zim, QueueLimits(running=1)) as quick:
            gate.opened.set()
            finished = wait_for_end(quick, job.id)
            assert (finished.state, finished.attempt, finished.kept) == ("done", 2, 2)
            assert quick._worker is not None
            assert finished.worker == quick._worker._worker_lock.name
            assert quick.runs.get(job.id).file("report.md").is_file()
        assert slow.get(job.id).worker == finished.worker


@both_engines
def test_nothing_is_kept_of_a_lost_job(url: str, sample_zim: Path, tmp_path: Path) -> None:
    """Steps, outputs and ends of an attempt that was given up are refused by the store, each by itself."""
    desk = a_host(tmp_path, "here", url)
    with jobs_on(desk, sample_zim, IDLE) as jobs:
        job = jobs.start(SMALL)
        order = an_order(jobs, job, "old")
        jobs.store.leases.expire(max_lost_starts=3, is_dead=lambda _: True)
        with pytest.raises((LeaseLost, JobLost)):
            done(order)
        assert (jobs.store.unfinished_files.sizes(job.id), jobs.store.run_files.names(job.id)) == ({}, {})
        with pytest.raises(LeaseLost):
            jobs.store.jobs.end(order.holder, job.id, "done", {})


def test_finished_outputs_are_not_made_again(url: str, sample_zim: Path, tmp_path: Path) -> None:
    """A worker that is killed between its outputs and its last report leaves a finished run, which is kept."""
    desk, other = a_host(tmp_path, "here", url), a_host(tmp_path, "there", url)
    with jobs_on(desk, sample_zim, IDLE) as jobs:
        job = jobs.start(SMALL)
        made, steps = done(an_order(jobs, job, "old"))
        assert steps.count("page") == 2
        revision = jobs.store.run_files.revision(job.id)
        jobs.store.leases.expire(max_lost_starts=3, is_dead=lambda _: True)
    with jobs_on(other, sample_zim) as others:
        finished = wait_for_end(others, job.id)
        assert (finished.state, finished.story, finished.pages) == ("done", made.story, 2)
        assert "page" not in kinds(others.events_after(job.id, (1, 10**6)))
        assert others.store.run_files.revision(job.id) == revision


@pytest.mark.parametrize("job_request", [SMALL, QUESTIONS], ids=lambda job_request: job_request.kind)
def test_outputs_that_did_not_reach_the_store_are_put_there(
    url: str, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job_request: JobRequest
) -> None:
    """A worker that is killed after its last file has made a run here, and the next attempt puts it into the store."""
    desk = a_host(tmp_path, "here", url)
    with jobs_on(desk, sample_zim, IDLE) as jobs:
        job = jobs.start(job_request)
        with monkeypatch.context() as patch:
            patch.setattr(JobFilesCopy, "finish", killed)
            order = an_order(jobs, job, "old")
            done(order)
        made = {file.name for file in order.folder.iterdir() if file.is_file()}
        assert jobs.store.run_files.names(job.id) == {}
        jobs.store.leases.expire(max_lost_starts=3, is_dead=lambda _: True)
        _, result = done(an_order(jobs, job, "new"))
        assert not {"page", "answer"} & set(result)
        assert jobs.store.run_files.names(job.id).keys() == made


def killed(*_: object) -> None:
    raise WorkStopped


def stopped_run(jobs: JobQueue) -> Job:
    """A run that was stopped after its first page."""
    job = jobs.start(SMALL)
    order = an_order(jobs, job, "first")
    done(order, stop_at="page")
    jobs.store.jobs.end(order.holder, job.id, "cancelled", {"pages": 1})
    return job


@both_engines
def test_the_brief_of_a_stopped_run_is_written_on_another_host(url: str, sample_zim: Path, tmp_path: Path) -> None:
    """It reads no more pages, and the files are those of the same run that was stopped and written without a store."""
    here, there = a_host(tmp_path, "here", url), a_host(tmp_path, "there", url)
    alone = open_workspace({"KIWIRESEARCH_HOME": str(tmp_path / "alone"), **BY_WORDS})
    with jobs_on(alone, sample_zim, IDLE) as own:
        job = stopped_run(own)
        job = own.resume(job.id, read_no_more=True)
        done(an_order(own, job, "second"))
        expected = files(own.folder / job.id)
    with jobs_on(here, sample_zim, IDLE) as jobs, jobs_on(there, sample_zim, IDLE) as others:
        job = stopped_run(jobs)
        job = others.resume(job.id, read_no_more=True)
        order = an_order(others, job, "second")
        made, steps = done(order)
        assert (made.pages, made.kept, "page" in steps) == (1, 1, False)
        others.store.jobs.end(order.holder, job.id, "done", plain(made))
        assert files(others.folder / job.id) == files(jobs.runs.get(job.id).path) == expected
        assert b'"stopped"' in jobs.runs.get(job.id).file("manifest.json").read_bytes()
        assert jobs.store.unfinished_files.sizes(job.id) == {}
        with pytest.raises(WrongJobState, match="already done"):
            jobs.resume(job.id)


@both_engines
def test_a_brief_that_did_not_reach_the_store_is_written_again(
    url: str, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that is killed before it handed in the brief costs nothing, whichever host is next."""
    here, there = a_host(tmp_path, "here", url), a_host(tmp_path, "there", url)
    with jobs_on(here, sample_zim, IDLE) as jobs, jobs_on(there, sample_zim, IDLE) as others:
        written = []
        for next_host in (jobs, others):
            job = stopped_run(jobs)
            job = jobs.resume(job.id, read_no_more=True)
            with monkeypatch.context() as patch:
                patch.setattr(JobFilesCopy, "finish", killed)
                done(an_order(jobs, job, "second"))
            assert jobs.store.run_files.names(job.id) == {}
            jobs.store.leases.expire(max_lost_starts=3, is_dead=lambda _: True)
            order = an_order(next_host, job, "third")
            made, steps = done(order)
            next_host.store.jobs.end(order.holder, job.id, "done", plain(made))
            assert (made.pages, "page" in steps) == (1, False)
            written.append(files(others.runs.get(job.id).path))
        assert written[0] == written[1]


def test_a_command_asks_for_the_brief_of_a_stopped_run(
    url: str, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """'jobs finish' on any host queues it, and a worker on another host writes it."""
    here, there = a_host(tmp_path, "here", url), a_host(tmp_path, "there", url)
    with jobs_on(here, sample_zim, IDLE) as jobs:
        job = stopped_run(jobs)
        monkeypatch.setenv("KIWIRESEARCH_HOME", str(tmp_path / "here"))
        here.shelf_file.add(shelf_of(here, [str(sample_zim)]).books)
        assert run_command(["jobs", "finish", job.id, "--store", url, "--json"]) == 0
        asked = json.loads(capsys.readouterr().out)
        assert (asked["state"], asked["request"]["read_no_more"]) == ("queued", True)
        with jobs_on(there, sample_zim) as others:
            finished = wait_for_end(others, job.id)
        assert (finished.state, finished.pages, finished.kept) == ("done", 1, 1)
        assert "not complete" in jobs.runs.get(job.id).file("report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("job_request", [SMALL, QUESTIONS], ids=lambda job_request: job_request.kind)
def test_steps_that_were_not_dropped_are_dropped_by_the_next(
    url: str, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job_request: JobRequest
) -> None:
    """A worker that is killed between its outputs and the removal of its steps leaves none in the store for good."""
    with jobs_on(a_host(tmp_path, "here", url), sample_zim, IDLE) as jobs:
        job = jobs.start(job_request)
        with monkeypatch.context() as patch:
            patch.setattr(jobs.store.unfinished_files, "drop", killed)
            done(an_order(jobs, job, "old"))
        assert jobs.store.unfinished_files.sizes(job.id)
        jobs.store.leases.expire(max_lost_starts=3, is_dead=lambda _: True)
        done(an_order(jobs, job, "new"))
        assert jobs.store.unfinished_files.sizes(job.id) == {}


def test_steps_and_outputs_are_brought_when_the_store_is_back(
    url: str, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that goes away while a host reads what others did is waited for."""
    monkeypatch.setattr(store_copy, "RETRY_S", 0.0)
    here, there = a_host(tmp_path, "here", url), a_host(tmp_path, "there", url)
    with jobs_on(here, sample_zim, IDLE) as jobs, jobs_on(there, sample_zim, IDLE) as others:
        job = jobs.start(SMALL)
        order = an_order(jobs, job, "one")
        done(order, stop_at="page")
        jobs.store.leases.requeue(order.holder, job.id, "a test")
        store = others.store
        monkeypatch.setattr(store.unfinished_files, "read", once_away(store.unfinished_files.read))
        order = an_order(others, job, "two")
        made, _ = done(order)
        assert (made.kept, made.pages) == (1, 2)
        monkeypatch.setattr(store.run_files, "names", once_away(store.run_files.names))
        assert JobFilesCopy(store, order.holder, job.id, tmp_path / "third", ()).restore()
        assert files(tmp_path / "third") == files(others.folder / job.id)


def once_away(ask: Callable[..., Any]) -> Callable[..., Any]:
    """The same question to a store that does not answer the first time."""
    problems = iter([StoreUnreachable("It is away.")])

    def asked(*given: Any) -> Any:
        for problem in problems:
            raise problem
        return ask(*given)

    return asked


def test_tables_are_not_gone_on_with_by_who_lost_them(url: str, sample_zim: Path, tmp_path: Path) -> None:
    """A worker that was given up for dead writes no further batch into a folder that is another's by now."""
    with jobs_on(a_host(tmp_path, "here", url), sample_zim, IDLE) as jobs:
        job = jobs.start(BulkRequest("sample", ("titles",)))
        order = an_order(jobs, job, "old")
        jobs.store.leases.expire(max_lost_starts=3, is_dead=lambda _: True)
        with pytest.raises(JobLost):
            done(order)
        assert not (order.folder / "manifest.json").exists()


def test_a_store_that_is_away_is_waited_for(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step is copied as soon as the store is back; a job that is stopped meanwhile stops without an error."""
    store = store_of(a_host(tmp_path, "here", url))
    row = store.jobs.add("x", "ask", {})
    claimed = store.leases.lease_next("worker", ("ask",), lease_s=60)
    assert claimed is not None
    append = store.unfinished_files.append
    tries = iter([StoreUnreachable("It is away."), StoreUnreachable("It is away."), None])

    def now_and_then(*given: Any) -> None:
        problem = next(tries)
        if problem is not None:
            raise problem
        append(*given)

    monkeypatch.setattr(store_copy, "RETRY_S", 0.0)
    monkeypatch.setattr(store.unfinished_files, "append", now_and_then)
    kept = JobFilesCopy(store, claimed.holder, row.id, tmp_path / "run", ("answers",))
    (tmp_path / "run" / ".journal").mkdir(parents=True)
    (tmp_path / "run" / ".journal" / "answers").write_bytes(b"{}\n")
    kept.copy()
    assert store.unfinished_files.sizes(row.id) == {"answers": 3}
    tries = iter([StoreUnreachable("It is away.")])
    (tmp_path / "run" / ".journal" / "answers").write_bytes(b"{}\n{}\n")
    kept.stop.set()
    with pytest.raises(WorkStopped):
        kept.copy()


@both_engines
def test_a_run_goes_on_from_each_of_its_steps(url: str, sample_zim: Path, tmp_path: Path) -> None:
    """Stopped after every kind of step, each time on another host, a run is made of the same bytes."""
    seen: list[str] = []
    first = a_host(tmp_path, "host0", url)
    with jobs_on(first, sample_zim, IDLE) as jobs:
        job = jobs.start(ResearchRequest(TOPIC, max_pages=3, model=False))
    made = JobResult()
    for number, stop_at in enumerate(("begun", "page", "ended", "")):
        desk = a_host(tmp_path, f"host{number}", url)
        with jobs_on(desk, sample_zim, IDLE) as jobs:
            order = an_order(jobs, job, f"worker{number}")
            made, result = done(order, stop_at=stop_at)
            seen += [kind for kind in result if kind in ("begun", "page", "ended")]
            if made == JobResult():
                jobs.store.leases.requeue(order.holder, job.id, "a test")
    assert seen == ["begun", "page", "page", "page", "ended"]
    assert made.kept == 3
    with jobs_on(first, sample_zim, IDLE) as jobs:
        run = jobs.runs.get(job.id)
    alone = JobSpec(first.folders, open_workspace({"KIWIRESEARCH_HOME": str(tmp_path / "host0"), **BY_WORDS}).settings,
                  order.books, order.search_every_book, order.request, tmp_path / "alone", "alone-1")  # fmt: skip
    done(alone)
    assert files(run.path) == files(tmp_path / "alone")


@both_engines
def test_answers_are_kept_one_by_one(url: str, sample_zim: Path, tmp_path: Path) -> None:
    """A batch that stops after an answer goes on with the next one elsewhere, and gives the lines of the command."""
    answered: list[str] = []
    here, there = a_host(tmp_path, "here", url), a_host(tmp_path, "there", url)
    with jobs_on(here, sample_zim, IDLE) as jobs, jobs_on(there, sample_zim, IDLE) as others:
        job = jobs.start(QUESTIONS)
        order = an_order(jobs, job, "one")
        answered += [kind for kind in done(order, stop_at="answer")[1] if kind == "answer"]
        assert others.store.unfinished_files.sizes(job.id).keys() == {"answers"}
        jobs.store.leases.requeue(order.holder, job.id, "a test")
        order = an_order(others, job, "two")
        made, result = done(order)
        answered += [kind for kind in result if kind == "answer"]
        others.store.jobs.end(order.holder, job.id, "done", plain(made))
        assert (made.pages, made.kept, len(answered)) == (3, 1, 3)
        text = jobs.answers(job.id)
        assert (others.runs.all(), others.answers(job.id)) == ([], text)
    rows = [json.loads(line) for line in text.splitlines()]
    assert [row.get("error", "")[:19] for row in rows] == ["", "Line 3 is not JSON:", ""]


def test_a_host_without_the_book_leaves_the_job(url: str, sample_zim: Path, tmp_path: Path, a_book: Any) -> None:
    """A worker takes only jobs whose very books it has, by whatever names they go there."""
    other_book = a_book({"Rome": "<p>Rome is a city.</p>"}, name="other.zim")
    here, there = a_host(tmp_path, "here", url), a_host(tmp_path, "there", url)
    with jobs_on(here, sample_zim, IDLE) as jobs:
        job = jobs.start(SMALL)
        assert jobs.can_do(job.id)
    with jobs_on(there, other_book) as others:
        assert (others.get(job.id).state, others.can_do(job.id), others.has_work()) == ("queued", False, False)
        assert JobViews(others).get(job.id).stage == "away"  # its page says what it waits for
    with jobs_on(here, sample_zim) as jobs:
        assert wait_for_end(jobs, job.id).state == "done"


@both_engines
def test_a_store_is_opened_once(url: str, tmp_path: Path) -> None:
    """All of a process share one store, and one that was let go connects again."""
    desk = a_host(tmp_path, "here", url)
    store: Store = store_of(desk)
    assert store_of(desk) is store
    assert (store.is_shared_store, store.is_server) == (True, url.startswith("postgresql"))
    store.close()
    assert store.jobs.all() == []
