"""What the book leaves open, distinguished from what this book merely does not have."""

from __future__ import annotations

import pytest
from tests.brief.claim_gathering import GatheredClaims, gather_claims

from kiwiresearch.brief.brief import Brief, Gap
from kiwiresearch.brief.parts import gaps
from kiwiresearch.brief.passages import UsedClaims
from kiwiresearch.brief.report import brief_document
from kiwiresearch.document.markdown import markdown

REFERENCE = '<sup class="reference"><a href="#cite_note-1">[1]</a></sup>'
GAPS = "What Wikipedia Doesn’t Settle Yet"


def of_kind(brief: Brief, kind: str) -> list[Gap]:
    return [gap for gap in brief.gaps if gap.kind == kind]


def part(brief: Brief) -> str:
    return markdown(brief_document(brief)).partition(f"## {GAPS}")[2].partition("\n## ")[0]


TOWNS = ("Varn", "Lund", "Mora", "Sorn")


def frost(toll: str) -> GatheredClaims:
    """A page on the Great Frost and four towns that all link to a page on tolls."""
    towns = {
        town: f"{town} is a town that paid the [[Toll]] in the [[Great Frost]].\n== Trade ==\nThe [[Toll]] was paid."
        for town in TOWNS
    }
    links = " and ".join(f"[[{town}]]" for town in TOWNS)
    lead = f"The Great Frost was a cold winter in {links}, when the [[Toll]] was high."
    course = "The Great Frost began in 1431. The Great Frost killed 3,000 mules. The Great Frost was caused by ash."
    pages = {"Great Frost": f"{lead}\n== Course ==\n{course}", "Toll": toll}
    return gather_claims(pages | towns, topic="Great Frost")


def test_a_central_concept_of_which_little_is_said_is_a_gap() -> None:
    """A page that most others link to, and of which next to nothing is claimed, is named with the count (R71, R103)."""
    thin = frost("So it was with the toll of the Great Frost.\n== Use ==\nMuch could be told.").brief()
    (gap,) = of_kind(thin, "concept")
    assert gap.text.startswith("Toll: 5 of the pages read link to it")
    assert "Central concepts with little information" in part(thin)


def test_a_concept_of_which_much_is_said_is_none() -> None:
    """With claims about it, the same page is not a gap (R103)."""
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
    return gather_claims({"Great Frost": "\n".join((lead, "== Causes ==", *sentences))}, topic="Great Frost").brief()


def test_much_hedging_without_references_is_a_gap() -> None:
    """Hedged claims with no reference beside them are counted, with the words that hedge them (R71, R104)."""
    brief = hedging(f"<p>The Great Frost was a winter.{REFERENCE}</p>", *HEDGED)
    (gap,) = of_kind(brief, "hedged")
    assert gap.text.startswith(f"Great Frost: {len(gap.claims)} claims are hedged (")
    assert len(gap.claims) >= 2
    assert all(brief.claims[one].hedges for one in gap.claims)
    assert "“may”" in gap.text
    assert "Uncertain statements without references" in part(brief)


def test_hedged_claims_with_references_are_not_a_gap() -> None:
    """If the sentences have references, hedging alone is not a gap (R104)."""
    paragraphs = [f"<p>{sentence}{REFERENCE}</p>" for sentence in HEDGED]
    assert of_kind(hedging("The Great Frost was a winter.", *paragraphs), "hedged") == []


def test_a_book_without_references_shows_nothing_by_their_lack() -> None:
    """In a book without any references, a claim without one does not mean doubt."""
    assert of_kind(hedging("The Great Frost was a winter.", *HEDGED), "hedged") == []


def test_plain_claims_are_not_a_gap() -> None:
    """What is said without hedging is not a gap, whether it has references or not (R104)."""
    plain = "The Great Frost led to a revolt. The Great Frost was caused by ash. The Great Frost began in 1431."
    assert hedging(f"<p>The Great Frost was a winter.{REFERENCE}</p>", plain).gaps == ()


def test_some_and_many_do_not_make_a_claim_doubtful() -> None:
    """'Some' and 'many' say how much, not how sure: they make no gap."""
    loose = "Some towns were closed as a result of the Great Frost. Many mules died as a result of the Great Frost."
    assert of_kind(hedging(f"<p>The Great Frost was a winter.{REFERENCE}</p>", loose), "hedged") == []


@pytest.mark.parametrize("flavour", ["mini", "nodet"])
def test_a_book_of_introductions_is_reported(flavour: str) -> None:
    """If a book has only introductions, the brief says first, and under the gaps, that this is not a gap (R102, N9)."""
    whole = frost("A toll is a price.\n== Use ==\nIt was paid.")
    assert "introductions" not in markdown(brief_document(whole.brief()))
    brief = whole.of_flavour(flavour).brief()
    assert brief.notes == ("“Memory” contains only the introductions of its articles.",)
    (gap,) = of_kind(brief, "introductions only")
    assert "“Memory” contains only the introductions of its articles" in gap.text
    assert f"flavour {flavour}" in markdown(brief_document(brief)).partition("\n## ")[0]
    assert "not mean that nothing is known" in part(brief)


@pytest.mark.parametrize("flavour", ["maxi", "nopic", ""])
def test_a_book_without_pictures_has_all_sections(flavour: str) -> None:
    """A book of another flavour lacks nothing that a gap could come from (N9)."""
    brief = frost("A toll is a price.\n== Use ==\nIt was paid.").of_flavour(flavour).brief()
    assert of_kind(brief, "introductions only") == []
    assert brief.notes == ()


def test_pages_that_the_book_lacks_are_distinguished() -> None:
    """Pages that were linked to in vain are named, the most wanted first, as missing from the book (R71, N9)."""
    found = frost("A toll is a price.\n== Use ==\nIt was paid.")
    brief = found.brief({"Ash": 1, "Mount Sorn": 4, "Olin Marr": 4})
    (gap,) = of_kind(brief, "missing page")
    assert "Mount Sorn (4), Olin Marr (4), Ash (1)" in gap.text
    text = part(brief)
    note = "This is missing from the book. It does not mean that nothing is known about it."
    assert f"### Pages missing from the book\n\n{note}" in text
    assert of_kind(found.brief(), "missing page") == []


def test_no_more_than_a_few_missing_pages_are_named() -> None:
    """A book with many holes does not fill the brief with them."""
    found = frost("A toll is a price.\n== Use ==\nIt was paid.")
    (gap,) = of_kind(found.brief({f"Page {number}": number for number in range(1, 40)}), "missing page")
    assert "Page 39 (39)" in gap.text
    assert "Page 1 (1)" not in gap.text
    assert gap.text.count("(") < 20


def test_headings_of_like_pages_are_not_questions() -> None:
    """A heading that pages of the same kind share, and that the topic's page lacks, is not an open question (R71)."""
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
    brief = gather_claims({"Great Frost": own} | others, topic="Great Frost").brief()
    assert len(brief.sources.pages) == 4
    assert brief.gaps == ()


def test_an_open_question_of_a_page_is_a_gap_unless_it_was_shown() -> None:
    """A sentence about the topic that says that something is not known is open, as the page says it (R102)."""
    page = "The Great Frost was a winter.\n== Cause ==\nThe end of the Great Frost is still unclear. Mules died of it."
    found = gather_claims({"Great Frost": page}, topic="Great Frost")
    weights, output = found.weights, found.said()
    used = UsedClaims()

    def opened() -> list[str]:
        return [gap.text for gap in gaps(found.origin, output, found.claims, used, weights, {}) if gap.kind == "open"]

    assert opened() == ["The end of the Great Frost is still unclear."]
    used.add(claim for claim in found.claims if "unclear" in claim.text)
    assert opened() == []


def test_a_brief_without_gaps_says_so() -> None:
    """The part is there also when nothing is open (R102)."""
    assert "No open questions or gaps were found." in part(
        gather_claims({"Great Frost": "The Great Frost was a winter.\n== Use ==\nNone."}, topic="Great Frost").brief()
    )
