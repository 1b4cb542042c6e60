"""From claims to a brief: a summary to trust, claims behind every statement, and the same bytes every time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.brief.briefs import bronze_age
from tests.brief.claim_gathering import GatheredClaims, gather_claims

from kiwiresearch.brief.brief import Brief, Statement, TimelineMoment, brief_record
from kiwiresearch.brief.composition import without_unused_claims
from kiwiresearch.brief.outline import SUMMARY_WORDS
from kiwiresearch.brief.parts import in_time_order
from kiwiresearch.brief.report import brief_document
from kiwiresearch.brief.report_html import report_page
from kiwiresearch.claims.claim import ClaimId
from kiwiresearch.claims.plain_claims import MAX_PLAIN_CHARS
from kiwiresearch.document.markdown import markdown
from kiwiresearch.errors import StatementWithoutClaims
from kiwiresearch.ids import canonical_json
from kiwiresearch.text.dates import dates_in

FROST = {
    "Great Frost": """
        The Great Frost was a cold winter that closed the roads of the north.
        The Great Frost began in November 1431 and ended in April 1432.
        == Ash ==
        The Great Frost was caused by clouds of ash from [[Mount Sorn]].
        Ash in the air led to two dim and wet summers.
        == Winds ==
        Olin Marr argues that a turn of the winds kept the snow.
        Critics reject the winds and believe that currents of the sea kept the snow.
        == Effects ==
        The Great Frost killed 3,000 mules on the [[Salt road]].
        The Great Frost led to a revolt of the drivers of [[Varn]].
        The Great Frost may have caused the fall of the [[Guild of carriers]].
        Bread was three times as dear in the Great Frost as in the year before.
    """,
    "Mount Sorn": """
        Mount Sorn is a volcano beyond the lakes.
        == Eruptions ==
        Thick clouds of ash from Mount Sorn caused the [[Great Frost]] in the hills.
    """,
    "Salt road": """
        The salt road is a way over the hills.
        == Mules ==
        The salt road lost 3,000 mules when the [[Great Frost]] came.
        The Great Frost of the hills killed 3,000 mules on the whole salt road in one month.
    """,
    "Varn": """
        Varn is a town on the coast.
        == Revolt ==
        The [[Great Frost]] led to a long revolt of the drivers of Varn in its old harbour.
        Varn has 12,000 inhabitants.
    """,
    "Guild of carriers": "The Guild of carriers was a company.\n== End ==\nIt fell after the [[Great Frost]].",
}

GOODS = (
    "bread", "salt", "wood", "wool", "fish", "hay", "oil", "wine", "meat", "corn", "flax", "iron", "coal", "tin",
    "milk", "lead", "silk", "wax", "rope", "honey", "cheese", "beer", "amber", "glass", "leather", "copper", "timber",
    "barley",
)  # fmt: skip


@pytest.fixture(scope="module")
def frost() -> GatheredClaims:
    return gather_claims(FROST, topic="Great Frost")


@pytest.fixture(scope="module")
def brief(frost: GatheredClaims) -> Brief:
    return frost.brief()


def test_the_summary_is_short_and_begins_with_the_topic(brief: Brief) -> None:
    """What the topic is comes first, more follows, and all of it is read in a minute (R95)."""
    assert brief.summary[0].text == "The Great Frost was a cold winter that closed the roads of the north."
    assert len(brief.summary) >= 4
    assert sum(len(statement.text.split()) for statement in brief.summary) <= SUMMARY_WORDS


def test_the_summary_follows_its_page(brief: Brief) -> None:
    """Statements are in the order in which the page says them, not by how many pages say them (R95)."""
    starts = [brief.claims[statement.claims[0]].quotes[0].start for statement in brief.summary]
    assert starts == sorted(starts)
    pages = [statement.pages for statement in brief.summary]
    assert pages[0] == 1
    assert max(pages) > 1


def test_the_summary_is_about_the_topic(brief: Brief) -> None:
    """Every statement is in the words of the topic's own page."""
    assert {brief.claims[statement.claims[0]].page_title for statement in brief.summary} == {"Great Frost"}


def test_a_statement_brings_the_other_pages_that_say_so(brief: Brief) -> None:
    """What several pages say is written in the words of the topic's page, with the others named after it."""
    (ash,) = [statement for statement in brief.summary if "ash" in statement.text]
    assert [brief.claims[one].page_title for one in ash.claims] == ["Great Frost", "Mount Sorn"]
    assert (ash.pages, ash.sureness) == (2, "supported")


def test_endless_sentences_are_left_out() -> None:
    """A sentence without an end is left out of the summary and of the parts."""
    lacks = ", ".join(f"a lack of {one} and of {two}" for one, two in zip(GOODS[::2], GOODS[1::2], strict=True))
    long = f"The Great Frost led to {lacks} in all towns of the whole northern coast and on all the islands."
    assert len(long) > MAX_PLAIN_CHARS
    short = "The Great Frost led to a revolt of the drivers."
    pages = {"Great Frost": "\n".join(("The Great Frost was a winter.", "== Effects ==", long, short))}
    found = gather_claims(pages, topic="Great Frost").brief()
    assert [statement.text for statement in found.summary] == ["The Great Frost was a winter.", short]
    assert long not in {statement.text for statement in found.statements()}


def test_a_page_that_says_little_gives_a_short_summary() -> None:
    """Nothing is made up to fill a summary."""
    text = "The Great Frost was a winter.\n== Causes ==\nThe Great Frost was caused by ash."
    found = gather_claims({"Great Frost": text}, topic="Great Frost").brief()
    rows = [statement.text for statement in found.summary]
    assert rows == ["The Great Frost was a winter.", "The Great Frost was caused by ash."]
    assert found.body == ()


def test_a_brief_says_how_its_topic_was_understood() -> None:
    """The topic, its aspect and other senses of the name are shown."""
    found = gather_claims(FROST, topic="effects of the Great Frost").brief()
    assert (found.topic, found.head, found.aspect) == ("effects of the Great Frost", "Great Frost", "effects")
    assert "**Understood as:** Great Frost › effects" in markdown(brief_document(found))
    senses = {
        "Frost (winter)": "Frost is a thin layer of ice.\n== Use ==\nNone.",
        "Frost (poet)": "Frost was a poet.\n== Use ==\nNone.",
    }
    meant = gather_claims(senses, topic="frost").brief()
    assert {meant.head, *meant.senses} == set(senses)
    assert f"**Other meanings:** {meant.senses[0]}" in markdown(brief_document(meant))


def test_a_book_that_says_nothing_gives_an_empty_brief() -> None:
    """Without claims there is a brief with its sources, and no statement."""
    found = gather_claims({"Great Frost": "Brrr!"}, topic="Great Frost").brief()
    assert found.statements() == []
    assert found.claims == {}
    assert [source.title for source in found.sources.pages] == ["Great Frost"]
    assert markdown(brief_document(found)).startswith("# Research Brief: Great Frost\n")


def test_a_statement_without_claims_cannot_be() -> None:
    """Nothing can say what no claim says: the value itself refuses (R138)."""
    with pytest.raises(StatementWithoutClaims, match=r"Nothing supports 'The Great Frost was warm\.'"):
        Statement("The Great Frost was warm.", (), "one source")


def test_a_brief_with_claims_that_nobody_made_cannot_be(brief: Brief) -> None:
    """A statement that rests on claims outside the run is refused, in any part of the brief (R138)."""
    stranger = bronze_age().summary[0]
    with pytest.raises(StatementWithoutClaims, match="is based on claims that do not exist"):
        replace(brief, summary=(*brief.summary, stranger))
    moment = TimelineMoment("1431", 2_244_000, 2_244_364, stranger)
    with pytest.raises(StatementWithoutClaims, match="is based on claims that do not exist"):
        replace(brief, timeline=(moment,))


def test_every_statement_rests_on_claims_of_the_run(frost: GatheredClaims, brief: Brief) -> None:
    """Each statement names claims that the pages of this run made, and says what one of them says (R138)."""
    made = {claim.id: claim for claim in frost.claims}
    assert len(brief.statements()) > len(brief.summary)
    for statement in brief.statements():
        assert statement.claims
        assert set(statement.claims) <= set(made)
        assert any(statement.text.rstrip(".") in made[one].text for one in statement.claims), statement.text
    assert all(set(gap.claims) <= set(made) for gap in brief.gaps)


def test_a_brief_carries_the_claims_it_needs(frost: GatheredClaims, brief: Brief) -> None:
    """All claims behind a statement or a gap are in the brief, and no others."""
    needed = {one for statement in brief.statements() for one in statement.claims}
    needed |= {one for gap in brief.gaps for one in gap.claims}
    assert set(brief.claims) == needed
    assert len(needed) < len(frost.claims)
    assert without_unused_claims(brief) == brief


def test_sureness_follows_from_support(brief: Brief) -> None:
    """One page is 'one source', hedged or disputed; several are 'supported' or better."""
    for statement in brief.statements():
        first = brief.claims[statement.claims[0]]
        if statement.sureness in ("supported", "well supported"):
            assert statement.pages > 1
        if statement.pages == 1 and first.type == "disputed":
            assert statement.sureness == "disputed"
    sure = {statement.text: statement.sureness for statement in brief.statements()}
    assert sure["The Great Frost may have caused the fall of the Guild of carriers."] == "hedged"
    assert sure["The Great Frost began in November 1431 and ended in April 1432."] == "one source"


def bytes_of(brief: Brief) -> str:
    return "\n".join((canonical_json(brief_record(brief)), markdown(brief_document(brief)), report_page(brief)))


@settings(max_examples=25)
@given(st.data())
def test_the_order_of_claims_changes_nothing(frost: GatheredClaims, brief: Brief, data: st.DataObject) -> None:
    """Whatever order the claims come in, brief, Markdown and HTML are the same bytes."""
    shuffled = replace(frost, claims=tuple(data.draw(st.permutations(frost.claims))))
    assert bytes_of(shuffled.brief()) == bytes_of(brief)


def test_the_report_has_its_bibliography(brief: Brief) -> None:
    """The report is structured in parts and ends with all visited pages (R72)."""
    listed = markdown(brief_document(brief)).partition("## Bibliography")[2].partition("\n## ")[0]
    entries = [line for line in listed.splitlines() if "[" in line]
    assert sorted(line.split("[")[1].split("]")[0] for line in entries) == sorted(
        source.title for source in brief.sources.pages
    )


def test_ages_of_the_earth_are_in_their_order() -> None:
    """What happened about 3 billion years ago comes after 3,400 million years ago, though it is vaguer."""
    statement = Statement("It happened.", (ClaimId("claim"),), "hedged")
    texts = ("1778", "about 3 billion years ago", "the 18th century", "3400 million years ago")
    dates = [dates_in(f"It happened in {text}.")[0].when for text in texts]
    moments = [
        TimelineMoment(text, when.earliest, when.latest, statement) for text, when in zip(texts, dates, strict=True)
    ]
    assert [moment.when for moment in in_time_order(moments)] == [texts[3], texts[1], texts[2], texts[0]]
