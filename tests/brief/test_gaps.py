"""What the book leaves open, told apart from what this book merely does not hold."""

from __future__ import annotations

import pytest
from tests.brief.gathered import Gathered, gathered

from kiwiresearch.brief.brief import Brief, Gap
from kiwiresearch.brief.passages import UsedClaims
from kiwiresearch.brief.report import report
from kiwiresearch.brief.themes import gaps
from kiwiresearch.document.markdown import markdown

REFERENCE = '<sup class="reference"><a href="#cite_note-1">[1]</a></sup>'
GAPS = "What Wikipedia Doesn’t Settle Yet"


def of_kind(brief: Brief, kind: str) -> list[Gap]:
    return [gap for gap in brief.gaps if gap.kind == kind]


def part(brief: Brief) -> str:
    return markdown(report(brief)).partition(f"## {GAPS}")[2].partition("\n## ")[0]


TOWNS = ("Varn", "Lund", "Mora", "Sorn")


def frost(toll: str) -> Gathered:
    """A page on the Great Frost and four towns that all link to a page on tolls."""
    towns = {
        town: f"{town} is a town that paid the [[Toll]] in the [[Great Frost]].\n== Trade ==\nThe [[Toll]] was paid."
        for town in TOWNS
    }
    links = " and ".join(f"[[{town}]]" for town in TOWNS)
    lead = f"The Great Frost was a cold winter in {links}, when the [[Toll]] was high."
    course = "The Great Frost began in 1431. The Great Frost killed 3,000 mules. The Great Frost was caused by ash."
    pages = {"Great Frost": f"{lead}\n== Course ==\n{course}", "Toll": toll}
    return gathered(pages | towns, topic="Great Frost")


def test_a_central_concept_of_which_little_is_said_is_a_gap() -> None:
    """A page that most others link to, and of which next to nothing is claimed, is named with the count (R71, R103)."""
    thin = frost("So it was with the toll of the Great Frost.\n== Use ==\nMuch could be told.").brief()
    (gap,) = of_kind(thin, "concept")
    assert gap.text.startswith("Toll: 5 of the pages read link to it")
    assert "Central concepts of which little is said" in part(thin)


def test_a_concept_of_which_much_is_said_is_none() -> None:
    """With claims about it, the same page is no gap (R103)."""
    full = """
        A toll is a price that was paid in the Great Frost.
        == History ==
        The toll was raised in 1431. The toll was caused by a lack of salt. A toll of 40 coins was paid at each gate.
    """
    assert of_kind(frost(full).brief(), "concept") == []


HEDGED = (
    "The Great Frost may have led to the revolt of the drivers.",
    "It is possible that ash caused the Great Frost.",
    "The Great Frost was probably the cause of the long famine.",
)


def hedging(lead: str, *sentences: str) -> Brief:
    """A page with a lead, and sentences in a section of their own."""
    return gathered({"Great Frost": "\n".join((lead, "== Causes ==", *sentences))}, topic="Great Frost").brief()


def test_much_hedging_without_references_is_a_gap() -> None:
    """Hedged claims with no reference beside them are counted, with the words that hedge them (R71, R104)."""
    brief = hedging(f"<p>The Great Frost was a winter.{REFERENCE}</p>", *HEDGED)
    (gap,) = of_kind(brief, "hedged")
    assert gap.text.startswith(f"Great Frost: {len(gap.claims)} claims are hedged (")
    assert len(gap.claims) >= 2
    assert all(brief.claims[one].hedges for one in gap.claims)
    assert "“may”" in gap.text
    assert "Much hedging, few references" in part(brief)


def test_hedged_claims_with_references_are_no_gap() -> None:
    """Where the sentences have references, hedging alone is no gap (R104)."""
    paragraphs = [f"<p>{sentence}{REFERENCE}</p>" for sentence in HEDGED]
    assert of_kind(hedging("The Great Frost was a winter.", *paragraphs), "hedged") == []


def test_a_book_without_references_shows_nothing_by_their_lack() -> None:
    """Where a book was made without any reference, that none stands beside a claim is no sign of doubt."""
    assert of_kind(hedging("The Great Frost was a winter.", *HEDGED), "hedged") == []


def test_plain_claims_are_no_gap() -> None:
    """What is said without hedging is no gap, whether it has references or not (R104)."""
    plain = "The Great Frost led to a revolt. The Great Frost was caused by ash. The Great Frost began in 1431."
    assert hedging(f"<p>The Great Frost was a winter.{REFERENCE}</p>", plain).gaps == ()


def test_some_and_many_do_not_make_a_claim_doubtful() -> None:
    """'Some' and 'many' say how much, not how sure: they make no gap."""
    loose = "Some towns were closed as a result of the Great Frost. Many mules died as a result of the Great Frost."
    assert of_kind(hedging(f"<p>The Great Frost was a winter.{REFERENCE}</p>", loose), "hedged") == []


@pytest.mark.parametrize("flavour", ["mini", "nodet"])
def test_a_book_of_introductions_is_told(flavour: str) -> None:
    """Where a book holds introductions only, the brief says first, and under the gaps, that this is none (R102, N9)."""
    whole = frost("A toll is a price.\n== Use ==\nIt was paid.")
    assert "introductions" not in markdown(report(whole.brief()))
    brief = whole.of_flavour(flavour).brief()
    assert brief.notes == ("“Memory” holds the introductions of its articles only.",)
    (gap,) = of_kind(brief, "introductions only")
    assert "“Memory” holds the introductions of its articles only" in gap.text
    assert f"flavour {flavour}" in markdown(report(brief)).partition("\n## ")[0]
    assert "no gap in knowledge" in part(brief)


@pytest.mark.parametrize("flavour", ["maxi", "nopic", ""])
def test_a_book_without_pictures_has_all_sections(flavour: str) -> None:
    """A book of another flavour lacks nothing that a gap could come from (N9)."""
    brief = frost("A toll is a price.\n== Use ==\nIt was paid.").of_flavour(flavour).brief()
    assert of_kind(brief, "introductions only") == []
    assert brief.notes == ()


def test_pages_that_the_book_lacks_are_told_apart() -> None:
    """Pages that were linked to in vain are named, the most wanted first, as missing from the book (R71, N9)."""
    found = frost("A toll is a price.\n== Use ==\nIt was paid.")
    brief = found.brief({"Ash": 1, "Mount Sorn": 4, "Olin Marr": 4})
    (gap,) = of_kind(brief, "missing page")
    assert "Mount Sorn (4), Olin Marr (4), Ash (1)" in gap.text
    text = part(brief)
    assert "### Pages that the book lacks\n\nThis is missing from the book; it is no gap in knowledge." in text
    assert of_kind(found.brief(), "missing page") == []


def test_no_more_than_a_few_missing_pages_are_named() -> None:
    """A book with many holes does not fill the brief with them."""
    found = frost("A toll is a price.\n== Use ==\nIt was paid.")
    (gap,) = of_kind(found.brief({f"Page {number}": number for number in range(1, 40)}), "missing page")
    assert "Page 39 (39)" in gap.text
    assert "Page 1 (1)" not in gap.text
    assert gap.text.count("(") < 20


def test_headings_of_like_pages_are_no_questions() -> None:
    """A heading that pages of the same kind share, and that the topic's page lacks, is no open question (R71)."""
    names = ("Grey", "White", "Black")
    links = " ".join(f"[[{name} Frost]]" for name in names)
    others = {
        f"{name} Frost": f"""
            The {name} Frost was a cold winter like the [[Great Frost]].
            == Harvests ==
            The {name} Frost led to a lack of corn in 1{number}00.
            categories: Frosts, Winters
        """
        for number, name in enumerate(names, start=2)
    }
    own = f"The Great Frost was a cold winter. See {links}.\ncategories: Frosts, Winters"
    brief = gathered({"Great Frost": own} | others, topic="Great Frost").brief()
    assert len(brief.sources.pages) == 4
    assert brief.gaps == ()


def test_what_a_page_calls_open_is_a_gap_unless_it_was_told() -> None:
    """A sentence about the topic that says that something is not known is open, as the page says it (R102)."""
    page = "The Great Frost was a winter.\n== Cause ==\nThe end of the Great Frost is still unclear. Mules died of it."
    found = gathered({"Great Frost": page}, topic="Great Frost")
    weights, said = found.weights, found.said()
    used = UsedClaims()

    def opened() -> list[str]:
        return [gap.text for gap in gaps(found.origin, said, found.claims, used, weights, {}) if gap.kind == "open"]

    assert opened() == ["The end of the Great Frost is still unclear."]
    used.add(claim for claim in found.claims if "unclear" in claim.text)
    assert opened() == []


def test_a_brief_without_gaps_says_so() -> None:
    """The part is there also when nothing is open (R102)."""
    assert "No open questions were found on the pages read." in part(
        gathered({"Great Frost": "The Great Frost was a winter.\n== Use ==\nNone."}, topic="Great Frost").brief()
    )
