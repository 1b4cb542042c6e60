"""Briefs as plain data: what is written down is read back, and what is not a brief is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.brief.briefs import AROUND, bronze_age, nothing, of_words

from kiwiresearch.brief.brief import Brief, brief_from_record, brief_record
from kiwiresearch.brief.report import brief_document
from kiwiresearch.brief.report_html import report_page
from kiwiresearch.document.markdown import markdown
from kiwiresearch.errors import StatementWithoutClaims
from kiwiresearch.ids import canonical_json

BRIEFS: list[Callable[[], Brief]] = [bronze_age, nothing, lambda: of_words("\u202e<b>שלום\n\x00"), lambda: of_words("")]


def written(brief: Brief) -> Any:
    return json.loads(canonical_json(brief_record(brief)))


@pytest.mark.parametrize("make", BRIEFS)
def test_a_brief_is_read_back(make: Callable[[], Brief]) -> None:
    """A brief that went through JSON is equal to the one before, with all its claims."""
    brief = make()
    assert brief_from_record(written(brief)) == brief


@pytest.mark.parametrize("make", BRIEFS)
def test_a_brief_that_was_read_back_gives_the_same_bytes(make: Callable[[], Brief]) -> None:
    """report.md, report.html and brief.json can be made again from brief.json alone."""
    brief = make()
    again = brief_from_record(written(brief))
    assert markdown(brief_document(again)) == markdown(brief_document(brief))
    assert report_page(again) == report_page(brief)
    assert canonical_json(brief_record(again)) == canonical_json(brief_record(brief))


def test_a_record_is_plain_data() -> None:
    """The record has the brief's fields by their names, and each claim once with the fields of claims.jsonl."""
    record = written(bronze_age())
    assert record["topic"] == "Late Bronze Age collapse"
    assert record["summary"][0]["sureness"] == "well supported"
    ids = [claim["claim_id"] for claim in record["claims"]]
    assert len(ids) == len(set(ids)) == len(bronze_age().claims)
    assert record["context"] == {bronze_age().summary[0].claims[0]: {"before": AROUND.before, "after": AROUND.after}}
    assert {"claim", "claim_type", "support_snippets", "confidence"} <= record["claims"][0].keys()


def spoiled(*path: str | int, value: Any) -> Any:
    record = written(bronze_age())
    place = record
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return record


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"topic": "x"},
        spoiled("topic", value=1),
        spoiled("summary", value="x"),
        spoiled("summary", value=None),
        spoiled("summary", 0, value=[]),
        spoiled("summary", 0, "sureness", value="certain"),
        spoiled("summary", 0, "pages", value="1"),
        spoiled("summary", 0, "pages", value=True),
        spoiled("gaps", 0, "kind", value="other"),
        spoiled("timeline", 0, "earliest", value=1.5),
        spoiled("sources", "links", 0, value=[1]),
        spoiled("sources", "pages", 0, "points", value="60"),
        spoiled("sources", "pages", 0, "ref", value="zim://x/y"),
        spoiled("claims", value={}),
        spoiled("context", value=[]),
        spoiled("context", "x", value=["before", "after"]),
        spoiled("context", "x", value={"before": "Before. ", "after": 1}),
    ],
)
def test_an_invalid_brief_is_refused(record: Any) -> None:
    """A record with a field missing, of another type or with an unknown word is not taken for a brief."""
    with pytest.raises((ValueError, KeyError, TypeError)):
        brief_from_record(record)


def test_a_statement_whose_claims_are_gone_is_refused() -> None:
    """A record without the claims of a statement gives no brief."""
    with pytest.raises(StatementWithoutClaims):
        brief_from_record(spoiled("claims", value=[]))
