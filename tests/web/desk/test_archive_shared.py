"""Work in a store that hosts share: what one host archives or deletes is hidden, restored or removed on all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from tests.web.desk.conftest import finished
from tests.web.desk.owner_servers import OwnerServer, owner_server
from tests.web.desk.test_archive_pages import EVERYWHERE, lists, undo_of
from tests.web.servers import http_client

from kiwiresearch.cases.registry import stored_cases
from kiwiresearch.errors import FolderTaken, WrongJobState
from kiwiresearch.jobs.archive_and_trash import KEEP_DAYS
from kiwiresearch.jobs.queue import JobQueue, QueueLimits
from kiwiresearch.store.removed_items import RemovedRow
from kiwiresearch.web.desk.question_history import QuestionHistory
from kiwiresearch.web.runs import make_jobs
from kiwiresearch.workspace import workspace
from kiwiresearch.workspace.output_folders import runs_folder
from kiwiresearch.workspace.workspace import store_of

Hosts = tuple[OwnerServer, OwnerServer]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def hosts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, sample_zim: Path
) -> Iterator[Hosts]:
    """Two hosts that share nothing but a store."""
    home = tmp_path_factory.mktemp("shared")
    if request.param == "sqlite":
        url = f"sqlite:///{home / 'all.sqlite'}"
    else:
        database: Callable[[], str] = request.getfixturevalue("postgres_server")
        url = database()
    with ExitStack() as held:
        both = [
            held.enter_context(owner_server(home / name, sample_zim, KIWIRESEARCH_STORE=url)) for name in ("a", "b")
        ]
        yield both[0], both[1]
    workspace.close_stores()


def a_run(hosts: Hosts) -> str:
    """A finished run that both hosts have a copy of."""
    here, there = hosts
    with http_client(here.address) as client:
        found = finished(client, topic="Sunset", max_pages=1)
    for host in (here, there):
        assert host.browser.get(f"/runs/{found}").status_code == 200
    return found


@pytest.fixture(scope="module")
def run(hosts: Hosts) -> str:
    """A run for all tests that put it back."""
    return a_run(hosts)


@pytest.fixture
def queue(hosts: Hosts) -> Iterator[JobQueue]:
    """The jobs as a command of the second host sees them."""
    desk = hosts[1].context.workspace
    jobs = JobQueue(desk, desk.shelf_file.books, now=lambda: "2026-11-18T12:00:00+00:00", limits=QueueLimits(running=0))
    yield jobs
    jobs.close()


def test_deleted_research_is_gone_on_all_hosts_and_comes_back_on_any(hosts: Hosts, run: str) -> None:
    """It is deleted on one host and restored on the other, with the same files on both."""
    here, there = hosts
    copies = [runs_folder(host.context.workspace) / run for host in hosts]
    before = [{file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()} for folder in copies]
    shown = EVERYWHERE - {"/"}  # the run was started by a program, and the home page lists what its browser started
    assert lists(here, run) == lists(there, run) == shown
    reply = here.send(f"/archive/run/{run}/delete")
    assert "was deleted." in reply.text
    for host in hosts:
        assert lists(host, run) == set()
        assert host.browser.get(f"/runs/{run}").status_code == 404
        assert host.browser.get(f"/research/{run}").status_code == 404
        assert run in host.browser.get("/archive").text
    there.send(undo_of(reply.text))
    assert lists(here, run) == lists(there, run) == shown
    assert [{name: (at / name).read_bytes() for name in had} for at, had in zip(copies, before, strict=True)] == before
    assert here.send(f"/archive/run/{run}/restore").status_code == 404


def test_archived_research_is_hidden_from_the_lists_of_all_hosts(hosts: Hosts, run: str) -> None:
    here, there = hosts
    reply = there.send(f"/archive/run/{run}/archive")
    assert lists(here, run) == lists(there, run) == {"/api/runs", "/api/research"}
    assert here.browser.get(f"/runs/{run}").status_code == 200
    here.send(undo_of(reply.text))
    assert lists(there, run) == EVERYWHERE - {"/"}


def test_an_emptied_trash_removes_the_run_for_all_hosts(hosts: Hosts) -> None:
    """Its row, its files in the store and the copies of both hosts are gone, and its id is not used again."""
    here, there = hosts
    run, store = a_run(hosts), store_of(here.context.workspace)
    here.send(f"/archive/run/{run}/delete")
    assert "Deleted forever." in there.send("/archive/empty").text
    assert store.jobs.get(run) is None
    assert store.run_files.names(run) == {}
    assert store.run_files.was_removed(run)
    for host in hosts:
        assert lists(host, run) == set()
        assert "The trash is empty." in host.browser.get("/archive").text
        assert not (runs_folder(host.context.workspace) / run).exists()
    with http_client(here.address) as client:
        assert finished(client, topic="Sunset", max_pages=1) != run


def test_what_another_host_restored_is_not_removed(hosts: Hosts, run: str, queue: JobQueue) -> None:
    """A host that empties the trash as it was a moment ago leaves what was restored since."""
    here, _ = hosts
    queue.removed.delete("run", run)
    before = queue.removed.items("deleted")
    here.send(f"/archive/run/{run}/restore")
    queue.removed.purge(before)
    assert here.browser.get(f"/runs/{run}").status_code == 200
    assert queue.get(run).state == "done"


def test_deleted_research_goes_by_itself_once(hosts: Hosts, queue: JobQueue) -> None:
    """After thirty days the first host that looks removes it, and the next finds nothing to do."""
    here, there = hosts
    run, store = a_run(hosts), store_of(here.context.workspace)
    here.send(f"/archive/run/{run}/delete")
    row = next(one for one in store.removed.all() if one.id == run)
    store.removed.put(replace(row, at="2020-01-01T00:00:00+00:00"))
    there.browser.get("/archive")
    assert KEEP_DAYS == 30
    assert store.jobs.get(run) is None
    queue.removed.purge_old()
    assert run not in here.browser.get("/archive").text


def test_a_job_is_not_deleted_while_it_waits_nor_resumed_while_it_is_deleted(hosts: Hosts, queue: JobQueue) -> None:
    """Whichever host is first wins: nothing runs that is in the trash."""
    store = store_of(hosts[0].context.workspace)
    waiting = store.jobs.add("waiting", "nobody-does-this", {"topic": "Sunset"})
    aside = RemovedRow("run", waiting.id, "deleted", "2026-11-18T12:00:00+00:00", "Sunset", "", "")
    with pytest.raises(WrongJobState, match="running or queued"):
        store.removed.put(aside)
    store.jobs.cancel(waiting.id)
    store.removed.put(aside)
    with pytest.raises(WrongJobState, match="was deleted"):
        store.jobs.restart(waiting.id)
    queue.removed.restore("run", waiting.id)
    assert store.jobs.restart(waiting.id).state == "queued"
    store.jobs.cancel(waiting.id)
    store.jobs.remove(waiting.id)


def test_a_family_is_deleted_restored_and_removed_for_all_hosts(hosts: Hosts, queue: JobQueue) -> None:
    """Both hosts hide it and its name stays taken until the trash is emptied; then its tables are gone too."""
    here, there = hosts
    case = (
        here.browser.post("/api/family", json={"names": ["Albert Einstein"]}).headers["Location"].removeprefix("/api")
    )
    wanted = case.rpartition("/")[2]
    assert there.browser.get(case).status_code == 200
    reply = here.send(f"/archive/family/{wanted}/delete")
    assert "The family was deleted." in reply.text
    cases = stored_cases(there.context.workspace)
    assert cases is not None
    for host in hosts:
        assert host.browser.get(case).status_code == 404
        assert f'href="{case}"' not in host.browser.get("/family").text
    assert wanted not in cases.ids()
    with pytest.raises(FolderTaken, match="A deleted case has the name"):
        cases.is_free("albert-einstein")
    there.send(undo_of(reply.text))
    assert here.browser.get(case).status_code == there.browser.get(case).status_code == 200
    there.send(f"/archive/family/{wanted}/delete")
    here.send(f"/archive/family/{wanted}/purge")
    assert cases.is_free("albert-einstein")
    assert store_of(here.context.workspace).cases.get(wanted) is None
    assert there.browser.get(case).status_code == 404
    assert there.send(f"/archive/family/{wanted}/restore").status_code == 404


def test_a_family_that_waits_for_a_worker_is_not_deleted(hosts: Hosts) -> None:
    here, _ = hosts
    case = (
        here.browser.post("/api/family", json={"names": ["Albert Einstein"]}).headers["Location"].removeprefix("/api")
    )
    wanted = case.rpartition("/")[2]
    store = store_of(here.context.workspace)
    request = {"case": wanted, "steps": 1, "model": False, "upload": "", "books": ["no-such-book"]}
    job = store.jobs.add("family", "kin", request)
    store.leases.lease_next("elsewhere", ["kin"], lease_s=600.0)
    reply = here.send(f"/archive/family/{wanted}/delete")
    assert reply.status_code >= 400
    assert "already running or queued" in reply.text
    store.jobs.end("elsewhere", job.id, "cancelled", {})
    assert "The family was deleted." in here.send(f"/archive/family/{wanted}/delete").text
    here.send("/archive/empty")


def test_jobs_of_the_web_and_of_commands_agree(hosts: Hosts, run: str, queue: JobQueue) -> None:
    """A command on one host does not list what was deleted in the browser of another."""
    here, _ = hosts
    jobs = make_jobs(here.context)
    try:
        here.send(f"/archive/run/{run}/delete")
        assert run not in {job.id for job in (*queue.all(), *jobs.all())}
        assert run not in {one.id for one in queue.runs.all()}
    finally:
        here.send(f"/archive/run/{run}/restore")
        jobs.close()


def test_recent_questions_are_the_same_on_all_hosts(hosts: Hosts) -> None:
    """Somebody whose requests reach one host or the other deletes a question once, and can undo it on either."""
    here, there = (host.context.workspace for host in hosts)
    ours, theirs = QuestionHistory(here), QuestionHistory(there)
    browser, other = "b" * 22, "c" * 22
    ours.add("Why?", browser)
    theirs.add("When?", browser)
    theirs.add("Who?", other)
    assert ours.latest(9, browser) == theirs.latest(9, browser) == ("When?", "Why?")
    ours.delete("Why?", browser)
    assert theirs.latest(9, browser) == ("When?",)
    theirs.restore(browser)
    assert ours.latest(9, browser) == ("When?", "Why?")
    theirs.forget(browser)
    ours.add("What?", browser)
    ours.restore(browser)
    assert theirs.latest(9, browser) == ("What?", "When?", "Why?")
    theirs.forget(browser)
    ours.empty_trash(older_than_s=600.0)
    theirs.restore(browser)
    assert ours.latest(9, browser) == ("What?", "When?", "Why?")
    theirs.forget(browser)
    ours.empty_trash()
    theirs.restore(browser)
    assert ours.latest(9, browser) == ()
    assert ours.latest(9, other) == ("Who?",)


def test_shared_lists_of_browsers_that_are_gone_do_not_pile_up(hosts: Hosts, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of several questions stays, those of one question that were used longest ago go."""
    monkeypatch.setattr("kiwiresearch.web.desk.question_history.MAX_LISTS", 3)
    questions = QuestionHistory(hosts[0].context.workspace)
    questions.add("Why?", "p" * 22)
    questions.add("When?", "p" * 22)
    browsers = [f"{number:022}" for number in range(5)]
    for browser in browsers:
        questions.add("Who?", browser)
    assert [bool(questions.latest(1, browser)) for browser in browsers] == [False, False, False, True, True]
    assert questions.latest(9, "p" * 22) == ("When?", "Why?")
