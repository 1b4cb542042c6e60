"""Which sentences are shown, and which passages beside them: few, within the budget, none twice."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ask.question_books import a_desk, a_memory_book, weighed

from kiwiresearch.ask.answer import Passage
from kiwiresearch.ask.context import MAX_LINES, answer_units, passages_of, rough_token_count
from kiwiresearch.ask.question import read_question
from kiwiresearch.ask.score import ScoredUnit
from kiwiresearch.ask.settings import AskSettings

QUESTION = "Where do the grey herons of the lake nest?"
SAID = (
    "Grey herons nest in the reeds.", "The lake is cold.", "Herons eat fish of the lake.", "Nobody comes here.",
    "In winter the lake freezes and the grey herons leave it for the coast.", "They nest again in spring.",
)  # fmt: skip
body = st.lists(st.sampled_from(SAID), min_size=1, max_size=60).map(" ".join)
pages = st.lists(st.tuples(st.sampled_from(["", "<h2>Life</h2>", "<h2>Nests</h2>", "<li>"]), body), max_size=5).map(
    lambda parts: "".join(f"{head}<p>{text}</p>" for head, text in parts)
)


def overlap(one: Passage, other: Passage) -> bool:
    return one.ref == other.ref and one.start < other.end and other.start < one.end


@settings(max_examples=80)
@given(pages, st.integers(1, 8), st.sampled_from([10, 60, 400, 2_700]))
def test_passages_stay_within_their_number_and_budget(html: str, most: int, tokens: int) -> None:
    """There are at most k passages and context_tokens tokens, each a part of its page (R255)."""
    units = weighed(html, QUESTION)
    found = passages_of(units, AskSettings(context_tokens=tokens), most)
    assert len(found) <= most
    assert sum(rough_token_count(passage.text) for passage in found) <= tokens
    for passage in found:
        assert passage.text == units[0].segmented.page.text[passage.start : passage.end]
    assert len({passage.key for passage in found}) == len(found)


@pytest.mark.parametrize("most", [1, 2, 3, 6])
def test_short_sections_are_shown_once(most: int) -> None:
    """Sections that are passages as a whole never overlap, and are in the order of their best sentence."""
    html = "".join(f"<h2>Part {number}</h2><p>{text}</p>" for number, text in enumerate(SAID))
    units = weighed(html, QUESTION)
    found = passages_of(units, AskSettings(), most)
    assert len(found) == min(most, len({one.passage for one in units}))
    assert not any(overlap(*pair) for pair in combinations(found, 2))
    order = list(dict.fromkeys(one.segmented.passage(one.passage).section for one in units))
    assert [passage.section for passage in found] == order[:most]


def test_the_best_sentence_is_in_the_first_passage() -> None:
    """The passage that is read closest has the sentence that is shown first, also in a long section."""
    html = f"<p>{'Nobody comes here. ' * 150}{SAID[0]} {'Nobody comes here. ' * 150}</p>"
    units = weighed(html, "Where do grey herons nest in the reeds?")
    for most in (1, 6):
        first = passages_of(units, AskSettings(), most)[0]
        assert units[0].text in first.text


def test_a_smaller_budget_shows_less() -> None:
    """Half of the tokens never show more text."""
    html = "".join(f"<h2>Part {number}</h2><p>{' '.join(SAID * 4)}</p>" for number in range(8))
    units = weighed(html, QUESTION)
    sizes = [
        sum(len(one.text) for one in passages_of(units, AskSettings(context_tokens=tokens), 6))
        for tokens in (2_700, 1_350, 675, 300, 100)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1] > 0


@settings(max_examples=60)
@given(pages)
def test_lines_are_the_best_first_and_none_twice(html: str) -> None:
    """One to three sentences, best first, no two in the same words."""
    units = weighed(html, QUESTION)
    lines = answer_units(units)
    assert len(lines) <= MAX_LINES == 3
    assert bool(lines) == bool(units)
    assert lines[:1] == tuple(units[:1])
    assert all(one.total >= other.total for one, other in pairwise(lines))
    assert len({one.text.casefold() for one in lines}) == len(lines)


def test_a_sentence_far_behind_the_best_is_not_shown() -> None:
    """A sentence that answers nothing is not shown beside one that answers."""
    shown = [one.text for one in answer_units(weighed(f"<p>{SAID[3]} {SAID[0]}</p>", "Where do grey herons nest?"))]
    assert shown == [SAID[0]]


def test_the_same_sentence_of_two_pages_is_shown_once() -> None:
    """Books repeat themselves; an answer does not (R211)."""
    book = a_memory_book({"Grey heron": f"<p>{SAID[0]}</p>", "Herons of the lake": f"<p>{SAID[0]}</p>"})
    desk = a_desk([book])
    asked = read_question(QUESTION)
    units: list[ScoredUnit] = []
    for path in ("Grey_heron", "Herons_of_the_lake"):
        units += desk.retriever(asked).on_page(book, path).units
    assert [one.text for one in answer_units(units)] == [SAID[0]]


@given(st.text(max_size=200), st.text(max_size=50))
def test_tokens_are_never_fewer_for_more_text(text: str, more: str) -> None:
    """The estimate grows with the text, and words of no spaces count as well."""
    assert 0 <= rough_token_count(text) <= rough_token_count(text + more)
    assert rough_token_count("漢" * 400) >= 100
