"""The form that begins research: it explains itself, keeps what was typed, and leads to the work."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.conftest import BookMaker
from tests.web.desk.conftest import TOPIC, ARun, TwoRuns, first_of
from tests.web.servers import NO_RATE_LIMIT, browser_client, running_server, server_context

from kiwiresearch.web.app import make_app
from kiwiresearch.web.desk.research_form import FormOptions, ResearchForm, check_form
from kiwiresearch.web.desk.shelf import BookChoice
from kiwiresearch.workspace.settings import Settings

BOOKS = (BookChoice("a", "Book A"), BookChoice("b", "Book B"))


def text_of(page: str, selector: str) -> list[str]:
    return [" ".join(node.text().split()) for node in LexborHTMLParser(page).css(selector)]


def value_of(page: str, name: str) -> str:
    (field,) = LexborHTMLParser(page).css(f"input[name={name}]")
    return str(field.attributes.get("value") or "")


def test_every_field_has_its_name_and_is_explained(browser: httpx2.Client) -> None:
    """Each field has a label, and a sentence that says what it does; the defaults are those of the settings."""
    page = browser.get("/research").text
    tree = LexborHTMLParser(page)
    for field in tree.css(".research-form input:not([type=radio], [type=checkbox])"):
        name = field.attributes["id"]
        assert first_of(tree, f"label[for={name}]").text(strip=True)
        assert first_of(tree, f"#{name}-hint").text(strip=True)
        assert f"{name}-hint" in str(field.attributes["aria-describedby"])
    assert (value_of(page, "max_pages"), value_of(page, "depth"), value_of(page, "max_links")) == ("", "2", "30")
    assert '<a href="/settings#group-model">Connect a language model</a>' in page


def test_a_link_fills_the_form_in(browser: httpx2.Client) -> None:
    """Other pages link here with a topic; nothing is started before the form is sent."""
    asked = {"topic": '<b>"Ugarit"', "aspect": "<i>trade", "max_pages": "7", "strategy": "bfs"}
    page = browser.get("/research", params=asked).text
    assert (value_of(page, "topic"), value_of(page, "max_pages")) == ('<b>"Ugarit"', "7")
    assert value_of(page, "aspect") == "<i>trade"
    assert '<input type="radio" name="strategy" value="bfs" checked>' in page
    assert value_of(browser.get("/research?q=Ugarit").text, "topic") == "Ugarit"


def chosen_size(page: str) -> list[str]:
    return [str(one.attributes["value"]) for one in LexborHTMLParser(page).css("input[name=size][checked]")]


def is_unfolded(page: str) -> bool:
    return "open" in first_of(LexborHTMLParser(page), ".more-options").attributes


def test_a_newcomer_sees_a_topic_and_three_sizes(browser: httpx2.Client) -> None:
    """The size of the settings is chosen; all else is folded until something in it is set or wrong."""
    page = browser.get("/research?topic=Ugarit").text
    assert chosen_size(page) == ["large"]
    assert [words.partition(" · ")[0] for words in text_of(page, ".sizes .choice")] == [
        "Small up to 10 pages",
        "Medium up to 40 pages",
        "Large up to 80 pages",
    ]
    assert not is_unfolded(page)
    assert chosen_size(browser.get("/research?max_pages=40").text) == ["medium"]
    for more in ("max_pages=7", "aspect=causes", "depth=1", "strategy=bfs"):
        assert is_unfolded(browser.get(f"/research?topic=Ugarit&{more}").text), more
    assert not is_unfolded(browser.get("/research?depth=2&strategy=priority&max_pages=10").text)
    assert not is_unfolded(browser.post("/research", data={"topic": ""}).text)
    assert is_unfolded(browser.post("/research", data={"topic": "x", "depth": "many"}).text)
    assert browser.post("/research", data={"topic": "x", "size": "huge"}).status_code == 422


@pytest.mark.parametrize(("most", "pages"), [(80, (10, 40, 80)), (20, (5, 10, 20)), (1, (1, 1, 1))])
def test_sizes_follow_the_settings(most: int, pages: tuple[int, int, int]) -> None:
    """A large one is as many pages as the settings say; a typed number comes before a size."""
    offer = FormOptions(Settings(max_pages=most), BOOKS[:1])
    assert tuple(offer.sizes.values()) == pages
    small = check_form(ResearchForm(topic="x", size="small"), offer).request
    typed = check_form(ResearchForm(topic="x", size="small", max_pages="7"), offer).request
    neither = check_form(ResearchForm(topic="x"), offer).request
    assert small is not None
    assert typed is not None
    assert neither is not None
    assert (small.max_pages, typed.max_pages, neither.max_pages) == (pages[0], 7, None)


@pytest.mark.parametrize(("page_s", "is_quick"), [(0.0, False), (0.1, True), (2.0, False)])
def test_a_larger_size_takes_longer_unless_all_are_quick(page_s: float, is_quick: bool) -> None:
    """The form says that a larger size takes longer, unless the largest is known to take less than a minute."""
    assert FormOptions(Settings(max_pages=80), BOOKS[:1], page_s).is_quick == is_quick


def test_times_come_from_finished_research_only(a_run: ARun, browser: httpx2.Client, tmp_path: Path) -> None:
    """A server that has finished none shows no time."""
    assert "usually" in browser.get("/research").text
    measured = browser.get("/research").text
    assert "Times are estimates from earlier research on this server." in measured
    # How long depends on the machine that runs this test.
    assert all("usually" in words for words in text_of(measured, ".sizes .choice"))
    with (
        server_context(tmp_path) as context,
        running_server(context, make_app) as address,
        browser_client(address) as fresh,
    ):
        page = fresh.get("/research").text
    assert "Small" in page
    assert "usually" not in page
    assert "A larger size gives a fuller brief and takes longer." in page


@pytest.mark.parametrize(
    ("typed", "field", "expected"),
    [
        ({"topic": "  "}, "topic", "Enter a topic"),
        ({"topic": "?!"}, "topic", "Enter a topic"),
        ({"topic": "x" * 501}, "topic", "no more than 500 characters"),
        ({"topic": "x", "focus": "y" * 501}, "focus", "no more than 500 characters"),
        ({"topic": "x", "aspect": "y" * 501}, "aspect", "no more than 500 characters"),
        ({"topic": "x", "max_pages": "many"}, "max_pages", "from 1 to 100,000"),
        ({"topic": "x", "max_pages": "0"}, "max_pages", "from 1 to 100,000"),
        ({"topic": "x", "depth": "-1"}, "depth", "from 0 to 100"),
        ({"topic": "x", "max_links": "9" * 40}, "max_links", "from 1 to 100,000"),
        ({"topic": "x", "strategy": "luck"}, "strategy", "Select one"),
        ({"topic": "x", "books": "no-such-book"}, "books", "no longer on the shelf"),
    ],
)
def test_an_error_is_shown_beside_its_field(
    browser: httpx2.Client, typed: dict[str, str], field: str, expected: str
) -> None:
    """The form is shown again with all that was typed and the error; nothing was started."""
    before = len(browser.get("/api/research").json()["jobs"])
    reply = browser.post("/research", data={"focus": "tin", "aspect": "causes", **typed})
    assert reply.status_code == 422
    assert value_of(reply.text, "focus") == typed.get("focus", "tin")
    assert value_of(reply.text, "aspect") == typed.get("aspect", "causes")
    assert value_of(reply.text, "topic") == typed["topic"]
    assert field == "books" or expected in " ".join(text_of(reply.text, f"#{field}-fault"))
    assert text_of(reply.text, "[role=alert] a")
    assert len(browser.get("/api/research").json()["jobs"]) == before


def test_a_topic_that_research_refuses_is_shown_again(browser: httpx2.Client) -> None:
    """An error that only the research itself can find is shown with what to do."""
    reply = browser.post("/research", data={"topic": "Ugarit\x07"})
    assert (reply.status_code, "control character" in reply.text) == (400, True)


def test_books_are_chosen() -> None:
    """All of them are none in particular; some are named; none is a fault."""
    offer = FormOptions(Settings(), BOOKS)
    every = check_form(ResearchForm(topic="x", books=["b", "a"]), offer)
    some = check_form(ResearchForm(topic="x", books=["b", "b"]), offer)
    assert every.request is not None
    assert some.request is not None
    assert (every.request.books, some.request.books) == ((), ("b",))
    assert set(check_form(ResearchForm(topic="x"), offer).faults) == {"books"}


def test_books_that_look_alike_are_shown_with_their_files(tmp_path: Path, a_book: BookMaker) -> None:
    """Two books with the same title and date are shown with their file names; others are not."""
    words = {"maxi.zim": "Towers", "mini.zim": "Towers", "other.zim": "Rivers"}
    books = [str(a_book({"A": f"<p>{name}</p>"}, name=name, Title=title)) for name, title in words.items()]
    with (
        server_context(tmp_path / "home", *books) as context,
        running_server(context, make_app) as at,
        browser_client(at) as browser,
    ):
        rows = text_of(browser.get("/research").text, "#books li")
    assert sorted(row.rpartition(" ")[2] for row in rows) == ["2026", "maxi.zim", "mini.zim"]


def test_a_model_takes_part_unless_it_is_left_out() -> None:
    """Without the model nobody looks at what it wrote a second time either."""
    offer = FormOptions(Settings(model_url="http://127.0.0.1:1"), BOOKS[:1])
    with_it = check_form(ResearchForm(topic="x", critic="yes"), offer).request
    without = check_form(ResearchForm(topic="x", critic="yes", model="without"), offer).request
    assert with_it is not None
    assert without is not None
    assert (with_it.model, with_it.critic, without.model, without.critic) == (True, True, False, False)


def test_all_runs_are_listed_with_what_they_are(two_runs: TwoRuns, browser: httpx2.Client) -> None:
    """Topic, date, pages, claims and books of each, the newest first; two of them can be compared."""
    page = browser.get("/research").text
    rows = text_of(page, ".run-row")
    assert any("9 pages" in row and "drought" in row and "sample book (1 July 2025)" in row for row in rows)
    tree = LexborHTMLParser(page)
    links = [str(node.attributes["href"]) for node in tree.css(".run-row h3 a")]
    assert links.index(f"/runs/{two_runs.new}") < links.index(f"/runs/{two_runs.old}")
    chosen = {name: first_of(tree, f"#{name} option[selected]").attributes["value"] for name in ("old", "new")}
    assert chosen["old"] != chosen["new"]
    assert tree.css_first("form[action='/compare'][method=get]") is not None


@pytest.fixture(scope="module")
def crowded(a_run: ARun, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """A server with 45 finished runs, on two books."""
    place = tmp_path_factory.mktemp("crowded")
    for number in range(45):
        shutil.copytree(a_run.path, place / "runs" / f"run {number}")
    book = Path(shutil.copy(a_run.context.shelf.books[0].source.location, place / "copy.zim"))
    settings = {"KIWIRESEARCH_SERVE_RUNS": str(place / "runs"), **NO_RATE_LIMIT}
    with (
        server_context(place / "home", str(book), **settings) as context,
        running_server(context, make_app) as at,
        browser_client(at) as browser,
    ):
        yield browser


def test_many_runs_come_page_by_page(crowded: httpx2.Client) -> None:
    """Twenty at a time, all of them once; a number too large shows the last of them."""
    seen: list[str] = []
    for number in (1, 2, 3):
        page = crowded.get(f"/research?page={number}").text
        seen += [str(node.attributes["href"]) for node in LexborHTMLParser(page).css(".run-row h3 a")]
        assert f"Page {number} of 3" in page
    assert sorted(seen) == sorted(f"/runs/{quote(f'run {number}')}" for number in range(45))
    assert "Page 3 of 3" in crowded.get("/research?page=9").text
    assert crowded.get("/research?page=0").status_code == 422
    assert crowded.get("/runs/run%201").status_code == 200


def test_the_form_begins_a_run_and_leads_to_it(browser: httpx2.Client) -> None:
    """A sent form goes to the page of the work, which goes to the run when it is done."""
    typed = {"topic": f" {TOPIC}\n", "aspect": " Causes ", "max_pages": "2", "depth": "", "strategy": "bfs"}
    reply = browser.post("/research", data=typed)
    assert reply.status_code == 303
    address = reply.headers["location"]
    assert browser.get(f"/api{address}").json()["aspect"] == "Causes"
    with browser.stream("GET", f"/api{address}/events") as stream:
        assert "event: done" in list(stream.iter_lines())
    done = browser.get(address)
    assert (done.status_code, done.headers["location"]) == (303, address.replace("/research/", "/runs/"))
    page = browser.get(done.headers["location"]).text
    assert "2 pages" in page
    assert text_of(page, ".understood") == ["Understood as: Late Bronze Age collapse: causes"]
    again = str(first_of(LexborHTMLParser(page), "#gathering ~ p a").attributes["href"])
    assert value_of(browser.get(again).text, "aspect") == "Causes"
    assert any("Aspect: Causes" in row for row in text_of(browser.get("/research").text, ".run-row"))
