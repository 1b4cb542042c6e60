"""The atlas in the web interface and for programs: every part, chosen by its address, for readers and for strangers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.atlas.atlas_book import HTML, METADATA, write_elm_shards
from tests.web.server_with_users import user_server
from tests.web.servers import NO_RATE_LIMIT, browser_client, http_client, running_server, server_context

from kiwiresearch.atlas.atlas import Atlas, Recipe
from kiwiresearch.system import FileLock
from kiwiresearch.web import context as web_context
from kiwiresearch.web.app import make_app
from kiwiresearch.zim.book_writer import NewPage, write_book

PARTS = ("contradictions", "timeline", "ranks", "regions", "kin")


@pytest.fixture(scope="module")
def served(elm: Path, elm_shards: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server whose settings name the shards of its book, and a folder that is none."""
    folders = f"{elm_shards},/nowhere/at/all"
    home = tmp_path_factory.mktemp("home")
    with (
        server_context(home, str(elm), KIWIRESEARCH_ATLAS=folders, **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
    ):
        yield address


@pytest.fixture(scope="module")
def browser(served: str) -> Iterator[httpx2.Client]:
    """A browser of that server."""
    with browser_client(served) as client:
        yield client


@pytest.fixture(scope="module")
def client(served: str) -> Iterator[httpx2.Client]:
    """A program that asks that server."""
    with http_client(served) as client:
        yield client


@pytest.fixture(scope="module")
def book(elm_atlas: Atlas) -> str:
    return elm_atlas.book.id


def test_the_atlases_are_listed_and_what_cannot_be_shown_is_said(browser: httpx2.Client, book: str) -> None:
    """A book of the shelf with shards leads to its atlas; a folder that is none is named without its place."""
    page = browser.get("/atlas")
    assert page.status_code == 200
    assert f'href="/atlas/{book}"' in page.text
    assert "No finished bulk folder" in page.text
    assert "/nowhere" not in page.text
    assert 'href="/atlas"' in browser.get("/").text


def test_folders_that_cannot_be_shown_are_for_owners_to_see(elm_shards: Path, tmp_path: Path) -> None:
    """An owner reads which folder is none, and whose book is not on the shelf; a reader reads neither."""
    with user_server(tmp_path, KIWIRESEARCH_ATLAS=f"{elm_shards},/nowhere/at/all", **NO_RATE_LIMIT) as people:
        with people.browser("olga") as olga:
            page = olga.get("/atlas").text
        with people.browser("rita") as rita:
            other = rita.get("/atlas").text
    assert "No finished bulk folder" in page
    assert "The book Book of Elm is not in the library" in page
    assert "Folders that cannot be used" not in other
    assert "Elm" not in other


@pytest.mark.parametrize("part", ["", *(f"/{name}" for name in PARTS)])
@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_every_part_has_a_page_in_every_language(browser: httpx2.Client, book: str, part: str, language: str) -> None:
    """Each part is there, names itself in its title, and leaves no word of the catalogue out."""
    page = browser.get(f"/atlas/{book}{part}", headers={"Accept-Language": language})
    assert page.status_code == 200, page.text
    assert f'<html lang="{language}"' in page.text
    assert "Book of Elm" in page.text


def test_a_contradiction_leads_to_both_quotes(browser: httpx2.Client, book: str) -> None:
    """Both sides link into the reader, at the words that say so, and the page behind the link is there."""
    page = browser.get(f"/atlas/{book}/contradictions?of=a+date").text
    assert "<mark>3 May 1815</mark>" in page
    links = [part.split('"')[0] for part in page.split('href="')[1:] if "?mark=" in part.split('"')[0]]
    assert len(links) >= 2
    for link in links[:2]:
        assert browser.get(link).status_code == 200


def test_the_timeline_is_chosen_by_years(browser: httpx2.Client, book: str) -> None:
    """Empty fields of the form ask for nothing; a filter that fits nothing says so."""
    assert "Elmland was founded in 1204" in browser.get(f"/atlas/{book}/timeline?from=1204&to=1300&words=").text
    assert "Nothing found for these years" in browser.get(f"/atlas/{book}/timeline?from=2500").text
    assert browser.get(f"/atlas/{book}/timeline?from=x").status_code in (400, 422)


def test_strangers_do_not_see_who_is_living(browser: httpx2.Client, client: httpx2.Client, book: str) -> None:
    """No page and no reply names the singer of 1990, and a request for him gets a friendly refusal."""
    for address in (f"/atlas/{book}/kin", f"/atlas/{book}/kin?person=Dan+Finch", f"/atlas/{book}/kin?person=Cy+Finch"):
        page = browser.get(address)
        assert page.status_code == 200
        assert "1990" not in page.text
    assert "This person may be living and is hidden" in browser.get(f"/atlas/{book}/kin?person=Cy+Finch").text
    assert "Cy" not in client.get(f"/api/atlas/{book}/relatives?person=Dan+Finch").text
    assert client.get(f"/api/atlas/{book}/relatives?person=Dan+Finch&privacy=owner").status_code == 403
    assert client.get(f"/api/atlas/{book}/relatives?person=Cy+Finch").status_code == 400


def test_how_two_people_are_tied_is_shown(browser: httpx2.Client, client: httpx2.Client, book: str) -> None:
    """By their pages, in the web interface and for programs."""
    assert "grandfather" in browser.get(f"/atlas/{book}/kin?person=Ben_Rowe&other=Tom_Rowe").text
    data = client.get(f"/api/atlas/{book}/relation?first=Ben_Rowe&second=Tom_Rowe").json()
    assert (data["kinship"], len(data["way"])) == ("grandfather", 3)


@pytest.mark.parametrize(
    ("way", "total"),
    [
        ("contradictions", 5),
        ("contradictions?kind=contradiction", 4),
        ("ranks?by=linked", 13),
        ("regions?of=wanted", 1),
        ("timeline?from=1204&to=1204", 1),
        ("families", 2),
        ("people?words=rowe", 3),
    ],
)
def test_programs_get_the_same_rows(client: httpx2.Client, book: str, way: str, total: int) -> None:
    """Each list says how many rows there are, and gives as many as are asked for."""
    sign = "&" if "?" in way else "?"
    data = client.get(f"/api/atlas/{book}/{way}{sign}limit=1").json()
    assert (data["total"], data["limit"], len(data["rows"])) == (total, 1, 1)


def test_programs_can_list_the_books_with_an_atlas(client: httpx2.Client, book: str) -> None:
    """With the number of rows of each table; the overview has the same book."""
    (result,) = client.get("/api/atlas").json()["books"]
    assert (result["id"], result["tables"]["pages"]) == (book, 13)
    assert client.get(f"/api/atlas/{book}").json()["book"]["title"] == "Book of Elm"


@pytest.mark.parametrize("part", ["ranks", "contradictions", "timeline", "regions", "kin"])
def test_a_part_behind_the_last_shows_the_last(browser: httpx2.Client, book: str, part: str) -> None:
    """An old address of a list that has grown shorter shows rows, and does not say that there are none."""

    def main_of(address: str) -> str:
        return str(browser.get(address).text.partition("<main")[2].partition("</main>")[0])

    assert main_of(f"/atlas/{book}/{part}?n=99") == main_of(f"/atlas/{book}/{part}")


def test_an_unknown_person_can_be_searched_for(browser: httpx2.Client, book: str) -> None:
    """A name that is not a title leads to a search of that book with the same words."""
    shown = browser.get(f"/atlas/{book}/kin?person=Benn+Rowe").text
    assert f'href="/find?q=Benn+Rowe&amp;book={book}"' in shown
    assert browser.get(f"/find?q=Benn+Rowe&book={book}").status_code == 200


@pytest.mark.parametrize("way", ["", "/ranks", "/kin"])
def test_a_book_without_an_atlas_is_not_found(browser: httpx2.Client, client: httpx2.Client, way: str) -> None:
    """The answer says what would make one."""
    shown = browser.get(f"/atlas/no-such-book{way}")
    assert shown.status_code == 404
    assert "Book not analysed" in shown.text
    assert client.get("/api/atlas/no-such-book/ranks").status_code == 404


def test_slow_work_is_done_beside_the_request(
    elm: Path, elm_shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader who does not wait finds it done later; a program gets the time when to ask again."""
    monkeypatch.setattr(web_context, "TABLE_WAIT_S", 0.0)
    with (
        server_context(tmp_path, str(elm), KIWIRESEARCH_ATLAS=str(elm_shards), **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
        browser_client(address) as browser,
        http_client(address) as client,
    ):
        book = client.get("/api/atlas").json()["books"][0]["id"]
        elsewhere = FileLock(context.atlases.get(book).cache_folder / "contradictions.lock")
        assert elsewhere.acquire()
        first = browser.get(f"/atlas/{book}/contradictions")
        assert first.status_code == 202
        assert "Analysing the whole book" in first.text
        reply = client.get(f"/api/atlas/{book}/contradictions")
        assert (reply.status_code, reply.headers["Retry-After"]) == (503, str(web_context.RETRY_AFTER_S))
        elsewhere.release()
        monkeypatch.setattr(web_context, "TABLE_WAIT_S", 60.0)
        assert browser.get(f"/atlas/{book}/contradictions").status_code == 200
        assert client.get(f"/api/atlas/{book}/contradictions").json()["total"] == 5


def test_an_internal_error_reaches_the_request_that_waits(elm: Path, elm_shards: Path, tmp_path: Path) -> None:
    """What goes wrong beside the requests is raised in the request that waits for it, whatever it is."""

    def slip(*_: object) -> None:
        raise ZeroDivisionError("a slip")

    with server_context(tmp_path, str(elm), KIWIRESEARCH_ATLAS=str(elm_shards)) as context:
        (atlas,), _ = context.atlases.all()
        with pytest.raises(ZeroDivisionError, match="a slip"):
            context.atlases.wait_for(atlas, Recipe("slip", ("slip",), (), slip))


def test_few_questions_are_answered_at_a_time(
    elm: Path, elm_shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All requests of a server together use the memory of a few questions; a request that waits too long must retry."""
    monkeypatch.setattr(web_context, "QUERY_QUEUE_TIMEOUT_S", 0.0)
    with (
        server_context(tmp_path, str(elm), KIWIRESEARCH_ATLAS=str(elm_shards), **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
        browser_client(address) as browser,
        http_client(address) as client,
    ):
        book = context.atlases.all()[0][0].book.id
        ways = (
            (client, f"/api/atlas/{book}/timeline", 503),
            (client, f"/api/atlas/{book}/relatives?person=Tom_Rowe", 503),
            (client, f"/api/atlas/{book}/relation?first=Tom_Rowe&second=Ben_Rowe", 503),
            (browser, f"/atlas/{book}/timeline", 202),
            (browser, f"/atlas/{book}/kin?person=Tom_Rowe", 202),
        )
        with contextlib.ExitStack() as asked:
            for _ in range(web_context.MAX_CONCURRENT_QUERIES):
                asked.callback(start_building(context.atlases))
            assert [one.get(way).status_code for one, way, _ in ways] == [entry for _, _, entry in ways]
        assert [one.get(way).status_code for one, way, _ in ways] == [200] * len(ways)


def start_building(several: web_context.Atlases) -> Callable[[], None]:
    """A question that is being answered until what this returns is called."""
    inside, ended = threading.Event(), threading.Event()

    def answer() -> None:
        inside.set()
        ended.wait(60)

    thread = threading.Thread(target=several.run_limited, args=(answer,))
    thread.start()
    assert inside.wait(60)

    def end() -> None:
        ended.set()
        thread.join()

    return end


def test_hidden_pages_are_in_no_list(elm: Path, elm_shards: Path, tmp_path: Path) -> None:
    """Pages that the policy hides are left out of the atlas as well, and the page says so."""
    rules = {"KIWIRESEARCH_POLICY_HIDDEN": "Ada Rowe", "KIWIRESEARCH_ATLAS": str(elm_shards)}
    with (
        server_context(tmp_path, str(elm), **rules, **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
        browser_client(address) as browser,
        http_client(address) as client,
    ):
        book = client.get("/api/atlas").json()["books"][0]["id"]
        data = client.get(f"/api/atlas/{book}/contradictions").json()
        assert data["hidden"] == 2
        assert all(row["title"] != "Ada Rowe" for row in data["rows"])
        assert "This server’s policy hides 2 results" in browser.get(f"/atlas/{book}/contradictions").text
        assert "Ada Rowe" not in browser.get(f"/atlas/{book}/ranks").text
        for page in (browser.get(f"/atlas/{book}"), browser.get(f"/atlas/{book}/kin?person=Tom_Rowe")):
            assert page.status_code == 200
            assert "Ada" not in page.text
            assert "This server’s policy hides" in page.text
        links = client.get(f"/api/atlas/{book}").json()["links"]
        assert (len(links["first"]), links["hidden"]) == (4, 1)
        data = client.get(f"/api/atlas/{book}/relatives?person=Tom_Rowe")
        assert "Ada" not in data.text
        assert data.json()["hidden"] + len(data.json()["relatives"]) == 2
        assert client.get(f"/api/atlas/{book}/relatives?person=Ada+Rowe").status_code == 403
        assert client.get(f"/api/atlas/{book}/relation?first=Tom_Rowe&second=Ben_Rowe").status_code == 403
        assert "This page is hidden" in browser.get(f"/atlas/{book}/kin?person=Tom_Rowe&other=Ben_Rowe").text


def test_a_page_is_hidden_by_its_title_whatever_its_path_and_its_person_are_called(tmp_path: Path) -> None:
    """A request by the name in the box, or for a relative, does not bypass the title of the page."""
    html = {
        "p1": ("Ada Rowe (painter)", HTML["Ada_Rowe"].replace(b"Tom_Rowe", b"p2").replace(b"Ben_Rowe", b"p3")),
        "p2": ("Tom Rowe", HTML["Tom_Rowe"].replace(b"Ada_Rowe", b"p1")),
        "p3": ("Ben Rowe", HTML["Ben_Rowe"].replace(b"Ada_Rowe", b"p1")),
    }
    write_book(tmp_path / "p.zim", [NewPage(path, *data) for path, data in html.items()], [], metadata=METADATA)
    what = ("pages", "links", "claims", "people")
    shards = write_elm_shards(tmp_path / "p.zim", tmp_path / "shards", what)
    rules = {"KIWIRESEARCH_POLICY_HIDDEN": "Ada Rowe (painter)", "KIWIRESEARCH_ATLAS": str(shards)}
    with (
        server_context(tmp_path / "home", str(tmp_path / "p.zim"), **rules, **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
    ):
        base = f"/api/atlas/{context.atlases.all()[0][0].book.id}"
        assert client.get(f"{base}/relatives?person=Ada+Rowe").status_code == 403
        assert client.get(f"{base}/relatives?person=p1").status_code == 403
        data = client.get(f"{base}/relatives?person=Ben+Rowe").json()
        assert "Ada Rowe" not in [one["name"] for one in data["relatives"]]
        assert data["hidden"] >= 1
        for way in ("people?words=Ada", "timeline", "ranks", "regions?of=wanted"):
            data = client.get(f"{base}/{way}").json()
            assert data["hidden"] >= 1
            assert "p1" not in [row.get("path", row.get("first_path")) for row in data["rows"]]


def test_a_desk_without_an_atlas_has_none_in_its_menu(elm: Path, tmp_path: Path) -> None:
    """The page is there and leads to where one is created; the menu does not lead to it."""
    with (
        server_context(tmp_path, str(elm), **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
        browser_client(address) as one,
    ):
        assert 'href="/atlas"' not in one.get("/").text
        assert "No book has been analysed yet" in one.get("/atlas").text
