"""What was taken apart stays apart: in the next run, with more evidence, and once one of the two is somebody else."""

from __future__ import annotations

import pytest
from tests.kin.cases import now

from kiwiresearch.kin.loop.evaluation import evaluate, resolve
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.tree import FieldName, Source
from kiwiresearch.text.dates.mentions import dates_in

LIFE: tuple[tuple[FieldName, str], ...] = (("birth_date", "12 May 1811"), ("death_date", "3 June 1880"))
TEXT = "Ermengarde Smithson, 12 May 1811, 3 June 1880, Leeds"


def add_record(case: CaseStore, person: str, book: str, *facts: tuple[FieldName, str]) -> None:
    """A record of Ermengarde Smithson in a book of its own."""
    source = case.add_source(Source(book, f"https://{book}.example/1", book), TEXT)
    case.add_person(person, "Ermengarde Smithson", "female")
    for field, value in facts:
        start = TEXT.index(value)
        when = dates_in(value)[0].when if field.endswith("_date") else None
        snippet = Snippet(start, start + len(value), value)
        case.assert_fact(person, ExtractedFact(field, value, snippet, "lead", 0.9, when), source, status="verified")


@pytest.fixture
def parted(case: CaseStore) -> CaseStore:
    """A case in which two records were merged, and the merge undone."""
    with case.step("test"):
        add_record(case, "a", "one", *LIFE)
        add_record(case, "b", "two", *LIFE)
    (merge,), _, _ = resolve(case)
    with case.step("user"):
        case.merges.undo(merge, why="cousins")
    return case


def test_a_merge_that_was_undone_is_not_proposed_again(parted: CaseStore) -> None:
    """The next run leaves the two apart, and says that they were kept separate before."""
    merged, left, _ = resolve(parted)
    assert merged == ()
    assert [one.recommended_action for one in left] == ["separate"]
    assert "kept separate before" in left[0].why_not_merge


def test_more_evidence_of_the_same_kind_changes_nothing(parted: CaseStore) -> None:
    """One more source that agrees does not bring the two together."""
    with parted.step("test"):
        add_record(parted, "a", "three", *LIFE, ("birth_place", "Leeds"))
        add_record(parted, "b", "four", *LIFE, ("birth_place", "Leeds"))
    assert resolve(parted)[0] == ()


def test_another_worker_knows_it_too(parted: CaseStore, case_url: str) -> None:
    """A process that opens the case later finds the two apart."""
    parted.close()
    with CaseStore.open(case_url, now) as again:
        assert resolve(again)[0] == ()


def test_the_pair_stays_apart_once_one_of_them_is_part_of_another(parted: CaseStore) -> None:
    """A third record joins one of the two, and the other stays out, also in the run after that."""
    with parted.step("test"):
        add_record(parted, "0", "three", *LIFE)
        why = "the user says so"
        parted.merges.merge("0", "a", rationale=why, why_not_split=why, why_not_merge="little")
    for _ in range(2):
        merged, left, _ = resolve(parted)
        assert merged == ()
        assert any("kept separate before" in one.why_not_merge for one in left)
    assert sorted(parted.tree().persons) == ["0", "b"]


def test_two_pages_are_not_joined_by_a_third_record(case: CaseStore) -> None:
    """A record without a page that fits the people of two pages of one book joins one of them, never both."""
    with case.step("test"):
        for person, book in (("a", "one"), ("b", "two"), ("c", "three")):
            add_record(case, person, book, *LIFE)
        case.add_person("a", "Ermengarde Smithson", "female", {"record": "zim://book/Ermengarde_Smithson"})
        case.add_person("c", "Ermengarde Smithson", "female", {"record": "zim://book/Ermengarde_Smithson_(nun)"})
    resolve(case)
    assert case.canonical("a") != case.canonical("c")


def test_an_impossible_relationship_is_disputed(case: CaseStore) -> None:
    """A child born before its parent stays in the case, and the relationship is marked as disputed."""
    text = "Ermengarde Smithson, 12 May 1811, 3 June 1880"
    with case.step("test"):
        add_record(case, "a", "one", ("birth_date", "3 June 1880"))
        case.add_person("b", "Hildebrand Smithson", "male")
        source = case.add_source(Source("two", "https://two.example/1", "two"), text)
        born = ExtractedFact(
            "birth_date", "1811-05-12", Snippet(21, 32, text[21:32]), "lead", 0.9, dates_in(text)[0].when
        )
        case.assert_fact("b", born, source, status="verified")
        child = ExtractedFact("child", "Ermengarde Smithson", Snippet(0, 19, text[:19]), "lead", 0.9)
        tie = case.assert_tie("parent_of", "a", "b", child, source, status="verified")
    evaluate(case, 2020)
    assert {one.id: one.status for one in case.tree().relationships} == {tie: "disputed"}
