"""The firewall of a verifier's whole reply, under the name and with the messages of the specification."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

HALLUCINATION_CHECKS = (
    "Every verified field has non-null citation_snippet",
    "citation_snippet appears verbatim in raw_text",
    "Date values match patterns found in source text",
    "Person names appear in source text",
    "Place names appear in source text",
    "All inferences are marked is_fact=false",
    "Confidence scores are between 0.0 and 1.0",
    "All URLs in output exist in input",
    "Relationship claims cite specific evidence",
    "Conflicting claims are preserved, not overwritten",
)
"""What a reply is held to; `check` holds each value to it, and does so within its own quote."""


def hallucination_firewall(llm_output: Mapping[str, Any], source_text: str) -> tuple[bool, list[str]]:
    """Whether a reply passes, and what is wrong with it.

    A reply of another shape than asked for does not pass either; it never raises.
    """
    violations = [
        *(said for result in _rows(llm_output, "verification_results") for said in _wrong_result(result, source_text)),
        *(said for row in _rows(llm_output, "hypotheses") for said in _wrong_hypothesis(row)),
    ]
    return not violations, violations


def _rows(reply: Mapping[str, Any], name: str) -> Iterable[object]:
    rows = reply.get(name)
    return rows if isinstance(rows, list | tuple) else ()


def _wrong_result(result: object, source_text: str) -> Iterator[str]:
    if not isinstance(result, Mapping):
        yield f"Result is no object: '{str(result)[:50]}'"
        return
    snippet = result.get("citation_snippet") or ""
    if result.get("status") == "Verified" and not str(snippet).strip():
        yield f"Field '{result.get('field', '')}' verified without citation"
    if snippet and (not isinstance(snippet, str) or snippet not in source_text):
        yield f"Citation not found in source: '{str(snippet)[:50]}...'"
    confidence = result.get("confidence", 0.0)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0.0 <= confidence <= 1.0:
        yield f"Confidence of field '{result.get('field', '')}' is not between 0.0 and 1.0"


def _wrong_hypothesis(row: object) -> Iterator[str]:
    text = str(row.get("text", ""))[:50] if isinstance(row, Mapping) else str(row)[:50]
    label = row.get("is_fact") if isinstance(row, Mapping) else None
    if label is None:
        yield f"Hypothesis not marked as one: '{text}'"
    elif label is not False:
        yield f"Hypothesis incorrectly marked as fact: '{text}'"
