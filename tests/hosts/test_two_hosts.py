"""Several hosts over one store answer as one host with all their books, and name those that are away."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.hosts.running_hosts import Host, a_desk, a_host

from kiwiresearch.errors import BadSettings
from kiwiresearch.runs.research import Research
from kiwiresearch.runs.task import ResearchTask, crawl_settings
from kiwiresearch.verify.run import shelf_for, verify_run
from kiwiresearch.workspace.asker import Asker
from kiwiresearch.workspace.finder import Finder, search_record
from kiwiresearch.workspace.hosts import host_statuses
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book

TIMINGS = "timings.json"
GALAXY = """<title>Galaxy</title><p>A <b>galaxy</b> is a system of stars, gas and dust. It was first seen in 1610.
<a href="Sky">The sky</a> at night shows one, the <a href="Milky_Way">Milky Way</a>.</p>"""
PAGES = {
    "Galaxy": GALAXY,
    "Milky_Way": "<title>Milky Way</title><p>The <b>Milky Way</b> is the galaxy of our Sun. It has 100 billion stars."
    " <a href='Galaxy'>Galaxies</a> are many.</p>",
    "Sky": "<title>Sky</title><p>The <b>sky</b> is blue by day, since air scatters blue light most.</p>",
    "Rayleigh": "<title>Rayleigh</title><p><b>John Rayleigh</b> explained in 1871 why the sky is blue.</p>",
}

SEARCHES = [
    {"q": "galaxy"},
    {"q": "why is the sky blue"},
    {"q": "Bronze Age collapse", "limit": "3"},
    {"q": "galxy"},
    {"q": "milkyway"},
    {"q": "stars", "fast": "true"},
    {"q": "sky", "focus": "light"},
    {"q": "rayleigh", "book": "Second book"},
    {"q": "zzzz"},
]
QUESTIONS = ["Why is the sky blue?", "When was a galaxy first seen?", "How many stars has the Milky Way?", "Zzzz qqqq?"]


def second_book(target: Path) -> Path:
    write_book(
        target,
        [NewPage(path, path.replace("_", " "), html.encode()) for path, html in PAGES.items()],
        [NewRedirect("Galaxies", "Galaxies", "Galaxy"), NewRedirect("Lord_Rayleigh", "Lord Rayleigh", "Rayleigh")],
        metadata={"Name": "second_en", "Title": "Second book", "Language": "eng", "Date": "2026-01-01"},
        main_path="Galaxy",
    )
    return target


@dataclass(frozen=True, slots=True)
class Hosts:
    """One host with both books, and two with one each."""

    both: Host
    first: Host
    second: Host

    @property
    def all(self) -> tuple[Host, ...]:
        return self.both, self.first, self.second


@pytest.fixture(scope="module")
def second_zim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return second_book(tmp_path_factory.mktemp("second") / "second.zim")


@pytest.fixture(scope="module")
def hosts(
    postgres_server: Callable[[], str], tmp_path_factory: pytest.TempPathFactory, sample_zim: Path, second_zim: Path
) -> Iterator[Hosts]:
    """Hosts that have met."""
    folder = tmp_path_factory.mktemp("hosts")
    store = postgres_server()
    alone = f"sqlite:///{folder / 'alone.sqlite'}"
    with (
        a_host(folder / "both", alone, "both", sample_zim, second_zim) as both,
        a_host(folder / "first", store, "first", sample_zim) as first,
        a_host(folder / "second", store, "second", second_zim, address="127.0.0.2") as second,
    ):
        first.meets(second)
        yield Hosts(both, first, second)


def get_page(host: Host, place: str, **query: str) -> tuple[int, str]:
    response = host.client.get(place, params=query)
    return response.status_code, response.text.replace(host.url, "HOST")


@pytest.mark.parametrize("query", SEARCHES, ids=[query["q"] for query in SEARCHES])
def test_a_search_gives_the_same_bytes(hosts: Hosts, query: dict[str, str]) -> None:
    """Two hosts with a book each find what one host with both finds, whichever is asked."""
    alone, *others = [get_page(host, "/api/search", **query) for host in hosts.all]
    assert alone[0] == 200
    assert others == [alone, alone]
    assert "missing" not in json.loads(alone[1])


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_gives_the_same_bytes(hosts: Hosts, question: str) -> None:
    """A question to two hosts is answered as by one, with the same citations and links."""
    alone, *others = [get_page(host, "/api/ask", q=question, stream="false") for host in hosts.all]
    assert alone[0] == 200
    assert others == [alone, alone]


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/suggest", {"q": "gal"}),
        ("/api/page", {"title": "Lord Rayleigh"}),
        ("/api/page", {"path": "Sunset"}),
        ("/api/page", {"title": "Nowhere to be found"}),
        ("/api/claims", {"title": "Milky Way"}),
    ],
)
def test_titles_and_pages_are_the_same(hosts: Hosts, path: str, query: dict[str, str]) -> None:
    """What is typed is completed, and pages are read, as if all books were here."""
    alone, *others = [get_page(host, path, **query) for host in hosts.all]
    assert others == [alone, alone]


@pytest.mark.parametrize(
    ("path", "query"),
    [("/find", {"q": "sky"}), ("/find/results", {"q": "galaxy"}), ("/ask", {"q": "Why is the sky blue?"})],
)
def test_pages_of_the_desk_are_the_same(hosts: Hosts, path: str, query: dict[str, str]) -> None:
    """A reader of the web interface does not see which host has a book."""
    alone, *others = [get_page(host, path, **query) for host in hosts.all]
    assert alone[0] == 200
    assert others == [alone, alone]


def test_a_far_book_is_read_through_the_host_that_was_asked(hosts: Hosts) -> None:
    """Pages of a book on another host open in the reader, whole and in parts."""
    book = hosts.second.context.shelf.own[0].id  # type: ignore[attr-defined]
    alone, *others = [get_page(host, f"/read/{book}/Milky_Way", mark="4-10") for host in hosts.all]
    assert alone[0] == 200
    assert others == [alone, alone]
    assert get_page(hosts.first, f"/read/{book}/Nowhere")[0] == 404


def test_the_shelf_says_which_host_has_a_book(hosts: Hosts) -> None:
    """The list of books names the other host, and the home page shows it."""
    rows = {row["title"]: row.get("host") for row in hosts.first.client.get("/api/books").json()["books"]}
    assert rows == {"Second book": "second", "kiwiresearch sample book": None}
    assert "second" in hosts.first.client.get("/", headers={"Accept": "text/html"}).text


def _run(host: Host, out: Path) -> dict[str, bytes]:
    with shelf_of(host.desk) as shelf, Finder(host.desk, shelf) as finder:
        task = ResearchTask("Sky", settings=crawl_settings(host.desk.settings, fast=True))
        Research(finder, task).run(out)
    return {file.name: file.read_bytes() for file in out.iterdir() if file.name != TIMINGS}


def test_a_run_gives_the_same_files(hosts: Hosts, tmp_path: Path) -> None:
    """All files of a run over two hosts are those of a run over one, and it is proved again from far books."""
    alone, first, second = [_run(host, tmp_path / name) for host, name in zip(hosts.all, "abc", strict=True)]
    assert alone == first == second
    assert len(json.loads(alone["manifest.json"])["books"]) == 2
    assert b"Second book" in alone["brief.json"]
    with shelf_for(tmp_path / "b", hosts.first.desk) as shelf:
        assert not verify_run(tmp_path / "b", shelf, hosts.first.desk).failures


def test_a_job_gives_the_same_files(hosts: Hosts, tmp_path: Path) -> None:
    """A run that a server does in a process of its own asks far books as well."""
    alone = _run(hosts.both, tmp_path / "alone")
    job = hosts.first.client.post("/api/research", json={"topic": "Sky", "max_pages": 3}).json()["id"]
    with hosts.first.client.stream("GET", f"/api/research/{job}/events") as events:
        result = list(events.iter_lines())
    assert any(line == "event: done" for line in result), result[-6:]
    done = hosts.first.client.get(f"/api/runs/{job}/files/manifest.json").json()
    assert done["books"] == json.loads(alone["manifest.json"])["books"]


def test_commands_see_the_books_of_all_hosts(hosts: Hosts, tmp_path: Path) -> None:
    """A user without books but with the same store can search and ask all the same."""
    desk = a_desk(tmp_path / "home", hosts.first.desk.settings.store)
    found = []
    for one in (desk, hosts.both.desk):
        with shelf_of(one) as shelf, Finder(one, shelf) as finder:
            asker = Asker(finder, one.settings.ask)
            found.append((search_record(finder.find("galaxy"), finder), asker.ask("Why is the sky blue?")))
    assert found[0] == found[1]
    with shelf_of(desk, ["second"]) as shelf:
        assert [book.title for book in shelf.books] == ["Second book"]


def test_hosts_are_listed_with_their_books(hosts: Hosts) -> None:
    """'kiwiresearch hosts' lists the hosts and their books."""
    seen = {one.name: one for one in host_statuses(hosts.first.desk)}
    assert {name: one.books for name, one in seen.items()} == {
        "first": ("kiwiresearch sample book",),
        "second": ("Second book",),
    }
    assert all(one.up and not one.why for one in seen.values())
    assert seen["first"].ours
    assert not seen["second"].ours


def test_two_hosts_of_one_name_are_refused(hosts: Hosts, tmp_path: Path, sample_zim: Path) -> None:
    """A server with the name of another host is refused, and needs a name of its own."""
    with (
        pytest.raises(BadSettings, match="is also named 'second'"),
        a_host(tmp_path, hosts.first.desk.settings.store, "second", sample_zim),
    ):
        pass
