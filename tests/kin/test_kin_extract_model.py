"""A model fills the fields that no rule found, and only with what the page says."""

from __future__ import annotations

import json

import pytest
from tests.llm.scripted import ScriptedModel

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.ids import BookId
from kiwiresearch.kin.extract.by_model import read_missing_fields
from kiwiresearch.kin.extract.person_reader import read_person
from kiwiresearch.kin.firewall.check import check
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import read_page
from kiwiresearch.zim.archive import Entry, EntryRef

HTML = (
    "<p><b>John Carter</b> (1 May 1801 – 3 June 1870) was an English miller. He owned two mills.</p>"
    "<h2>Life</h2><p>Everybody knew that the smith Max Carter was the father of John Carter.</p>"
)


@pytest.fixture
def page() -> PageDoc:
    return read_page(Entry(EntryRef(BookId("book"), "John_Carter"), "John Carter", "text/html", HTML.encode()))


def reply(**finding: object) -> str:
    return json.dumps({"findings": [finding]})


def test_a_value_that_a_model_points_at_is_taken(page: PageDoc) -> None:
    """A name of the sentence it names is taken, with the sentence as quote, and counts for less than a rule's."""
    model = ScriptedModel(reply(field="father", value="Max Carter", sentences=[1], confidence=0.9))
    found = read_missing_fields(page, read_person(page), model, lambda *_: ())
    assert [(fact.field, fact.value, fact.method, fact.confidence) for fact in found.facts] == [
        ("father", "Max Carter", "model", 0.5)
    ]
    assert "Max Carter was the father" in found.facts[0].snippet.words


@pytest.mark.parametrize(
    ("finding", "reason"),
    [
        ({"field": "father", "value": "Ned Carter", "sentences": [1]}, "not in the sentences"),
        ({"field": "father", "value": "Max Carter", "sentences": [9]}, "not in the sentences"),
        ({"field": "birth_date", "value": "Max", "sentences": [1]}, "not asked for"),
        ({"field": "shoe size", "value": "Max", "sentences": [1]}, "does not exist"),
    ],
)
def test_facts_that_the_page_does_not_have_are_refused(page: PageDoc, finding: dict[str, object], reason: str) -> None:
    """A name that is not in the sentences, or a field that the rules have, is refused with the reason (R384)."""
    found = read_missing_fields(page, read_person(page), ScriptedModel(reply(**finding)), lambda *_: ())
    assert not found.facts
    assert reason in found.refused[0].reason


def test_facts_that_the_firewall_refuses_are_not_taken(page: PageDoc) -> None:
    """A value that the firewall finds wrong is not taken (R417)."""
    model = ScriptedModel(reply(field="mother", value="Max Carter", sentences=[1]))
    found = read_missing_fields(page, read_person(page), model, check)
    assert not found.facts
    assert found.refused[0].reason.startswith("the firewall")


def test_without_a_model_nothing_is_lost(page: PageDoc) -> None:
    """A model that cannot be reached leaves a note, and what the rules read is kept."""
    found = read_missing_fields(page, read_person(page), ScriptedModel(ModelUnreachable("gone")), lambda *_: ())
    assert not found.facts
    assert "gone" in found.note
