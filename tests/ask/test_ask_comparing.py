"""Two things compared by the figures of their fact boxes."""

from __future__ import annotations

import pytest
from tests.ask.asked_books import a_memory_book, asked

from kiwiresearch.search.open_book import OpenBook


def box(*rows: tuple[str, str]) -> str:
    inner = "".join(f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in rows)
    return f'<table class="infobox">{inner}</table>'


@pytest.fixture(scope="module")
def book() -> OpenBook:
    return a_memory_book(
        {
            "Ardle": box(("Length", "240 km"), ("Basin area", "900 km²")) + "<p>The Ardle is a river.</p>",
            "Tivy": box(("Length", "310,000 m"), ("Basin area", "400 km²")) + "<p>The Tivy is a river.</p>",
            "Mirren": box(("Area", "4,000 km²"), ("Founded", "1820")) + "<p>Mirren is an island country.</p>",
            "Oskland": box(("Area", "7,500 km²"), ("Founded", "1790")) + "<p>Oskland is a country.</p>",
            "Vale": "<p>Vale is a country of hills. It is larger than most.</p>",
        }
    )


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("Which is longer, the Ardle or the Tivy?", "Tivy"),
        ("Which is shorter, the Ardle or the Tivy?", "Ardle"),
        ("Which country is bigger, Mirren or Oskland?", "Oskland"),
        ("Which country is older, Mirren or Oskland?", "Oskland"),
        ("Which country is newer, Mirren or Oskland?", "Mirren"),
    ],
)
def test_the_figure_of_both_boxes_decides(book: OpenBook, question: str, chosen: str) -> None:
    """Units are converted, the same measure is taken from both pages, and both rows are cited."""
    answer = asked(book, question)
    assert answer.chosen == chosen
    assert len({cited.citation.title for cited in answer.citations}) == 2


@pytest.mark.parametrize(
    ("question", "verdict"),
    [("Is the Tivy longer than the Ardle?", "yes"), ("Is the Ardle longer than the Tivy?", "no")],
)
def test_a_question_whether_one_is_more_gets_yes_or_no(book: OpenBook, question: str, verdict: str) -> None:
    """'Is A longer than B?' is answered by the same figures."""
    answer = asked(book, question)
    assert (answer.verdict, answer.chosen) == (verdict, "")


def test_without_a_figure_on_both_pages_nothing_is_decided(book: OpenBook) -> None:
    """A page without a fact box is not guessed about."""
    answer = asked(book, "Which country is bigger, Oskland or Vale?")
    assert answer.chosen == ""


def test_values_that_are_as_good_as_equal_decide_nothing() -> None:
    """Two rivers whose lengths differ by less than a hundredth may be measured differently."""
    pages = {
        "Ardle": box(("Length", "300 km")) + "<p>The Ardle is a river.</p>",
        "Tivy": box(("Length", "301 km")) + "<p>The Tivy is a river.</p>",
    }
    assert asked(a_memory_book(pages), "Which is longer, the Ardle or the Tivy?").chosen == ""


LIVES = {
    "Ada Rowe": "<p>Ada Rowe (3 May 1801 – 9 June 1880) was a painter. She lived in Varn.</p>",
    "Jon Pell": box(("Born", "1 April 1795"), ("Died", "2 March 1899")) + "<p>Jon Pell was a poet.</p>",
    "Northern Canal": "<p>The Northern Canal is 120 km long.</p>",
    "Southern Canal": "<p>The Southern Canal is a canal. It has a length of 90 km.</p>",
}


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("Who was born first, Rowe or Pell?", "Pell"),
        ("Who died first, Ada Rowe or Jon Pell?", "Ada Rowe"),
        ("Which canal is longer, the Northern or the Southern?", "Northern"),
    ],
)
def test_the_first_sentences_of_a_page_have_figures_too(question: str, chosen: str) -> None:
    """The years of a life, its end and not its beginning; a surname alone, and a noun that completes names."""
    assert asked(a_memory_book(LIVES), question).chosen == chosen


def test_a_comparison_that_nothing_decides_is_never_sure(book: OpenBook) -> None:
    """Two sentences about two things seldom say which is more."""
    answer = asked(book, "Which country is bigger, Oskland or Vale?")
    assert answer.sure <= 0.4
