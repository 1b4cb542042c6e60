"""Steps as plain data, and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.crawl.trails import a_shelf_book, settings, start_step, steps_of, visits

from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import (
    CrawlStep,
    EndStep,
    LearnStep,
    LinkOffer,
    SkipStep,
    VisitStep,
    step_from_record,
    step_record,
)
from kiwiresearch.ids import canonical_json
from kiwiresearch.search.open_book import OpenBook

TEXT = st.text(st.characters(codec="utf-8") | st.sampled_from('\n\t\x00\x7f\x85\u2028\u2029\ud800"\\'), max_size=12)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
WORDS = st.lists(TEXT, max_size=3).map(tuple)
OFFERS = st.builds(LinkOffer, TEXT, TEXT, NUMBERS, st.integers(), NUMBERS, TEXT, TEXT, TEXT, TEXT, st.booleans())


def back(step: CrawlStep) -> CrawlStep:
    """The step, after it was a line of a file."""
    line = canonical_json(step_record(step))
    assert "\n" not in line
    return step_from_record(json.loads(line.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")))


def test_every_step_of_a_crawl_comes_back(salt_book: OpenBook) -> None:
    """Each kind of step is the same value after it was written down and read again (R7)."""
    steps = steps_of(CrawlPlan([salt_book], "salt road", "toll", settings(max_pages=30, filters={"lists": "exclude"})))
    assert {type(step).__name__ for step in steps} == {"StartStep", "VisitStep", "SkipStep", "LearnStep", "EndStep"}
    for step in steps:
        assert step_from_record(step_record(step)) == step
        assert back(step) == step
        assert hash(back(step)) == hash(step)


@given(st.data())
def test_steps_of_any_words_and_numbers_come_back(salt_steps: list[CrawlStep], data: st.DataObject) -> None:
    """Line breaks, control characters, half characters and odd numbers survive (R7)."""
    step = data.draw(
        st.builds(EndStep, TEXT, st.integers())
        | st.builds(LearnStep, st.lists(st.tuples(TEXT, NUMBERS), max_size=3).map(tuple), WORDS)
        | st.builds(
            SkipStep,
            book=TEXT,
            path=TEXT,
            title=TEXT,
            why=TEXT,
            is_dropped=st.booleans(),
            facts=st.none() | st.just(visits(salt_steps)[0].facts),
            depth=st.integers(),
            relevance=NUMBERS,
            links=st.integers(),
            offers=st.lists(OFFERS, max_size=2).map(tuple),
        )
    )
    assert back(step) == step


@pytest.fixture(scope="module")
def salt_steps() -> list[CrawlStep]:
    return steps_of(CrawlPlan([a_shelf_book({"Salt road": "The salt road."})], "salt road"))


def test_a_row_says_what_kind_of_step_it_is(salt_steps: list[CrawlStep]) -> None:
    """A row is named, so that a file of rows can be read without knowing what comes next."""
    assert [step_record(step)["step"] for step in salt_steps] == ["begun", "visited", "ended"]
    assert step_record(start_step(salt_steps))["topic"] == "salt road"


def test_other_fields_of_a_row_are_not_part_of_a_step(salt_steps: list[CrawlStep]) -> None:
    """The position of the corpus when a step was written may be in the same row."""
    (step,) = [step for step in salt_steps if isinstance(step, VisitStep)]
    assert step_from_record(step_record(step) | {"corpus_size": 12, "corpus_sha": "x"}) == step


def test_a_row_of_an_unknown_kind_is_refused() -> None:
    """A row that no version of the program wrote is not taken for a step."""
    with pytest.raises(ValueError, match="unknown step 'jumped'"):
        step_from_record({"step": "jumped"})
