"""The examples of the home page: chosen by rule, and answered by the books."""

from __future__ import annotations

import re
import time
from html import unescape
from pathlib import Path

import httpx2
import pytest
from tests.conftest import BookMaker
from tests.web.servers import browser_client, running_server, server_context

from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.examples import MAX_EXAMPLES, examples_in

LONG = "<p>" + "Kites need wind. " * 200 + "</p>"
PAGES = {
    "Main": '<p><a href="Kite">Kite</a> <a href="Ada_Rowe">Ada Rowe</a> <a href="1905">1905</a> <a href="Wind">Wind</a>'
    ' <a href="List_of_kites">List of kites</a> <a href="Sky_War">Sky War</a></p>',
    "Kite": f"<p>A kite is a toy that flies on a long line in the wind. The kite is old.</p>{LONG}",
    "Ada_Rowe": "<p>Ada Rowe (3 May 1801 – 9 June 1885) was a builder of kites. She was born in Ely.</p>",
    "1905": f"<p>1905 was a year.</p>{LONG}",
    "Wind": "<p>Wind moves kites.</p>",
    "List_of_kites": f"<p>List of kites is a list.</p>{LONG}",
    "Sky_War": "<p>The Sky War (3 May 1801 – 9 June 1805) was a war over kites.</p>",
}


def found_in(context: ServerContext) -> list[tuple[str, str]]:
    with context.locked_finder() as finder:
        return [(one.kind, one.text) for one in examples_in(finder.books[0])]


def test_examples_come_from_the_first_sentences_of_pages(tmp_path: Path, a_book: BookMaker) -> None:
    """A person is asked for the birth, a thing for what it is; years, lists and vague pages are left out."""
    book = a_book(PAGES, main_path="Main")
    with server_context(tmp_path / "home", str(book)) as context:
        found = found_in(context)
        assert found == found_in(context)
    assert {text for kind, text in found if kind == "ask"} == {
        "When was Ada Rowe born?",
        "What is a kite?",
        "What was the Sky War?",
    }
    asked = [text for kind, text in found if kind == "ask"]
    assert asked.index("What was the Sky War?") < asked.index("What is a kite?"), "names come before common words"
    assert [text for kind, text in found if kind == "research"] in ([], ["Kite"])


def test_the_books_answer_the_examples(context: ServerContext) -> None:
    """Every question is answered, and every topic is the title of a page."""
    found = found_in(context)
    assert {kind for kind, _ in found} == {"ask", "research"}
    for kind, text in found:
        if kind == "ask":
            assert context.asker.ask(text).grounded, text
        else:
            with context.locked_finder() as finder:
                assert finder.books[0].archive.by_title(text), text


@pytest.mark.parametrize("language", ["fra", "bel"])
def test_a_book_in_another_language_has_topics_only(tmp_path: Path, a_book: BookMaker, language: str) -> None:
    """The words of questions are known for English, so a question might not be understood."""
    book = a_book(PAGES, main_path="Main", Language=language)
    with server_context(tmp_path / "home", str(book)) as context:
        assert {kind for kind, _ in found_in(context)} == {"research"}


def test_the_pages_mentioned_most_are_read(tmp_path: Path, a_book: BookMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those that come first on the start page."""
    monkeypatch.setattr("kiwiresearch.web.desk.examples.MAX_READ", 1)
    book = a_book(PAGES, main_path="Main")
    with server_context(tmp_path / "home", str(book)) as context:
        assert {text for _, text in found_in(context)} == {"What is a kite?"}


def test_a_book_without_a_start_page_has_none(tmp_path: Path, a_book: BookMaker) -> None:
    with server_context(tmp_path / "home", str(a_book({"Kite": "<p>A kite is a toy.</p>"}))) as context:
        assert found_in(context) == []


def test_newcomers_see_examples_until_they_have_asked_a_few_times(tmp_path: Path) -> None:
    """The links lead to an answer and to the form for research; four questions of their own take their place."""
    with (
        server_context(tmp_path) as context,
        running_server(context, make_app) as address,
        browser_client(address) as browser,
    ):
        until = time.monotonic() + 30
        while not (links := [unescape(link) for link in examples_on(browser)]):
            assert time.monotonic() < until, "the books were not read in time"
        assert 2 < len(links) <= MAX_EXAMPLES
        assert {link.partition("?")[0] for link in links} == {"/ask", "/research"}
        assert all(browser.get(link).status_code == 200 for link in links)
        assert examples_on(browser)
        for question in ("What is bronze?", "What is copper?", "What is iron?", "What is tin?"):
            assert browser.get("/ask", params={"q": question}).status_code == 200
        assert examples_on(browser) == []
        assert "Recent questions" in browser.get("/").text


def examples_on(browser: httpx2.Client) -> list[str]:
    page = browser.get("/").text
    part = re.search(r'class="examples".*?</section>', page, re.DOTALL)
    return re.findall(r'href="([^"]+)"', part[0]) if part else []
