"""The steps behind the first: full text, then wider, then an honest refusal, each by its threshold."""

from __future__ import annotations

import pytest
from tests.ask.question_books import ALWAYS, NEVER, a_memory_book, asked, held, settings, titles

from kiwiresearch.ask.retrieval import FULLTEXT_PAGES
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.search.open_book import OpenBook

QUESTION = "Which keeper of the brass lantern drowned?"
DROWNED = "Otto Frisch, keeper of the brass lantern, drowned in 1811."


@pytest.fixture(scope="module")
def crowded() -> OpenBook:
    """A book in which the page with the answer comes after more pages of the same words than a step weighs."""
    crowd = {
        f"Lantern keeper {number}": f"<p>A keeper of the lantern number {number}.</p>"
        f"<h2>Brass</h2><p>{'Brass is a metal. Nobody drowned here. ' * 3}</p>"
        f"<h2>Life</h2><p>{'The brass lantern had a keeper. ' * 5}</p>"
        for number in range(FULLTEXT_PAGES + 2)
    }
    lead = "It is a book of many pages and names. " * 60
    return a_memory_book({**crowd, "Ledger": f"<p>{lead}</p><h2>Deaths</h2><p>{DROWNED}</p>"})


def test_weak_evidence_widens_the_search(crowded: OpenBook) -> None:
    """If the full text gave too little, a second and wider search finds what the first did not (R230)."""
    first = asked(crowded, QUESTION, settings(exit_at=NEVER, enough=ALWAYS))
    assert first.route == "fulltext"
    assert "Ledger" not in titles(first)
    strength = held(crowded, QUESTION, settings(exit_at=NEVER, enough=ALWAYS))
    wider = asked(crowded, QUESTION, settings(exit_at=NEVER, enough=strength + 0.001))
    assert (wider.route, wider.grounded, wider.lines[0].text) == ("widened", True, DROWNED)
    assert len(wider.pages) > len(first.pages)


def test_the_factor_says_how_much_wider(crowded: OpenBook) -> None:
    """The second search looks at twice as many pages unless set otherwise; with a factor of 1 at no more (R231)."""
    assert AskSettings().widen == 2.0
    beyond = held(crowded, QUESTION, settings(exit_at=NEVER, enough=ALWAYS)) + 0.001
    assert asked(crowded, QUESTION, settings(exit_at=NEVER, enough=beyond, widen=1.0)).route == "none"
    assert asked(crowded, QUESTION, settings(exit_at=NEVER, enough=beyond, widen=2.0)).route == "widened"


def test_a_page_that_the_question_does_not_name_ends_no_search() -> None:
    """A sentence with all the words on a page of another name is an answer, but no early exit (R229)."""
    book = a_memory_book({"Ledger": f"<p>{DROWNED}</p>", "Brass lantern": f"<p>{DROWNED}</p>"})
    by_title = asked(book, QUESTION, settings(exit_at=ALWAYS, enough=ALWAYS))
    assert (by_title.route, by_title.citations[0].citation.title) == ("title", "Brass lantern")
    book = a_memory_book({"Ledger": f"<p>{DROWNED}</p>"})
    by_text = asked(book, QUESTION, settings(exit_at=ALWAYS, enough=ALWAYS))
    assert (by_text.route, by_text.citations[0].citation.title) == ("fulltext", "Ledger")


def test_a_higher_threshold_never_goes_less_far(crowded: OpenBook) -> None:
    """As the threshold rises the route goes from full text over widened to none, and never back (R230)."""
    routes = [
        asked(crowded, QUESTION, settings(exit_at=NEVER, enough=enough / 10)).route for enough in (0, 3, 6, 8, 9, 11)
    ]
    order = ["fulltext", "widened", "none"]
    assert [order.index(route) for route in routes] == sorted(order.index(route) for route in routes)
    assert (routes[0], routes[-1]) == ("fulltext", "none")


def test_a_threshold_that_is_just_reached_is_enough(crowded: OpenBook) -> None:
    """Evidence as strong as the threshold counts, not only stronger evidence."""
    first = held(crowded, QUESTION, settings(exit_at=NEVER, enough=ALWAYS))
    assert asked(crowded, QUESTION, settings(exit_at=NEVER, enough=first)).route == "fulltext"
    last = held(crowded, QUESTION, settings(exit_at=NEVER, enough=NEVER))
    assert asked(crowded, QUESTION, settings(exit_at=NEVER, enough=last)).route == "widened"


def test_every_route_says_why(crowded: OpenBook) -> None:
    """The answer names its route, and each route gives a reason of its own."""
    first = held(crowded, QUESTION, settings(exit_at=NEVER, enough=ALWAYS))
    answers = [
        asked(crowded, "Who was Lantern keeper 3?", settings(exit_at=ALWAYS)),
        asked(crowded, QUESTION, settings(exit_at=NEVER, enough=ALWAYS)),
        asked(crowded, QUESTION, settings(exit_at=NEVER, enough=first + 0.001)),
        asked(crowded, QUESTION, settings(exit_at=NEVER, enough=NEVER)),
        asked(crowded, "Zeppelin?"),
    ]
    assert [answer.route for answer in answers] == ["title", "fulltext", "widened", "none", "none"]
    assert len({answer.why for answer in answers}) == 5
    assert "Lantern keeper 3" in answers[0].why
    assert "Ledger" in answers[2].why


def test_more_pages_may_be_read_by_setting(crowded: OpenBook) -> None:
    """`max_pages` bounds how many pages the full-text step reads."""
    few = asked(crowded, QUESTION, settings(exit_at=NEVER, enough=ALWAYS, max_pages=2))
    many = asked(crowded, QUESTION, settings(exit_at=NEVER, enough=ALWAYS, max_pages=40))
    assert len(few.pages) < len(many.pages)
