"""Claims by theme: definitions, timeline, mechanisms and key actors."""

from __future__ import annotations

import pytest
from tests.brief.claim_gathering import INTRODUCTION, GatheredClaims, gather_claims

from kiwiresearch.brief.brief import Brief, StatementGroup

FROST = {
    "Great Frost": f"""
        The Great Frost was a cold winter in the hills of the north.
        {INTRODUCTION}
        == History ==
        In November 1431, the Great Frost began with a storm from the lakes.
        In 1100 BC the first Great Frost was recorded at the temple of [[Mora]].
        By 320 BC an early Great Frost had been seen by the priests on the hill.
        In the 3rd century the Great Frost killed most of the vines.
        == Ash ==
        The Great Frost was caused by ash from [[Mount Sorn]].
        == Winds ==
        A change of the winds caused the snow of the Great Frost to stay for weeks.
        == Effects ==
        The Great Frost led to a revolt of poor drivers under [[Olin Marr]].
        High prices of bread caused the carriers of the coast to sell all mules.
        [[Olin Marr]] became the leader of the revolt in 1433. [[Lind and Sons]] was closed in 1432 for lack of mules.
    """,
    "Olin Marr": """
        Olin Marr was a leader of the drivers of [[Varn]].
        == Life ==
        Olin Marr was born in 1400.
    """,
    "Mount Sorn": """
        Mount Sorn is a volcano beyond the lakes.
        == Eruptions ==
        Ash of this kind caused red evenings for a year, as the [[Great Frost]] did later.
        The Great Frost was made worse by red dust, which led to a lack of light.
    """,
    "Lind and Sons": "Lind and Sons was a company of [[Varn]].\n== End ==\nIt had a house.",
    "Mora": "Mora is a city on an island.\n== Use ==\nThe [[Great Frost]] reached its harbour.",
    "Varn": "Varn is a town on the coast.\n== Trade ==\nThe [[Great Frost]] closed it. Varn was founded in 900 BC.",
}


@pytest.fixture(scope="module")
def frost() -> GatheredClaims:
    return gather_claims(FROST, topic="Great Frost")


@pytest.fixture(scope="module")
def brief(frost: GatheredClaims) -> Brief:
    return frost.brief()


def texts_by_heading(groups: tuple[StatementGroup, ...]) -> dict[str, list[str]]:
    return {group.heading: [statement.text for statement in group.statements] for group in groups}


def test_claims_are_grouped_by_theme(brief: Brief) -> None:
    """What a thing is, what happened when, what explains it and who acted are separate (R67, R68)."""
    assert texts_by_heading(brief.definitions) == {"Mount Sorn": ["Mount Sorn is a volcano beyond the lakes."]}
    assert texts_by_heading(brief.mechanisms)["Ash"] == ["The Great Frost was caused by ash from Mount Sorn."]
    assert "In November 1431" in [moment.statement.text[:16] for moment in brief.timeline]
    assert set(texts_by_heading(brief.actors)) == {"Olin Marr", "Lind and Sons"}
    types = {claim.id: (claim.type, *claim.also) for claim in brief.claims.values()}
    for kind, groups in (("definition", brief.definitions), ("causal", brief.mechanisms)):
        assert all(kind in types[one.claims[0]] for group in groups for one in group.statements)
    assert all("timeline" in types[moment.statement.claims[0]] for moment in brief.timeline)


def test_terms_are_defined_that_the_text_uses(brief: Brief) -> None:
    """A page gives a definition if the text of the brief links to it; what was shown is not repeated (R96)."""
    found = texts_by_heading(brief.definitions)
    assert "Great Frost" not in found
    pages = FROST | {"Great Frost": FROST["Great Frost"].replace("ash from [[Mount Sorn]]", "ash from a volcano")}
    pages["Great Frost"] += "\n== See also ==\n* [[Mount Sorn]]"
    unused = gather_claims(pages, topic="Great Frost").brief()
    assert "Mount Sorn" in {page.title for page in unused.sources.pages}
    assert texts_by_heading(unused.definitions) == {}


def test_the_most_used_term_is_defined_first() -> None:
    """Terms are ordered by how often the text names them (R96)."""
    pages = dict(FROST)
    pages["Great Frost"] += "Many carts of the [[Salt guild]] were lost. The rich [[Salt guild]] sold its old mills."
    pages["Salt guild"] = "A salt guild is a group of carriers.\n== Use ==\nThe [[Great Frost]] ended it."
    found = texts_by_heading(gather_claims(pages, topic="Great Frost").brief().definitions)
    assert list(found) == ["Salt guild", "Mount Sorn"]
    assert all(len(texts) == 1 for texts in found.values())


def test_a_place_is_not_a_term(brief: Brief) -> None:
    """A city that the text names needs no definition, nor does a person: those are key actors."""
    assert any("Mora" in brief.claims[moment.statement.claims[0]].names for moment in brief.timeline)
    assert not {"Mora", "Olin Marr"} & set(texts_by_heading(brief.definitions))


def test_a_definition_in_passing_is_none() -> None:
    """What a page says of something else, or further down, is not a definition of its subject."""
    pages = dict(FROST)
    pages["Mount Sorn"] = (
        "Salt is a mineral that people eat.\n== Names ==\nMount Sorn is a name of the [[Great Frost]]."
    )
    assert texts_by_heading(gather_claims(pages, topic="Great Frost").brief().definitions) == {}


def test_a_title_with_a_note_in_brackets_is_defined() -> None:
    """A page named 'Rime (ice)' defines 'Rime'."""
    pages = dict(FROST)
    pages["Great Frost"] += "\nAll bridges of the north were white with [[Rime (ice)]] for weeks."
    pages["Great Frost"] += " The weight of the rime broke many ropes of the ferries."
    pages["Rime (ice)"] = "Rime is a thin layer of ice on grass.\n== Use ==\nNone."
    found = texts_by_heading(gather_claims(pages, topic="Great Frost").brief().definitions)
    assert found["Rime"] == ["Rime is a thin layer of ice on grass."]


def test_a_thing_named_in_passing_is_not_a_term() -> None:
    """What the topic's page names once, and whose own page does not name the topic, is not defined."""
    pages = dict(FROST)
    pages["Great Frost"] += "Many carts of the [[Salt guild]] were lost."
    pages["Salt guild"] = "A salt guild is a group of carriers.\n== Use ==\nNone."
    assert "Salt guild" not in texts_by_heading(gather_claims(pages, topic="Great Frost").brief().definitions)
    pages["Salt guild"] += "\nThe [[Great Frost]] ended the trade of its towns."
    assert "Salt guild" in texts_by_heading(gather_claims(pages, topic="Great Frost").brief().definitions)


def test_the_timeline_is_in_the_order_of_time(brief: Brief) -> None:
    """Years BC come first and run towards the year 1, then centuries and months of our time (R97)."""
    found = [moment.when for moment in brief.timeline]
    assert found == ["1100 BC", "By 320 BC", "3rd century", "November 1431"]
    days = [(moment.earliest, moment.latest) for moment in brief.timeline]
    assert days == sorted(days)
    assert all(first <= last for first, last in days)


def test_a_moment_says_what_happened(brief: Brief) -> None:
    """Each moment has the statement that dates it, word for word."""
    first = brief.timeline[0]
    assert first.statement.text == "In 1100 BC the first Great Frost was recorded at the temple of Mora."
    assert [brief.claims[one].text for one in first.statement.claims] == [first.statement.text]


def test_a_sentence_that_starts_with_its_date_is_in_the_timeline(brief: Brief) -> None:
    """A sentence that names its date later on is running text first, and is not repeated (R97)."""
    (effects,) = brief.body
    assert effects.heading == "Effects"
    assert "Olin Marr became the leader of the revolt in 1433." in [one.text for one in effects.statements]
    assert "1433" not in [moment.when for moment in brief.timeline]


def test_other_dates_fill_the_timeline_up() -> None:
    """A dated sentence that the running text leaves out is in the timeline, wherever its date is (R97)."""
    pages = dict(FROST)
    pages["Great Frost"] += "\n== End ==\nThe Great Frost ended in April 1432."
    found = gather_claims(pages, topic="Great Frost").brief()
    assert [moment.when for moment in found.timeline][-2:] == ["November 1431", "April 1432"]


@pytest.mark.parametrize(
    ("sentence", "is_moment"),
    [
        ("The ages of the frozen logs are the oldest in the valley at about 1300.", False),
        ("The Great Frost is a name for the bad years until 1436.", False),
        ("The Great Frost is the one that the priests recorded in 1437.", True),
        ("The Great Frost is thought to have returned in 1438.", True),
    ],
)
def test_what_something_is_is_no_moment(sentence: str, *, is_moment: bool) -> None:
    """From other pages, the timeline has events, not a sentence with a date that says what something is (R97)."""
    pages = dict(FROST)
    pages["Mora"] += f"\n== End ==\n{sentence}"
    found = gather_claims(pages, topic="Great Frost").brief()
    assert (sentence in [moment.statement.text for moment in found.timeline]) is is_moment


def test_dates_of_other_things_are_left_out(brief: Brief) -> None:
    """What happened to a related page's subject and has nothing to do with the topic is not in the timeline."""
    assert not [moment for moment in brief.timeline if "Varn was founded" in moment.statement.text]


def test_the_same_moment_is_shown_once() -> None:
    """Two pages that report the same day in nearly the same words are one line of the timeline."""
    found = gather_claims(
        {
            "Great Frost": f"{INTRODUCTION}\n== Course ==\nIn 1432 the [[Harbour]] froze in the Great Frost.",
            "Harbour": "A harbour is a port.\n== History ==\nIn 1432 the whole harbour froze in the [[Great Frost]].",
        },
        topic="Great Frost",
    )
    assert len([claim for claim in found.claims if claim.dates]) == 2
    assert [moment.when for moment in found.brief().timeline] == ["1432"]


def test_mechanisms_are_grouped_by_theory(brief: Brief) -> None:
    """Explanations are under the headings of their pages, not under the topic's own name, each of them once (R98)."""
    found = texts_by_heading(brief.mechanisms)
    assert found == {
        "Ash": ["The Great Frost was caused by ash from Mount Sorn."],
        "Eruptions": ["The Great Frost was made worse by red dust, which led to a lack of light."],
        "Winds": ["A change of the winds caused the snow of the Great Frost to stay for weeks."],
    }


def test_what_explains_something_else_is_no_mechanism() -> None:
    """A cause on another page that neither names the topic nor is like its introduction is left out (R98)."""
    pages = dict(FROST)
    pages["Mount Sorn"] = pages["Mount Sorn"].replace("The Great Frost was made worse", "The price of maps was raised")
    assert "Eruptions" not in texts_by_heading(gather_claims(pages, topic="Great Frost").brief().mechanisms)


def test_explanations_of_the_running_text_are_not_repeated(brief: Brief) -> None:
    """What a part of the findings explains is not repeated as a mechanism."""
    (effects,) = brief.body
    causal = [one.text for one in effects.statements if brief.claims[one.claims[0]].type == "causal"]
    assert len(causal) == 2
    assert not set(causal) & {text for texts in texts_by_heading(brief.mechanisms).values() for text in texts}


def test_explanations_without_headings_are_under_their_page() -> None:
    """An explanation in the introduction of another page is under that page's title."""
    pages = dict(FROST)
    pages["Mount Sorn"] = "Mount Sorn is a volcano. Its red dust led to the long darkness of the [[Great Frost]]."
    found = texts_by_heading(gather_claims(pages, topic="Great Frost").brief().mechanisms)
    assert set(found) == {"Ash", "Winds", "Mount Sorn"}


def test_actors_are_people_and_bodies(brief: Brief) -> None:
    """Key actors are those whom the text names and pages define as people or bodies, the most named first."""
    assert texts_by_heading(brief.actors) == {
        "Olin Marr": ["Olin Marr was a leader of the drivers of Varn."],
        "Lind and Sons": ["Lind and Sons was a company of Varn."],
    }
    assert list(texts_by_heading(brief.actors)) == ["Olin Marr", "Lind and Sons"]


def test_somebody_without_a_part_is_not_an_actor() -> None:
    """A person whose page was read, but of whom nothing is said that touches the topic, is left out."""
    pages = dict(FROST)
    pages["Ebba Lind"] = "Ebba Lind was a poet.\n== Life ==\nEbba Lind wrote 40 poems about ships."
    pages["Great Frost"] += "\n== See also ==\n* [[Ebba Lind]]"
    found = gather_claims(pages, topic="Great Frost").brief()
    assert "Ebba Lind" in {page.title for page in found.sources.pages}
    assert set(texts_by_heading(found.actors)) == {"Olin Marr", "Lind and Sons"}


def test_nothing_said_gives_no_themes() -> None:
    """Pages that say nothing that could be claimed give empty themes."""
    found = gather_claims({"Great Frost": "Brrr!\n== More ==\nAnd brrr!"}, topic="Great Frost").brief()
    assert (found.definitions, found.timeline, found.mechanisms, found.actors) == ((), (), (), ())
