"""A crawl over several books."""

from __future__ import annotations

import pytest
from tests.crawl.trails import TEXT, a_shelf_book, lines, settings, start_step, steps_of, taken, total, visits

from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.search.open_book import OpenBook


@pytest.fixture
def shelf() -> list[OpenBook]:
    """A book on roads and one of tales, both with a page 'Inn' and a page 'Salt road'."""
    roads = {
        "Salt road": f"The salt road is a road over a pass, with an [[Inn]].\n{TEXT}",
        "Inn": f"A house of the road.\n{TEXT} It has [[Beds]].",
        "Beds": f"They are hard.\n{TEXT}",
    }
    tales = {
        "Salt road": f"A tale of the salt road and a thief who sleeps in an [[Inn]].\n{TEXT}",
        "Inn": f"Here the thief is caught.\n{TEXT} By a [[Guard]].",
        "Guard": f"He never sleeps.\n{TEXT}",
    }
    return [a_shelf_book(roads, name="Roads", kind="wikipedia"), a_shelf_book(tales, name="Tales", kind="gutenberg")]


def test_each_book_may_give_a_seed(shelf: list[OpenBook]) -> None:
    """A topic that is a title in two books of different kinds begins in both."""
    start = start_step(steps_of(CrawlPlan(shelf, "salt road")))
    assert [(seed.title, seed.book) for seed in start.seeds] == [("Salt road", book.id) for book in shelf]
    assert all(seed.why.startswith("its title matches the topic") for seed in start.seeds)
    assert {searched.book for searched in start.searched} == {book.id for book in shelf}


def test_no_page_comes_between_the_seeds() -> None:
    """A page that is better than the second seed is taken after it all the same."""
    inn = f"The inn of the salt road. Whoever came by the salt road slept here, on the salt road.\n{TEXT}"
    roads = {"Salt road": f"The salt road had an [[Inn]].\n{TEXT}", "Inn": inn}
    books = [
        a_shelf_book(roads, name="Roads", kind="wikipedia"),
        a_shelf_book({"Salt road": f"A tale of a thief.\n{TEXT}"}, name="Tales", kind="gutenberg"),
    ]
    steps = steps_of(CrawlPlan(books, "salt road"))
    assert [(step.title, step.depth) for step in visits(steps)] == [("Salt road", 0), ("Salt road", 0), ("Inn", 1)]
    _, second, third = visits(steps)
    assert total(third) > total(second)


def test_links_stay_in_their_book(shelf: list[OpenBook]) -> None:
    """A link leads to the page of its own book, though another book has one of the same path."""
    steps = steps_of(CrawlPlan(shelf, "salt road"))
    roads, tales = (book.id for book in shelf)
    assert {(step.book, step.title) for step in visits(steps)} == {
        *((roads, title) for title in ("Salt road", "Inn", "Beds")),
        *((tales, title) for title in ("Salt road", "Inn", "Guard")),
    }
    inns = {step.book: step for step in visits(steps) if step.title == "Inn"}
    assert "over a pass" in inns[roads].reason
    assert "a thief" in inns[tales].reason


def test_equal_pages_are_ordered_by_book(shelf: list[OpenBook]) -> None:
    """Which book is named first changes nothing in what is taken, nor in its order (R141, R142)."""
    one, two = steps_of(CrawlPlan(shelf, "salt road")), steps_of(CrawlPlan(shelf[::-1], "salt road"))
    assert [step.ref for step in visits(one)] == [step.ref for step in visits(two)]


def test_a_book_that_has_nothing_to_say_is_left_out(shelf: list[OpenBook]) -> None:
    """If one book answers and another does not, all pages come from the first."""
    other = a_shelf_book({"Ship": f"It sails.\n{TEXT}", "Mast": f"A tree.\n{TEXT}"}, name="Ships")
    steps = steps_of(CrawlPlan([other, shelf[0]], "salt road"))
    assert {step.book for step in visits(steps)} == {shelf[0].book.id}


def test_a_page_says_what_it_says_in_the_language_of_its_book() -> None:
    """Words of a German book are taken in their German forms, and its lists are known as lists."""
    pages = {
        "Salzstraße": "Die Salzstraße führte ans Meer.\n== Siehe auch ==\n* [[Liste der Straßen]]\n* [[Mühle]]\n",
        "Liste der Straßen": TEXT,
        "Mühle": TEXT,
    }
    steps = steps_of(CrawlPlan([a_shelf_book(pages, language="deu")], "Salzstraße", settings=settings(max_pages=5)))
    assert taken(steps) == ["Salzstraße", "Mühle", "Liste der Straßen"]
    assert lines(visits(steps)[-1])["list page"] < 0
