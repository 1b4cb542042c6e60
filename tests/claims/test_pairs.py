"""Which of many sayings are compared, and which disagreements are clear enough to be told."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.claims.conflicts.compare import Saying
from kiwiresearch.claims.conflicts.pairs import disagreements, pairs_to_compare

TEXTS = (
    "Ada Moore was born on 5 May 1815.",
    "The tower of Hallen is 120 metres high.",
    "It rained for weeks in the valley.",
    "Ada Moore (9 May 1815 – 2 June 1870) painted ships.",
    "The order has five families of small birds.",
    "The tower of Hallen is 150 metres high.",
    "The price of salt rose.",
)


def sayings(texts: Sequence[str] = TEXTS) -> list[Saying]:
    """Sentences as they are compared."""
    return [Saying.of(text) for text in texts]


def test_sayings_of_the_same_thing_are_compared() -> None:
    """Two births of one name and two heights of one tower are paired, and nothing else is."""
    assert list(pairs_to_compare(sayings())) == [(0, 3), (1, 5)]


def test_disagreements_are_told_with_their_places() -> None:
    """Each disagreement names the two sayings, the clearest first (R69)."""
    found = disagreements(sayings())
    assert [(one, other) for one, other, _ in found] == [(1, 5), (0, 3)]
    assert {disagreement.kind for _, _, disagreement in found} == {"contradiction"}
    assert [d.strength for _, _, d in found] == sorted((d.strength for _, _, d in found), reverse=True)


def test_many_sayings_need_few_comparisons() -> None:
    """The number of pairs grows with what is said of the same thing, not with the square of the sayings."""
    many = [f"The tower of Place{n} is {100 + n} metres high." for n in range(600)]
    assert len(list(pairs_to_compare(sayings([*many, "The tower of Place7 is 900 metres high."])))) < 60


@given(st.permutations(TEXTS))
def test_the_order_of_the_sayings_makes_no_difference(texts: list[str]) -> None:
    """The same two texts are found to disagree, whatever stands between them."""
    found = {frozenset((texts[one], texts[other])) for one, other, _ in disagreements(sayings(texts))}
    assert found == {frozenset((TEXTS[0], TEXTS[3])), frozenset((TEXTS[1], TEXTS[5]))}


@given(st.lists(st.text(max_size=30), max_size=8))
def test_any_sayings_can_be_paired(texts: list[str]) -> None:
    """Pairs are in order, each once, of two different places."""
    pairs = list(pairs_to_compare(sayings(texts)))
    assert pairs == sorted(set(pairs))
    assert set(pairs) <= set(combinations(range(len(texts)), 2))
