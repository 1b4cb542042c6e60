"""Other ways to write a title: abbreviations, figures for Roman numbers, words joined and split."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.search.shelves import Noting, titles

from kiwiresearch.search.candidates import find_candidates
from kiwiresearch.search.interpretation import corrected_query
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse_query
from kiwiresearch.search.shelf_search import SearchOptions, search_books
from kiwiresearch.zim.libzim import LibzimArchive

Ready = Callable[..., OpenBook]

PAGES = {
    "World War I": "<p>World War I began in 1914.</p>",
    "World War II": "<p>World War II began in 1939.</p>",
    "War": "<p>World after world has seen war.</p>",
    "New York City": "<p>Five boroughs.</p>",
    "Carbon dioxide": "<p>A gas.</p>",
    "United States": "<p>A country.</p>",
    "Louis XIV": "<p>A king.</p>",
    "Louis XV": "<p>His heir.</p>",
    "Black hole": "<p>Nothing leaves it.</p>",
    "Hole": "<p>A gap.</p>",
    "Rainforest": "<p>Many trees, much rain.</p>",
    "Forest": "<p>Many trees and some rain.</p>",
    "OpenAI": "<p>A laboratory.</p>",
    "New Forest": "<p>Old trees.</p>",
}


@pytest.mark.parametrize("index", [False, True], ids=["bare", "indexed"])
@pytest.mark.parametrize("fast", [False, True], ids=["read", "fast"])
@pytest.mark.parametrize(
    ("asked", "title", "alias"),
    [
        ("ww2", "World War II", "WW2"),
        ("what was WW1?", "World War I", "WW1"),
        ("NYC", "New York City", "NYC"),
        ("nyc in winter", "New York City", "NYC"),
        ("co2", "Carbon dioxide", "CO2"),
        ("What is the U.S.?", "United States", "U.S."),
    ],
)
def test_an_abbreviation_leads_to_its_title(
    ready: Ready, index: bool, fast: bool, asked: str, title: str, alias: str
) -> None:
    """What people type for a long title is another name of the page, though the book has no such redirect."""
    hit = search_books([ready(Noting(PAGES), index=index)], asked, SearchOptions(fast=fast)).hits[0]
    assert (hit.title, hit.alias) == (title, alias)


@pytest.mark.parametrize(("asked", "language"), [("nycx", "eng"), ("nyc", "deu"), ("USSR", "eng")])
def test_other_words_are_not_abbreviations(ready: Ready, asked: str, language: str) -> None:
    """Neither a longer word, nor a word of another language, nor one whose title the book lacks leads anywhere."""
    assert find_candidates(ready(Noting(PAGES), index=True), parse_query(asked, language)) == []


@pytest.mark.parametrize(
    ("index", "asked", "title"),
    [
        (False, "World War 2", "World War II"),
        (False, "world war 1", "World War I"),
        (True, "World War 2", "World War II"),
        (True, "world war 1", "World War I"),
        (True, "when did World War 2 begin", "World War II"),
        (True, "louis 14", "Louis XIV"),
        (True, "louis 15", "Louis XV"),
    ],
)
def test_a_figure_is_a_roman_number(ready: Ready, index: bool, asked: str, title: str) -> None:
    """If a title has a Roman number, the figure finds it before its neighbours."""
    assert titles(search_books([ready(Noting(PAGES), index=index)], asked).hits)[0] == title


@pytest.mark.parametrize("fast", [False, True], ids=["read", "fast"])
@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("blackhole", "Black hole"),
        ("what is a blackhole?", "Black hole"),
        ("rain forest", "Rainforest"),
        ("Rain Forest", "Rainforest"),
        ("open ai", "OpenAI"),
        ("newforest", "New Forest"),
    ],
)
def test_joined_and_split_words_find_the_title(ready: Ready, fast: bool, asked: str, title: str) -> None:
    """A title is found wherever its spaces are put, and the query is taken in the title's spelling."""
    found = search_books([ready(Noting(PAGES), index=True)], asked, SearchOptions(fast=fast))
    assert titles(found.hits)[0] == title
    assert found.corrected == title.casefold()


@pytest.mark.parametrize(
    "asked", ["black hole", "rainforest", "Black Hole", "the black hole", "new forest", "new hole"]
)
def test_words_stay_apart_where_a_title_has_them_so(ready: Ready, asked: str) -> None:
    """What is spelt like a title, or like none, is not respelt."""
    assert corrected_query(ready(Noting(PAGES), index=True), parse_query(asked)) is None


def test_a_joined_word_within_a_query_is_split(ready: Ready) -> None:
    """A word no page has is taken apart as a title has it; the others stay."""
    fixed = corrected_query(ready(Noting(PAGES), index=True), parse_query("how large is a blackhole among many trees"))
    assert fixed
    assert fixed.text == "how large is a black hole among many trees"


def test_a_real_book_is_found_by_all_of_them(ready: Ready, shared_data: Path) -> None:
    """Abbreviations, figures and misplaced spaces lead to the first page of a published book, read or not."""
    book = ready(LibzimArchive(shared_data / "zims" / "schools-2007.zim"), index=True)
    asked = {
        "ww2": "World War II",
        "NYC": "New York City",
        "World War 2": "World War II",
        "who won world war 2": "World War II",
        "louis 14 of france": "Louis XIV of France",
        "blackhole": "Black hole",
        "rain forest": "Rainforest",
    }
    for fast in (False, True):
        assert {query: search_books([book], query, SearchOptions(fast=fast)).hits[0].title for query in asked} == asked
