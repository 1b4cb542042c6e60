"""Where the line is drawn between what was read and what is shown."""

from __future__ import annotations

import pytest
from tests.page.pages import a_page

from kiwiresearch.ask.context import answer_units
from kiwiresearch.ask.page_units import segment_page
from kiwiresearch.ask.question import read_question
from kiwiresearch.ask.reranker import _ReaderJudgement, _verdict, stretches_to_read
from kiwiresearch.ask.score import ScoredUnit
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.reader.reader import TextScores, UnitScores


@pytest.mark.parametrize(
    ("yes", "relevance", "wanted"),
    [(3.5, 2.0, "yes"), (3.4, 2.0, ""), (9.0, 1.9, ""), (-9.0, 9.0, "")],
)
def test_yes_needs_a_plainly_relevant_sentence(yes: float, relevance: float, wanted: str) -> None:
    """A text that says yes loudly is not an answer if its sentence is beside the point; no is never said."""
    unit = UnitScores(relevance, 0, 0, 0.0)
    assert _verdict(_ReaderJudgement(unit, TextScores(0.0, yes, (unit,)))) == wanted


def test_of_two_equal_sentences_the_one_nearer_to_the_question_is_read_first() -> None:
    """Words alone do not decide what is read: likeness to the question counts too."""
    page = "<h2>Fair</h2><p>The fair is held in June.</p><h2>Sea</h2><p>Ships and boats sail from the port.</p>"
    read = segment_page(a_page(page, title="Varn", path="Varn"), AskSettings())
    units = [ScoredUnit(read, number, number, {}, 1.0) for number in range(2)]
    first = stretches_to_read(read_question("Where do the ships and boats sail from?"), units)[0]
    assert read.text(read.units[first.first]).startswith("Ships")


@pytest.mark.parametrize(("parts", "shown"), [({}, 1), ({"relevance": 1.0}, 2)])
def test_sentences_that_were_read_may_be_further_behind(parts: dict[str, float], shown: int) -> None:
    """Five behind the best is too far by words, and not where relevance is part of the score."""
    read = segment_page(a_page("<p>Varn is a town. It lies on a river.</p>", title="Varn", path="Varn"), AskSettings())
    units = [ScoredUnit(read, number, 0, parts, total) for number, total in ((0, 10.0), (1, 5.0))]
    assert len(answer_units(units)) == shown
