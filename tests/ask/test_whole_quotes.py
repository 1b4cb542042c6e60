"""Quotes with a number that can hurt keep its unit, its substance and whom it is for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.ask.danger import widen_quote
from kiwiresearch.page.doc import Block
from kiwiresearch.text.sentences import sentence_starts

FIELD = "The plant grows in wet meadows across the whole north of the continent and flowers in late summer. "
LONG = FIELD * 4
"""So much that the line is a paragraph and no list item."""


def shown(text: str, words: str, *, blocks: tuple[Block, ...] = ()) -> str:
    """What is shown of a text for these words of it."""
    breaks = [at + 1 for at, char in enumerate(text) if char == "\n"]
    start = text.index(words)
    first, last = widen_quote(text, start, start + len(words), sentence_starts(text, breaks), blocks)
    return text[first:last]


@pytest.mark.parametrize(
    ("expected", "words", "kept"),
    [
        (
            "Quinine is bitter. The usual dose is 500 mg. For children it is half of that. Rome sold it.",
            "500 mg",
            "Quinine is bitter. The usual dose is 500 mg. For children it is half of that.",
        ),
        ("The dose of quinine is 500 mg daily. Trees have leaves.", "500 mg", "The dose of quinine is 500 mg daily."),
        (
            "Quinine is given to adults by mouth. A spoonful holds 500 mg.",
            "500 mg",
            "Quinine is given to adults by mouth. A spoonful holds 500 mg.",
        ),
        (
            "Bleach is sold in bottles. Add 5 ml of it to a litre. Never mix it with acid.",
            "5 ml",
            "Bleach is sold in bottles. Add 5 ml of it to a litre. Never mix it with acid.",
        ),
        (
            "Strengths are given in milligrams for 1 ml each. Quinine has 500 here.",
            "500",
            "Strengths are given in milligrams for 1 ml each. Quinine has 500 here.",
        ),
        (
            "Currents of 30 mA through the heart kill. Birds sit on wires.",
            "30 mA",
            "Currents of 30 mA through the heart kill.",
        ),
    ],
)
def test_a_number_keeps_its_sentence_and_the_neighbour_it_rests_on(expected: str, words: str, kept: str) -> None:
    """A quote is widened to its sentence, and further only where unit, substance or people are next to it."""
    assert shown(f"{LONG}{expected} {LONG}", words) == kept


def test_a_list_item_is_kept_whole_with_the_line_that_heads_it() -> None:
    """An item of several sentences is never cut, and says with its heading line whom it is for."""
    text = "Doses for adults:\nQuinine 500 mg\nAspirin 300 mg. No more in a day.\nThe rest is history."
    assert shown(text, "300 mg") == "Doses for adults:\nQuinine 500 mg\nAspirin 300 mg. No more in a day."


def test_a_row_is_kept_whole_with_the_head_of_its_table() -> None:
    """A bare figure in a row is shown with the row that names its unit."""
    text = "Drug\tDose (mg)\nQuinine\t500\nAspirin\t300"
    assert shown(text, "300") == text


def test_a_long_item_is_known_by_its_block() -> None:
    """Where blocks are known, an item of any length is kept whole and a short paragraph is not mistaken for one."""
    item = f"Children get 5 ml for each 10 kg. {LONG}Stop after a week."
    text = f"{item}\nAdults take 20 ml at night. Snow is cold."
    blocks = (Block("item", 0, len(item)), Block("paragraph", len(item) + 1, len(text)))
    assert shown(text, "5 ml", blocks=blocks) == item
    assert shown(text, "20 ml", blocks=blocks) == "Adults take 20 ml at night."


def test_paragraphs_are_not_mixed() -> None:
    """A quote does not reach into the next paragraph."""
    text = f"{LONG}Quinine for adults comes as 500 mg tablets.\nChildren must not play here. {LONG}"
    assert shown(text, "500 mg") == "Quinine for adults comes as 500 mg tablets."


@given(st.text(alphabet="ab1 .\n\tmg%It", max_size=120), st.integers(-5, 130), st.integers(-5, 130))
def test_the_span_is_always_in_what_is_shown(text: str, start: int, end: int) -> None:
    """Whatever is asked for, the result is in the text and has the part of the span that is in the text."""
    breaks = [at + 1 for at, char in enumerate(text) if char == "\n"]
    first, last = widen_quote(text, start, end, sentence_starts(text, breaks))
    inside = max(0, min(start, len(text)))
    assert 0 <= first <= inside
    assert max(inside, min(end, len(text))) <= last <= len(text)
