"""The agents' contracts: what they are given, what they may answer, and what is taken of a model's answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.kin.loop_family import linked, person_page
from tests.llm.scripted import ScriptedModel
from tests.zim.memory import MemoryArchive

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.kin.loop.case_model import is_long_past, review_with_model
from kiwiresearch.kin.loop.planner import (
    CurrentState,
    Expansion,
    PastSearch,
    PendingClue,
    PendingMerge,
    PendingQuery,
    PlannerInput,
    Revisit,
    plan_by_rules,
)
from kiwiresearch.kin.loop.planner_by_model import is_query, plan_by_model
from kiwiresearch.kin.loop.queries import TreePosition, clue_items
from kiwiresearch.kin.loop.source_records import CheckedRecord, check_record
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.kin.sources.source import PersonQuery
from kiwiresearch.llm.guards import MaskedModel
from kiwiresearch.llm.model import ChatMessage, prompt
from kiwiresearch.search.open_book import OpenBook

GIVEN = PlannerInput(
    CurrentState(5, 20, 3, 40, 3, 1),
    recent_discoveries=("ann lee: 4 new statements",),
    pending_clues=(PendingClue("clue-1", "P1", "a father may have borne the name", 0.8, ("Tom Lee Sr.",)),),
    stop_conditions={"budget_exhausted": False, "frontier_empty": False},
    pending_queries=(
        PendingQuery("far", "Zoe Quint", 1, 0.9),
        PendingQuery("near", "Ann Lee", 0, 0.7),
        PendingQuery("next", "Ian Moor", 0, 0.6),
    ),
    past_searches=(PastSearch("vain-1", "wikipedia", "Una Black"),),
    merges=(PendingMerge("P3 P4", 0.8),),
    revisits=(Revisit("wikipedia", "Una Black (born 1801)", "the years are known better", "vain-1"),),
)


def reply(**fields: object) -> str:
    return json.dumps({"reasoning": "Near people first.", "should_stop": False, "stop_reason": None, **fields})


def test_the_rules_plan_by_priority_with_tier_0_first() -> None:
    """What comes next is what waits first in Tier 0; clues give queries, the scheduler second looks (R336, R378)."""
    found = plan_by_rules(GIVEN)
    assert [(one.action, one.target) for one in found.next_actions] == [
        ("fetch", "near"), ("fetch", "next"), ("fetch", "far"), ("revisit", "vain-1"), ("merge", "P3 P4"),
    ]  # fmt: skip
    assert found.query_expansions == (Expansion("P1", "Tom Lee Sr."),)
    assert found.revisit_recommendations == GIVEN.revisits
    assert (found.should_stop, found.stop_reason) == (False, None)


def test_a_stop_condition_that_is_met_is_the_plan() -> None:
    """If a condition is met, the plan is to stop, and names it (R339, R341, R380)."""
    found = plan_by_rules(replace(GIVEN, stop_conditions={"budget_exhausted": True}))
    assert ([one.action for one in found.next_actions], found.stop_reason) == (["stop"], "budget_exhausted")


def test_a_plan_has_every_field_of_its_contract() -> None:
    """A plan as data has the names of both forms of the specification (R339, R340, R341, R382)."""
    row: dict[str, Any] = plan_by_rules(GIVEN).record()
    assert set(row) >= {
        "reasoning", "next_actions", "query_expansions", "revisit_recommendations", "revisit_schedule",
        "should_stop", "stop_reason",
    }  # fmt: skip
    assert set(row["next_actions"][0]) == {"action", "target", "priority", "query", "source_tier"}
    assert row["revisit_schedule"] == row["revisit_recommendations"]
    assert set(row["revisit_schedule"][0]) >= {"source_id", "improved_query", "reason"}


def test_a_planner_is_given_the_state_of_the_case() -> None:
    """The prompt has the state, discoveries, clues as hypotheses, and the budget (R337, R338, R381)."""
    model = ScriptedModel(reply())
    plan_by_model(GIVEN, model)
    output = model.asked[0].text
    for words in ("persons discovered: 5", "assertions made: 20", "sources queried: 3", "fetched: 40"):
        assert words in output
    for words in ("ann lee: 4 new statements", "C1 | HYPOTHESIS: a father", "S1 | Una Black", "budget_exhausted"):
        assert words in output
    assert "vain-1" not in output
    assert "clue-1" not in output


def test_a_model_picks_among_what_it_is_shown() -> None:
    """What a model picks by key comes first; the rest of the rules' plan follows (R339, R376)."""
    actions = [{"action": "fetch", "target": "F3", "priority": 0.9, "query": "", "source_tier": 0}]
    found = plan_by_model(GIVEN, ScriptedModel(reply(next_actions=actions)))
    assert [one.target for one in found.next_actions][:2] == ["next", "near"]
    assert found.decided_by == "model scripted"


def test_keys_and_addresses_of_its_own_are_not_taken() -> None:
    """Items, clues, searches and addresses that a model makes up are left out (R377)."""
    made_up = reply(
        next_actions=[
            {"action": "fetch", "target": "F9"},
            {"action": "fetch", "target": "near"},
            {"action": "merge", "target": "F1"},
            {"action": "fetch", "target": "https://example.org/Ann", "query": "https://example.org/Ann"},
        ],
        query_expansions=[
            {"target": "C1", "query": "https://example.org"},
            {"target": "C7", "query": "Tom Lee"},
            {"target": "C1", "query": "Q1234567"},
        ],
        revisit_schedule=[{"target": "S4", "improved_query": "Una"}, {"target": "S1", "improved_query": "zim://x/y"}],
    )
    found, rules = plan_by_model(GIVEN, ScriptedModel(made_up)), plan_by_rules(GIVEN)
    assert found.next_actions == rules.next_actions
    assert found.query_expansions == rules.query_expansions
    assert found.revisit_recommendations == rules.revisit_recommendations


def test_both_names_of_second_looks_are_read() -> None:
    """A model may call them schedule or recommendations (R340, R382)."""
    found = plan_by_model(
        GIVEN,
        ScriptedModel(
            reply(
                revisit_schedule=[{"target": "S1", "source_id": "x", "improved_query": "Una Grey", "reason": "r"}],
                revisit_recommendations=[{"target": "S1", "improved_query": "Una White"}],
                query_expansions=[{"target": "C1", "query": "Thomas Lee"}],
            )
        ),
    )
    assert [one.improved_query for one in found.revisit_recommendations][:2] == ["Una Grey", "Una White"]
    assert found.revisit_recommendations[0].source_id == "wikipedia"
    assert found.query_expansions[0] == Expansion("P1", "Thomas Lee")


def test_a_model_cannot_stop_a_case() -> None:
    """Whether to stop the conditions decide; that a model would is only noted."""
    found = plan_by_model(GIVEN, ScriptedModel(reply(should_stop=True, stop_reason="I am done")))
    assert found.should_stop is False
    assert "It would stop: 'I am done'" in found.reasoning


@pytest.mark.parametrize(
    "lines",
    [
        ("nonsense", "nonsense"),
        ('{"reasoning": "x", "facts": ["Ann was born in 1801"]}', "{}"),
        (ModelUnreachable("no answer"),),
    ],
)
def test_a_reply_of_another_form_leaves_the_rules(lines: tuple[str | ModelUnreachable, ...]) -> None:
    """After one repair, a reply that is not a plan is dropped, and the plan of the rules is used."""
    found = plan_by_model(GIVEN, ScriptedModel(*lines))
    assert replace(found, reasoning="") == replace(plan_by_rules(GIVEN), reasoning="")
    assert "could not help with planning" in found.reasoning


@pytest.mark.parametrize("text", ["", "  ", "http://a.b", "www.a.b", "Q1035", "a" * 81, "<b>Ann</b>", "id 1234567"])
def test_invalid_queries_are_not_searched(text: str) -> None:
    """Addresses, ids, markup and long texts are not searched for."""
    assert not is_query(text)


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("kin_planner", ("Do not invent facts", "Tier 0 come before", "Do not repeat a search", "Mind the budget")),
        (
            "kin_verifier",
            ('"Not Found"', 'must have a "citation_snippet"', "HYPOTHESIS", "from 0.0 to 1.0"),
        ),
    ],
)
def test_prompts_have_their_rules(name: str, rules: tuple[str, ...]) -> None:
    """The rules of the specification are in the prompts, each numbered (R377, R378, R379, R380, R384, R385, R386)."""
    text = "\n".join(turn.text for turn in prompt(name).turns)
    for number, rule in enumerate(rules, 1):
        (line,) = [line for line in text.splitlines() if line.startswith(f"{number}. ")]
        assert rule in line


def test_verifier_prompt_has_its_inputs_and_outputs() -> None:
    """The verifier is given address, text, fields and citations, and asked for the four lists (R383, R388, R391)."""
    asked = prompt("kin_verifier")
    assert set(asked.placeholders) == {"url", "raw_text", "extracted_fields", "existing_citations"}
    text = asked.turns[-1].text
    for name in ("verification_results", "hypotheses", "contradictions", "hallucination_flags", "evidence_hint"):
        assert f'"{name}"' in text


DOROTHEA = person_page(
    "Dorothea Vance",
    "5 May 1805 – 6 June 1880",
    {"Born": "5 May 1805", "Died": "6 June 1880", "Spouse": linked("Aldous Penhallow")},
    "was a painter. The painter owed her first lessons to her mother, Wilhelmina Kent. "
    "Her house was shared with Ambrose Vance, who was her brother.",
)


def a_record(html: str = DOROTHEA, name: str = "Dorothea Vance") -> CheckedRecord:
    book = OpenBook(MemoryArchive({name.replace(" ", "_"): html}))
    (fetched,) = BookSource([book]).search(PersonQuery(name))
    record = check_record(fetched)
    assert record is not None
    return record


def unsure(record: CheckedRecord, field: str) -> CheckedRecord:
    """The record, as if the rules were not sure of a field."""
    facts = tuple(replace(one, status="unverified") if one.fact.field == field else one for one in record.facts)
    return replace(record, facts=facts)


def statuses(record: CheckedRecord, field: str) -> list[tuple[str, str]]:
    return [(one.fact.value, one.status) for one in record.facts if one.fact.field == field]


def judged(field: str, value: str, status: str, snippet: str | None, **more: object) -> str:
    result = {"field": field, "value": value, "status": status, "confidence": 0.9, "citation_snippet": snippet}
    return json.dumps({"verification_results": [result], **more})


NO_FINDINGS = '{"findings": []}'
MOTHER = "her mother, Wilhelmina Kent"


def test_the_rules_verify_a_record() -> None:
    """Each value of a record has its quote, its confidence and its status (R302, R342, R344, R349)."""
    record = a_record()
    assert statuses(record, "birth_date") == [("1805-05-05", "verified"), ("1805-05-05", "verified")]
    for one in record.facts:
        assert one.fact.snippet.words
        assert one.fact.snippet.words in record.fetched.text
        assert 0.0 <= one.confidence <= 1.0
    assert record.rejected == ()


def test_junior_is_a_hypothesis_with_queries() -> None:
    """'Jr.' makes a hypothesis of a father, labelled as no fact, with queries to follow (R305, R347, R348, R390)."""
    html = person_page("John Smith Jr.", "5 May 1805 – 6 June 1880", {"Born": "5 May 1805"}, "was a painter.")
    (found,) = clue_items(a_record(html, "John Smith Jr.").hypotheses, "P1", TreePosition())
    assert (found.hypothesis_type, found.evidence_hints["is_fact"]) == ("parental_discovery", False)
    assert found.suggested_queries == ("John Smith Sr.", "John Smith father")
    assert found.priority >= 0.7


def test_a_quote_of_the_models_bears_a_value_out() -> None:
    """A value that waited is verified where the model quotes words that say it; it gets no surer (R278, R385)."""
    record = unsure(a_record(), "mother")
    model = ScriptedModel(NO_FINDINGS, judged("mother", "Wilhelmina Kent", "Verified", MOTHER))
    found = review_with_model(record, model)
    assert statuses(found, "mother") == [("Wilhelmina Kent", "verified")]
    (before,) = [one for one in record.facts if one.fact.field == "mother"]
    (after,) = [one for one in found.facts if one.fact.field == "mother"]
    assert (after.confidence, after.fact.snippet.words) == (before.confidence, MOTHER)


@pytest.mark.parametrize(
    "line",
    [
        judged("mother", "Wilhelmina Kent", "Verified", "Her mother was Wilhelmina Kent"),
        judged("mother", "Wilhelmina Kent", "Verified", "her brother Ambrose Vance"),
        judged("mother", "Wilhelmina Kent", "Not Found", None),
        judged("mother", "Victoria Kent", "Verified", MOTHER),
        judged("father", "Ambrose Vance", "Verified", "her brother Ambrose Vance"),
    ],
)
def test_without_words_of_the_source_nothing_is_verified(line: str) -> None:
    """A quote that is not there, or says something else, and a value of the model's own change nothing (R384, R306)."""
    record = unsure(a_record(), "mother")
    found = review_with_model(record, ScriptedModel(NO_FINDINGS, line))
    assert found.facts == record.facts


def test_verified_without_a_quote_is_refused() -> None:
    """A reply that verifies without a quote is asked for again, and then dropped (R385, R389)."""
    record = unsure(a_record(), "mother")
    line = judged("mother", "Wilhelmina Kent", "Verified", None)
    found = review_with_model(record, ScriptedModel(NO_FINDINGS, line, line))
    assert found.facts == record.facts
    assert any("could not check the facts" in note for note in found.notes)


def test_a_model_may_point_at_facts_that_rules_miss() -> None:
    """A model finds what rules miss, as far as the words are there; it waits for a second source (R278, R308)."""
    findings = [
        {"field": "sibling", "value": "Ambrose Vance", "sentences": [2], "confidence": 1.0},
        {"field": "father", "value": "King Arthur", "sentences": [1], "confidence": 1.0},
    ]
    found = review_with_model(a_record(), ScriptedModel(json.dumps({"findings": findings})))
    assert statuses(found, "sibling") == [("Ambrose Vance", "unverified")]
    assert statuses(found, "father") == []
    assert any("not in the sentences" in note for note in found.notes)


def test_guesses_of_a_model_are_clues() -> None:
    """Hypotheses are labelled, come after clues of rules, and search only for whom the page names (R386, R390)."""
    guess = {
        "type": "sibling_discovery", "text": "Ambrose may have been a painter too", "evidence_hint": "brother",
        "priority": 1.0, "suggested_queries": ["Ambrose Vance painter", "Bruce Wayne", "http://x.y"], "is_fact": False,
    }  # fmt: skip
    line = judged("mother", "Wilhelmina Kent", "Verified", MOTHER, hypotheses=[guess], hallucination_flags=["odd"])
    found = review_with_model(unsure(a_record(), "mother"), ScriptedModel(NO_FINDINGS, line))
    (one,) = found.hypotheses
    assert one.text.startswith("HYPOTHESIS: ")
    assert (one.suggested_queries, one.priority <= 0.6) == (("Ambrose Vance painter",), True)
    assert "odd" in found.notes


def test_a_guess_stated_as_a_fact_is_refused() -> None:
    """A hypothesis that is not labelled as one invalidates the reply (R386)."""
    guess = {"type": "x", "text": "y", "priority": 0.5, "suggested_queries": ["Ambrose Vance"], "is_fact": True}
    line = judged("mother", "Wilhelmina Kent", "Verified", MOTHER, hypotheses=[guess])
    record = unsure(a_record(), "mother")
    found = review_with_model(record, ScriptedModel(NO_FINDINGS, line, line))
    assert (found.facts, found.hypotheses) == (record.facts, record.hypotheses)


@pytest.mark.parametrize(
    ("lived", "past"),
    [
        ("1805 – 1880", True),
        ("1850 – 1915", True),
        ("1850 – 1916", False),
        ("born 1971", False),
        ("1900 – 1990", False),
    ],
)
def test_a_page_is_shown_when_all_it_can_name_are_dead(lived: str, *, past: bool) -> None:
    """A page of somebody who died less than a lifetime ago may name the living."""
    record = a_record(person_page("Ann Lee", lived, {}, "was a painter. She painted the sea."), "Ann Lee")
    assert is_long_past(record, 2026) is past


def test_masked_models_see_masked_words() -> None:
    """Whatever is sent through a mask is masked, and nothing else is sent."""
    model = ScriptedModel("yes", "yes")
    masked = MaskedModel(model, lambda text: text.replace("Ivy", "[LIVING-1]"))
    asked = [ChatMessage("system", "You are Ivy-proof."), ChatMessage("user", "Who is Ivy?")]
    masked.chat(asked)
    list(masked.pieces(asked))
    assert [one.messages[1].text for one in model.asked] == ["Who is [LIVING-1]?"] * 2
    assert (masked.name, masked.context_tokens()) == ("scripted", None)
