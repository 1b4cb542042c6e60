"""Questions about a year after the book was published."""

from __future__ import annotations

import pytest
from tests.ask.question_books import a_memory_book, asked

from kiwiresearch.search.open_book import OpenBook


@pytest.fixture(scope="module")
def cups() -> OpenBook:
    pages = {
        "Zorbing Cup": "<p>Green Town won the Zorbing Cup in 2006. The Zorbing Cup of 2012 will be held in Kent.</p>",
        "Kent": "<p>Kent won the bid for the 2012 Zorbing Cup.</p>",
    }
    return a_memory_book(pages | {f"Page {n}": "<p>Nothing.</p>" for n in range(60)}, title="Cups", date="2007-05-01")


@pytest.mark.parametrize("question", ["Who won the 2012 Zorbing Cup?", "Where was the Zorbing Cup of 2012 held?"])
def test_a_book_does_not_know_what_happened_after_it_was_published(cups: OpenBook, question: str) -> None:
    """Plans for the year are no answer; they are shown as what comes closest."""
    answer = asked(cups, question)
    assert not answer.grounded
    assert answer.why.endswith("The question is about 2012, and Cups was published in 2007.")
    assert answer.closest


def test_plans_for_a_later_year_answer_a_question_about_plans(cups: OpenBook) -> None:
    answer = asked(cups, "Where will the Zorbing Cup of 2012 be held?")
    assert answer.grounded
    assert "Kent" in answer.lines[0].text


def test_an_earlier_year_is_answered(cups: OpenBook) -> None:
    assert asked(cups, "Who won the Zorbing Cup in 2006?").grounded
