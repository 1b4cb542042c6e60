"""Second looks: what was searched in vain is searched again once more is known, a few times, and not too soon."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.kin.families import when
from tests.kin.loop_family import PAGES, a_case, linked, named, open_family, person_page, researcher, run, write_family

from kiwiresearch.codec import plain
from kiwiresearch.kin.loop.revisits import (
    FailedSearch,
    KnownFacts,
    better_queries,
    known_facts,
    original_item_id,
    revisit_items,
)
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.store.queues import ClueItem, FrontierItem, RevisitItem
from kiwiresearch.kin.tree import Person, Relationship, Tree

FLORA = person_page(
    "Flora Marsh",
    "8 August 1835 – 9 September 1901",
    {"Born": "8 August 1835", "Died": "9 September 1901", "Father": linked("Aldous Penhallow")},
    "was a singer.",
)
ITEM = FrontierItem(
    id="F1",
    target_entity_id="P1",
    query_string="Ann Lee",
    query_hash="h",
    context={"name": "Ann Lee", "of": "P0", "of_name": "Tom Lee", "field": "child", "generation": -1, "aside": 0},
)
AT = "2026-01-01T00:00:00Z"


def a_tree(person: Person, *ties: Relationship, others: tuple[Person, ...] = ()) -> Tree:
    return Tree({one.id: one for one in (person, *others)}, ties)


def in_vain(known: KnownFacts, *sources: str) -> FailedSearch:
    return FailedSearch(ITEM, sources or ("wikipedia",), AT, known)


def looks(
    tree: Tree, negative: FailedSearch, *earlier: RevisitItem, clues: tuple[ClueItem, ...] = (), revisits: int = 3
) -> list[RevisitItem]:
    settings = CaseSettings(revisits=revisits)
    return revisit_items([negative], tree, {}, clues, earlier, settings, local_source_ids=frozenset({"wikipedia"}))


def test_another_name_leads_to_the_page_that_was_missed(tmp_path: Path) -> None:
    """A married name learned later finds the page that the maiden name did not (R271, R274, R299)."""
    book = open_family(write_family(tmp_path / "family.zim", {**PAGES, "Flora Marsh": FLORA}))
    with a_case(tmp_path) as store:
        one = researcher(store, book)
        run(one)
        flora = named(store.tree(), "Flora Penhallow")
        assert flora.birth is None
        store.add_name_form(flora.id, "Flora Marsh")
        took = run(one)
        assert [step.what for step in took] == ["revisit", "stop"]
        assert took[0].new > 0
        (item,) = store.queues.items("revisit")
        assert isinstance(item, RevisitItem)
        assert (item.original_source_id, item.original_query, item.improved_query) == (
            "wikipedia",
            "Flora Penhallow",
            "Flora Marsh",
        )
        assert item.revisit_reason == "another form of the name is known"
        tree = store.tree()
        (marsh,) = [p for p in tree.persons.values() if "Flora Marsh" in (p.name, *p.names) and p.birth]
        assert {tree.persons[p].name for p in tree.parents(marsh.id)} == {"Aldous Penhallow"}


def test_nothing_new_means_no_second_look(tmp_path: Path) -> None:
    """A search is not made again as long as nothing more is known."""
    book = open_family(write_family(tmp_path / "family.zim"))
    with a_case(tmp_path) as store:
        run(researcher(store, book))
        assert any(row.negative for row in store.queries())
        assert store.queues.items("revisit") == ()


PLAIN = Person("P1", "Ann Lee")
TIE = Relationship("R1", "spouse_of", "P1", "P2")


@pytest.mark.parametrize(
    ("tree", "query", "reason"),
    [
        (a_tree(replace(PLAIN, names=("Ann Moor",))), "Ann Moor", "another form of the name is known"),
        (a_tree(replace(PLAIN, birth=when("1801"))), "Ann Lee (born 1801)", "the years are known better"),
        (a_tree(replace(PLAIN, death=when("1870"))), "Ann Lee (died 1870)", "the years are known better"),
        (a_tree(PLAIN, TIE, others=(Person("P2", "Ian Moor"),)), "Ann Lee (with Ian Moor)", "a relative is known"),
    ],
)
def test_new_knowledge_gives_better_queries(tree: Tree, query: str, reason: str) -> None:
    """A name, years or a relative that came to be known each give one second look with better words (R271, R334)."""
    (item,) = looks(tree, in_vain(known_facts(a_tree(PLAIN), "P1")))
    assert (item.improved_query, item.revisit_reason, item.original_query) == (query, reason, "Ann Lee")
    assert original_item_id(item) == "F1"
    assert looks(tree, in_vain(known_facts(tree, "P1"))) == []


def test_years_count_only_when_they_are_much_narrower() -> None:
    """An interval has to shrink to half before a source is bothered again."""
    before = KnownFacts(("Ann Lee",), born=(1800, 1809))
    assert not list(better_queries(in_vain(before), replace(before, born=(1800, 1806)), a_tree(PLAIN), ()))
    (better,) = better_queries(in_vain(before), replace(before, born=(1801, 1803)), a_tree(PLAIN), ())
    assert better.query == "Ann Lee (born 1801 to 1803)"


def test_a_conflict_is_worth_a_second_look() -> None:
    """Where sources begin to disagree on a person, what found nothing is asked again."""
    before = KnownFacts(("Ann Lee",))
    (better,) = better_queries(in_vain(before), replace(before, conflicts=("birth_date",)), a_tree(PLAIN), ())
    assert (better.query, better.reason) == ("Ann Lee (birth date in dispute)", "sources disagree")


@pytest.mark.parametrize(("priority", "count"), [(0.7, 1), (0.69, 0)])
def test_a_strong_clue_is_worth_a_second_look(priority: float, count: int) -> None:
    """A clue about the relative that led here names the clue it is from (R334)."""
    clue = ClueItem(
        id="C1",
        priority=priority,
        hypothesis_type="parental_discovery",
        hypothesis_text="a mother",
        related_person_id="P0",
        suggested_queries=("Ann Lee Sr.", "Somebody Else"),
    )
    found = looks(a_tree(PLAIN), in_vain(known_facts(a_tree(PLAIN), "P1")), clues=(clue,))
    assert [(one.improved_query, one.triggering_clue_id) for one in found] == [("Ann Lee Sr.", "C1")] * count


def test_a_source_is_asked_again_three_times_at_most() -> None:
    """No source is asked more often about one person than the case allows, be there ever so many names."""
    tree = a_tree(replace(PLAIN, names=("Una Black", "Ida Stone", "Eve Winter", "Zoe Quint", "May Frost")))
    known = known_facts(a_tree(PLAIN), "P1")
    first = looks(tree, in_vain(known))
    assert len(first) == 3
    assert looks(tree, in_vain(known), *first) == []
    assert len(looks(tree, in_vain(known, "wikipedia", "wikidata"))) == 6
    assert looks(tree, in_vain(known), revisits=0) == []


def test_a_source_outside_is_given_a_day() -> None:
    """A source that is not on this machine is not asked about the same person again before a day has passed."""
    tree = a_tree(replace(PLAIN, names=("Una Black",)))
    here, there = looks(tree, in_vain(known_facts(a_tree(PLAIN), "P1"), "wikipedia", "wikidata"))
    assert (here.not_before, there.not_before[:16]) == ("", "2026-01-02T00:00")


def test_a_similar_spelling_is_not_a_better_word() -> None:
    """Another spelling of what was asked is not asked again (R275)."""
    tree = a_tree(replace(PLAIN, names=("Lee Ann", "Ann  LEE")))
    assert looks(tree, in_vain(known_facts(a_tree(PLAIN), "P1"))) == []


def test_knowledge_at_the_time_is_stored_with_the_case() -> None:
    """What was known at the time is kept and read again as it was."""
    known = KnownFacts(("Ann Lee",), (1800, 1801), None, ("P2",), ("birth_date",))
    assert KnownFacts.from_record(plain(known)) == known
