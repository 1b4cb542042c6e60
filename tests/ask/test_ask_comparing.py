"""Two things compared by the figures of their infoboxes."""

from __future__ import annotations

import pytest
from tests.ask.question_books import a_memory_book, asked

from kiwiresearch.ask.retrieval import MAX_UNDECIDED_CONFIDENCE
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
    """A page without an infobox is not guessed about."""
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
    "Otto Rahm": "<p>Otto Rahm (1790–1899) was a judge.</p>",
    "Zeno": "<p>Zeno (c. 490–c. 430 BC) was a thinker.</p>",
    "Milo": "<p>Milo (300 BC – 240 BC) was a thinker.</p>",
    "Livia": "<p>Livia (210 – 270) was a poet.</p>",
    "Henry Lower": "<p>Henry Lower (reigned 1700–1710) was a king.</p>",
    "Northern Canal": box(("Length", "120 km")) + "<p>The Northern Canal is a canal.</p>",
    "Southern Canal": box(("Length", "90 km")) + "<p>The Southern Canal is a canal.</p>",
    "Lower Varn": box(("Area", "900 km²"), ("Population", "4,000")) + "<p>Lower Varn is a country.</p>",
    "Oskland": box(("Area", "500 km²"), ("Population", "9,000")) + "<p>Oskland is a country.</p>",
}


@pytest.fixture(scope="module")
def lives() -> OpenBook:
    return a_memory_book(LIVES)


@pytest.mark.parametrize(
    ("question", "chosen"),
    [
        ("Who was born first, Rowe or Pell?", "Pell"),
        ("Who died first, Ada Rowe or Otto Rahm?", "Ada Rowe"),
        ("Who was born first, Ada Rowe or Otto Rahm?", "Otto Rahm"),
        ("Who died first, Milo or Livia?", "Milo"),
        ("Which canal is longer, the Northern or the Southern?", "Northern"),
        ("Which country is bigger, Oskland or Lower Varn?", "Lower Varn"),
        ("Which country has a larger population, Oskland or Lower Varn?", "Oskland"),
    ],
)
def test_the_question_decides_what_is_compared(lives: OpenBook, question: str, chosen: str) -> None:
    """Births and deaths by the years of a life; a named measure, a surname alone, a noun that completes names."""
    assert asked(lives, question).chosen == chosen


@pytest.mark.parametrize(
    "question",
    [
        "Who became a judge first, Ada Rowe or Otto Rahm?",
        "Who died younger, Ada Rowe or Otto Rahm?",
        "Who was born first, Ada Rowe or Henry Lower?",
        "Who was born first, Milo or Zeno?",
    ],
)
def test_comparisons_without_a_figure_are_left_open(lives: OpenBook, question: str) -> None:
    """An office, an age and the years of a reign are not births and deaths; nor is a year before Christ one after."""
    answer = asked(lives, question)
    assert answer.chosen == ""
    assert answer.confidence <= 0.4


def test_a_comparison_that_nothing_decides_is_never_sure() -> None:
    """Both sentences have all words of the question, which would be strong evidence, and neither says which is more."""
    others = {f"Page {number}": f"<p>Page {number} is about stones and winter.</p>" for number in range(60)}
    pages = {
        "Oskland": "<p>Oskland is a country, bigger than 5 others by area.</p>",
        "Vale": "<p>Vale is a country, bigger than 9 others by area.</p>",
    }
    answer = asked(a_memory_book(others | pages), "Which is bigger, Oskland or Vale?")
    assert len(answer.lines) == 2
    assert answer.confidence == MAX_UNDECIDED_CONFIDENCE
