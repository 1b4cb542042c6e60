"""An institution's policy on a running server: a hidden page through every way in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from markupsafe import Markup
from tests.conftest import BookMaker
from tests.web.server_with_users import UNLIMITED, UserServer, user_server
from tests.web.servers import NO_RATE_LIMIT, running_server, server_context, stream_events

from kiwiresearch.cases.imports import page_record
from kiwiresearch.cli.options import open_books
from kiwiresearch.errors import BookHidden, NothingFound, PageHidden
from kiwiresearch.web.app import make_app
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace, find_page, open_workspace
from kiwiresearch.zim.shelf import listed_book

WHO = "the policy of Lycée X"
MADE_UNDER = f"{WHO[:1].upper()}{WHO[1:]} hid some pages or books from this research."
RETOLD = {
    "en": MADE_UNDER,
    "fr": "Le règlement de ce serveur (Lycée X) a masqué des pages ou des livres à cette enquête.",
    "es": "Las normas de Lycée X ocultaron páginas o libros a esta investigación.",
}
SETTINGS = """
[policy]
name = "Lycée X"
notice = "Ask Ms Roux about books."
hidden = ["Sunset", "Battle of *"]
"""


@pytest.fixture(scope="module")
def school(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserServer]:
    """A school's server on the sample book, from which some pages are hidden."""
    home = tmp_path_factory.mktemp("school")
    (home / "settings.toml").write_text(SETTINGS, encoding="utf-8")
    with user_server(home, **NO_RATE_LIMIT, **UNLIMITED) as school:
        yield school


@pytest.fixture(scope="module")
def reader(school: UserServer) -> Iterator[httpx2.Client]:
    with school.client("rita") as client:
        yield client


def book_of(school: UserServer) -> str:
    return str(school.context.shelf.books[0].id)


def is_hidden(answer: httpx2.Response) -> bool:
    return answer.status_code == 403 and WHO in answer.json()["detail"]


@pytest.mark.parametrize("name", ["Sunset", "sunset", "SUNSET", "Sunset ", "sun%73et"])
def test_a_page_by_its_title_is_hidden(reader: httpx2.Client, name: str) -> None:
    """However its title is spelled, the answer is that it is hidden, and by whom."""
    assert is_hidden(reader.get(f"/api/page?title={name}"))
    assert is_hidden(reader.get(f"/api/claims?title={name}"))


def test_worksheets_of_a_hidden_page_are_hidden(school: UserServer) -> None:
    """From a researcher too, who may make worksheets of other pages."""
    with school.client("remy") as client:
        assert is_hidden(client.get("/api/worksheet?title=Sunset"))
        answer = client.get(f"/worksheet?book={book_of(school)}&path=Sunset")
    assert answer.status_code == 403
    assert "orange" not in answer.text


@pytest.mark.parametrize("path", ["Sunset", "A/Sunset", "/Sunset", "%53unset", "Sunset?x=1", "./Sunset", "x/../Sunset"])
def test_a_page_by_its_path_is_hidden(school: UserServer, reader: httpx2.Client, path: str) -> None:
    """The reader and the page view give nothing of it, whatever its address looks like."""
    book = book_of(school)
    for place in (f"/read/{book}/{path}", f"/page/{book}/{path}"):
        answer = reader.get(place, follow_redirects=True)
        assert answer.status_code in (403, 404), place
        assert "orange" not in answer.text


def test_the_reader_says_so_on_a_page(school: UserServer) -> None:
    """A browser is shown a page of its own that says why."""
    with school.browser("rita") as browser:
        for place in (f"/read/{book_of(school)}/Sunset", f"/page/{book_of(school)}/Sunset"):
            shown = browser.get(place, follow_redirects=True)
            assert shown.status_code == 403
            assert "Hidden by policy" in shown.text
            assert "Lycée X" in shown.text
            assert "Ask Ms Roux about books." in shown.text
            assert "[policy]" not in shown.text  # how it is changed is the owner's to know


def test_a_part_of_a_hidden_page_is_hidden(school: UserServer, reader: httpx2.Client) -> None:
    """Nor does a request for some of its bytes, or for its head, give any."""
    place = f"/read/{book_of(school)}/Sunset"
    assert reader.get(place, headers={"Range": "bytes=0-10"}, follow_redirects=True).status_code == 403
    assert reader.head(place, follow_redirects=True).status_code == 403


@pytest.mark.parametrize("how", ["/api/search?q=sunset", "/api/search?q=sunset&fast=true"])
def test_a_search_leaves_it_out_and_says_so(reader: httpx2.Client, how: str) -> None:
    """No hit, no sense and no suggestion is the page; how many are hidden is shown."""
    found = reader.get(how).json()
    assert "Sunset" not in {hit["title"] for hit in found["hits"]}
    assert found["hidden"]["pages"] >= 1
    assert found["hidden"]["by"] == WHO


def test_titles_as_one_types_leave_it_out(reader: httpx2.Client) -> None:
    """The box that completes titles does not know it."""
    found = reader.get("/api/suggest?q=Suns").json()["suggestions"]
    assert all(one["path"] != "Sunset" for one in found)


def test_the_desk_says_how_many_results_are_hidden(school: UserServer) -> None:
    """The page of results has a line about it, and the first page mentions the policy."""
    with school.browser("rita") as browser:
        assert "hidden by the policy of Lycée X" in browser.get("/find?q=sunset").text
        home = browser.get("/").text
        assert "Ask Ms Roux about books." in home
        assert 'href="/profile"' in home
        output = browser.get("/profile").text
        assert "Battle of" not in output  # titles are the owner's
    with school.browser("olga") as browser:
        assert "Battle of *" in browser.get("/profile").text


def test_a_question_is_not_answered_from_it(reader: httpx2.Client) -> None:
    """An answer cites other pages or none, and says that a page which may answer is hidden."""
    data = reader.post("/api/ask", json={"question": "Why is the sky orange at sunset?"}).json()
    assert all(one["path"] != "Sunset" for one in data["citations"])
    assert all(one["path"] != "Sunset" for one in data["passages"])
    assert any(WHO in notice for notice in data["notices"])


def test_a_question_to_the_page_itself_is_refused(school: UserServer, reader: httpx2.Client) -> None:
    """A question to one page that is hidden is refused with the reason, by path and by title."""
    for path in ("Sunset", "sunset"):
        answer = reader.post("/api/answer_from_page", json={"question": "Why orange?", "path": path})
        assert is_hidden(answer)


def test_chat_clients_and_other_engines_do_not_find_it(reader: httpx2.Client) -> None:
    """OpenAI's API, SearXNG's and Open WebUI's search obey too."""
    turns = [{"role": "user", "content": "Why is the sky orange at sunset?"}]
    chat = reader.post("/v1/chat/completions", json={"model": "kiwiresearch", "messages": turns})
    assert chat.status_code == 200, chat.text
    assert "/Sunset" not in chat.text
    found = reader.get("/search?q=sunset&format=json").json()
    assert all(not row["url"].endswith("/Sunset") for row in found["results"])
    assert found["hidden"]["by"] == WHO
    other = reader.post("/owui/search", json={"query": "sunset"}).json()
    assert all(not row["link"].endswith("/Sunset") for row in other)


def called(reader: httpx2.Client, tool: str, **arguments: Any) -> str:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
    return reader.post("/mcp", json=body, headers=headers).text


def test_tools_of_models_do_not_read_it(reader: httpx2.Client) -> None:
    """A model that reads, searches or asks by MCP gets the error that the page is hidden, and nothing of it."""
    assert "hidden by the policy" in called(reader, "read_section", title="Sunset")
    assert "hidden by the policy" in called(reader, "claims", title="sunset")
    found = called(reader, "search", query="sunset")
    assert "path: Sunset;" not in found
    assert "hidden by the policy" in found
    assert "path: Sunset)" not in called(reader, "ask", question="Why is the sky orange at sunset?")


def test_a_run_does_not_follow_links_to_it(school: UserServer) -> None:
    """A crawl leaves it out, its log says why, its manifest carries the mark of the policy and its report says so."""
    with school.client("remy") as client:
        made = client.post("/api/research", json={"topic": "Rayleigh scattering", "max_pages": 6}).json()
        with client.stream("GET", made["events"]) as stream:
            last = list(stream_events(stream.iter_lines()))[-1]
        assert last.name == "done", last.data
        files = f"/api/runs/{made['id']}/files"
        log = client.get(f"{files}/run.log").text
        corpus = client.get(f"{files}/corpus.jsonl").text
        report = client.get(f"{files}/report.md").text
        body = client.get(f"{files}/manifest.json").json()
        epub = client.get(f"/api/runs/{made['id']}/export/zim")
    assert "hidden by policy" in log
    assert log.count(MADE_UNDER) == report.count(MADE_UNDER) == 1
    assert "Sunset" not in {json.loads(line)["title"] for line in corpus.splitlines()}
    assert body["policy"] == school.context.workspace.settings.policy.fingerprint
    assert epub.status_code == 200
    with school.browser("rita") as browser:
        for language, words in RETOLD.items():
            shown = browser.get(f"/runs/{made['id']}", headers={"Accept-Language": language}).text
            assert words in Markup(shown).striptags()
            assert shown.count(MADE_UNDER[:10]) == (language == "en")


@pytest.mark.parametrize(("language", "words"), [("fr", "masquée par le règlement"), ("es", "Las normas de")])
def test_an_answer_says_so_in_the_readers_language(school: UserServer, language: str, words: str) -> None:
    """The note that a page which may answer is hidden is translated."""
    with school.browser("rita") as browser:
        shown = browser.get("/ask?q=Why is the sky orange at sunset?", headers={"Accept-Language": language}).text
    assert words in shown
    assert "may answer this" not in shown


def test_a_family_is_not_read_from_it(school: UserServer) -> None:
    """Family research reads people only from visible pages, and reports hidden ones."""
    with school.context.locked_finder() as finder, pytest.raises(PageHidden):
        page_record(finder.books, "Sunset")


def a_desk(home: Path, **policy: str) -> Workspace:
    values = {f"KIWIRESEARCH_POLICY_{name.upper()}": value for name, value in policy.items()}
    return open_workspace({"KIWIRESEARCH_HOME": str(home), **values})


def test_the_policy_applies_to_the_command_line(home: Path) -> None:
    """The policy belongs to the workspace: commands find no more than the server."""
    desk = a_desk(home, hidden="Sunset")
    with shelf_of(desk) as shelf:
        with pytest.raises(PageHidden):
            find_page(shelf, "sunset")
        with Finder(desk, shelf) as finder:
            assert "Sunset" not in {hit.title for hit in finder.find("sunset").hits}


def test_a_title_index_serves_every_policy(home: Path) -> None:
    """The index on the disk has all titles: when the policy is lifted, they are found again without a new index."""
    for hidden, is_there in (("Sunset", False), ("", True), ("Sunset", False)):
        desk = a_desk(home, hidden=hidden) if hidden else a_desk(home)
        with shelf_of(desk) as shelf, Finder(desk, shelf) as finder:
            titles = finder.books[0].titles
            assert titles is not None
            assert bool(titles.exact("Sunset")) is is_there
            assert any(row.title == "Sunset" for row in titles.prefix("Suns", 10)) is is_there
            assert any(row.title == "Sunset" for row in titles.by_words(["sunset"], 10)) is is_there


@pytest.mark.parametrize("name", ["Battle of Foo", "battle of foo", "Battle_of_Foo"])
def test_a_hidden_name_is_reported(home: Path, a_book: BookMaker, name: str) -> None:
    """A request for a page by a hidden name gets the reason, also if the page behind it is visible."""
    file = a_book({"War": "<p>War is a fight.</p>"}, {"Battle_of_Foo": "War"})
    desk = a_desk(home, hidden="Battle of *")
    with shelf_of(desk, [str(file)]) as shelf:
        with pytest.raises(PageHidden):
            find_page(shelf, name)
        assert find_page(shelf, "War").page.ref.path == "War"


def test_nothing_found_says_that_something_is_hidden(home: Path, a_book: BookMaker) -> None:
    """An empty result says that something is hidden."""
    file = a_book({"Zebu": "<p>The zebu is an ox with a hump.</p>", "Tea": "<p>Tea is a drink.</p>"})
    desk = a_desk(home, hidden="Zebu", name="Lycée X")
    with shelf_of(desk, [str(file)]) as shelf, Finder(desk, shelf) as finder:
        problem = finder.nothing_found_error("zebu")
    assert isinstance(problem, NothingFound)
    assert "1 page is hidden by the policy of Lycée X." in problem.message


def test_books_that_are_not_allowed_are_not_on_the_shelf(
    tmp_path: Path, a_book: BookMaker, capsys: pytest.CaptureFixture[str]
) -> None:
    """The shelf has the allowed books, the number of others is shown, and a file by its name is refused."""
    tea = a_book({"Tea": "<p>Tea is a drink.</p>"}, name="tea.zim", Name="tea", Title="Tea book")
    rum = a_book({"Rum": "<p>Rum is a drink.</p>"}, name="rum.zim", Name="rum", Title="Rum book")
    home = tmp_path / "desk"
    desk = a_desk(home)
    rows = [row for file in (tea, rum) for row in desk.opener.look_up(str(file))]
    desk.shelf_file.add([listed_book(book, source) for book, source in rows])
    allowed = a_desk(home, books="Tea book", name="Lycée X")
    with open_books(allowed, []) as shelf:
        assert [book.name for book in shelf.books] == ["tea"]
    assert "1 book in your library is hidden by the policy of Lycée X." in capsys.readouterr().err
    with pytest.raises(BookHidden), shelf_of(allowed, [str(rum)]) as shelf:
        shelf.archives()
    with pytest.raises(BookHidden):
        shelf_of(a_desk(home, books="nothing"))
    with (
        server_context(
            home, "tea", **NO_RATE_LIMIT, KIWIRESEARCH_POLICY_BOOKS="tea", KIWIRESEARCH_POLICY_NAME="Lycée X"
        ) as context,
        running_server(context, make_app) as address,
        httpx2.Client(base_url=address, trust_env=False, timeout=30, verify=False) as client,
    ):
        assert client.get("/api/profile").json()["books_left_out"] == 1
        assert [book["name"] for book in client.get("/api/books").json()["books"]] == ["tea"]
        assert "1 book in the library is hidden." in client.get("/").text
        assert client.get(f"/api/search?q=rum&book={quote('Rum book')}").status_code == 404


def test_without_a_policy_nothing_is_shown_about_one(client: httpx2.Client) -> None:
    """A search without a policy does not mention one, and a run has no mark of one."""
    assert "hidden" not in client.get("/api/search?q=sunset").json()
    assert client.get("/api/profile").json()["restricts"] is False
