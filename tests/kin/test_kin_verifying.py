"""From a record to what is kept of it: anchor, confidence, hypotheses, firewall, and what becomes of each value."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tests.kin.loop_family import PAGES, a_case, named, open_family, person_page, researcher, run, write_family
from tests.llm.scripted import ScriptedModel

from kiwiresearch.ids import BookId
from kiwiresearch.kin.loop.case_model import verify_by_model
from kiwiresearch.kin.loop.record_writer import store_record
from kiwiresearch.kin.loop.source_records import CheckedRecord, check_record
from kiwiresearch.kin.source_facts import ExtractedFact, Hypothesis, PersonReading, Snippet
from kiwiresearch.kin.sources.source import FetchedRecord
from kiwiresearch.kin.tree import FieldName, Source
from kiwiresearch.zim.archive import EntryRef

TEXT = "Ann Lee (5 May 1805 – 6 June 1880) was a painter. She was the daughter of Tom Lee of Hull. Ida Moor taught her."
SOURCE = Source("s", "zim://book/Ann_Lee", "Wikipedia")


def extracted_fact(field: FieldName, value: str, words: str, confidence: float = 0.9) -> ExtractedFact:
    start = max(0, TEXT.find(words))
    return ExtractedFact(field, value, Snippet(start, start + len(words), words), "prose", confidence)


def a_record(*facts: ExtractedFact) -> CheckedRecord:
    guess = Hypothesis("parental_discovery", "a father of that name", "Jr.", 0.8, ("Tom Lee Sr.",))
    ref = EntryRef(BookId("book"), "Ann_Lee")
    read = PersonReading(ref, "Ann Lee", is_person=True, why="told", name="Ann Lee", sex="female", facts=facts)
    record = check_record(FetchedRecord(SOURCE, TEXT, replace(read, hypotheses=(guess,))))
    assert record is not None
    return record


FATHER = extracted_fact("father", "Tom Lee", "daughter of Tom Lee")
TAUGHT = extracted_fact("mother", "Ida Moor", "Ida Moor taught her")
MADE_UP = extracted_fact("father", "Tom Lee", "the son of Tom Lee")
PERHAPS = extracted_fact("birth_place", "Hull", "of Hull", 0.4)


def test_each_value_goes_through_the_stages_in_their_order() -> None:
    """Words that are not there end it; what they say is given its confidence or rejected (R303, R304, R307, R310)."""
    record = a_record(FATHER, MADE_UP, TAUGHT, extracted_fact("father", "Tom Lee", "daughter of Tom Lee", 0.5))
    father, made_up, taught, unsure = record.facts
    assert (father.status, father.confidence, father.violations) == ("verified", 0.495, ())
    assert [one.code for one in made_up.violations] == ["HF_008"]
    assert [one.code for one in taught.violations] != ["HF_008"]
    assert (made_up.status, made_up.confidence) == (taught.status, taught.confidence) == ("rejected", 0.0)
    assert (unsure.status, unsure.confidence) == ("unverified", 0.275)


def test_a_fact_that_fails_is_kept_as_rejected_and_not_shown(tmp_path: Path) -> None:
    """A value that its quote does not say stays in the case as rejected, and makes nobody a mother (R310)."""
    with a_case(tmp_path) as store:
        with store.step("test"):
            kept = store_record(store, a_record(FATHER, TAUGHT), lambda *_: None)
        rejected = [one for one in store.tree(with_discarded=True).facts if one.status == "rejected"]
        assert [(one.field, one.value) for one in rejected] == [("mother", "Ida Moor")]
        tree = store.tree()
        assert [tree.persons[one].name for one in tree.parents(kept.person)] == ["Tom Lee"]
        assert all(one.field != "mother" for one in tree.facts)


def test_a_verifier_is_given_source_text_values_and_quotes() -> None:
    """A model gets the address, the text, each value and its quote (R343)."""
    model = ScriptedModel('{"verification_results": []}')
    verify_by_model(SOURCE.url, TEXT, (PERHAPS,), model, lambda _: True)
    for words in (SOURCE.url, TEXT, "birth_place", "Hull", "of Hull"):
        assert words in model.asked[0].text


ANALYST = "You weigh evidence"


def test_findings_of_the_analyst_are_kept_with_their_conflict(tmp_path: Path) -> None:
    """Of two dates on one page a model prefers the other: the person is shown with it, both stay (R280, R346)."""
    page = person_page("Ann Lee", "5 May 1805 – 6 June 1880", {"Born": "7 May 1805"}, "was a painter.")
    book = open_family(write_family(tmp_path / "one.zim", {"Ann Lee": page, "Clocks": PAGES["Clocks"]}))
    ranking = [{"claim_index": 1, "rank": 1, "reason": "x"}, {"claim_index": 0, "rank": 2, "reason": "x"}]
    line = json.dumps(
        {
            "analysis": "The other one.", "evidence_ranking": ranking, "recommended_index": 1, "confidence": 0.6,
            "is_tentative": True, "next_actions": [], "preserve_alternatives": True,
        }
    )  # fmt: skip
    kept = []
    for name, model in (("rules", None), ("model", ScriptedModel(by={ANALYST: line, "You": "no idea"}))):
        (tmp_path / name).mkdir()
        with a_case(tmp_path / name, seeds=("Ann Lee",)) as store:
            run(researcher(store, book, model=model))
            (conflict,) = store.conflicts()
            values = {one.id: one.value for one in store.tree().facts if one.field == "birth_date"}
            birth = named(store.tree(), "Ann Lee").birth
            kept.append((conflict.method, values[conflict.recommended_assertion_id], birth and birth.edtf()))
            assert sorted(set(values.values())) == ["1805-05-05", "1805-05-07"]
    assert kept == [("rule", "1805-05-05", "1805-05-05"), ("llm", "1805-05-07", "1805-05-07")]
