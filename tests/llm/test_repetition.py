"""Circles are noticed, and nothing else is."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kiwiresearch.llm.reply_stream import COPIES, MIN_RUN, STRIDE, WINDOW, RepetitionGuard, without_repetition


def let_through(*chunks: str) -> str:
    guard = RepetitionGuard()
    return "".join(guard.feed(chunk) for chunk in chunks)


def numbered(count: int) -> str:
    """A long text that says something new all the time."""
    return " ".join(f"In {1000 + n} the {n * 7919}th thing happened." for n in range(count))


@pytest.mark.parametrize(
    "unit", ["the ", "Paris is the capital. ", "ab", "\n- item one\n- item two", "x" * 700 + " y "]
)
def test_a_circle_is_cut_soon(unit: str) -> None:
    """Whatever is repeated, it ends after a few copies, and one copy is kept."""
    text = numbered(10) + "\n" + unit * (6000 // len(unit))
    shown = let_through(text)
    assert len(shown) < len(numbered(10)) + max(COPIES * len(unit), MIN_RUN) + 2 * STRIDE + len(unit)
    kept = without_repetition(shown)
    assert kept.startswith(numbered(10))
    assert kept.removeprefix(numbered(10)).count(unit.strip()) <= 2


@pytest.mark.parametrize(
    "text",
    [
        numbered(500),
        "| a | b |\n|---|---|\n" + "".join(f"| {n} | {n * n} |\n" for n in range(300)),
        "-" * 300,
        "Row, row, row your boat. " * 4,
        "\n".join(f'{{"subject": "Mercury (planet)", "section": "Orbit", "claim": {n}}},' for n in range(200)),
        "## Orbit\na\n## Orbit\nb\n## Orbit\nc\n",
    ],
    ids=["prose", "table", "ruler", "refrain", "JSON rows", "three headings"],
)
def test_text_that_does_not_repeat_passes(text: str) -> None:
    """Tables, rulers, refrains and rows of JSON pass unchanged."""
    assert let_through(text) == text
    assert without_repetition(text) == text


def test_the_same_heading_again_and_again_is_a_circle() -> None:
    """A report that begins the same chapter a fourth time is cut, though the words below differ."""
    text = "".join(f"## Causes\n{numbered(n + 2)}\n" for n in range(8))
    assert let_through(text).count("## Causes") == 4


@given(
    st.text("ab \n#"), st.text("ab #\n", min_size=1, max_size=12), st.integers(1, 400), st.lists(st.integers(0, 3000))
)
def test_cuts_make_no_difference(before: str, unit: str, copies: int, cuts: list[int]) -> None:
    """However a reply is chopped, as much of it is let through."""
    text = before + unit * copies
    places = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    chunks = [text[start:end] for start, end in pairwise(places)]
    assert let_through(*chunks) == let_through(text)


@given(st.text(max_size=300), st.text(min_size=1, max_size=60))
def test_every_circle_is_found(before: str, unit: str) -> None:
    """No text of any letters can go round for ever."""
    endless = before + unit * (2 * WINDOW // len(unit))
    assert len(let_through(endless)) < len(endless)


@given(st.text(max_size=190))
def test_a_short_text_is_not_a_circle(text: str) -> None:
    """What is shorter than the shortest circle is never cut."""
    assume(text.count("#") < 4)
    assert let_through(text) == text
    assert without_repetition(text) == text


def test_looking_costs_the_same_for_each_letter() -> None:
    """The guard keeps a window of fixed size, however long the reply."""
    guard = RepetitionGuard()
    for _ in range(50):
        guard.feed(numbered(50))
        if guard.has_tripped:
            break
    assert len(guard._tail) <= WINDOW
