"""Queries that were asked before, in whatever dress."""

from __future__ import annotations

import pytest

from kiwiresearch.kin.loop.queries import (
    QueryOrigin,
    TreePosition,
    is_novel,
    items_for_clue,
    query_key,
    suggested_items,
)
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.store.queues import ClueItem


@pytest.mark.parametrize(
    ("one", "other", "novel"),
    [
        ("John Smith", "Smith, John", False),
        ("José García", "Jose Garcia", False),
        ("Aldous Penhallow", "Aldous Penhalow", False),
        ("Henry VII", "Henry VIII", True),
        ("John Smith Sr.", "John Smith Jr.", True),
        ("John Smith father", "John Smith mother", True),
        ("John Smith", "Jane Smythe", True),
    ],
)
def test_near_queries_are_one(one: str, other: str, *, novel: bool) -> None:
    """Another order, spelling or accent is not a new query; another king, generation or relative is (R275, R379)."""
    assert is_novel(query_key(other, "wikipedia"), [query_key(one, "wikipedia")]) is novel


def test_sources_and_years_are_asked_apart() -> None:
    """What one source was asked another may be asked, and so may the same with other years."""
    known = [query_key("John Smith", "wikipedia", [1801])]
    assert is_novel(query_key("John Smith", "wikidata", [1801]), known)
    assert is_novel(query_key("John Smith", "wikipedia", [1802]), known)
    assert not is_novel(query_key("John Smith", "wikipedia", [1801]), known)


def test_a_clue_asks_little_and_nothing_twice() -> None:
    """Of a clue's suggestions those are taken that nobody asked yet, and no more than allowed (R275, R297)."""
    clue = ClueItem(
        priority=0.8,
        hypothesis_type="parental_discovery",
        hypothesis_text="a father",
        related_person_id="P1",
        suggested_queries=("Ann Lee Sr.", "Lee Ann Sr.", "Zoe Quint", "Ian Moor", "Una Black"),
    )
    known = [query_key("Zoe Quint", "relative:P9")]
    found = items_for_clue(clue, "Ann Lee", CaseSettings(clue_queries=2), known)
    assert [one.query_string for one in found] == ["Ann Lee Sr.", "Ian Moor"]
    assert items_for_clue(clue, "Ann Lee", CaseSettings(clue_queries=0), known) == []


def test_words_without_letters_are_not_a_query() -> None:
    """A suggestion that has only signs is left out."""
    assert suggested_items(("", "…", "?!"), QueryOrigin("P1", "Ann Lee", TreePosition()), 3, []) == []
