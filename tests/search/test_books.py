"""Several books: whom to ask first, which are worth merging, and how their lists become one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.search.shelves import Noting, a_hit, titles

from kiwiresearch.ids import BookId
from kiwiresearch.search.book_search import BookHits
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import Hit
from kiwiresearch.search.shelf_search import MIN_MERGE_SHARE, by_likelihood, merged_hits, worth_merging
from kiwiresearch.zim.archive import BookKind

PAGES = {"Moon": "<p>The moon.</p>"}


def a_book(title: str, kind: BookKind = "wikipedia", language: str = "eng", pages: int = 1) -> OpenBook:
    some = {f"{title} {number}": "<p>Words.</p>" for number in range(pages)}
    return OpenBook(Noting(some, title=title, kind=kind, language=language))


def ranked(book: OpenBook, **points: float) -> BookHits:
    hits = sorted(points.items(), key=lambda row: -row[1])
    return BookHits(book, tuple(a_hit(book.book, title, score) for title, score in hits))


SHELF = (
    a_book("SQLite Docs", "devdocs"),
    a_book("Wikipedia", "wikipedia"),
    a_book("Wikipedia deutsch", "wikipedia", "deu"),
    a_book("Большая", "wiki", "rus"),
    a_book("Cooking Stack Exchange", "stackexchange"),
    a_book("百科", "wikipedia", "zho"),
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("how to create an index in sqlite", "SQLite Docs"),
        ("how long to boil an egg cooking", "Cooking Stack Exchange"),
        ("что такое луна", "Большая"),
        ("什么是月亮", "百科"),
        ("was ist der Mond", "Wikipedia deutsch"),
        ("what is the moon", "Wikipedia"),
    ],
)
def test_the_likeliest_book_is_asked_first(query: str, first: str) -> None:
    """A book named in the query comes first, then one of its language, then an encyclopaedia."""
    assert by_likelihood(SHELF, query)[0].book.title == first


@pytest.mark.parametrize("query", ["moon", "что такое луна", "sqlite", ""])
def test_no_book_is_refused(query: str) -> None:
    """Books of any language and kind stay in the list, behind the likelier ones."""
    assert {book.book.title for book in by_likelihood(SHELF, query)} == {book.book.title for book in SHELF}


def test_the_larger_of_two_like_books_is_asked_first() -> None:
    """Without other evidence, a book with more articles is more likely to have the page."""
    small, large = a_book("Small"), a_book("Large", pages=3)
    assert by_likelihood([small, large], "moon") == [large, small]


@given(st.permutations(SHELF))
def test_the_order_of_asking_does_not_depend_on_the_shelf(books: list[OpenBook]) -> None:
    """The same books in another order are asked in the same order."""
    assert by_likelihood(books, "the moon") == by_likelihood(SHELF, "the moon")


@pytest.mark.parametrize(
    ("best", "kept"),
    [
        ((100, 50), [0, 1]),
        ((100, 49.99), [0]),
        ((49, 100), [1]),
        ((100, 99, 51, 20), [0, 1, 2]),
        ((0, 0), [0, 1]),
        ((100,), [0]),
        ((), []),
    ],
)
def test_a_book_is_merged_from_half_of_the_top(best: tuple[float, ...], kept: list[int]) -> None:
    """A book takes part if its best page has half the points of the overall best (R177)."""
    rows = [ranked(a_book(f"Book {number}"), page=points) for number, points in enumerate(best)]
    assert worth_merging(rows) == [rows[number] for number in kept]
    assert MIN_MERGE_SHARE == 0.5


def test_a_book_that_found_nothing_is_left_out() -> None:
    """An empty list does not keep company with a good one (R177)."""
    good, empty = ranked(a_book("Good"), page=10), ranked(a_book("Empty"))
    assert worth_merging([empty, good]) == [good]
    assert worth_merging([empty]) == [empty]


def test_books_of_one_sort_are_merged_by_score() -> None:
    """Points of like books compare: the better page is first, whichever book was asked first (R178)."""
    first, second = a_book("First"), a_book("Second")
    hits, order = merged_hits([ranked(first, a=90, b=50), ranked(second, c=100, d=60)])
    assert (titles(hits), order) == (["c", "a", "d", "b"], "score")


def test_books_of_different_sorts_are_merged_by_rank() -> None:
    """Points of different kinds or languages do not compare, so their lists are taken in turn."""
    encyclopaedia, board = a_book("Encyclopaedia"), a_book("Board", "stackexchange")
    german = a_book("Deutsch", language="deu")
    hits, order = merged_hits(
        [ranked(encyclopaedia, a=900, b=800), ranked(board, c=100, d=60), ranked(german, e=500, f=400)]
    )
    assert (titles(hits), order) == (["a", "e", "c", "b", "f", "d"], "ranks")


def test_no_books_make_an_empty_list() -> None:
    """Nothing merged is nothing, without complaint."""
    assert merged_hits([]) == ((), "score")


def test_the_same_article_in_two_books_comes_once() -> None:
    """The better form is shown and the other is named with it; case and accents make no difference."""
    first, second, third = a_book("First"), a_book("Second"), a_book("Third")
    hits, _ = merged_hits([ranked(first, Moon=90, Sun=10), ranked(second, MOON=100), ranked(third, moon=80)])
    assert titles(hits) == ["MOON", "Sun"]
    assert [(ref.book, ref.path) for ref in hits[0].copies] == [(first.book.id, "Moon"), (third.book.id, "moon")]
    assert hits[1].copies == ()


def test_two_pages_of_one_book_are_two() -> None:
    """Titles of one book that differ in case alone are not taken for copies."""
    hits, _ = merged_hits([ranked(a_book("First"), Moon=90, MOON=80)])
    assert titles(hits) == ["Moon", "MOON"]


def test_equal_scores_are_ordered_by_book_and_path() -> None:
    """A tie is broken by the EntryRef, whatever order the books came in."""
    first, second = a_book("First"), a_book("Second")
    rows = [ranked(first, a=50, c=50), ranked(second, b=50, d=50)]
    expected = sorted(hit.ref for row in rows for hit in row.hits)
    assert [hit.ref for hit in merged_hits(rows)[0]] == [hit.ref for hit in merged_hits(rows[::-1])[0]] == expected


BOOKS = (a_book("One"), a_book("Two"), a_book("Three", "other"), a_book("Four", "wiki", "deu"))
POINTS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([10.0, 20.0, 30.0]), max_size=6)


@given(st.tuples(POINTS, POINTS, POINTS, POINTS), st.permutations(range(4)))
def test_the_merged_list_does_not_depend_on_arrival(points: tuple[dict[str, float], ...], order: list[int]) -> None:
    """Books may answer in any order: the list is the same, and no page is lost or shown twice."""
    rows = [ranked(book, **some) for book, some in zip(BOOKS, points, strict=True)]
    hits, _ = merged_hits(rows)
    assert [_plain(hit) for hit in merged_hits([rows[number] for number in order])[0]] == [_plain(hit) for hit in hits]
    shown = [ref for hit in hits for ref in (hit.ref, *hit.copies)]
    assert sorted(shown) == sorted(hit.ref for row in rows for hit in row.hits)


def _plain(hit: Hit) -> tuple[BookId, str, str]:
    return hit.ref.book, hit.title, str(hit.score)


def test_a_book_without_a_language_is_asked_too() -> None:
    """A book without a language is taken for an English one."""
    silent = OpenBook(Noting(PAGES, title="Silent", language=""))
    loud = replace(silent.book, languages=("eng",))
    assert by_likelihood([silent], "what is the moon") == [silent]
    assert (silent.language, loud.language) == ("eng", "eng")
