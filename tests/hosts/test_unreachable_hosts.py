"""Hosts that are gone, hang or lie: named in the answer, not waited for twice, and never half believed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.broken_host import BrokenHost, Fault, a_broken_host
from tests.hosts.running_hosts import Host, a_desk, a_host
from tests.hosts.test_two_hosts import second_book

from kiwiresearch.cli.start import run as command
from kiwiresearch.crawl.step import VisitStep
from kiwiresearch.errors import BookHidden, HostUnreachable, NotOffered
from kiwiresearch.jobs import worker
from kiwiresearch.runs.research import Research, RunProgress
from kiwiresearch.runs.task import ResearchTask, crawl_settings
from kiwiresearch.system import FileLock
from kiwiresearch.verify.run import shelf_for, verify_run
from kiwiresearch.workspace import hosts, other_hosts, workspace
from kiwiresearch.workspace.asker import Asker
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.hosts import host_statuses
from kiwiresearch.workspace.models import TitleIndexes
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import store_of
from kiwiresearch.zim import peer_client

FAULTS: tuple[Fault, ...] = ("garbage", "lies", "hangs", "hangs up", "refuses", "cuts off")
SOON_S = 20.0


@pytest.fixture(scope="module")
def second_zim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return second_book(tmp_path_factory.mktemp("second") / "second.zim")


@pytest.fixture(scope="module")
def meeting(
    tmp_path_factory: pytest.TempPathFactory, sample_zim: Path, second_zim: Path
) -> Iterator[tuple[Host, BrokenHost]]:
    """A host with the sample book, and one with another book that a test can break."""
    folder = tmp_path_factory.mktemp("away")
    store = f"sqlite:///{folder / 'store.sqlite'}"
    with (
        a_host(folder / "home", store, "home", sample_zim) as host,
        a_broken_host(folder / "broken", store, "broken", second_zim) as broken,
    ):
        yield host, broken
    workspace.close_stores()


@pytest.fixture
def host(meeting: tuple[Host, BrokenHost]) -> Host:
    """The host that is asked; the other one is well and known to it."""
    host, broken = meeting
    broken.fault, broken.good, broken.asked = "", 0, 0
    _known_again(host, broken)
    return host


@pytest.fixture
def broken(meeting: tuple[Host, BrokenHost]) -> BrokenHost:
    return meeting[1]


@pytest.fixture(scope="module")
def alone(
    meeting: tuple[Host, BrokenHost], tmp_path_factory: pytest.TempPathFactory, sample_zim: Path
) -> Iterator[Host]:
    """A host with the sample book that knows no other."""
    folder = tmp_path_factory.mktemp("alone")
    with a_host(folder, f"sqlite:///{folder / 'store.sqlite'}", "alone", sample_zim) as host:
        yield host


def _known_again(host: Host, broken: BrokenHost) -> None:
    store = store_of(host.desk)
    store.hosts.leave(broken.name)
    host.presence.hosts.refresh()
    host.context.shelf.refresh()
    broken.announce(store)
    host.presence.hosts.refresh()


def get_json(host: Host, place: str, **query: str) -> Any:
    response = host.client.get(place, params=query)
    assert response.status_code == 200, response.text
    return json.loads(response.text.replace(host.url, "HOST"))


@pytest.mark.parametrize("good", [0, 4])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_host_that_breaks_is_named_and_left_out(
    host: Host, alone: Host, broken: BrokenHost, fault: Fault, good: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong, also in the middle of a search, the answer is that of the others, with what is missing."""
    if fault == "hangs":
        monkeypatch.setattr(peer_client, "SILENT_S", 0.3)
    broken.fault, broken.good = fault, good
    found = get_json(host, "/api/search", q="why is the sky blue")
    (missing,) = found.pop("missing")
    assert missing["host"] == "broken"
    assert [book["title"] for book in missing["books"]] == ["Second book"]
    assert "'broken'" in missing["why"]
    assert found == get_json(alone, "/api/search", q="why is the sky blue")
    asked = broken.asked
    again = get_json(host, "/api/ask", q="Why is the sky blue?", stream="false")
    (still,) = again.pop("missing")  # the reason may be reported again: there was another ping in the meantime
    assert (still["host"], still["books"]) == (missing["host"], missing["books"])
    assert again == get_json(alone, "/api/ask", q="Why is the sky blue?", stream="false")
    assert broken.asked == asked, "a host that failed is not waited for again"


def test_a_host_that_breaks_in_a_question_is_left_out(host: Host, alone: Host, broken: BrokenHost) -> None:
    """A question that a host fails half-way is answered from the other books alone, and says so."""
    broken.fault, broken.good = "garbage", 6
    found = get_json(host, "/api/ask", q="How many stars has the Milky Way?", stream="false")
    assert [one["host"] for one in found.pop("missing")] == ["broken"]
    assert found == get_json(alone, "/api/ask", q="How many stars has the Milky Way?", stream="false")


def test_a_host_is_asked_again_when_it_answers(host: Host, broken: BrokenHost) -> None:
    """Somebody looks now and then whether it is back, and then its books are."""
    before = get_json(host, "/api/search", q="galaxy")
    assert "missing" not in before
    broken.fault = "hangs up"
    assert "missing" in get_json(host, "/api/search", q="milky way")
    host.presence.hosts.retry_failed()
    assert "missing" in get_json(host, "/api/search", q="milky way")
    broken.fault = ""
    host.presence.hosts.retry_failed()
    assert get_json(host, "/api/search", q="galaxy") == before


def test_a_host_that_is_silent_is_not_asked_at_all(
    host: Host, broken: BrokenHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host without announcements for some time is down, and no request waits for it."""
    monkeypatch.setattr(other_hosts, "ALIVE_S", -1.0)
    host.presence.hosts.refresh()
    found = get_json(host, "/api/search", q="galaxy")
    assert found["missing"][0]["why"] == other_hosts.OFFLINE
    assert broken.asked == 0


def test_an_invalid_announcement_of_a_host_is_not_a_book(host: Host, broken: BrokenHost) -> None:
    """Book data of other hosts is checked, and an invalid address is a host that is away."""
    store = store_of(host.desk)
    sheet = broken.books.announcements()[0]
    store.hosts.announce("liar", "file:///etc/passwd", [{"id": "x"}, {}, sheet | {"articles": "many"}])
    store.hosts.announce("lost", "gopher://nowhere", [sheet | {"id": "00000000-0000-0000-0000-000000000001"}])
    try:
        host.presence.hosts.refresh()
        found = get_json(host, "/api/search", q="galaxy")
        assert [(one["host"], one["why"]) for one in found["missing"]] == [("lost", "The host 'lost' has no address.")]
        assert found["hits"]
    finally:
        store.hosts.leave("liar")
        store.hosts.leave("lost")


def test_a_named_book_that_is_away_is_reported(host: Host, broken: BrokenHost) -> None:
    """If the host of a book is away, the error names that host, in the API and in the reader."""
    broken.fault = "refuses"
    get_json(host, "/api/search", q="galaxy")
    book = broken.books.announcements()[0]["id"]
    for place, query in (
        ("/api/search", {"q": "galaxy", "book": "Second book"}),
        ("/api/page", {"title": "Galaxy", "book": "Second book"}),
        ("/api/page", {"path": "Galaxy", "book": str(book)}),
    ):
        response = host.client.get(place, params=query)
        assert response.status_code == 502, response.text
        assert "'broken'" in response.json()["detail"]
    assert host.client.get(f"/read/{book}/Galaxy").status_code == 502


@pytest.mark.parametrize(
    ("language", "words"),
    [("en", "the host broken is offline"), ("fr", "l’hôte broken"), ("es", "el equipo broken")],
)
def test_the_desk_says_what_is_missing(host: Host, broken: BrokenHost, language: str, words: str) -> None:
    """The pages say in the reader's language which book was not searched, cannot be read, or will not be researched."""
    broken.fault = "refuses"
    get_json(host, "/api/search", q="galaxy")
    headers = {"Accept": "text/html", "Accept-Language": language}
    for place in ("/find?q=sky", "/ask?q=Why is the sky blue?", "/", "/research"):
        assert words in host.client.get(place, headers=headers).text


def _research(host: Host, out: Path, tell: Callable[[RunProgress], None] | None = None) -> dict[str, bytes]:
    with shelf_of(host.desk) as shelf, Finder(host.desk, shelf) as finder:
        task = ResearchTask("Sky", settings=crawl_settings(host.desk.settings, fast=True))
        Research(finder, task).run(out, tell)
    return {file.name: file.read_bytes() for file in out.iterdir() if file.name != "timings.json"}


def test_a_run_stops_when_a_host_goes_and_goes_on_when_it_is_back(
    host: Host, broken: BrokenHost, tmp_path: Path
) -> None:
    """A run never goes on without one of its books: it stops with the reason, and ends with the same bytes later."""
    whole = _research(host, tmp_path / "whole")

    def breaks(progress: RunProgress) -> None:
        if isinstance(progress.step, VisitStep):
            broken.fault = "hangs up"

    with pytest.raises(HostUnreachable, match="'broken'"):
        _research(host, tmp_path / "broken", breaks)
    assert not (tmp_path / "broken" / "manifest.json").exists()
    broken.fault = ""
    _known_again(host, broken)
    assert _research(host, tmp_path / "broken") == whole


def test_a_run_that_begins_without_a_host_says_so(host: Host, broken: BrokenHost, tmp_path: Path) -> None:
    """The log, the report and the manifest name the books that were not asked, and the run can be proved."""
    broken.fault = "refuses"
    get_json(host, "/api/search", q="galaxy")
    files = _research(host, tmp_path / "run")
    assert b"Not searched: Second book. The host 'broken' was offline when the research started." in files["run.log"]
    assert b"Not searched: Second book" in files["report.md"]
    manifest = json.loads(files["manifest.json"])
    assert manifest["missing"] == [{"host": "broken", "books": [broken.books.announcements()[0]["id"]]}]
    with shelf_for(tmp_path / "run", host.desk) as shelf:
        assert not verify_run(tmp_path / "run", shelf, host.desk).failures


def test_a_job_waits_for_its_host(host: Host, broken: BrokenHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job whose host goes away is put back into the line with the reason, and done when the host is back."""
    monkeypatch.setattr(worker, "POSTPONE_S", 0.2)
    broken.fault, broken.good = "garbage", 4
    job = host.client.post("/api/research", json={"topic": "Sky", "max_pages": 3}).json()["id"]
    store = store_of(host.desk)
    _until(lambda: bool((row := store.jobs.get(job)) and row.losses))
    row = store.jobs.get(job)
    assert row is not None
    assert "'broken'" in row.losses[0]["why"]
    broken.fault = ""
    _known_again(host, broken)
    _until(lambda: host.client.get(f"/api/research/{job}").json()["state"] == "done")
    manifest = host.client.get(f"/api/runs/{job}/files/manifest.json").json()
    assert len(manifest["books"]) == 2
    assert "missing" not in manifest


def _until(holds: Callable[[], bool]) -> None:
    """Wait for another process, which takes some time to start."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


def test_commands_report_what_is_missing(
    host: Host, broken: BrokenHost, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """'search' and 'ask' print a note beside their answer, 'hosts' says who is down, and 'hosts forget' removes it."""
    broken.fault = "refuses"
    monkeypatch.setenv("KIWIRESEARCH_HOME", str(host.desk.folders.config))
    monkeypatch.setenv("KIWIRESEARCH_STORE", host.desk.settings.store)
    monkeypatch.setenv("KIWIRESEARCH_SERVE_NAME", "home")
    for words in (["search", "sky", "--json"], ["ask", "Why is the sky blue?", "--json"]):
        assert command(words) == 0
        out, err = capsys.readouterr()
        assert json.loads(out)["missing"][0]["host"] == "broken"
        assert "Not searched: Second book, on the host 'broken'." in err
    assert command(["hosts"]) == 0
    out, _ = capsys.readouterr()
    assert "broken (offline)" in out
    assert "home (online, this host)" in out
    assert command(["search", "sky", "--book", "second"]) == 1
    assert "Second book" in capsys.readouterr()[1]
    assert command(["hosts", "forget", "nobody"]) == 1
    assert command(["hosts", "forget", "broken"]) == 0
    assert command(["hosts", "--json"]) == 0
    out = capsys.readouterr()[0]
    assert [one["name"] for one in json.loads(out[out.index("{") :])["hosts"]] == ["home"]


def test_hosts_need_a_store(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a store there are no other hosts; the error says what to do."""
    assert command(["hosts"]) == 2
    assert "KIWIRESEARCH_STORE" in capsys.readouterr()[1]


def test_the_same_book_on_two_hosts_survives_one(
    host: Host, broken: BrokenHost, second_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where another host has the same book, nobody notices that one of them is gone."""
    monkeypatch.setattr(peer_client, "SILENT_S", 0.3)
    whole = get_json(host, "/api/search", q="galaxy")
    with a_host(tmp_path, host.desk.settings.store, "spare", second_zim, address="127.0.0.2") as spare:
        host.meets(spare)
        for fault in ("hangs", "lies"):
            broken.fault, broken.good = fault, broken.asked + 2
            _known_again(host, broken)
            assert get_json(host, "/api/search", q="galaxy") == whole
        assert not host.context.shelf.missing


def test_a_book_of_our_own_comes_first(host: Host, broken: BrokenHost, second_zim: Path, tmp_path: Path) -> None:
    """A host asks no other for what it has itself."""
    with a_host(tmp_path, host.desk.settings.store, "own", second_zim) as own:
        own.meets(host)
        broken.fault, asked = "lies", broken.asked
        found = get_json(own, "/api/search", q="galaxy")
        assert "missing" not in found
        assert broken.asked == asked


HIDING = {"KIWIRESEARCH_POLICY_HIDDEN": "Galaxy"}


def test_pages_that_a_host_hides_are_hidden_from_other_hosts(
    host: Host, broken: BrokenHost, second_zim: Path, tmp_path: Path
) -> None:
    """A host gives no page to another that its own policy keeps from its readers."""
    store_of(host.desk).hosts.leave(broken.name)
    with a_host(tmp_path, host.desk.settings.store, "strict", second_zim, **HIDING) as strict:
        host.meets(strict)
        book = broken.books.announcements()[0]["id"]
        assert host.client.get(f"/read/{book}/Milky_Way").status_code == 200
        assert host.client.get(f"/read/{book}/Galaxy").status_code == 403
        titles = [hit["title"] for hit in get_json(host, "/api/search", q="galaxy", book="Second book")["hits"]]
        assert "Milky Way" in titles
        assert "Galaxy" not in titles


def test_a_policy_applies_to_books_of_other_hosts(
    host: Host, broken: BrokenHost, sample_zim: Path, second_zim: Path, tmp_path: Path
) -> None:
    """What a reader may not see is the same whether the book is here or on another host."""
    near = f"sqlite:///{tmp_path / 'store.sqlite'}"
    with (
        a_host(tmp_path / "near", near, "near", sample_zim, second_zim, **HIDING) as one,
        a_host(tmp_path / "far", host.desk.settings.store, "far", sample_zim, **HIDING) as two,
    ):
        for query in ({"q": "galaxy"}, {"q": "milky way stars"}, {"q": "why is the sky blue"}):
            assert get_json(two, "/api/search", **query) == get_json(one, "/api/search", **query)
        assert get_json(two, "/api/suggest", q="gal") == get_json(one, "/api/suggest", q="gal")


@pytest.mark.parametrize("fault", ["", "refuses"])
def test_a_book_that_is_not_allowed_is_not_missing(
    host: Host, broken: BrokenHost, sample_zim: Path, tmp_path: Path, fault: Fault
) -> None:
    """Whether its host is there or away, such a book is not mentioned, and naming it is refused by the policy."""
    allowed = host.desk.shelf_file.books()[0].id
    policy = {"KIWIRESEARCH_POLICY_BOOKS": allowed}
    with a_host(tmp_path, host.desk.settings.store, "strict", sample_zim, **policy) as strict:
        broken.fault = fault
        if fault:
            neighbours_of_it = strict.presence.hosts
            neighbours_of_it.suspend(next(one for one in neighbours_of_it.all() if one.name == "broken"), "It refuses.")
        assert "missing" not in get_json(strict, "/api/search", q="galaxy")
        assert not strict.context.shelf.currently_missing()
        with pytest.raises(BookHidden, match="is not allowed by"):
            shelf_of(strict.desk, ["second_en"])


def test_a_slow_ping_does_not_block_announcing(
    tmp_path: Path, sample_zim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hosts that answer a ping late do not make this host look dead."""
    going_on, knocked = threading.Event(), threading.Event()

    def waits(_: other_hosts.OtherHosts) -> None:
        knocked.set()
        going_on.wait(60)

    monkeypatch.setattr(other_hosts.OtherHosts, "retry_failed", waits)
    monkeypatch.setattr(hosts, "ANNOUNCE_EVERY_S", 0.02)
    with a_host(tmp_path, f"sqlite:///{tmp_path / 'store.sqlite'}", "patient", sample_zim) as host:
        try:
            assert knocked.wait(60)
            rows = store_of(host.desk).hosts
            moments: set[float] = set()

            def is_heard_again() -> bool:
                moments.update(row.seen_at for row in rows.all())
                return len(moments) > 2

            _until(is_heard_again)
        finally:
            going_on.set()
    workspace.close_stores()


def test_an_index_of_titles_that_comes_later_is_used(host: Host, broken: BrokenHost, tmp_path: Path) -> None:
    """A book whose index was being built when its host began is announced and searched with it once it is there."""
    book = second_book(tmp_path / "late.zim")
    store_of(host.desk).hosts.leave(broken.name)
    desk = a_desk(tmp_path / "late", host.desk.settings.store, book)
    indexes = TitleIndexes(desk.folders.cache / "titles")
    archive = desk.opener.open(desk.shelf_file.books()[0].source)
    file = indexes.file(archive)
    file.parent.mkdir(parents=True)
    building = FileLock(file.with_name(f"{file.name}.lock"))
    assert building.acquire()
    with a_host(tmp_path / "late", host.desk.settings.store, "late") as late:

        def titles() -> list[bool]:
            host.meets(late)
            with host.context.locked_finder() as finder:
                return [one.titles is not None for one in finder.books if one.archive.book.id == archive.book.id]

        assert titles() == [False]
        building.release()
        assert indexes.build(archive).complete
        assert titles() == [True]
        assert [hit["title"] for hit in get_json(host, "/api/search", q="milkyway", book="Second book")["hits"]]
    archive.close()


def test_whole_books_are_worked_through_at_home(host: Host) -> None:
    """Listing a far book is refused with what to do."""
    with shelf_of(host.desk) as shelf:
        far = next(shelf.open(book) for book in shelf.books if book.source.is_on_peer)
        with pytest.raises(NotOffered, match="another host"):
            far.articles()


def test_a_killed_process_is_noticed(host: Host, broken: BrokenHost, second_zim: Path, tmp_path: Path) -> None:
    """A server that is killed with kill -9 is missing from the next answer, and its row is taken over by the next."""
    store_of(host.desk).hosts.leave(broken.name)
    a_desk(tmp_path, host.desk.settings.store, second_zim)
    environment = os.environ | {
        "KIWIRESEARCH_HOME": str(tmp_path),
        "KIWIRESEARCH_STORE": host.desk.settings.store,
        "KIWIRESEARCH_SERVE_NAME": "victim",
    }
    arguments = [sys.executable, "-m", "kiwiresearch", "serve", "--host", "127.0.0.2", "--port", "0"]
    victim = subprocess.Popen(arguments, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        _until(lambda: "victim" in {row.name for row in store_of(host.desk).hosts.all()})
        host.presence.hosts.refresh()
        assert "missing" not in get_json(host, "/api/search", q="galaxy")
    finally:
        victim.send_signal(signal.SIGKILL)
        victim.communicate()
    found = get_json(host, "/api/search", q="galaxy")
    assert [one["host"] for one in found["missing"]] == ["victim"]
    assert not {one.name: one for one in host_statuses(host.desk)}["victim"].up
    with a_host(tmp_path, host.desk.settings.store, "victim", second_zim) as again:
        host.meets(again)
        assert "missing" not in get_json(host, "/api/search", q="galaxy")
    host.presence.hosts.refresh()
    assert "victim" not in {one.name for one in host_statuses(host.desk)}, "who ends in good order leaves the list"


def test_a_store_that_is_away_leaves_our_own_books(tmp_path: Path, sample_zim: Path) -> None:
    """Commands go on with the books of this host, and say so."""
    desk = a_desk(tmp_path, "postgresql://nobody@127.0.0.1:1/nowhere", sample_zim)
    reports: list[str] = []
    desk.opener.say = reports.append
    with shelf_of(desk) as shelf, Finder(desk, shelf) as finder:
        assert Asker(finder, desk.settings.ask).ask("Why is the sky blue?").grounded
    assert any("Using only the books on this host." in line for line in reports)
