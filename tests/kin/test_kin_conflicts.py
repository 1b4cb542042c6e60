"""Values that cannot both be right are found and ranked; what only looks different is not a conflict."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest
from tests.llm.scripted import ScriptedModel

from kiwiresearch.codec import plain
from kiwiresearch.kin.conflict import Conflict, find_tree_conflicts
from kiwiresearch.kin.conflict_by_model import Analysis, reorder_values, review_conflicts
from kiwiresearch.kin.conflict_values import compare_values
from kiwiresearch.kin.tree import Evidence, Fact, FieldName, Person, Relationship, Source, Tree
from kiwiresearch.messages.catalogue import catalogue_in
from kiwiresearch.messages.message import Message, render
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateRange

WIKI = Source("wiki", "zim://book/Page", "Wikipedia", origin_group="wikipedia")
DATA = Source("data", "https://example.org/Q1", "Wikidata", tier=1, origin_group="wikipedia")
REGISTER = Source(
    "register", "https://example.org/1", "Parish register", tier=1, form="original", official=True,
    user_contributed=False, origin_group="register",
)  # fmt: skip
TOMB = Source("tomb", "https://example.org/2", "Tombs", tier=1, form="derivative", origin_group="tombs")
SOURCES = {one.id: one for one in (WIKI, DATA, REGISTER, TOMB)}


def a_date(text: str) -> DateRange:
    return dates_in(text)[0].when


def a_fact(field: FieldName, value: str, source: Source = WIKI, **changes: object) -> Fact:
    is_record = source is REGISTER
    evidence = Evidence(
        f"{source.id}-{value}",
        source.id,
        value,
        method=str(changes.pop("method", "infobox")),  # type: ignore[arg-type]
        reliability=0.85 if is_record else 0.6,
        information="primary" if is_record else "undetermined",
    )
    when = a_date(value) if field.endswith("_date") else None
    return Fact(f"{field}-{source.id}-{value}", "p", field, value, when, evidence=(evidence,), **changes)  # type: ignore[arg-type]


def a_tree(*facts: Fact, **person: object) -> Tree:
    one = Person("p", "John Smith", living="deceased", **person)  # type: ignore[arg-type]
    return Tree({"p": one}, facts=facts, sources=SOURCES)


def the_conflict(*facts: Fact, **person: object) -> Conflict:
    (found,) = find_tree_conflicts(a_tree(*facts, **person))
    return found


@pytest.mark.parametrize(
    ("field", "one", "other", "expected"),
    [
        ("birth_date", "24 May 1819", "24 May 1819", "identical"),
        ("birth_date", "24 May 1819", "1819", "subsumed"),
        ("birth_date", "c. 1820", "1819", "subsumed"),
        ("birth_date", "23 April 1564", "3 May 1564", "calendar"),
        ("birth_date", "11 February 1731", "22 February 1732", "calendar"),
        ("birth_date", "before 1300", "1290", "subsumed"),
        ("birth_date", "24 May 1819", "25 May 1819", "conflict"),
        ("birth_date", "1889", "1890", "conflict"),
        ("birth_date", "some day", "1890", "incomparable"),
        ("birth_place", "Kensington Palace, London", "London", "subsumed"),
        ("birth_place", "London", "Kensington, London, England", "subsumed"),
        ("birth_place", "Westminister", "Westminster", "variant"),
        ("birth_place", "Windsor", "England", "incomparable"),
        ("birth_place", "Windsor", "Dublin", "conflict"),
        ("birth_place", "Windsor, England", "Scotland", "conflict"),
        ("father", "Henry VII of England", "King Henry VII", "variant"),
        ("father", "Henry VII", "Henry VIII", "conflict"),
        ("father", "William Shakespeare", "John Marlowe", "conflict"),
        ("sex", "male", "female", "conflict"),
    ],
)
def test_only_values_that_exclude_each_other_are_a_conflict(
    field: FieldName, one: str, other: str, expected: str
) -> None:
    """Precision, calendar, width of a place and spelling are distinguished from a real difference, in either order."""
    assert compare_values(field, one, other) == expected
    assert compare_values(field, other, one) == expected


def test_agreeing_facts_are_not_a_conflict() -> None:
    """A year, the day in it, and the same day in the other calendar agree."""
    facts = [a_fact("birth_date", "23 April 1564"), a_fact("birth_date", "3 May 1564", DATA)]
    assert find_tree_conflicts(a_tree(*facts, a_fact("birth_date", "1564", TOMB))) == ()


def test_names_wives_and_children_may_be_many() -> None:
    """What people can have several of never competes."""
    facts = [a_fact("name", "Maria"), a_fact("name", "Mary", DATA), a_fact("spouse", "A B"), a_fact("spouse", "C D")]
    assert find_tree_conflicts(a_tree(*facts)) == ()


def married(*facts: Fact, wives: str = "w") -> Tree:
    """A man with those facts and wives."""
    persons = {one: Person(one, f"Person {one}", living="deceased") for one in ("p", *wives)}
    ties = tuple(Relationship(one, "spouse_of", "p", one) for one in wives)
    return Tree(persons, ties, facts, SOURCES)


def test_a_marriage_has_one_date_and_one_place() -> None:
    """Two dates or places of the only marriage of somebody compete, with what would settle it (R357, R403)."""
    dates = (a_fact("marriage_date", "3 May 1850"), a_fact("marriage_date", "3 May 1851", TOMB))
    places = (a_fact("marriage_place", "Leeds"), a_fact("marriage_place", "Hull", TOMB))
    found = find_tree_conflicts(married(*dates, *places))
    assert [one.field for one in found] == ["marriage_date", "marriage_place"]
    assert found[0].next_actions[0] == "Look for the civil marriage registration."
    assert find_tree_conflicts(married(*dates, *places, wives="vw")) == ()


def test_a_civil_and_a_church_wedding_are_not_a_conflict() -> None:
    """Days apart are two ceremonies of one marriage; another calendar is not a conflict either."""
    assert (
        find_tree_conflicts(married(a_fact("marriage_date", "3 May 1850"), a_fact("marriage_date", "5 May 1850", DATA)))
        == ()
    )
    assert compare_values("marriage_date", "23 April 1564", "3 May 1564") == "calendar"


def test_dates_are_shown_as_words() -> None:
    """A reader sees dates as they are written, whatever form the store has them in."""
    facts = [
        replace(a_fact("birth_date", words), value=stored)
        for words, stored in (("11 January 1757", "1757-01-11"), ("11 January 1755", "1755-01-11"))
    ]
    found = the_conflict(*facts)
    assert {one.value for one in found.values} == {"11 January 1757", "11 January 1755"}
    assert "1757-01-11" not in str(found.record())


def test_a_father_of_more_than_sixty_is_too_old_here_as_everywhere() -> None:
    """A birth that makes a parent older than sixty loses against one that does not (C7)."""
    facts = (a_fact("birth_date", "1765", REGISTER), a_fact("birth_date", "1759"))
    persons = {"p": Person("p", "X"), "f": Person("f", "Y", sex="male", birth=a_date("1700"))}
    tree = Tree(persons, (Relationship("1", "parent_of", "f", "p"),), facts, SOURCES)
    (found,) = find_tree_conflicts(tree)
    assert found.recommended_value == "1759"
    assert "the parent “Y” (born 1700)" in found.values[1].problem


def test_a_conflict_has_all_fields_of_its_contract() -> None:
    """Id, field, values with tier and confidence, ranking, recommendation, reasons and next steps (R357, R358, R359,
    R360, R361, R406).
    """
    found = plain(the_conflict(a_fact("birth_date", "1889"), a_fact("birth_date", "1890", REGISTER)).record())
    assert found["field"] == "birth_date"
    assert found["competing_assertions"][0] == {
        "value": "1890", "source_tier": 1, "confidence": found["confidence"],
    }  # fmt: skip
    assert found["llm_analysis"].keys() == {"evidence_ranking", "recommended_value", "rationale", "next_actions"}
    assert found["evidence_ranking"][0].keys() == {"claim_index", "rank", "reason", "reason_message"}
    assert found["analysis_message"]["kind"] == "conflict.resolved"
    assert len(found["next_actions_messages"]) == len(found["next_actions"])
    assert found["recommended_value"] == "1890"
    assert found["resolution_status"] == "resolved"
    assert (found["is_tentative"], found["preserve_alternatives"]) == (False, True)
    assert found["competing_claims"][1] == {
        "value": "1889", "source": "Wikipedia", "tier": 0, "evidence_type": "authored",
    }  # fmt: skip
    json.dumps(found)


def test_a_record_made_at_the_time_outranks_what_was_written_later() -> None:
    """Primary comes before secondary and authored, even against more sources (R400)."""
    found = the_conflict(
        a_fact("death_date", "1 May 1700"),
        a_fact("death_date", "1 May 1700", TOMB),
        a_fact("death_date", "1701", REGISTER),
    )
    assert found.recommended_value == "1701"
    assert [one.evidence_type for one in found.values] == ["primary", "secondary"]


def test_official_sources_outrank_contributed_ones() -> None:
    """Of two sources of one form, the official one comes first (R401)."""
    office = Source("office", "https://example.org/3", "Office", official=True, user_contributed=False)
    facts = (a_fact("birth_date", "1650"), a_fact("birth_date", "1651", office))
    tree = Tree({"p": Person("p", "X")}, facts=facts, sources={**SOURCES, "office": office})
    (found,) = find_tree_conflicts(tree)
    assert found.recommended_value == "1651"
    assert "official" in found.evidence_ranking[0].reason


def test_equal_evidence_gives_no_recommendation() -> None:
    """Equal evidence leaves a conflict open, with no value preferred (R402)."""
    equal = Source("other", "https://example.org/4", "Other", origin_group="other")
    facts = (a_fact("birth_date", "1889"), a_fact("birth_date", "1890", equal))
    tree = Tree({"p": Person("p", "X")}, facts=facts, sources={**SOURCES, "other": equal})
    (found,) = find_tree_conflicts(tree)
    assert (found.resolution_status, found.recommended_value, found.is_tentative) == ("open", None, True)
    assert found.confidence < 0.5


def test_sources_that_copy_from_each_other_count_once() -> None:
    """Wikipedia and Wikidata together weigh no more than one of them."""
    alone = the_conflict(a_fact("birth_date", "1889"), a_fact("birth_date", "1890", TOMB))
    both = the_conflict(
        a_fact("birth_date", "1889"), a_fact("birth_date", "1889", DATA), a_fact("birth_date", "1890", TOMB)
    )
    assert alone.confidence == both.confidence


def test_the_lead_outranks_the_box_of_one_page_for_now() -> None:
    """A page that contradicts itself gives a tentative answer: its opening sentence (R361)."""
    found = the_conflict(
        a_fact("birth_date", "23 June 1894", method="lead"), a_fact("birth_date", "24 June 1894", method="infobox")
    )
    assert (found.recommended_value, found.resolution_status) == ("23 June 1894", "tentative")


def test_the_impossible_comes_last() -> None:
    """A birth after the death loses, whatever its evidence."""
    death = a_date("1650")
    found = the_conflict(a_fact("birth_date", "1600"), a_fact("birth_date", "1660", REGISTER), death=death)
    assert found.recommended_value == "1600"
    assert "after the death" in found.values[1].problem


def test_next_steps_name_the_record_and_the_place() -> None:
    """What would settle it is shown: civil registration, parish register or chronicle, by time (R403)."""
    late = the_conflict(a_fact("birth_date", "1889"), a_fact("birth_date", "1890", DATA), birth_place="Leeds")
    early = the_conflict(a_fact("birth_date", "1689"), a_fact("birth_date", "1690", DATA), birth_place="Leeds")
    oldest = the_conflict(a_fact("birth_date", "1189"), a_fact("birth_date", "1190", DATA))
    assert late.next_actions[0] == "Look for the civil birth registration in Leeds."
    assert early.next_actions[0] == "Look for the baptism in the parish register in Leeds."
    assert "chronicle" in oldest.next_actions[0]


def test_reasons_are_messages_in_every_language() -> None:
    """Reasons, outcome and next steps are the English of the catalogue, and have their own words in the others."""
    office = Source("office", "https://example.org/3", "Office", official=True, user_contributed=False)
    fields: tuple[FieldName, ...] = ("birth_date", "baptism_date", "death_date", "burial_date", "marriage_date")
    found: list[Conflict] = []
    for field, years in product(fields, (("1189", "1190"), ("1650", "1790"), ("1889", "1990"))):
        facts = [a_fact(field, years[0], method="infobox"), a_fact(field, years[1], office)]
        persons = {
            "p": Person("p", "X", birth=a_date("1700"), death=a_date("1780"), birth_place="Leeds"),
            "f": Person("f", "Y", birth=a_date("1690")),
            "c": Person("c", "Z", birth=a_date("1720")),
        }
        ties = (
            Relationship("1", "parent_of", "f", "p"),
            Relationship("2", "parent_of", "p", "c"),
            Relationship("3", "spouse_of", "p", "c"),
        )
        found += find_tree_conflicts(Tree(persons, ties, tuple(facts), {**SOURCES, "office": office}))
    found.append(the_conflict(*EQUALS))
    texts: list[str] = [text for one in found for text in (one.rationale, *one.next_actions)]
    texts += [ranked.reason for one in found for ranked in one.evidence_ranking]
    assert len({text.kind for text in texts if isinstance(text, Message)}) > 15
    for text in texts:
        assert isinstance(text, Message)
        assert render(text, catalogue_in("en")) == text
        french, spanish = (render(text, catalogue_in(language)) for language in ("fr", "es"))
        assert french
        assert spanish
        assert len({text, french, spanish}) == 3


def test_no_value_is_lost() -> None:
    """Every fact of the field is in the conflict, except those that fit both values (R404)."""
    facts = [
        a_fact("birth_date", "1 May 1889"),
        a_fact("birth_date", "1889", DATA),
        a_fact("birth_date", "1890", TOMB),
        a_fact("birth_date", "1888", REGISTER),
    ]
    found = the_conflict(*facts)
    assert {fact for one in found.values for fact in one.facts} == {fact.id for fact in facts}
    assert {one.value for one in found.values} == {"1 May 1889", "1890", "1888"}


def test_rejected_facts_do_not_compete() -> None:
    """What was rejected or replaced is not a side of a conflict."""
    facts = (a_fact("birth_date", "1889"), a_fact("birth_date", "1990", DATA, status="rejected"))
    assert find_tree_conflicts(a_tree(*facts)) == ()


def test_two_fathers_are_a_conflict_unless_one_adopted() -> None:
    """Ties to parents compete as facts do; an adoptive father is not a rival."""
    persons = {
        "p": Person("p", "John"),
        "a": Person("a", "William Smith", sex="male"),
        "b": Person("b", "George Brown", sex="male"),
    }
    ties = (Relationship("1", "parent_of", "a", "p"), Relationship("2", "parent_of", "b", "p"))
    (found,) = find_tree_conflicts(Tree(persons, ties))
    assert found.field == "father"
    adopted = (ties[0], Relationship("2", "parent_of", "b", "p", qualifier="adoptive"))
    assert find_tree_conflicts(Tree(persons, adopted)) == ()


def test_the_order_of_facts_changes_nothing() -> None:
    """The same facts give the same conflict, in whatever order they come."""
    facts = [a_fact("birth_date", "1889"), a_fact("birth_date", "1890", TOMB), a_fact("birth_date", "1891", DATA)]
    assert find_tree_conflicts(a_tree(*facts)) == find_tree_conflicts(a_tree(*facts[::-1]))


def an_analysis(
    order: list[int], recommended: int | None, confidence: float = 0.9, *, why: str = "One day apart."
) -> str:
    ranking = [{"claim_index": at, "rank": rank, "reason": "x"} for rank, at in enumerate(order, 1)]
    return json.dumps(
        {
            "analysis": why, "evidence_ranking": ranking, "recommended_index": recommended,
            "confidence": confidence, "is_tentative": False, "next_actions": ["Ask me."], "preserve_alternatives": True,
        }
    )  # fmt: skip


EQUALS = (a_fact("birth_date", "23 June 1894", method="lead"), a_fact("birth_date", "24 June 1894", DATA))


def test_a_model_may_reorder_equals() -> None:
    """Of two values of equal evidence it may prefer the other one, which stays tentative (R399, R405)."""
    tree = a_tree(*EQUALS)
    before = find_tree_conflicts(tree)
    model = ScriptedModel(an_analysis([1, 0], 1))
    after = review_conflicts(before, tree, model)
    assert before[0].recommended_value == "23 June 1894"
    assert after.conflicts[0].recommended_value == "24 June 1894"
    assert after.conflicts[0].resolution_status == "tentative"
    assert after.conflicts[0].confidence <= before[0].values[1].confidence
    assert "One day apart" not in str(after.conflicts[0].record())
    assert "0 | 23 June 1894 | Wikipedia | tier 0 | authored" in model.asked[0].text


@pytest.mark.parametrize("why", ["I am sure that it was 1777.", "The first is a primary source.", "So says Holinshed."])
def test_a_model_that_makes_up_its_reasons_is_not_followed(why: str) -> None:
    """A year, a name or a class of evidence that it was not shown makes its order worthless (R402)."""
    tree = a_tree(*EQUALS)
    before = find_tree_conflicts(tree)
    assert review_conflicts(before, tree, ScriptedModel(an_analysis([1, 0], 1, why=why))).conflicts == before


def test_a_model_cannot_outrank_better_evidence() -> None:
    """A value of a lower class stays below, whatever the model says."""
    found = the_conflict(a_fact("birth_date", "1889", TOMB), a_fact("birth_date", "1890"), a_fact("birth_date", "1891"))
    assert reorder_values(found, Analysis.model_validate_json(an_analysis([1, 2, 0], 1)), "m") == found


@pytest.mark.parametrize("reply", [an_analysis([0], 0), an_analysis([0, 5], 5), an_analysis([1, 0], 0), "nonsense"])
def test_a_reply_that_fits_nothing_changes_nothing(reply: str) -> None:
    """Numbers of values that are not there, half rankings and prose leave the conflict as it is."""
    tree = a_tree(*EQUALS)
    before = find_tree_conflicts(tree)
    assert review_conflicts(before, tree, ScriptedModel(reply, reply)).conflicts == before


def test_people_who_may_live_are_not_shown_to_a_model() -> None:
    """Unknown counts as living."""
    tree = Tree({"p": Person("p", "John")}, facts=EQUALS, sources=SOURCES)
    model = ScriptedModel(an_analysis([1, 0], 1))
    review_conflicts(find_tree_conflicts(tree), tree, model)
    assert model.asked == []
