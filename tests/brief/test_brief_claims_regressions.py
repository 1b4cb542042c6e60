"""Faults that briefs once had: what was counted as support, and what was left out."""

from __future__ import annotations

import pytest
from tests.brief.claim_gathering import gather_claims
from tests.brief.test_disputes import frost, varn
from tests.brief.test_numbers import varn as numbers_of
from tests.brief.test_support import weighed

from kiwiresearch.brief.support import merge_equivalent, says_the_same


@pytest.mark.parametrize("hedged", ["may have burnt", "possibly burnt", "are said to have burnt"])
def test_a_hedged_sentence_does_not_support_a_plain_one(hedged: str) -> None:
    """A hedged sentence and a plain one are two things said."""
    one = weighed("Varn", "Raiders burnt the old harbour and the market of Varn.")
    other = weighed("Salt road", f"Raiders {hedged} the old harbour and the market of Varn.")
    assert not says_the_same(one, other)


def test_a_view_does_not_support_a_fact() -> None:
    """A view of somebody is not a second page that says so; it stays a view."""
    views = "The Great Frost was caused by ash from Mount Sorn.\nOlin Marr argues that ash from Mount Sorn was the only cause of the Great Frost."  # noqa: E501
    found = frost(f"== Causes ==\n{views}")
    assert all(len(one.claims) == 1 for one in found.said())
    assert [view.holder for dispute in found.brief().disputes for view in dispute.views] == ["Olin Marr"]


def test_one_value_in_common_hides_no_other() -> None:
    """Two sentences that share a value and differ in another contradict each other: they are not joined."""
    pages = {
        "Varn": "Varn is a town near [[Lund]].\n== Size ==\nVarn has 12,000 inhabitants on an area of 40 square kilometres.",  # noqa: E501
        "Lund": "Lund is a town.\n== Near ==\nVarn has 12,000 inhabitants on an area of 90 square kilometres.",
    }
    assert all(len(one.claims) == 1 for one in gather_claims(pages, topic="Varn").said())


def test_a_vague_date_joins_no_two_years() -> None:
    """1350 and 1380 are both in the 14th century, and still do not support each other."""
    text = "Raiders from the islands burnt the old harbour of Varn in {}."
    result = merge_equivalent(
        [
            weighed("Varn", text.format("1350")),
            weighed("Salt road", text.format("the 14th century")),
            weighed("Lund", text.format("1380")),
        ]
    )
    together = [{claim.claim.text for claim in one.claims} for one in result]
    assert not any({text.format("1350"), text.format("1380")} <= group for group in together)


def test_a_name_that_is_left_out_joins_no_two_names() -> None:
    """A sentence without a name does not make one of two sentences with different names."""
    texts = [f"Pirates{name} sank all the ships in the old northern harbour." for name in (" of Lund", "", " of Mora")]
    result = merge_equivalent(
        [weighed(page, text) for page, text in zip(("Varn", "Salt road", "Grey Pass"), texts, strict=True)]
    )
    assert not any({texts[0], texts[2]} <= {claim.claim.text for claim in one.claims} for one in result)


def test_half_a_definition_is_not_a_support() -> None:
    """A page that says that the road was closed does not say that the frost was a cold winter."""
    one = weighed("Great Frost", "The Great Frost was a cold winter that closed the salt road.")
    other = weighed("Salt road", "The salt road was closed as a result of the Great Frost.")
    assert not says_the_same(one, other)


def test_short_sentences_are_compared_too() -> None:
    """'Varn was founded in 1430' and 'in 1450' contradict each other, short as they are (R69)."""
    assert [
        str(one.difference).partition(":")[0]
        for one in varn("Varn was founded in 1430.", "Varn was founded in 1450.").disputes
    ] == ["contradiction"]


def test_a_mark_of_dispute_is_a_dispute() -> None:
    """A sentence that editors marked as disputed is a dispute, with the mark as its signal (R70, R99)."""
    mark = '<sup class="noprint Inline-Template">[<i>disputed – discuss</i>]</sup>'
    brief = frost(f"== Causes ==\n<p>Ash from the hills led to the snow of the Great Frost.{mark}</p>").brief()
    assert [view.cues for dispute in brief.disputes for view in dispute.views] == [("marked as disputed",)]


def test_a_contradiction_is_shown_before_another_year() -> None:
    """A row that one page contradicts and another gives for another year says that it is contradicted (R101)."""
    brief = numbers_of(
        "Varn had 12,000 inhabitants in 1430.",
        Lund="Varn was home to 15,000 inhabitants in 1430.",
        Mora="Varn had 25,000 inhabitants in 1530.",
    )
    row = next(figure for figure in brief.numbers if figure.value.startswith("12,000"))
    assert row.difference is not None
    assert row.difference.kind == "contradiction"


def test_a_body_with_an_article_is_an_actor() -> None:
    """'The Guild of carriers' elsewhere is 'Guild of carriers', whose page defines it."""
    pages = {
        "Great Frost": "The Great Frost was a cold winter.\n== Effects ==\nThe [[Guild of carriers]] was dissolved in 1432 for lack of mules.",  # noqa: E501
        "Guild of carriers": "The Guild of carriers was a company of Varn.\n== End ==\nIt had a house.",
    }
    assert [group.heading for group in gather_claims(pages, topic="Great Frost").brief().actors] == [
        "Guild of carriers"
    ]


def test_links_of_one_book_make_no_page_of_another_central() -> None:
    """A page is central by the links of its own book, not by those to a page of the same path elsewhere."""
    from tests.crawl.trails import a_shelf_book

    names = ("Grey", "White", "Black", "Red")
    links = " ".join(f"[[{name} Frost]]" for name in names)
    one = {"Great Frost": f"The Great Frost was a winter with a [[Toll]]. See {links}.\n== Use ==\nNone."}
    one |= {
        f"{name} Frost": f"The {name} Frost was a winter of the [[Great Frost]] with a [[Toll]].\n== Use ==\nNone."
        for name in names
    }
    one["Toll"] = (
        "A toll is a price of the Great Frost.\n== History ==\nThe toll was raised in 1431. The toll was caused by a lack of salt. A toll of 40 coins was paid."  # noqa: E501
    )
    other = {
        "Great Frost": "The Great Frost was a cold one, with a [[Toll]].\n== Use ==\nNone.",
        "Toll": "So it was with the Great Frost.\n== Use ==\nMuch.",
    }
    found = gather_claims(a_shelf_book(one, name="One"), a_shelf_book(other, name="Other"), topic="Great Frost").brief()
    assert [gap.text for gap in found.gaps if gap.text.startswith("Toll")] == []
