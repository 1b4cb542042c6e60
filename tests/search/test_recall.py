"""Which pages may be meant: each source by itself, and all of them on odd queries and poor books."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.search.shelves import Noting

from kiwiresearch.search.candidates import SearchCandidate, find_candidates
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse_query
from kiwiresearch.search.title_index_builder import build_titles
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.archive import Match
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.kiwix_serve import KiwixServer, ServeArchive
from kiwiresearch.zim.libzim import LibzimArchive

PAGES = {
    "Galaxy": "<p>A system of stars, gas and dust.</p>",
    "Andromeda": "<p>The nearest large galaxy to ours; its stars are old.</p>",
    "OpenAI": "<p>A company.</p>",
    "Treaty of Versailles": "<p>It ended a war in 1919.</p>",
    "Foxes": "<p>Animals with a tail.</p>",
    "C++": "<p>A language.</p>",
    "東京": "<p>東京は首都。</p>",
    "Ocean": "<p>Salt water, tides, the pull of the moon and much else.</p>",
    "Harbour": "<p>Ships wait for tides.</p>",
}
ALIASES = {"Island universe": "Galaxy", "M31": "Andromeda"}

ODD = [
    "", "   ", "?!…", "the", "what is the", "🙂", "word " * 10_000, "a" * 5_000, "東京", "القاهرة", "\u200fקהיר\u200e",
    "C++", "C#", "U.S.", "O'Brien", "spider-man", "3.14", "x\x00y", "galaxy OR", "NOT galaxy", "galaxy AND (",
    '"galaxy', "galaxy*", "title:galaxy", "%", "' OR 1=1 --", "../../etc/passwd", "\u0301", "I", "+++",
]  # fmt: skip


def paths(book: OpenBook, asked: str) -> list[str]:
    return [candidate.path for candidate in find_candidates(book, parse_query(asked))]


def found(book: OpenBook, asked: str, path: str) -> SearchCandidate:
    return next(candidate for candidate in find_candidates(book, parse_query(asked)) if candidate.path == path)


@pytest.fixture(scope="module", params=[False, True], ids=["no title index", "title index"])
def book(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenBook]:
    """One real book for all tests, before its titles are indexed and after."""
    folder = tmp_path_factory.mktemp("recall")
    write_book(
        folder / "test.zim",
        [NewPage(title.replace(" ", "_"), title, html.encode()) for title, html in PAGES.items()],
        [NewRedirect(alias.replace(" ", "_"), alias, to) for alias, to in ALIASES.items()],
        metadata={"Name": "test_en", "Title": "Test book", "Language": "eng", "Date": "2026-01-01"},
    )
    archive = LibzimArchive(folder / "test.zim")
    titles = None
    if request.param:
        build_titles(archive, folder / "titles.sqlite")
        titles = open_titles(folder / "titles.sqlite", archive.book)
    yield OpenBook(archive, titles)
    archive.close()
    if titles is not None:
        titles.close()


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ("Galaxy", "Galaxy"),
        ("GALAXIES", "Galaxy"),
        ("what is a galaxy?", "Galaxy"),
        ("everyone keeps talking about galaxies", "Galaxy"),
        ("who signed the treaty of versailles in 1919", "Treaty_of_Versailles"),
        ("fox", "Foxes"),
        ("m31", "Andromeda"),
        ("island universes", "Galaxy"),
        ("C++", "C++"),
        ("東京", "東京"),
    ],
)
def test_a_title_in_the_query_is_a_candidate(book: OpenBook, asked: str, path: str) -> None:
    """A title that is in the query is found in any case and number, and under its other names."""
    assert path in paths(book, asked)


def test_a_name_that_led_to_a_page_is_kept(book: OpenBook) -> None:
    """A page found by another name keeps its own title, and the name beside it."""
    page = found(book, "island universe", "Galaxy")
    assert page.title == "Galaxy"
    assert "Island universe" in page.aliases


def test_titles_are_found_joined_and_split(zim_book: Callable[..., OpenBook]) -> None:
    """'open ai' leads to 'OpenAI' once titles are indexed."""
    assert "OpenAI" in paths(zim_book(PAGES, index=True), "open ai")


def test_titles_are_found_by_some_of_their_words(zim_book: Callable[..., OpenBook]) -> None:
    """Without a page's text, two words of a title lead to it in any order."""
    book = zim_book({"Battle of the Nile": "<p>At sea.</p>", "Trade": "<p>On land.</p>"}, index=True, full_text=False)
    assert paths(book, "which nile fleet won a battle") == ["Battle_of_the_Nile"]


def test_a_question_no_page_has_all_words_of_finds_pages(book: OpenBook) -> None:
    """The book's own search wants every word; here rare words alone lead to pages."""
    asked = "why do tides follow the moon every nineteen zebras"
    assert book.archive.search(asked, 10) == ()
    assert {"Ocean", "Harbour"} <= set(paths(book, asked))


def test_words_found_together_speak_for_a_page(book: OpenBook) -> None:
    """A page with two of the words is known to have them together, a page with one is not."""
    asked = "tides and the moon"
    assert found(book, asked, "Ocean").shared > 0
    assert found(book, asked, "Harbour").shared == 0
    assert found(book, asked, "Ocean").listed > found(book, asked, "Harbour").listed > 0


def test_a_book_without_indexes_is_searched_by_titles(zim_book: Callable[..., OpenBook]) -> None:
    """Without full text and without a title index, exact titles are still found."""
    book = zim_book(PAGES, ALIASES, full_text=False)
    assert "Galaxy" in paths(book, "what are galaxies")
    assert "Treaty_of_Versailles" in paths(book, "treaty of versailles")


def test_the_start_page_is_not_a_candidate(zim_book: Callable[..., OpenBook]) -> None:
    """The book's start page is not offered, though it names everything."""
    pages = {**PAGES, "Galaxy portal": "<p>galaxy ocean tides moon</p>"}
    assert "Galaxy_portal" in paths(zim_book(pages, name="without.zim"), "galaxy")
    assert "Galaxy_portal" not in paths(zim_book(pages, main_path="Galaxy_portal"), "galaxy")


def test_a_start_page_is_found_by_its_own_title(zim_book: Callable[..., OpenBook]) -> None:
    """A book may open with one of its articles, in any script: who types its title finds it."""
    assert "Ocean" in paths(zim_book(PAGES, main_path="Ocean"), "what is an ocean?")
    cairo = {"القاهرة": "<p>القاهرة هي عاصمة مصر.</p>", "النيل": "<p>النيل نهر في أفريقيا.</p>"}
    assert "القاهرة" in paths(zim_book(cairo, name="ar.zim", main_path="القاهرة"), "القاهرة")


def test_candidates_come_in_one_order(book: OpenBook) -> None:
    """The same query gives the same candidates, by path and each once."""
    once = find_candidates(book, parse_query("galaxy stars tides"))
    assert once == find_candidates(book, parse_query("galaxy stars tides"))
    assert [c.path for c in once] == sorted({c.path for c in once})


@pytest.mark.parametrize("asked", ODD, ids=lambda asked: ascii(asked[:12]))
def test_odd_queries_are_answered(book: OpenBook, asked: str) -> None:
    """No query makes the search fail, and every candidate is a page of the book."""
    assert set(paths(book, asked)) <= set(book.archive.articles())


def test_half_a_character_does_not_fail(book: OpenBook) -> None:
    """Text that cannot be written as UTF-8 is searched by what is left of it."""
    assert "Galaxy" in paths(book, "\ud800 galaxy")


def test_an_empty_book_has_no_candidates(memory_book: Callable[..., OpenBook]) -> None:
    """A book without pages gives nothing, whatever is asked."""
    assert paths(memory_book({}), "galaxy") == []
    assert paths(memory_book({}, index=True), "galaxy") == []


def test_a_served_book_is_searched_too(
    kiwix_serve: Callable[..., str], a_book: Callable[..., Path], ready: Callable[..., OpenBook]
) -> None:
    """Over a server, suggestions and full text lead to the same page."""
    file = a_book({title.replace(" ", "_"): html for title, html in PAGES.items()})
    with contextlib.closing(KiwixServer(kiwix_serve(file))) as server:
        (served,) = server.catalogue()
        book = ready(ServeArchive(server, served))
        assert "Galaxy" in paths(book, "what is a galaxy")
        assert "Ocean" in paths(book, "tides and the moon")


class Asked(Noting):
    """A book that notes which suggestions it is asked for, here or on a server."""

    def __init__(self, source: str) -> None:
        super().__init__({"القاهرة": "<p>عاصمة مصر.</p>"}, language="ara")
        self._sheet = replace(self._sheet, source=source)
        self.suggested: list[str] = []

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        self.suggested.append(text)
        return super().suggest(text, limit)


@pytest.mark.parametrize(("source", "is_asked"), [("/books/ara.zim", True), ("http://host/ara", False)])
def test_other_spellings_are_suggested_where_that_takes_no_request(
    ready: Callable[..., OpenBook], source: str, is_asked: bool
) -> None:
    """A server is asked for the words as they are typed."""
    archive = Asked(source)
    find_candidates(ready(archive), parse_query("قاهره", "ara"))
    assert ("القاهرة" in archive.suggested) is is_asked
