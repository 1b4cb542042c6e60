"""Meanings beside words: an embedder, where there is one, helps to weigh sentences, and reads no more than it must."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from evals.asked import answer_by_rule
from tests.ask.question_books import a_desk, a_memory_book, settings

from kiwiresearch.ask.answer import Answer
from kiwiresearch.ask.context import AskContext
from kiwiresearch.ask.page_units import PageCache
from kiwiresearch.ask.question import read_question
from kiwiresearch.ask.retrieval import MAX_TITLE_CANDIDATES
from kiwiresearch.ask.score import MAX_SCORED
from kiwiresearch.ask.settings import AskOptions, AskSettings
from kiwiresearch.embed.embedder import Vectors, unit_rows
from kiwiresearch.errors import EmbedderError
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.shelf_search import SearchHelpers

HOMES = {"nest", "home", "dwell", "dwells"}
FOODS = {"eat", "food", "feeds"}
QUESTION = "Where does the heron have its nest?"


class Homes:
    """Knows two things, homes and food; notes every text it was given."""

    id = "homes"
    dimensions = 2

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        words = [text.casefold().replace(".", " ").replace("?", " ").split() for text in texts]
        return unit_rows(np.array([[sum(w in topic for w in some) for topic in (HOMES, FOODS)] for some in words]))


@pytest.fixture
def herons() -> OpenBook:
    """Two sentences that no word of the question distinguishes."""
    return a_memory_book(
        {
            "Heron": "<p>It is a bird.</p><h2>Part</h2><p>The heron feeds on many frogs.</p>"
            "<h2>Piece</h2><p>The heron dwells in tall reeds.</p>",
            **{f"Bird {number}": "<p>A heron is no gull.</p>" for number in range(40)},
        }
    )


def with_embedder(book: OpenBook, chosen: AskSettings | None = None) -> tuple[AskContext, Homes]:
    embedder = Homes()
    return replace(a_desk([book], chosen), embedder=embedder), embedder


def answer(desk: AskContext) -> Answer:
    return answer_by_rule(desk, QUESTION, AskOptions()).answer


def test_a_sentence_nearer_in_meaning_scores_higher(herons: OpenBook) -> None:
    """Sentences are compared with the question, and what is near counts under its own name (R226, R261)."""
    desk, _ = with_embedder(herons)
    units = desk.retriever(read_question(QUESTION)).on_page(herons, "Heron").units
    by_text = {one.text: one for one in units}
    near, far = by_text["The heron dwells in tall reeds."], by_text["The heron feeds on many frogs."]
    assert near.total > far.total
    assert "meaning" in [term.signal for term in near.score().terms]
    plain = a_desk([herons]).retriever(read_question(QUESTION)).on_page(herons, "Heron").units
    assert not any("meaning" in one.features for one in plain)


def test_thresholds_for_meanings_are_their_own(herons: OpenBook) -> None:
    """With an embedder the thresholds for meanings count, without one the others do (R228, R230)."""
    never = AskSettings(title_sim_exit=2.0, sim_threshold=2.0, title_sim_exit_meaning=0.0, sim_threshold_meaning=0.0)
    desk, _ = with_embedder(herons, never)
    assert answer(desk).grounded
    assert not answer(a_desk([herons], never)).grounded


def test_only_the_question_and_a_handful_of_pages_are_embedded(herons: OpenBook) -> None:
    """No vector is made of a page that was not a candidate, however large the book (R212, R238, R254)."""
    desk, embedder = with_embedder(herons, settings(exit_at=0.0, enough=0.0))
    answer(desk)
    assert QUESTION in embedder.texts
    assert 0 < len(set(embedder.texts) - {QUESTION}) <= MAX_TITLE_CANDIDATES + 3 * MAX_SCORED
    pages = {text.partition(".")[0] for text in embedder.texts} - {QUESTION}
    assert len(pages) <= MAX_TITLE_CANDIDATES


def test_without_an_embedder_nothing_is_compared(herons: OpenBook) -> None:
    """Every product works with words alone."""
    found = answer_by_rule(a_desk([herons]), "Where does the heron dwell?", AskOptions()).answer
    assert found.grounded
    assert "reeds" in found.lines[0].text


class AwayEmbedder:
    """An embedder whose server has gone."""

    id = "away"
    dimensions = 3

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise EmbedderError("The embedding server does not answer.")


def test_an_embedder_that_fails_is_not_needed(herons: OpenBook) -> None:
    """The answer says that meanings are not compared."""
    reports: list[str] = []
    chosen = AskSettings()
    desk = AskContext((herons,), chosen, PageCache(chosen), SearchHelpers(say=reports.append), AwayEmbedder())
    assert answer_by_rule(desk, "Where does the heron dwell?", AskOptions()).answer.grounded
    assert any("Search by meaning is off: The embedding server does not answer." in words for words in reports)
