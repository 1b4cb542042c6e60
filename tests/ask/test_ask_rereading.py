"""Answers where the reading model helps to choose the sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from evals.asked import answer_by_rule
from tests.ask.question_books import ALWAYS, NEVER, PLAIN, a_desk, a_memory_book, settings

from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.answer_match import can_be_answer
from kiwiresearch.ask.question import read_question
from kiwiresearch.ask.settings import AskOptions
from kiwiresearch.search.open_book import OpenBook

pytest.importorskip("onnxruntime", reason="the extra 'reader' is not installed")

PAGE = (
    "<p>Port Lomond is a fishing town with a harbour.</p><h2>Harbour</h2>"
    "<p>The harbour of Port Lomond is known for its harbour festival, held at the harbour each year. "
    "Ada Merriweather drew up the plans for the quays in 1874. Boats leave from there for the islands.</p>"
)


def _asked(book: OpenBook, question: str) -> tuple[Answer, Answer]:
    """The answer by words, and the answer with the reading model."""
    from kiwiresearch.reader.reader import shared_reader

    desk = a_desk([book], settings(exit_at=ALWAYS, enough=ALWAYS, least_confidence=ALWAYS))
    with_reader = replace(desk, reader=shared_reader())
    return answer_by_rule(desk, question, PLAIN).answer, answer_by_rule(with_reader, question, PLAIN).answer


def test_meaning_finds_the_sentence_that_words_miss() -> None:
    """A sentence that answers in other words comes before one that repeats the question's, and the answer is marked."""
    book = a_memory_book({"Port Lomond": PAGE, "Copper": "<p>Copper is a metal.</p>"})
    by_words, by_meaning = _asked(book, "Who designed the harbour of Port Lomond?")
    assert "Ada Merriweather" not in by_words.lines[0].text
    assert by_meaning.lines[0].text.startswith("Ada Merriweather drew up the plans")
    assert by_meaning.short == "Ada Merriweather"
    assert by_meaning.reader.startswith("kiwiresearch-reader-")
    assert by_words.reader == ""
    at = by_meaning.short_at
    assert by_meaning.lines[0].text[at : at + len(by_meaning.short)] == by_meaning.short


def test_words_that_the_reading_model_doubts_come_with_a_warning() -> None:
    """An answer has little confidence, however well the page fits, if the model prefers none to its few words."""
    filler = {f"Page {number}": "<p>Nothing is said of it here.</p>" for number in range(60)}

    def confidence_in(sentence: str) -> float:
        book = a_memory_book({"Port Lomond": f"<p>{sentence}</p>"} | filler)
        return _asked(book, "How many people live in Port Lomond?")[1].confidence

    assert confidence_in("People in Port Lomond live from 14 boats.") == 0.4
    assert confidence_in("Some 1,400 people live in Port Lomond.") > 0.4


def test_a_sentence_without_a_word_of_the_question_can_answer() -> None:
    """The neighbours of the best sentences are read with them, and may be the answer."""
    page = (
        "<p>Port Lomond is a fishing town with a harbour.</p><h2>Harbour</h2>"
        "<p>The harbour of Port Lomond is known for its festival. It is held in June. Crowds come from far away. "
        "Ada Merriweather drew up the plans for the quays in 1874. Boats leave from there for the islands.</p>"
    )
    book = a_memory_book({"Port Lomond": page, "Copper": "<p>Copper is a metal.</p>"})
    by_words, by_meaning = _asked(book, "Who designed the harbour of Port Lomond?")
    assert not any("Ada" in line.text for line in by_words.lines)
    assert by_meaning.lines[0].text.startswith("Ada Merriweather drew up the plans")
    assert {"relevance", "page"} <= {term.signal for term in by_meaning.score.terms}


def test_every_sentence_shown_is_the_books_own(sample_book: OpenBook) -> None:
    """The reading model chooses among the book's sentences and adds none."""
    for question in ("Why is the sky orange at sunset?", "How much copper did the Uluburun ship carry?"):
        _, answer = _asked(sample_book, question)
        assert answer.lines
        for line, cited in zip(answer.lines, answer.citations, strict=True):
            assert line.text == cited.citation.quote.text
        assert answer.short in answer.lines[0].text


def test_asked_twice_it_answers_alike(sample_book: OpenBook) -> None:
    """Same question, same book, same answer."""
    assert _asked(sample_book, "Who found Ugarit?")[1] == _asked(sample_book, "Who found Ugarit?")[1]


def test_rows_of_boxes_are_read_too() -> None:
    """The value of an infobox is the short answer, at its place in the row."""
    rows = "<tr><th>Population</th><td>4,120 (1901)</td></tr><tr><th>Mayor</th><td>Jo Reed</td></tr>"
    box = f'<table class="infobox">{rows}</table>'
    book = a_memory_book({"Port Lomond": f"{box}<p>Port Lomond is a town.</p>"})
    _, answer = _asked(book, "What is the population of Port Lomond?")
    row = next(line.text for line in answer.lines if "4,120" in line.text)
    assert answer.lines[0].text == row
    assert "4,120" in answer.short
    assert row[answer.short_at : answer.short_at + len(answer.short)] == answer.short


def test_below_the_threshold_nothing_is_claimed() -> None:
    """Where confidence is too low, no answer is given, and the closest sentences are called so."""
    from kiwiresearch.reader.reader import shared_reader

    book = a_memory_book({"Port Lomond": PAGE})
    desk = replace(a_desk([book], settings(least_confidence=NEVER)), reader=shared_reader())
    answer = answer_by_rule(desk, "Who designed the harbour of Port Lomond?", PLAIN).answer
    assert not answer.grounded
    assert (answer.route, answer.text, answer.short, answer.lines) == ("none", "", "", ())
    assert answer.closest[0].citation.quote.text.startswith("Ada Merriweather")


def test_reading_is_left_out_where_it_is_not_wanted() -> None:
    """`--fast` answers by words alone."""
    from kiwiresearch.reader.reader import shared_reader

    desk = a_desk([a_memory_book({"Port Lomond": PAGE})])
    question = "Who designed the harbour of Port Lomond?"
    fast = answer_by_rule(replace(desk, reader=shared_reader()), question, AskOptions(fast=True)).answer
    assert fast == answer_by_rule(desk, question, AskOptions(fast=True)).answer


def test_the_score_shows_what_reading_counts() -> None:
    """The terms of the first sentence's score add up, and what the model says is one of them."""
    _, answer = _asked(a_memory_book({"Port Lomond": PAGE}), "Who designed the harbour of Port Lomond?")
    assert "relevance" in [term.signal for term in answer.score.terms]


def test_other_senses_of_a_name_are_offered() -> None:
    """'What is Mercury?' is answered about one of them, and the others are named."""
    pages = {
        "Mercury (planet)": "<p>Mercury is the planet nearest to the Sun.</p>",
        "Mercury (element)": "<p>Mercury is a metal that is liquid at room temperature.</p>",
        "Tin": "<p>Tin is a metal.</p>",
    }
    _, answer = _asked(a_memory_book(pages), "What is Mercury?")
    shown = {cited.citation.title for cited in answer.citations}
    assert len(shown) == 1
    assert {one.title for one in answer.senses} == {"Mercury (planet)", "Mercury (element)"} - shown


@pytest.mark.parametrize(("question", "is_now"), [("Who is the current mayor?", True), ("Who was the mayor?", False)])
def test_a_question_about_the_present_is_dated(sample_book: OpenBook, question: str, is_now: bool) -> None:
    """The book knows the present only as of its own date."""
    answer = _asked(sample_book, f"{question[:-1]} of Ugarit?")[1]
    assert (answer.as_of_book is not None) == is_now


@pytest.mark.parametrize(
    ("words", "question", "is_possible"),
    [
        ("5 May 1821", "Where did Napoleon die?", False),
        ("Saint Helena", "Where did Napoleon die?", True),
        ("Saint Helena", "When did Napoleon die?", False),
        ("May 1821", "When did Napoleon die?", True),
        ("far enough away", "How far away is the Moon?", False),
        ("nine", "How many children did she have?", True),
        ("the iceberg", "Who sank the Titanic?", False),
        ("the iceberg", "What sank the Titanic?", True),
    ],
)
def test_a_short_answer_is_of_the_kind_that_is_asked_for(words: str, question: str, is_possible: bool) -> None:
    """Words that cannot be the answer are not shown as one."""
    assert can_be_answer(words, read_question(question)) == is_possible
