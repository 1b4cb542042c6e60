"""Merges: two people become one and two again, byte for byte."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

import pytest
from tests.kin.cases import TEXT, a_source, dump, now, rows_of, said

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.tables import EVENT
from kiwiresearch.kin.tree import RelationKind

T = TypeVar("T")
PEOPLE = [f"p{number:02}" for number in range(14)]
KINDS: tuple[RelationKind, ...] = ("parent_of", "spouse_of", "sibling_of", "partner_of")


class Chance:
    """Draws that are the same on every run."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._drawn = itertools.count()

    def random(self) -> float:
        return int(sha256(f"{self._seed}{next(self._drawn)}".encode()).hexdigest()[:8], 16) / 16**8

    def choice(self, things: Sequence[T]) -> T:
        return things[int(self.random() * len(things))]


def merged(store: CaseStore, kept: str, gone: str, *, even_if_separated: bool = False) -> str:
    return store.merges.merge(
        kept,
        gone,
        rationale="same name",
        why_not_split="one page",
        why_not_merge="a year apart",
        even_if_separated=even_if_separated,
    )


def a_family(store: CaseStore, chance: Chance) -> None:
    """People with facts in common, ties in all directions and of all kinds."""
    with store.step("test"):
        source = a_source(store)
        for person in PEOPLE:
            store.add_person(person, f"Name {person}", chance.choice(("male", "female", "")), {"zim": person})
            if chance.random() < 0.5:
                store.add_name_form(person, chance.choice(("Ann", "Nan", "Anna")))
            for fact in (
                said("birth_date", "12 May 1850"),
                said("birth_date", "12 May 1851"),
                said("birth_place", "Leeds"),
                said("death_date", "3 March 1901"),
                said("name", "Ann Smith"),
            ):
                if chance.random() < 0.4:
                    fact_id = store.assert_fact(person, fact, source, status="verified")
                    if chance.random() < 0.3:
                        store.set_preferred(fact_id, "test")
        for first, second in itertools.combinations(PEOPLE, 2):
            if chance.random() < 0.25:
                kind = chance.choice(KINDS)
                words = (
                    said("spouse", "married John Hill in 1871") if kind == "spouse_of" else said("father", "Tom Smith")
                )
                store.assert_tie(kind, first, second, words, source, status=chance.choice(("verified", "disputed")))


def test_200_random_merges_and_reversals_leave_the_store_byte_for_byte_as_it_was(case: CaseStore) -> None:
    """After 200 merges, undone singly and in cascades, every table is as before, and the audit log is intact (R395)."""
    chance = Chance("7")
    a_family(case, chance)
    before, tree = dump(case), case.tree()
    made = 0
    open_merges: list[str] = []
    while made < 200 or open_merges:
        with case.step("resolver"):
            for _ in range(1 + int(chance.random() * 6)):
                first, second = chance.choice(PEOPLE), chance.choice(PEOPLE)
                apart = case.canonical(first) != case.canonical(second)
                if made < 200 and apart and chance.random() < 0.7:
                    open_merges.append(merged(case, first, second, even_if_separated=True))
                    made += 1
                elif open_merges:
                    undone = case.merges.undo(chance.choice(open_merges), cascade=True)
                    open_merges = [cluster for cluster in open_merges if cluster not in undone]
    assert dump(case) == before
    assert case.tree() == tree
    assert case.verify_audit() == ()


def test_merged_people_are_one_in_the_tree(case: CaseStore) -> None:
    """A merge joins facts, evidence, names and other names, and a tie that is there twice becomes one (R330)."""
    source, other = a_source(case), a_source(case, "zim://book/Nan", TEXT + " Again.")
    for person, name in (("a", "Ann Smith"), ("b", "Nan Smith"), ("tom", "Tom Smith")):
        case.add_person(person, name, "", {person: "here"})
    case.assert_fact("a", said("birth_date", "12 May 1850"), source)
    case.assert_fact("b", said("birth_date", "12 May 1850"), other)
    case.assert_fact("b", said("birth_place", "Leeds"), other)
    for child in ("a", "b"):
        case.assert_tie("parent_of", "tom", child, said("father", "Tom Smith"), source)
    merged(case, "a", "b")
    tree = case.tree()
    assert sorted(tree.persons) == ["a", "tom"]
    assert tree.persons["a"].names == ("Nan Smith",)
    assert tree.persons["a"].birth_place == "Leeds"
    assert dict(tree.persons["a"].external) == {"a": "here", "b": "here"}
    assert [(fact.field, len(fact.evidence)) for fact in tree.facts_of("a")] == [("birth_date", 2), ("birth_place", 1)]
    assert [(tie.first, tie.second, len(tie.evidence)) for tie in tree.relationships] == [("tom", "a", 2)]
    assert case.person_by_external_id("b", "here") == case.canonical("b") == case.person("b").id == "a"


def test_a_couple_is_shown_with_the_date_that_only_one_tie_has(case: CaseStore) -> None:
    """A tie shows the date and qualifier of one that says the same, and undoing the merge takes them away again."""
    source = a_source(case)
    for person, name in (("a", "Ann Smith"), ("b", "Nan Smith"), ("john", "John Hill")):
        case.add_person(person, name, "")
    dated = said("spouse", "She married John Hill in 1871", "John Hill", qualifier="divorced")
    case.assert_tie("spouse_of", "a", "john", said("spouse", "John Hill"), source, status="verified")
    case.assert_tie("spouse_of", "b", "john", dated, source)
    cluster = merged(case, "a", "b")
    (tie,) = case.tree().relationships
    assert tie.start is not None
    assert (tie.start.edtf(), tie.qualifier, len(tie.evidence)) == ("1871", "divorced", 2)
    assert [row["date"]["edtf"] for row in rows_of(case, EVENT) if row["event_type"] == "marriage"] == ["1871"]
    assert case.verify_rows() == ()
    case.merges.undo(cluster)
    assert {
        one.second if one.first == "john" else one.first: one.start and one.start.edtf()
        for one in case.tree().relationships
    } == {"a": None, "b": "1871"}


def test_facts_for_a_merged_person_go_to_the_merged_one(case: CaseStore) -> None:
    """An id that was merged away can still be written to, and what comes after a merge stays when it is undone."""
    source = a_source(case)
    for person in ("a", "b"):
        case.add_person(person, person)
    cluster = merged(case, "a", "b")
    case.assert_fact("b", said("birth_place", "Leeds"), source)
    assert case.person("a").birth_place == "Leeds"
    case.merges.undo(cluster)
    assert (case.person("a").birth_place, case.person("b").birth_place) == ("Leeds", "")


def test_a_tie_between_the_two_is_set_aside_and_comes_back(case: CaseStore) -> None:
    """Merging two who are tied to each other ties nobody to itself."""
    source = a_source(case)
    for person in ("a", "b"):
        case.add_person(person, person)
    case.assert_tie("sibling_of", "a", "b", said("father", "Tom Smith"), source)
    cluster = merged(case, "a", "b")
    assert case.tree().relationships == ()
    case.merges.undo(cluster)
    assert len(case.tree().relationships) == 1


def test_a_merge_that_a_later_one_rests_on_is_not_undone_by_half(case: CaseStore) -> None:
    """Undoing names the later merge and changes nothing; with cascade both go, the later first."""
    for person in ("a", "b", "c"):
        case.add_person(person, person)
    first, second = merged(case, "a", "b"), merged(case, "c", "a")
    before = dump(case, history=True)
    with pytest.raises(BadUsage, match=second):
        case.merges.undo(first)
    assert dump(case, history=True) == before
    assert case.merges.undo(first, cascade=True) == (second, first)
    assert sorted(case.tree().persons) == ["a", "b", "c"]


def test_an_undone_merge_is_made_again_only_on_request(case: CaseStore) -> None:
    """A reversal forbids the link in both directions, and only on request is the pair merged again."""
    for person in ("a", "b"):
        case.add_person(person, person)
    case.merges.undo(merged(case, "a", "b"), why="other parents")
    (link,) = case.merges.separated()
    assert (link.first, link.second, link.reason) == ("a", "b", "other parents")
    with pytest.raises(BadUsage, match="other parents"):
        merged(case, "b", "a")
    merged(case, "b", "a", even_if_separated=True)
    assert sorted(case.tree().persons) == ["b"]


def test_separated_people_may_be_merged_again(case: CaseStore) -> None:
    """A forbidden link can be allowed again, in either direction and once; the audit log records both."""
    for person in ("a", "b"):
        case.add_person(person, person)
        case.set_living(person, "deceased")
    before = dump(case, history=True)
    case.merges.separate("a", "b", "two people")
    case.merges.withdraw_separation("b", "a")
    assert (case.merges.separated(), dump(case, history=True)) == ((), before)
    *_, forbidden, allowed = case.audit()
    assert (forbidden.action_type, allowed.action_type) == ("cannot_link", "allow_link")
    assert allowed.after_state == {"ids": ["a", "b"]}
    assert case.verify_audit() == ()
    with pytest.raises(BadUsage, match="not kept separate"):
        case.merges.withdraw_separation("a", "b")
    merged(case, "a", "b")


def test_why_people_are_separate_stays_out_of_the_log(case: CaseStore) -> None:
    """The words of a person may name the living, also where they are about the dead, so the log has ids alone."""
    for person in ("a", "b"):
        case.add_person(person, person)
        case.set_living(person, "deceased")
    case.merges.undo(merged(case, "a", "b"), why="Nora said so")
    case.merges.withdraw_separation("a", "b")
    assert [row.after_state for row in case.audit()[-3:]] == [{"ids": ["a", "b"]}] * 3


def test_a_record_keeps_its_name(case: CaseStore) -> None:
    """What a record called its person is known after a merge, and after it was undone."""
    case.add_person("a", "Eliza")
    case.add_person("b", "Eliza Holly")
    cluster = merged(case, "a", "b")
    assert [case.recorded_name(one) for one in ("a", "b")] == ["Eliza", "Eliza Holly"]
    assert case.person("b").name == "Eliza"
    case.merges.undo(cluster)
    assert case.recorded_name("b") == "Eliza Holly"
    with pytest.raises(BadUsage, match="nobody"):
        case.recorded_name("nobody")


def test_merges_say_why_and_why_not(case: CaseStore) -> None:
    """A merge cluster has every required field, and what speaks against it (R328, R354, R356, R394)."""
    for person in ("a", "b"):
        case.add_person(person, person)
    cluster = case.merges.merge(
        "a",
        "b",
        rationale="same name",
        why_not_split="same parents",
        why_not_merge="a year apart",
        features={"name_similarity": 0.9},
        score=0.97,
        decided_by="rule",
    )
    (row,) = case.merges.all()
    assert (row.id, row.canonical_id, row.member_ids) == (cluster, "a", ("a", "b"))
    assert (row.merge_rationale, row.why_not_split, row.why_not_merge) == ("same name", "same parents", "a year apart")
    assert (row.is_reversible, row.created_at, row.state, row.score) == (True, now(), "merged", 0.97)
    assert dict(row.features) == {"name_similarity": 0.9}
    with pytest.raises(BadUsage, match="a reason against"):
        case.merges.merge("a", "b", rationale="x", why_not_split="y", why_not_merge=" ")


@pytest.mark.parametrize(("kept", "gone"), [("a", "a"), ("a", "nobody"), ("nobody", "a")])
def test_a_merge_that_makes_no_sense_is_refused(case: CaseStore, kept: str, gone: str) -> None:
    """A person is not merged with itself or with one the case has not, and nothing is written."""
    case.add_person("a", "a")
    before = dump(case, history=True)
    with pytest.raises(BadUsage):
        merged(case, kept, gone)
    assert dump(case, history=True) == before


def test_only_an_active_merge_can_be_undone(case: CaseStore) -> None:
    """A merge that never was, or was undone, is refused by name."""
    for person in ("a", "b"):
        case.add_person(person, person)
    cluster = merged(case, "a", "b")
    case.merges.undo(cluster)
    with pytest.raises(BadUsage, match="already"):
        case.merges.undo(cluster)
    with pytest.raises(BadUsage, match="'none'"):
        case.merges.undo("none")
