"""Typos in a question, and words that look like typos but are not."""

from __future__ import annotations

import pytest
from tests.ask.question_books import a_desk, a_memory_book, asked

from kiwiresearch.ask.spelling import correct_spelling
from kiwiresearch.search.open_book import OpenBook


@pytest.fixture(scope="module")
def book() -> OpenBook:
    words = "the people of germany and iceland had malaria, a telephone, a currency, and penicillin"
    pages = {f"Page {number}": f"<p>{words.capitalize()}.</p>" for number in range(60)}
    pages["Rime"] = "<p>Rime is ice. Rime forms in fog.</p>"
    pages |= {title: f"<p>{title}.</p>" for title in ("World War II", "United States", "United Kingdom")}
    pages["Otter"] = "<p>Otters live in rivers of the UK.</p>"
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
        ("What is the capital of the US?", "What is the capital of the United States?"),
        ("how many people live in the us", "how many people live in the United States"),
        ("Who leads the U.S.?", "Who leads the United States?"),
        ("Is the UK's king rich?", "Is the United Kingdom's king rich?"),
        ("What is the capital of the U.S.A.?", "What is the capital of the United States?"),
        (
            "how did people of germany and iceland live in ww2",
            "how did people of germany and iceland live in World War II",
        ),
        ("DID WW2 END IN GERMNY", "DID World War II END IN germany"),
        ("When did the Second World War begin?", "When did World War II begin?"),
        ("who won the second world war", "who won World War II"),
    ],
)
def test_slips_are_understood(book: OpenBook, typed: str, meant: str) -> None:
    """Letters that are missing, swapped, or only sound right."""
    assert correct_spelling(typed, [book]) == meant


@pytest.mark.parametrize(
    "typed",
    [
        "tell us about rime",
        "TELL US ABOUT GERMANY",
        "Who won the US Open?",
        "Who was the second king of Germany?",
        "When was the Third World War?",
        "When did Kent join the EU?",
        "How do people protect the last otters of the rivers in the UK?",
        "What is rime?",
        "Who was Malery?",
        "is it don't or won't",
        "what is x",
        "who is Peple",
        "12 telefones2",
    ],
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


@pytest.mark.parametrize(
    "question", ["Quelle est la capitale de Germny ?", "¿Cuál es la capital de Germny?", "Wer schrieb Germny?"]
)
def test_a_question_in_another_language_is_not_corrected(book: OpenBook, question: str) -> None:
    """Words of a language that no book is in are no typos of the books' language."""
    answer = asked(book, question)
    assert answer.asked == question
    assert not answer.grounded
    assert answer.why.startswith("The question seems to be in a language that none of the books use.")


def test_a_question_in_another_language_is_answered_by_its_names() -> None:
    """An answer needs all words of the question: the name alone does not say what is asked."""
    pages = {"Peru": "<p>Peru is a country. The capital of Peru is Lima.</p>"}
    pages |= {f"Page {number}": "<p>Nothing.</p>" for number in range(60)}
    book = a_memory_book(pages)
    found = asked(book, "¿Cuál es la capital de Perú?")
    assert (found.grounded, found.lines[0].text) == (True, "The capital of Peru is Lima.")
    assert not asked(book, "¿Cuál es la moneda de Perú?").grounded


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is the capital of Peru?", "eng"),
        ("Who wrote La Dolce Vita?", "eng"),
        ("la paz population", "eng"),
        ("lima", "eng"),
        ("Was ist die Hauptstadt von Peru?", "deu"),
        ("Quelle est la capitale du Pérou", "fra"),
    ],
)
def test_the_language_of_a_question_is_that_of_its_small_words(book: OpenBook, question: str, language: str) -> None:
    """A question is in a language of the books unless its stop words clearly show another one."""
    assert a_desk([book]).language_of(question) == language
