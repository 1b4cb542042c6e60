"""Slips in a question, and words that look like slips and are none."""

from __future__ import annotations

import pytest
from tests.ask.question_books import a_memory_book, asked

from kiwiresearch.ask.spelling import correct_spelling
from kiwiresearch.search.open_book import OpenBook


@pytest.fixture(scope="module")
def book() -> OpenBook:
    words = "the people of germany and iceland had malaria, a telephone, a currency, and penicillin"
    pages = {f"Page {number}": f"<p>{words.capitalize()}.</p>" for number in range(60)}
    pages["Rime"] = "<p>Rime is ice. Rime forms in fog.</p>"
    pages["Germany"] = "<p>The capital of Germany is Berlin. The people of Germany have a telephone.</p>"
    return a_memory_book(pages)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("what is teh capital of germny", "what is the capital of germany"),
        ("how many peple live in icland", "how many people live in iceland"),
        ("who made the telefone", "who made the telephone"),
        ("do they have maleria", "do they have malaria"),
        ("who needs penicilin", "who needs penicillin"),
        ("WHAT CURRANCY", "WHAT currency"),
        ("when did ww2 end", "when did World War II end"),
        ("DID WW2 END IN GERMNY", "DID World War II END IN germany"),
    ],
)
def test_slips_are_understood(book: OpenBook, typed: str, meant: str) -> None:
    """Letters that are missing, swapped, or only sound right."""
    assert correct_spelling(typed, [book]) == meant


@pytest.mark.parametrize(
    "typed",
    ["What is rime?", "Who was Malery?", "is it don't or won't", "what is x", "who is Peple", "12 telefones2"],
)
def test_correct_words_are_left_alone(book: OpenBook, typed: str) -> None:
    """Words of the book, names, short words, and what is not a word."""
    assert correct_spelling(typed, [book]) == typed


def test_the_answer_says_how_the_question_was_understood(book: OpenBook) -> None:
    """The corrected question is asked, and the reader is informed."""
    answer = asked(book, "what is teh capital of germny")
    assert answer.asked == "what is the capital of germany"
    assert "Understood as 'what is the capital of germany'." in answer.why
    assert "Berlin" in answer.text
