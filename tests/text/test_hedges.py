"""Hedges: which words count as one and which only look like it, and what is true of any text."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from evals.hedging import LABELLED, scores_of
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.text.hedges import Hedge, HedgeKind, hedges_in


def cues(text: str) -> list[str]:
    """The hedges of a text as 'kind: cue'."""
    return [f"{hedge.kind}: {hedge.cue}" for hedge in hedges_in(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The bridge may have stood here.", ["may: may"]),
        ("It might rain, perhaps.", ["may: might", "may: perhaps"]),
        ("This could be a copy.", ["may: could be"]),
        ("It is possible that he lied.", ["may: possible"]),
        ("Some historians place it in Rome.", ["some: some historians"]),
        ("Floods are often said to follow.", ["some: often said"]),
        ("Most villages have a well.", ["some: most"]),
        ("It is widely regarded as good.", ["some: widely"]),
        ("She is considered the founder.", ["some: considered"]),
        ("He was also believed to be rich.", ["some: believed"]),
        ("It is one of the most visited parks.", ["some: one of the most"]),
        ("Scientists say it is safe.", ["some: scientists say"]),
        ("Some argue that it failed.", ["debated: some argue"]),
        ("Many historians dispute the date.", ["debated: many historians dispute"]),
        ("Critics claimed it was late.", ["debated: critics claimed"]),
        ("There is no consensus on the cause.", ["debated: no consensus"]),
        ("The border is disputed.", ["debated: disputed"]),
        ("He was probably born in Kiel.", ["uncertain: probably"]),
        ("It is likely to fall.", ["uncertain: likely"]),
        ("It appears to be older.", ["uncertain: appears to"]),
        ("Her first name is unknown.", ["uncertain: unknown"]),
        ("It is not yet known why.", ["uncertain: not yet known"]),
        ("The find suggests a harbour.", ["uncertain: suggests"]),
    ],
)
def test_cues_of_every_kind(text: str, found: list[str]) -> None:
    """A hedge is found with its words unchanged and one of the four flags (R61, R123)."""
    assert cues(text) == found


def test_the_flags_are_those_of_a_claim() -> None:
    """The kinds are exactly the four flags of a claim (R123)."""
    assert set(get_args(HedgeKind)) == {"may", "some", "debated", "uncertain"}


@pytest.mark.parametrize(
    "text",
    [
        "He died in May 1944.",
        "May is the fifth month.",
        "Theresa May spoke.",
        "The word may refer to a lake.",
        "Salt may be added.",
        "Some 300 people came.",
        "It took several years.",
        "As many as 12 ships sank.",
        "It is the most populous city.",
        "Most of the city burned.",
        "At most it weighs a ton.",
        "She could swim.",
        "The tower could be seen from afar.",
        "Birds can fly.",
        "It is more likely than not.",
        "He went into the unknown.",
        "The town is known as Kiel.",
        "It is called a fjord.",
        "The meeting was held in June.",
        "The Four Most Important Books is a title.",
        "They played Some Like It Hot.",
        "It weighs approximately 5 kg.",
        "The mayor came.",
        "The river is 300 km long.",
    ],
)
def test_words_that_only_look_like_hedges(text: str) -> None:
    """Months, names, numbers, superlatives of fact, abilities and choices are not hedges."""
    assert cues(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("He said &quot;perhaps&quot; to some.", ["may: perhaps", "some: some"]),
        ("Rock &amp; roll is often considered loud.", ["some: often considered"]),
        ("It is\u00a0not\u00a0known when.", ["uncertain: not\u00a0known"]),
        ("MANY CAME.", ["some: many"]),
        ("İ may have İ seen it.", ["may: may"]),
        ("“Some say so,” he wrote.", ["some: some"]),
    ],
)
def test_signs_around_cues(text: str, found: list[str]) -> None:
    """Entities, quotation marks, capitals, fixed spaces and letters that grow in lower case do no harm."""
    assert cues(text) == found


@pytest.mark.parametrize("language", ["deu", "xxx", "", "..", "../eng", "eng.toml", "e\0g", "ö"])
def test_languages_without_a_table(language: str) -> None:
    """A language that has no table has no hedges, whatever its code looks like."""
    assert hedges_in("It may perhaps be so.", language) == ()


def test_no_text_has_no_hedges() -> None:
    """An empty text is not hedged."""
    assert hedges_in("") == ()


WORDS = [
    "may", "May", "some", "Some", "most", "people", "historians", "argue", "a", "few", "İ", "’s", "&quot;", "is", "not",
    "yet", "known", "one", "of", "the", "best", "it", "has", "been", "said", "that", "300", "be", "used", "\n", "—",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join) | st.text(max_size=200))
def test_offsets_are_true(text: str) -> None:
    """Any text gives hedges in order that do not overlap, each at its own words (R61)."""
    last = 0
    for hedge in hedges_in(text):
        assert isinstance(hedge, Hedge)
        assert last <= hedge.start < hedge.end <= len(text)
        assert text[hedge.start : hedge.end].lower() == hedge.cue
        assert hedge.kind in get_args(HedgeKind)
        last = hedge.end


def test_labelled_sentences(shared_data: Path) -> None:
    """On sentences that people marked, hedged ones are found with an F1 of at least 0.8."""
    figures = scores_of(shared_data / LABELLED)
    assert figures["hedge_f1"] >= 0.8, figures
