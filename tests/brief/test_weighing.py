"""How much a claim matters to the topic: a sum of terms that can be read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.brief.claim_gathering import GatheredClaims, gather_claims

from kiwiresearch.brief.importance import WeightedClaim, best_first
from kiwiresearch.claims.claim import Claim
from kiwiresearch.zim.archive import EntryRef

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
def frost() -> GatheredClaims:
    return gather_claims(FROST, topic="Great Frost")


def find(found: GatheredClaims, words: str) -> WeightedClaim:
    (one,) = [one for one in found.weighed() if words in one.claim.text]
    return one


def terms(one: WeightedClaim) -> set[str]:
    return {term.signal for term in one.score.terms}


def test_a_weight_is_the_sum_of_its_terms(frost: GatheredClaims) -> None:
    """The points of each claim are its terms added up, and each term is named."""
    for one in frost.weighed():
        assert one.points == one.score.total
        assert one.points == pytest.approx(sum(term.points for term in one.score.terms))
        assert all(term.signal and term.points for term in one.score.terms)


@pytest.mark.parametrize(
    ("words", "has", "has_not"),
    [
        ("was a cold winter", {"on a page about the topic", "in the introduction"}, {"beside the point"}),
        ("killed 3,000 mules", {"on a page about the topic", "would be missed"}, {"in the introduction"}),
        ("A town of 800", {"on a page about the topic"}, {"in the introduction", "beside the point"}),
        ("3,000 actors", {"beside the point"}, {"in the introduction"}),
        ("closed for ten weeks", {"its page's weight", "would be missed"}, {"on a page about the topic"}),
        ("is a way over the hills", {"its page's weight"}, {"on a page about the topic", "in the introduction"}),
    ],
)  # fmt: skip
def test_terms_say_what_speaks_for_a_claim(frost: GatheredClaims, words: str, has: set[str], has_not: set[str]) -> None:
    """The page and the place of a claim, and how much it would be missed, each have a term of their own."""
    found = terms(find(frost, words))
    assert has <= found
    assert not has_not & found


def test_an_aspect_adds_a_term() -> None:
    """With an aspect, a claim gains by being about it; without one there is no such term."""
    asked = gather_claims(FROST, topic="course of the Great Frost")
    assert asked.weights.relevance.aspect == "course"
    about = {term.signal: term.points for term in find(asked, "killed 3,000 mules").score.terms}
    beside = {term.signal: term.points for term in find(asked, "3,000 actors").score.terms}
    assert about["about what is asked for"] > 0 > beside["about what is asked for"]
    assert all(
        "about what is asked for" not in terms(one) for one in gather_claims(FROST, topic="Great Frost").weighed()
    )


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("was a cold winter", "killed 3,000 mules"),
        ("killed 3,000 mules", "A town of 800"),
        ("killed 3,000 mules", "3,000 actors"),
        ("killed 3,000 mules", "closed for ten weeks"),
    ],
)
def test_claims_nearer_the_topic_weigh_more(frost: GatheredClaims, more: str, less: str) -> None:
    """The definition of the topic outweighs what happened, that outweighs trivia, and its page outweighs others."""
    assert find(frost, more).points > find(frost, less).points


@pytest.mark.parametrize("words", ["left by most", "118 km"])
def test_claims_unrelated_to_the_topic_are_not_weighed(frost: GatheredClaims, words: str) -> None:
    """Further down on another page only what names the topic can matter."""
    assert any(words in claim.text for claim in frost.claims)
    assert not any(words in one.claim.text for one in frost.weighed())


def test_sure_claims_weigh_more() -> None:
    """Of two like claims the one with references beside it outweighs the hedged one without."""
    mark = '<sup class="reference"><a href="#cite_note-1">[1]</a></sup>'
    found = gather_claims(
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
    ("words", "about"),
    [
        ("was a cold winter", True),
        ("A town of 800", True),
        ("closed for ten weeks", True),
        ("is a way over the hills", False),
        ("left by most", False),
        ("118 km", False),
    ],
)
def test_claims_of_the_topic_are_distinguished_from_others(frost: GatheredClaims, words: str, *, about: bool) -> None:
    """A claim is about the topic by its page or its words; others are only near it."""
    weights = frost.weights
    (claim,) = [claim for claim in frost.claims if words in claim.text]
    assert weights.is_about(weights.weigh_one(claim)) is about


def test_a_name_that_a_rule_put_in_is_trusted_in_introductions_only() -> None:
    """'It' read as the topic's name counts in the introduction; further down such rules err."""
    lead = "The Great Frost was a cold winter. It was caused by ash from the hills."
    effects = "The Great Frost was long. It led to a revolt of the drivers."
    found = gather_claims({"Great Frost": f"{lead}\n== Effects ==\n{effects}"}, topic="Great Frost")
    weights = found.weights
    named = {
        claim.text: weights.is_about(weights.weigh_one(claim)) for claim in found.claims if claim.inserted_name_from
    }
    assert named == {
        "The Great Frost was caused by ash from the hills.": True,
        "The Great Frost led to a revolt of the drivers.": False,
    }


def test_the_topic_is_known_by_its_names(frost: GatheredClaims) -> None:
    """The title of the topic's page is its name, in any case and in the plural; other titles are not."""
    names = ["Great Frost", "great frosts", "Salt road", "Frost"]
    assert [frost.weights.is_topic(name) for name in names] == [True, True, False, False]


def test_pages_weigh_from_none_to_all(frost: GatheredClaims) -> None:
    """The weightiest page has weight 1, no page has less than 0, and a page that was not read has none."""
    page_weights = [frost.weights.page_weight(ref) for ref in frost.origin.state.visited]
    assert max(page_weights) == 1
    assert min(page_weights) >= 0
    assert frost.weights.page_weight(EntryRef(frost.origin.books[0].id, "Nowhere")) == 0


@given(st.data())
def test_the_order_of_weights_is_total(frost: GatheredClaims, data: Any) -> None:
    """The heaviest comes first, and equal ones come by page and place, whatever order they went in."""
    weighed = frost.weighed()
    found = best_first(data.draw(st.permutations(weighed)))
    assert found == best_first(weighed)
    assert [one.points for one in found] == sorted((one.points for one in weighed), reverse=True)


def test_nothing_is_weighed_without_claims(frost: GatheredClaims) -> None:
    """A crawl whose pages say nothing has nothing to weigh."""
    claims: list[Claim] = []
    assert frost.weights.weigh(claims) == []
