"""A marriage that is stated after a name passes the firewall, and nobody else's does."""

from __future__ import annotations

import pytest

from kiwiresearch.kin.firewall.check import check
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet

PASSES = [
    "Carter and Ruth Hay married in 1825.",
    "He and Ruth Hay were married in 1825.",
    "In 1825, Ruth Hay married Carter.",
    "Ruth Hay later became Carter's second wife.",
    "Carter met the singer Ruth Hay in 1824, and they married.",
    "He proposed to Ruth Hay in 1824. They were married in 1825.",
    "Carter met Ruth Hay in 1824, and later married her.",
    "The peace was sealed by the marriage of Carter with Ruth Hay.",
    "His first marriage, before 1825, was to Ruth Hay.",
    "Carter's second marriage, to Ruth Hay, was happy.",
    "Carter was married, by arrangement, to Ruth Hay.",
    "Ruth Hay became the second wife of Carter.",
]
FAILS = [
    "Max and Ruth Hay married in 1825.",
    "In 1825, Ruth Hay married Carter's brother.",
    "Ruth Hay later became Stone's second wife.",
    "Robert Stone met the singer Ruth Hay in 1824, and they married.",
    "Carter met Ruth Hay in 1824, and they quarrelled.",
    "Carter met Ruth Hay in 1824, and they never married.",
    "Carter came to the marriage of Max Stone with Ruth Hay.",
    "Her first marriage, before 1825, was to Ruth Hay.",
    "Stone's second marriage, to Ruth Hay, was happy.",
    "Ruth Hay became the second wife of Stone.",
]


def passes(sentence: str) -> bool:
    fact = ExtractedFact("spouse", "Ruth Hay", Snippet(0, len(sentence), sentence), "prose", 0.6)
    return not check(fact, sentence, "John Carter", "male")


@pytest.mark.parametrize("sentence", PASSES)
def test_a_marriage_stated_after_the_name_passes(sentence: str) -> None:
    """The verb may follow both names, or the sentence that they met."""
    assert passes(sentence)


@pytest.mark.parametrize("sentence", FAILS)
def test_a_marriage_of_others_does_not_pass(sentence: str) -> None:
    """Somebody they only met, or whom somebody else married, is not a wife."""
    assert not passes(sentence)


@pytest.mark.parametrize(
    ("sentence", "stated"), [("Max Hay, Carter's father.", True), ("Max Hay, Stone's father.", False)]
)
def test_a_possessive_after_the_name_says_whose_father(sentence: str, *, stated: bool) -> None:
    """'Max Hay, Carter's father' proves it, and 'Max Hay, Stone's father' does not."""
    fact = ExtractedFact("father", "Max Hay", Snippet(0, len(sentence), sentence), "prose", 0.6)
    assert (not check(fact, sentence, "John Carter", "male")) is stated
