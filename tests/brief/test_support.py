"""Claims that say the same on several pages are one thing said, and pages are counted that say it by themselves."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.brief.briefs import a_claim
from tests.brief.claim_gathering import gather_claims
from tests.crawl.trails import a_shelf_book

from kiwiresearch.brief.importance import WeightedClaim
from kiwiresearch.brief.support import MergedClaim, independent_pages, merge_equivalent, says_the_same
from kiwiresearch.claims.claim import Claim
from kiwiresearch.search.query import Score, ScoreTerm
from kiwiresearch.text.similarity import roots_of

BURNT = "Raiders from the islands burnt the old harbour of Varn."
OWN_WORDS = "One night raiders from the islands burnt the whole old harbour of Varn with its ships."


def weighed(page: str, text: str, points: float = 1.0, **more: Any) -> WeightedClaim:
    return of_claim(a_claim(page, text, **more), points)


def of_claim(claim: Claim, points: float = 1.0) -> WeightedClaim:
    return WeightedClaim(claim, roots_of(claim.text, "eng"), Score((ScoreTerm("weight", points),)), "eng", points)


def pages_of_claims(expected: list[MergedClaim]) -> list[tuple[int, list[str]]]:
    """For each thing said: how many pages count, and which pages say it."""
    return [(one.pages, sorted(claim.claim.page_title for claim in one.claims)) for one in expected]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (BURNT, "The old harbour of Varn was burnt by raiders from the islands."),
        (BURNT, "Raiders burnt the old harbour of Varn, and came from the islands."),
        ("The toll house of Varn was built in 1275.", "In the year 1275 the toll house was built at Varn."),
        ("The road to Varn carried salt for 400 years.", "For 400 years salt was carried on the road to Varn."),
    ],
)
def test_the_same_in_other_words_is_joined(one: str, other: str) -> None:
    """Two pages that say the same, in another order of words, say one thing."""
    (result,) = merge_equivalent([weighed("Varn", one, 2.0), weighed("Salt road", other)])
    assert [claim.claim.text for claim in result.claims] == [one, other]


@pytest.mark.parametrize(
    "other",
    [
        "Raiders from the islands burnt the old harbour of Lund.",
        "Raiders from the islands of Mora burnt the old harbour.",
        "Raiders from the islands burnt the old harbour of Varn in 1350.",
        "Raiders from the islands burnt 40 ships in the old harbour of Varn.",
        "Salt was carried over the Grey Pass by mules.",
    ],
)
def test_another_name_date_or_number_is_another_thing(other: str) -> None:
    """What names another place, or adds a date or a number, does not support what leaves it out."""
    assert pages_of_claims(merge_equivalent([weighed("Varn", BURNT), weighed("Salt road", other)])) == [
        (1, ["Salt road"]),
        (1, ["Varn"]),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Raiders burnt the old harbour of Varn in 1350.", "Raiders burnt the old harbour of Varn in 1360."),
        ("Raiders burnt the old harbour of Varn in 350 BC.", "Raiders burnt the old harbour of Varn in 350 AD."),
        ("Raiders burnt 12 ships in the harbour of Varn.", "Raiders burnt 15 ships in the harbour of Varn."),
        ("The road from Varn to the mines is 118 km long.", "The road from Varn to the mines is 118 m long."),
    ],
)
def test_values_that_differ_are_not_joined(one: str, other: str) -> None:
    """Sentences that differ in nothing but a date, a number or a unit do not support each other."""
    assert not says_the_same(weighed("Varn", one), weighed("Salt road", other))
    assert len(merge_equivalent([weighed("Varn", one), weighed("Salt road", other)])) == 2


def test_a_number_in_another_unit_is_the_same() -> None:
    """The same length in kilometres and in metres is one thing said by two pages."""
    one, other = "The salt road is 118 km long from the mines.", "From the mines the salt road is 118,000 m long."
    (result,) = merge_equivalent([weighed("Varn", one), weighed("Salt road", other)])
    assert len(result.claims) == 2


def test_the_same_value_is_the_same_in_any_words() -> None:
    """Two pages that measure the same of the same thing support each other, also where the words differ."""
    found = gather_claims(
        {
            "Varn": "Varn is a town on the coast.\n== People ==\nVarn has 12,000 inhabitants.",
            "Salt road": "The road is a way to [[Varn]].\n== Towns ==\nThe town of Varn has about 12,000 inhabitants.",
        },
        topic="Varn",
    ).said()
    assert [one.pages for one in found if one.best.type == "numeric"] == [2]


def test_a_copied_sentence_counts_once() -> None:
    """A sentence that two pages have word for word is shown with both, and counts as one page."""
    (result,) = merge_equivalent([weighed("Varn", BURNT), weighed("Salt road", BURNT)])
    assert (result.pages, len(result.claims)) == (1, 2)


def test_a_sentence_in_own_words_counts_beside_copies() -> None:
    """Of two copies and a page with words of its own, two count."""
    (result,) = merge_equivalent([weighed("Varn", BURNT), weighed("Salt road", BURNT), weighed("Grey Pass", OWN_WORDS)])
    assert (result.pages, len(result.claims)) == (2, 3)


def test_one_page_counts_once() -> None:
    """A page that says the same twice is one page."""
    (result,) = merge_equivalent([weighed("Varn", BURNT), weighed("Varn", OWN_WORDS, section="History")])
    assert (result.pages, len(result.claims)) == (1, 2)


def test_the_same_article_in_two_books_counts_once() -> None:
    """Two books with an article of the same name, in words of their own, are one page that says so."""
    one = {"Great Frost": "The Great Frost was caused by ash from Mount Sorn.\n== Course ==\nIt was long."}
    other = {"Great Frost": "Ash from the high Mount Sorn caused the Great Frost.\n== Course ==\nIt was cold."}
    found = gather_claims(
        a_shelf_book(one, name="Roads"), a_shelf_book(other, name="Hills"), topic="Great Frost"
    ).said()
    (causal,) = [entry for entry in found if entry.best.type == "causal"]
    assert len({claim.claim.ref.book for claim in causal.claims}) == 2
    assert causal.pages == 1


def test_a_short_sentence_is_not_joined() -> None:
    """Three words in common prove nothing."""
    assert len(merge_equivalent([weighed("Varn", "Varn was burnt."), weighed("Salt road", "Varn was burnt.")])) == 2


def test_claims_of_more_pages_weigh_more() -> None:
    """Support is a term of the score, named with the number of pages."""
    alone = weighed("Grey Pass", "Nothing grows at all on the Grey Pass.", 1.5)
    first, second = merge_equivalent([alone, weighed("Varn", BURNT), weighed("Salt road", OWN_WORDS, 0.5)])
    assert (first.best.text, first.points > 1.5) == (BURNT, True)
    assert str(first.score) == f"{first.points:g} (weight +1, said by 2 pages {first.points - 1:+g})"
    assert str(second.score) == "1.5 (weight +1.5)"


def test_support_does_not_grow_without_end() -> None:
    """Thirty pages do not outweigh everything else."""
    hours = (
        "dawn today",
        "noon meal",
        "dusk light",
        "midnight bells",
        "sunrise prayers",
        "supper songs",
        "low tide",
        "ebb",
    )
    many = [weighed(hour, f"{BURNT[:-1]} at {hour}.") for hour in hours]
    (result,) = merge_equivalent(many)
    (few,) = merge_equivalent(many[:4])
    assert (result.pages, few.pages) == (8, 4)
    assert result.points == few.points


@given(st.permutations(range(9)))
def test_the_order_of_claims_does_not_matter(order: list[int]) -> None:
    """Whatever order the claims come in, the same things are said, by the same pages, in the same order."""
    texts = [BURNT, "The old harbour of Varn was burnt by raiders from the islands.", "Salt came over the Grey Pass."]
    claims = [weighed(page, text, len(page)) for page in ("Varn", "Salt road", "Lund") for text in texts]
    assert merge_equivalent([claims[number] for number in order]) == merge_equivalent(claims)


def test_no_claim_is_lost() -> None:
    """Every claim is part of exactly one thing said, the best one first."""
    claims = [weighed(page, BURNT, points) for page, points in (("Varn", 1.0), ("Salt road", 3.0), ("Lund", 2.0))]
    claims += [weighed("Lund", "Lund lies on an island in the north.", 0.1)]
    result = merge_equivalent(claims)
    assert sorted(claim.claim.id for one in result for claim in one.claims) == sorted(one.claim.id for one in claims)
    assert [claim.claim.page_title for claim in result[0].claims] == ["Salt road", "Lund", "Varn"]
    assert merge_equivalent([]) == []
    assert independent_pages(claims) == 2
