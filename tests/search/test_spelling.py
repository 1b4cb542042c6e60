"""Typos: what is corrected, and what is left as it was written."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.search.shelves import Noting, titles

from kiwiresearch.search.interpretation import corrected_query
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse_query
from kiwiresearch.search.shelf_search import SearchOptions, search_books

Ready = Callable[..., OpenBook]

PAGES = {
    "Albert Einstein": "<p>Albert Einstein was a physicist.</p>",
    "Georgia on My Mind": "<p>A song of 1930.</p>",
    "Napoleon": "<p>An emperor of the French, born Buonaparte.</p>",
    "Photosynthesis": "<p>Leaves make sugar of light.</p>",
    "Colour": "<p>What light looks like; Americans write color.</p>",
    "Mars": "<p>A red planet.</p>",
}


@pytest.fixture
def book(ready: Ready) -> OpenBook:
    return ready(Noting(PAGES, {"Bonaparte": "Napoleon"}), index=True)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Albrt Einstien", "albert einstein"),
        ("albert einstien", "albert einstein"),
        ("Georgia on my mnid", "georgia on my mind"),
        ("photosyntesis", "photosynthesis"),
        ("what is photosinthesis", "photosynthesis"),
        ("Bonapart", "bonaparte"),
        ("napolean", "napoleon"),
    ],
)
def test_a_mistyped_title_is_corrected(book: OpenBook, typed: str, meant: str) -> None:
    """A word the book does not have becomes the nearest word of its titles, and the page is found."""
    fixed = corrected_query(book, parse_query(typed))
    assert fixed
    assert fixed.text == meant
    found = search_books([book], typed)
    assert found.corrected == meant
    assert found.hits[0].title in PAGES


@pytest.mark.parametrize(
    "typed",
    ["Albert Einstein", "EINSTEIN", "photosynthesis", "emperor", "light", "Mars", "Mrs", "xyzzyqwv", "the"],
)
def test_words_that_may_be_right_are_left_alone(book: OpenBook, typed: str) -> None:
    """Titles, words that some page has, short words and words near no other stay as they are."""
    assert corrected_query(book, parse_query(typed)) is None
    assert search_books([book], typed).corrected == ""


def crowd(word: str, pages: int) -> dict[str, str]:
    return {f"Page {number}": f"<p>The {word} again.</p>" for number in range(pages)}


@pytest.mark.parametrize(
    ("asked", "pages"),
    [
        ("heart", {"Heat": "<p>Heat flows.</p>", **crowd("heart", 3)}),
        ("color", {"Colour": "<p>Colour, or color.</p>", **crowd("colour", 40)}),
        ("causes", {"Cause": "<p>A cause, or causes.</p>", **crowd("cause", 80)}),
        ("organised", {"Organise": "<p>To organise; organised.</p>", **crowd("organise", 80)}),
        ("einsten ring", {"Einstein": "<p>Einsten is a name.</p>", **crowd("einstein", 80)}),
        ("mars bars", {"Mars": "<p>A planet. Bars are sold.</p>", "Mars cars": "<p>Cars.</p>"}),
        ("photon", {"Proton": "<p>Neither a photon nor light.</p>", **crowd("proton", 30)}),
    ],
    ids=["commoner", "hardly rarer", "plural", "form", "no title", "two words", "a neighbour"],
)
def test_a_word_that_is_spelt_right_is_never_replaced(ready: Ready, asked: str, pages: dict[str, str]) -> None:
    """A word on a page stays, unless another is fifty times commoner, no form of it, and makes a title."""
    assert corrected_query(ready(Noting(pages), index=True), parse_query(asked)) is None


def test_a_mistake_that_a_page_has_as_well_is_corrected(ready: Ready) -> None:
    """A page that has the typo itself does not make it a word, if a title is meant and fifty pages know it."""
    pages = {"Einstein": "<p>Einstein, once written Einsten.</p>", **crowd("einstein", 60)}
    fixed = corrected_query(ready(Noting(pages), index=True), parse_query("einsten"))
    assert fixed
    assert fixed.text == "einstein"


def test_a_word_of_another_book_is_right(book: OpenBook) -> None:
    """What any book of the shelf has is not corrected for one that does not."""
    typed = parse_query("how do napolean leaves grow in light")
    assert corrected_query(book, typed)
    assert corrected_query(book, typed, known=lambda word: True) is None


def test_one_mistyped_word_of_several_is_corrected_alone(book: OpenBook) -> None:
    """The words that are right are searched unchanged."""
    fixed = corrected_query(book, parse_query("when was the physicist albert einstien born in germany"))
    assert fixed
    assert fixed.text == "when was the physicist albert einstein born in germany"


def test_the_rest_of_the_query_stays(book: OpenBook) -> None:
    """The hint, the language and what kind of question it is are those of the query as typed."""
    typed = parse_query("what is photosyntesis", focus="leaves")
    fixed = corrected_query(book, typed)
    assert fixed
    assert (fixed.focus, fixed.definitional, fixed.language) == (typed.focus, True, "eng")


def test_without_a_title_index_nothing_is_corrected(ready: Ready) -> None:
    """There is nothing to compare with, and the query is searched unchanged."""
    bare = ready(Noting(PAGES))
    assert corrected_query(bare, parse_query("Albrt Einstien")) is None
    assert search_books([bare], "Albert Einstein").hits[0].title == "Albert Einstein"


def test_a_mistyped_name_is_found_in_a_quick_search_too(book: OpenBook) -> None:
    """Mending needs no page to be read."""
    assert titles(search_books([book], "Albrt Einstien", SearchOptions(fast=True)).hits)[0] == "Albert Einstein"
