"""A verifier's whole reply: what it must have, and what is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from kiwiresearch.kin.firewall.violations import VerifierOut, hallucination_firewall

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
    """A verified field without a citation is reported in the words of the specification (R419)."""
    expected = (False, ["Field 'birth_date' verified without citation"])
    assert hallucination_firewall(reply(result(citation_snippet=None)), SOURCE) == expected
    assert hallucination_firewall(reply(result(citation_snippet="")), SOURCE) == expected
    assert hallucination_firewall(reply(result(status="Unverified", citation_snippet=None)), SOURCE) == (True, [])


def test_a_citation_is_in_the_source() -> None:
    """A citation that the source does not have is reported with its first fifty letters (R420)."""
    words = "came into this world on the twelfth day of March in the year 1802"
    expected = f"Citation not found in source: '{words[:50]}...'"
    assert hallucination_firewall(reply(result(citation_snippet=words)), SOURCE) == (False, [expected])


def test_a_hypothesis_is_not_a_fact() -> None:
    """A hypothesis that is labelled as a fact, or not labelled, fails the reply (R412, R421)."""
    guess = {"text": "Her father was Josiah Thorne senior, who had the same trade", "is_fact": True}
    outcome = f"Hypothesis incorrectly marked as fact: '{guess['text'][:50]}'"  # type: ignore[index]
    assert hallucination_firewall(reply(hypotheses=[guess]), SOURCE) == (False, [outcome])
    unmarked = hallucination_firewall(reply(hypotheses=[{"text": "A guess"}]), SOURCE)
    assert unmarked == (False, ["Hypothesis not marked as one: 'A guess'"])


@pytest.mark.parametrize("rows", [["text"], [None], [{}], [{"citation_snippet": 7}], [{"confidence": "high"}]])
def test_a_reply_of_another_shape_never_raises(rows: list[object]) -> None:
    """Whatever a model sends, the firewall answers."""
    passed, violations = hallucination_firewall({"verification_results": rows, "hypotheses": rows}, SOURCE)
    assert passed is (not violations)
    assert not passed


def test_the_contract_of_a_reply() -> None:
    """A reply is read strictly, and each field has its status (R344, R345, R389)."""
    out = VerifierOut.model_validate(
        reply(result(), result(field="father", value="?", status="Not Found", citation_snippet=None))
    )
    assert [(one.field, one.status) for one in out.verification_results] == [
        ("birth_date", "Verified"),
        ("father", "Not Found"),
    ]


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
def test_the_contract_refuses_invalid_replies(bad: dict[str, object]) -> None:
    """Wrong types, unknown fields, confidence beyond 1 and unlabelled inferences are refused (R386, R387)."""
    with pytest.raises(ValidationError):
        VerifierOut.model_validate(bad)
