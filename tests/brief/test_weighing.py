"""How much a claim matters to the topic: a sum of terms that can be read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.brief.gathered import Gathered, gathered

from kiwiresearch.brief.weighing import Weighed, best_first
from kiwiresearch.claims.claim import Claim
from kiwiresearch.zim.entry import EntryRef

FROST = {
    "Great Frost": """
        The Great Frost was a cold winter that closed the [[Salt road]] and the harbours of the coast.
        == Course ==
        The Great Frost killed 3,000 mules on the [[Salt road]] between the mines and the coast.
        A town of 800 people was given up in the northern valley for good.
        == In popular culture ==
        The Great Frost killed 3,000 actors in a play that was shown at the coast.
    """,
    "Salt road": """
        The salt road is a way over the hills from the mines to the coast of the northern valley.
        == History ==
        The salt road was closed for ten weeks as a result of the [[Great Frost]] in the hills.
        The salt road was left by most of the drivers as a result of the tolls of the coast.
        == Size ==
        The salt road is 118 km long.
    """,
}


@pytest.fixture(scope="module")
def frost() -> Gathered:
    return gathered(FROST, topic="Great Frost")


def find(found: Gathered, words: str) -> Weighed:
    (one,) = [one for one in found.weighed() if words in one.claim.text]
    return one


def terms(one: Weighed) -> set[str]:
    return {line.signal for line in one.score.lines}


def test_a_weight_is_the_sum_of_its_terms(frost: Gathered) -> None:
    """The points of each claim are its terms added up, and each term is named."""
    for one in frost.weighed():
        assert one.points == one.score.total
        assert one.points == pytest.approx(sum(line.points for line in one.score.lines))
        assert all(line.signal and line.points for line in one.score.lines)


@pytest.mark.parametrize(
    ("words", "has", "has_not"),
    [
        ("was a cold winter", {"on a page about the topic", "in the introduction"}, {"short"}),
        ("killed 3,000 mules", {"names the topic", "its subject is the topic"}, {"in the introduction"}),
        ("A town of 800", {"on a page about the topic"}, {"names the topic", "its subject is the topic"}),
        ("3,000 actors", {"beside the point"}, set()),
        ("closed for ten weeks", {"names the topic"}, {"on a page about the topic", "beside the point"}),
        ("left by most", set(), {"names the topic", "its subject is the topic", "on a page about the topic"}),
        ("118 km", {"short"}, {"names the topic"}),
    ],
)  # fmt: skip
def test_terms_say_what_speaks_for_a_claim(frost: Gathered, words: str, has: set[str], has_not: set[str]) -> None:
    """The page, the words, the subject and the place of a claim each have a term of their own."""
    found = terms(find(frost, words))
    assert has <= found
    assert not has_not & found


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("was a cold winter", "killed 3,000 mules"),
        ("killed 3,000 mules", "3,000 actors"),
        ("killed 3,000 mules", "closed for ten weeks"),
        ("closed for ten weeks", "left by most"),
        ("left by most", "118 km"),
    ],
)
def test_what_is_nearer_the_topic_weighs_more(frost: Gathered, more: str, less: str) -> None:
    """The definition of the topic outweighs what happened, that outweighs trivia, related pages and small facts."""
    assert find(frost, more).points > find(frost, less).points


def test_what_is_sure_weighs_more() -> None:
    """Of two like claims the one with references beside it outweighs the hedged one without."""
    mark = '<sup class="reference"><a href="#cite_note-1">[1]</a></sup>'
    found = gathered(
        {"Great Frost": f"""
            The Great Frost was a cold winter.
            == Results ==
            <p>The Great Frost led to a revolt in the northern valley.{mark}{mark}</p>
            <p>The Great Frost may have led to a famine in the southern valley.</p>
        """},
        topic="Great Frost",
    )  # fmt: skip
    sure, hedged = find(found, "revolt"), find(found, "famine")
    assert sure.claim.confidence > hedged.claim.confidence
    assert sure.points > hedged.points


@pytest.mark.parametrize(
    ("words", "about", "of_topic"),
    [
        ("was a cold winter", True, True),
        ("A town of 800", True, True),
        ("closed for ten weeks", True, True),
        ("left by most", False, False),
        ("118 km", False, False),
    ],
)
def test_claims_of_the_topic_are_told_from_others(frost: Gathered, words: str, *, about: bool, of_topic: bool) -> None:
    """A claim is about the topic by its page, its subject or its words; others only stand near it."""
    scales = frost.scales
    one = next(one for one in scales.weigh(frost.claims) if words in one.claim.text)
    assert (scales.is_about(one), scales.is_of_topic(one)) == (about, of_topic)


def test_an_instance_is_not_the_topic() -> None:
    """What is said of one volcano is about volcanoes by its words, but not a statement about volcanoes."""
    found = gathered(
        {
            "Volcano": "A volcano is a hill that throws out ash.\n== Kinds ==\nOne of them is [[Mount Sorn]].",
            "Mount Sorn": "Mount Sorn is an active volcano in the north.\n== Height ==\nIt is a high one.",
        },
        topic="volcano",
    )
    scales = found.scales
    sorn = next(one for one in scales.weigh(found.claims) if one.claim.subject == "Mount Sorn")
    assert (scales.is_about(sorn), scales.is_of_topic(sorn)) == (True, False)


def test_pages_weigh_from_none_to_all(frost: Gathered) -> None:
    """The weightiest page has weight 1, no page has less than 0, and a page that was not read has none."""
    weights = [frost.scales.page(ref) for ref in frost.origin.state.visited]
    assert max(weights) == 1
    assert min(weights) >= 0
    assert frost.scales.page(EntryRef(frost.origin.books[0].id, "Nowhere")) == 0


def test_of_very_many_claims_the_far_ones_are_left_out(monkeypatch: pytest.MonkeyPatch, frost: Gathered) -> None:
    """Where there are too many claims, those of the topic's pages and those that name it stay, in their order."""
    monkeypatch.setattr("kiwiresearch.brief.weighing.MOST_WEIGHED", 5)
    kept = [one.claim for one in frost.weighed()]
    assert len(kept) == 5
    assert kept == [claim for claim in frost.claims if claim.page_title == "Great Frost" or "Frost" in claim.text][:5]
    assert [one.claim for one in frost.weighed()] == kept


@given(st.data())
def test_the_order_of_weights_is_total(frost: Gathered, data: Any) -> None:
    """The heaviest comes first, and equal ones come by page and place, whatever order they went in."""
    weighed = frost.weighed()
    found = best_first(data.draw(st.permutations(weighed)))
    assert found == best_first(weighed)
    assert [one.points for one in found] == sorted((one.points for one in weighed), reverse=True)


def test_nothing_is_weighed_without_claims(frost: Gathered) -> None:
    """A crawl whose pages say nothing has nothing to weigh."""
    claims: list[Claim] = []
    assert frost.scales.weigh(claims) == []
