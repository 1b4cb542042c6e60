"""A marriage told behind a name passes the firewall, and nobody else's does."""

from __future__ import annotations

import pytest

from kiwiresearch.kin.extracted import Extracted, Snippet
from kiwiresearch.kin.firewall.check import check

PASSES = [
    "Carter and Ruth Hay married in 1825.",
    "He and Ruth Hay were married in 1825.",
    "In 1825, Ruth Hay married Carter.",
    "Ruth Hay later became Carter's second wife.",
    "Carter met the singer Ruth Hay in 1824, and they married.",
    "He proposed to Ruth Hay in 1824. They were married in 1825.",
]
FAILS = [
    "Max and Ruth Hay married in 1825.",
    "In 1825, Ruth Hay married Carter's brother.",
    "Ruth Hay later became Stone's second wife.",
    "Robert Stone met the singer Ruth Hay in 1824, and they married.",
    "Carter met Ruth Hay in 1824, and they quarrelled.",
    "Carter met Ruth Hay in 1824, and they never married.",
]


def stands(sentence: str) -> bool:
    fact = Extracted("spouse", "Ruth Hay", Snippet(0, len(sentence), sentence), "prose", 0.6)
    return not check(fact, sentence, "John Carter", "male")


@pytest.mark.parametrize("sentence", PASSES)
def test_a_marriage_told_behind_the_name_stands(sentence: str) -> None:
    """The verb may follow both names, or the sentence that they met."""
    assert stands(sentence)


@pytest.mark.parametrize("sentence", FAILS)
def test_a_marriage_of_others_does_not_stand(sentence: str) -> None:
    """Who only met, or whom somebody else married, is no wife."""
    assert not stands(sentence)
