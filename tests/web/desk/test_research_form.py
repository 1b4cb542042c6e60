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
from tests.web.running import UNHURRIED, a_browser, a_room, running

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
    assert (value_of(page, "max_pages"), value_of(page, "depth"), value_of(page, "max_links")) == ("80", "2", "30")
    assert "model_url" in page


def test_a_link_fills_the_form_in(browser: httpx2.Client) -> None:
    """Other pages lead here with a topic; nothing is begun before it is sent."""
    asked = {"topic": '<b>"Ugarit"', "aspect": "<i>trade", "max_pages": "7", "strategy": "bfs"}
    page = browser.get("/research", params=asked).text
    assert (value_of(page, "topic"), value_of(page, "max_pages")) == ('<b>"Ugarit"', "7")
    assert value_of(page, "aspect") == "<i>trade"
    assert '<input type="radio" name="strategy" value="bfs" checked>' in page
    assert value_of(browser.get("/research?q=Ugarit").text, "topic") == "Ugarit"


@pytest.mark.parametrize(
    ("typed", "field", "told"),
    [
        ({"topic": "  "}, "topic", "in words"),
        ({"topic": "?!"}, "topic", "in words"),
        ({"topic": "x" * 501}, "topic", "at most 500 characters"),
        ({"topic": "x", "focus": "y" * 501}, "focus", "at most 500 characters"),
        ({"topic": "x", "aspect": "y" * 501}, "aspect", "at most 500 characters"),
        ({"topic": "x", "max_pages": "many"}, "max_pages", "from 1 to 100,000"),
        ({"topic": "x", "max_pages": "0"}, "max_pages", "from 1 to 100,000"),
        ({"topic": "x", "depth": "-1"}, "depth", "from 0 to 100"),
        ({"topic": "x", "max_links": "9" * 40}, "max_links", "from 1 to 100,000"),
        ({"topic": "x", "strategy": "luck"}, "strategy", "Choose one"),
        ({"topic": "x", "books": "no-such-book"}, "books", "no longer on the shelf"),
    ],
)
def test_what_is_wrong_is_told_beside_its_field(
    browser: httpx2.Client, typed: dict[str, str], field: str, told: str
) -> None:
    """The form comes again with all that was typed and what is wrong; nothing was begun."""
    before = len(browser.get("/api/research").json()["jobs"])
    reply = browser.post("/research", data={"focus": "tin", "aspect": "causes", **typed})
    assert reply.status_code == 422
    assert value_of(reply.text, "focus") == typed.get("focus", "tin")
    assert value_of(reply.text, "aspect") == typed.get("aspect", "causes")
    assert value_of(reply.text, "topic") == typed["topic"]
    assert field == "books" or told in " ".join(text_of(reply.text, f"#{field}-fault"))
    assert text_of(reply.text, "[role=alert] a")
    assert len(browser.get("/api/research").json()["jobs"]) == before


def test_a_topic_that_is_refused_below_comes_back(browser: httpx2.Client) -> None:
    """What only the research itself can tell is shown with what to do."""
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


def test_books_that_look_alike_are_told_apart(tmp_path: Path, a_book: BookMaker) -> None:
    """Of two books with the same title and date the files are named; of others they are not."""
    words = {"maxi.zim": "Towers", "mini.zim": "Towers", "other.zim": "Rivers"}
    books = [str(a_book({"A": f"<p>{name}</p>"}, name=name, Title=title)) for name, title in words.items()]
    with a_room(tmp_path / "home", *books) as room, running(room, make_app) as at, a_browser(at) as browser:
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
    book = Path(shutil.copy(a_run.room.shelf.books[0].source.location, place / "copy.zim"))
    settings = {"KIWIRESEARCH_SERVE_RUNS": str(place / "runs"), **UNHURRIED}
    with a_room(place / "home", str(book), **settings) as room, running(room, make_app) as at, a_browser(at) as browser:
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
    assert text_of(page, ".understood") == ["Understood as: Late Bronze Age collapse › Causes"]
    again = str(first_of(LexborHTMLParser(page), "#gathering ~ p a").attributes["href"])
    assert value_of(browser.get(again).text, "aspect") == "Causes"
    assert any("Side of the topic: Causes" in row for row in text_of(browser.get("/research").text, ".run-row"))
