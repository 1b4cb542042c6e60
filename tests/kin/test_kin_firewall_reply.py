"""A verifier's whole reply, and what is written: labels, lost values, living people."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from kiwiresearch.kin.firewall.violations import (
    HALLUCINATION_CHECKS,
    VerifierOut,
    hallucination_firewall,
    living_people_named,
    lost_values,
    unlabelled_hypotheses,
)
from kiwiresearch.kin.tree import Evidence, Fact, Person
from kiwiresearch.text.when import dates_in

SOURCE = "Ada Thorne was born on 12 March 1802 in Oldham, the daughter of Josiah Thorne."


def result(**changed: object) -> dict[str, object]:
    plain = {"field": "birth_date", "value": "1802-03-12", "status": "Verified", "confidence": 0.9}
    return plain | {"citation_snippet": "born on 12 March 1802", "rationale": "it says so"} | changed


def reply(*results: object, hypotheses: object = ()) -> dict[str, object]:
    return {"verification_results": list(results), "hypotheses": list(hypotheses)}  # type: ignore[call-overload]


def test_a_true_reply_passes() -> None:
    """A reply passes when nothing is wrong with it (R418, R422)."""
    guess = {"text": "Her father may be Josiah senior", "is_fact": False}
    assert hallucination_firewall(reply(result(), hypotheses=[guess]), SOURCE) == (True, [])
    assert hallucination_firewall({}, SOURCE) == (True, [])


def test_verified_needs_a_citation() -> None:
    """A verified field without a citation is told in the words of the specification (R419)."""
    expected = (False, ["Field 'birth_date' verified without citation"])
    assert hallucination_firewall(reply(result(citation_snippet=None)), SOURCE) == expected
    assert hallucination_firewall(reply(result(citation_snippet="")), SOURCE) == expected
    assert hallucination_firewall(reply(result(status="Unverified", citation_snippet=None)), SOURCE) == (True, [])


def test_a_citation_is_in_the_source() -> None:
    """A citation that the source does not have is told with its first fifty letters (R420)."""
    words = "came into this world on the twelfth day of March in the year 1802"
    expected = f"Citation not found in source: '{words[:50]}...'"
    assert hallucination_firewall(reply(result(citation_snippet=words)), SOURCE) == (False, [expected])


def test_a_hypothesis_is_no_fact() -> None:
    """A hypothesis that calls itself a fact, or does not say what it is, fails the reply (R412, R421)."""
    guess = {"text": "Her father was Josiah Thorne senior, who had the same trade", "is_fact": True}
    said = f"Hypothesis incorrectly marked as fact: '{guess['text'][:50]}'"  # type: ignore[index]
    assert hallucination_firewall(reply(hypotheses=[guess]), SOURCE) == (False, [said])
    unmarked = hallucination_firewall(reply(hypotheses=[{"text": "A guess"}]), SOURCE)
    assert unmarked == (False, ["Hypothesis not marked as one: 'A guess'"])
    assert [one.code for one in unlabelled_hypotheses([guess, {"text": "x"}, {"is_fact": False}])] == [
        "HF_026",
        "HF_027",
    ]


@pytest.mark.parametrize("rows", [["text"], [None], [{}], [{"citation_snippet": 7}], [{"confidence": "high"}]])
def test_a_reply_of_another_shape_never_raises(rows: list[object]) -> None:
    """Whatever a model sends, the firewall answers."""
    passed, violations = hallucination_firewall({"verification_results": rows, "hypotheses": rows}, SOURCE)
    assert passed is (not violations)
    assert not passed


def test_there_are_ten_checks() -> None:
    """The ten checks of the specification are named in its words."""
    assert len(HALLUCINATION_CHECKS) == 10
    assert HALLUCINATION_CHECKS[0] == "Every verified field has non-null citation_snippet"


def test_the_contract_of_a_reply() -> None:
    """A reply is read strictly, and its fields are told apart by status (R344, R345, R389)."""
    out = VerifierOut.model_validate(
        reply(result(), result(field="father", value="?", status="Not Found", citation_snippet=None))
    )
    assert [one.field for one in out.verified_fields] == ["birth_date"]
    assert [one.field for one in out.unverified_fields] == ["father"]


@pytest.mark.parametrize(
    "bad",
    [
        reply(result(confidence=1.3)),
        reply(result(confidence="0.9")),
        reply(result(citation_snippet=None)),
        reply(result(field="shoe_size")),
        reply(result(status="Proven")),
        reply(result(extra=1)),
        reply(hypotheses=[{"type": "x", "text": "y", "priority": 0.5}]),
        reply(hypotheses=[{"type": "x", "text": "y", "priority": 0.5, "is_fact": True}]),
        {"hypotheses": []},
    ],
)
def test_what_the_contract_refuses(bad: dict[str, object]) -> None:
    """Wrong types, unknown fields, confidence beyond 1 and unlabelled inferences are no reply (R386, R387)."""
    with pytest.raises(ValidationError):
        VerifierOut.model_validate(bad)


def a_fact(key: str, value: str) -> Fact:
    return Fact(key, "p1", "birth_date", value, evidence=(Evidence(f"e{key}", "s1", value),))


def test_competing_values_are_kept() -> None:
    """A write that drops or changes a value, or its evidence, is found; one that adds or disputes is not (R416)."""
    old, new = a_fact("1", "1802"), a_fact("2", "1803")
    assert lost_values([old], [replace(old, status="disputed", preferred=False), new]) == ()
    assert [one.code for one in lost_values([old], [new])] == ["HF_046"]
    assert [one.code for one in lost_values([old, new], [replace(old, value="1803"), new])] == ["HF_046"]
    assert [one.code for one in lost_values([old], [replace(old, evidence=())])] == ["HF_046"]


def test_words_about_the_living_are_found() -> None:
    """Names and days of birth of people who may live are found in words that go out, those of the dead are not."""
    birth = dates_in("3 May 1990")[0].when
    alive = Person("p1", "Nora Lund", birth=birth)
    dead = Person("p2", "Max Lund", living="deceased")
    assert living_people_named("Max Lund was a smith.", [alive, dead]) == ()
    assert [one.code for one in living_people_named("a daughter, nora lund", [alive, dead])] == ["HF_052"]
    assert [one.code for one in living_people_named("born 3 May 1990", [alive, dead])] == ["HF_052"]
