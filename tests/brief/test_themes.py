"""Claims by theme: definitions, timeline, mechanisms and key actors."""

from __future__ import annotations

import pytest
from tests.brief.gathered import Gathered, gathered

from kiwiresearch.brief.brief import Brief, Group

FROST = {
    "Great Frost": """
        The Great Frost was a cold winter in the hills of the north.
        == History ==
        The first Great Frost was recorded in 1100 BC at the temple of [[Mora]].
        The Great Frost began in November 1431 and ended in April 1432.
        An early Great Frost was seen in 320 BC by the priests on the hill.
        The Great Frost of the 3rd century killed most of the vines.
        == Ash ==
        The Great Frost was caused by ash from [[Mount Sorn]].
        Clouds of fine dust led to two dim and wet summers.
        == Winds ==
        A change of the winds caused the snow to stay for weeks.
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
    """,
    "Lind and Sons": "Lind and Sons was a company of [[Varn]].\n== End ==\nIt had a house.",
    "Varn": "Varn is a town on the coast.\n== Trade ==\nThe [[Great Frost]] closed it. Varn was founded in 900 BC.",
}


@pytest.fixture(scope="module")
def frost() -> Gathered:
    return gathered(FROST, topic="Great Frost")


@pytest.fixture(scope="module")
def brief(frost: Gathered) -> Brief:
    return frost.brief()


def told(groups: tuple[Group, ...]) -> dict[str, list[str]]:
    return {group.heading: [statement.text for statement in group.statements] for group in groups}


def test_claims_are_grouped_by_theme(brief: Brief) -> None:
    """What a thing is, what happened when, what explains it and who acted stand apart (R67, R68)."""
    assert told(brief.definitions)["Great Frost"] == ["The Great Frost was a cold winter in the hills of the north."]
    assert "The Great Frost was caused by ash from Mount Sorn." in told(brief.mechanisms)["Ash"]
    assert "November 1431" in [moment.when for moment in brief.timeline]
    assert set(told(brief.actors)) == {"Olin Marr", "Lind and Sons"}
    types = {claim.id: (claim.type, *claim.also) for claim in brief.claims.values()}
    for kind, groups in (("definition", brief.definitions), ("causal", brief.mechanisms)):
        assert all(kind in types[one.claims[0]] for group in groups for one in group.statements)
    assert all("timeline" in types[moment.statement.claims[0]] for moment in brief.timeline)


def test_the_definition_of_the_topic_comes_first(brief: Brief) -> None:
    """Pages that the topic's own speaks of give one definition each; that of the topic itself is the first (R96)."""
    found = told(brief.definitions)
    assert next(iter(found)) == "Great Frost"
    assert set(found) >= {"Great Frost", "Olin Marr", "Mount Sorn", "Lind and Sons"}
    assert all(len(texts) == 1 for texts in found.values())


def test_a_definition_in_passing_is_none(frost: Gathered) -> None:
    """What a page says of something else, or further down, is no definition of its subject."""
    pages = dict(FROST)
    pages["Varn"] = "Salt is a mineral that people eat.\n== Names ==\nVarn is a name of the [[Great Frost]]."
    found = told(gathered(pages, topic="Great Frost").brief().definitions)
    assert "Great Frost" in found
    assert not {"Salt", "Varn"} & set(found)


def test_a_title_with_a_note_in_brackets_is_defined() -> None:
    """A page named 'Frost (winter)' defines 'Frost'."""
    found = gathered({"Frost (winter)": "Frost is a thin layer of ice on grass.\n== Use ==\nNone."}, topic="frost")
    assert told(found.brief().definitions) == {"Frost": ["Frost is a thin layer of ice on grass."]}


def test_the_timeline_is_in_the_order_of_time(brief: Brief) -> None:
    """Years BC come first and run towards the year 1, then centuries and months of our time (R97)."""
    found = [moment.when for moment in brief.timeline]
    assert found == ["1100 BC", "320 BC", "3rd century", "November 1431", "1432", "1433"]
    days = [(moment.earliest, moment.latest) for moment in brief.timeline]
    assert days == sorted(days)
    assert all(first <= last for first, last in days)


def test_a_moment_says_what_happened(brief: Brief) -> None:
    """Each moment has the statement that dates it, word for word."""
    first = brief.timeline[0]
    assert first.statement.text == "The first Great Frost was recorded in 1100 BC at the temple of Mora."
    assert [brief.claims[one].text for one in first.statement.claims] == [first.statement.text]


def test_dates_of_other_things_are_left_out(brief: Brief) -> None:
    """What happened to a related page's subject and has nothing to do with the topic is not in the timeline."""
    assert not [moment for moment in brief.timeline if "Varn was founded" in moment.statement.text]


def test_the_same_moment_is_told_once() -> None:
    """Two pages that tell of the same day in nearly the same words are one line of the timeline."""
    found = gathered(
        {
            "Great Frost": "It was a winter.\n== Course ==\nThe [[Harbour]] froze in the Great Frost in 1432.",
            "Harbour": "A harbour is a port.\n== History ==\nIn 1432 the whole harbour froze in the [[Great Frost]].",
        },
        topic="Great Frost",
    ).brief()
    assert [moment.when for moment in found.timeline] == ["1432"]


def test_mechanisms_are_grouped_by_theory(brief: Brief) -> None:
    """Explanations stand under what explains, not under the topic's own name, and each of them once (R98)."""
    found = told(brief.mechanisms)
    assert found["Ash"][0] == "The Great Frost was caused by ash from Mount Sorn."
    assert found["Winds"] == ["A change of the winds caused the snow to stay for weeks."]
    assert "Great Frost" not in found
    texts = [text for group in found.values() for text in group]
    assert len(texts) == len(set(texts))


def test_effects_are_no_theory(brief: Brief) -> None:
    """A heading that names no explanation is none: what stands below it comes under the others, at the end."""
    found = told(brief.mechanisms)
    assert "Effects" not in found
    assert list(found)[-1] == "Other explanations"
    assert "The Great Frost led to a revolt of poor drivers under Olin Marr." in found["Other explanations"]


def test_explanations_without_headings_are_grouped_by_what_they_name() -> None:
    """Where the sections do not tell theories apart, the name that explanations share does."""
    found = gathered(
        {
            "Great Frost": """
                The Great Frost was a cold winter.
                == Causes ==
                The Great Frost was caused by ash from [[Mount Sorn]].
                An eruption of [[Mount Sorn]] led to two dim and wet summers.
                A strong wind caused the snow to stay on the fields.
            """,
            "Mount Sorn": "Mount Sorn is a volcano beyond the lakes.\n== Height ==\nIt is a high one.",
        },
        topic="Great Frost",
    )
    groups = told(found.brief().mechanisms)
    assert list(groups) == ["Mount Sorn", "Other explanations"]
    assert len(groups["Mount Sorn"]) == 2
    assert groups["Other explanations"] == ["A strong wind caused the snow to stay on the fields."]


def test_actors_are_people_and_bodies(brief: Brief) -> None:
    """Key actors are those whom pages define as people or bodies, each with what ties them to the topic."""
    found = told(brief.actors)
    assert found["Olin Marr"] == [
        "Olin Marr was a leader of the drivers of Varn.",
        "Olin Marr became the leader of the revolt in 1433.",
    ]
    assert found["Lind and Sons"][0] == "Lind and Sons was a company of Varn."
    assert not {"Varn", "Mount Sorn", "Great Frost"} & set(found)


def test_somebody_without_a_part_is_no_actor() -> None:
    """A person whose page was read, but of whom nothing is said that touches the topic, is left out."""
    pages = dict(FROST)
    pages["Ebba Lind"] = "Ebba Lind was a poet.\n== Life ==\nEbba Lind wrote 40 poems about ships."
    pages["Great Frost"] += "\n== See also ==\n* [[Ebba Lind]]"
    found = gathered(pages, topic="Great Frost").brief()
    assert "Ebba Lind" in {page.title for page in found.sources.pages}
    assert set(told(found.actors)) == {"Olin Marr", "Lind and Sons"}


def test_nothing_said_gives_no_themes() -> None:
    """Pages that say nothing that could be claimed give empty themes."""
    found = gathered({"Great Frost": "Brrr!\n== More ==\nAnd brrr!"}, topic="Great Frost").brief()
    assert (found.definitions, found.timeline, found.mechanisms, found.actors) == ((), (), (), ())
