"""The queues: nothing twice, the best first, what was taken is put back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import pytest
from tests.kin.cases import NOW

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.queues import ClueItem, FrontierItem, QueueItem, RevisitItem

LATER = "2026-01-01T01:00:00Z"


def page(name: str, priority: float = 0.5) -> FrontierItem:
    return FrontierItem(query_string=name, query_hash=name, priority=priority)


def test_items_have_the_fields_of_the_specification() -> None:
    """All three kinds inherit QueueItem and have exactly their own fields beside it (R331, R332, R333, R334, R335)."""
    base = {field.name for field in fields(QueueItem)}
    assert {"id", "priority", "created_at", "retry_count", "status"} <= base
    own = {kind: {field.name for field in fields(kind)} - base for kind in (FrontierItem, ClueItem, RevisitItem)}
    assert own == {
        FrontierItem: {"target_entity_id", "query_string", "source_tiers", "query_hash", "context"},
        ClueItem: {"hypothesis_type", "hypothesis_text", "related_person_id", "suggested_queries", "evidence_hints"},
        RevisitItem: {
            "original_source_id",
            "original_query",
            "improved_query",
            "revisit_reason",
            "triggering_clue_id",
        },
    }
    assert all(issubclass(kind, QueueItem) for kind in own)


def test_items_come_back_as_they_were_pushed(case: CaseStore) -> None:
    """Every field of every kind survives the queue (R272, R273, R274)."""
    frontier = FrontierItem(
        target_entity_id="ann",
        query_string="Ann Smith",
        source_tiers=("0", "1"),
        query_hash="h",
        context={"generation": 1},
    )
    clue = ClueItem(
        hypothesis_type="parental_discovery",
        hypothesis_text="Jr. implies a father",
        related_person_id="ann",
        suggested_queries=("John Smith Sr.",),
        evidence_hints={"hint": "Jr."},
    )
    revisit = RevisitItem(
        original_source_id="s",
        original_query="Ann",
        improved_query="Ann Hill",
        revisit_reason="married name",
        triggering_clue_id="c",
    )
    assert case.queues.push("frontier", frontier)
    assert case.queues.push("clue", clue)
    assert case.queues.push("revisit", revisit)
    for queue, item in (("frontier", frontier), ("clue", clue), ("revisit", revisit)):
        (found,) = case.queues.items(queue)  # type: ignore[arg-type]
        base = {field.name for field in fields(QueueItem)}
        for field in fields(item):
            if field.name not in base:
                assert getattr(found, field.name) == getattr(item, field.name)
        assert (found.status, found.retry_count, found.created_at) == ("pending", 0, NOW)
    with pytest.raises(BadUsage, match="ClueItem"):
        case.queues.push("frontier", clue)


def test_an_item_is_queued_once(case: CaseStore) -> None:
    """The same query is not novel, be it done long ago; clues and revisits are known by what they ask (R275)."""
    assert case.queues.push("frontier", page("a"))
    item = case.queues.take("frontier")
    assert item
    case.queues.finish(item)
    assert not case.queues.push("frontier", page("a", 0.9))
    clue = ClueItem(hypothesis_type="t", hypothesis_text="Father of Ann")
    assert case.queues.push("clue", clue)
    assert not case.queues.push("clue", ClueItem(hypothesis_type="t", hypothesis_text="father of  ANN"))
    assert case.queues.sizes() == {"frontier": 0, "clue": 1, "revisit": 0}


def test_the_best_comes_first_and_ties_go_by_id(case: CaseStore) -> None:
    """Items come out by priority, whatever order they went in (R292)."""
    for name, priority in (("c", 0.5), ("a", 0.5), ("b", 0.9), ("d", 0.1)):
        case.queues.push("frontier", page(name, priority))
    order = [item.id for item in case.queues.items("frontier")]
    taken = []
    while item := case.queues.take("frontier"):
        taken.append(item.id)
    assert taken == order
    by_name = {item.key: item for item in case.queues.items("frontier")}
    assert (taken[0], taken[-1]) == (by_name["b"].id, by_name["d"].id)
    assert taken[1] < taken[2]


def test_an_item_that_was_taken_can_be_given_back(case: CaseStore) -> None:
    """An item that is taken is not given to others until it is given back, which does not count as a try."""
    case.queues.push("frontier", page("a"))
    assert case.queues.take("frontier")
    assert case.queues.take("frontier") is None
    case.queues.return_taken()
    again = case.queues.take("frontier")
    assert again
    assert (again.status, again.retry_count) == ("taken", 0)


def test_an_item_fails_for_good_after_three_retries(case_url: str) -> None:
    """A failure puts an item back for later, three times, and then keeps it as failed with its reason."""
    clock = [NOW]
    with CaseStore.create(case_url, {}, lambda: clock[0]) as store:
        store.queues.push("frontier", page("a"))
        for expected in ("pending", "pending", "pending", "failed"):
            item = store.queues.take("frontier")
            assert item
            assert store.queues.retry_later(item, "no answer", LATER) == expected
            clock[0] = NOW
            assert store.queues.take("frontier") is None
            clock[0] = LATER
        (item,) = store.queues.items("frontier", "failed")
        assert (item.last_error, item.retry_count) == ("no answer", 3)
        assert store.queues.sizes()["frontier"] == 0


def test_an_item_whose_workers_never_come_back_is_set_aside(case: CaseStore) -> None:
    """What a killed worker had taken counts as a try: after three the item has failed."""
    case.queues.push("frontier", page("a"))
    for retries in range(4):
        item = case.queues.take("frontier")
        assert item
        assert item.retry_count == retries
        assert case.queues.sizes()["frontier"] == 1
        assert case.queues.return_after_crash() == 1
    assert case.queues.take("frontier") is None
    (item,) = case.queues.items("frontier", "failed")
    assert (item.last_error, item.retry_count) == ("the worker that had it disappeared", 3)


def test_threads_may_share_one_store(case: CaseStore) -> None:
    """A store that several threads use at once makes them wait and mixes nothing up."""
    for number in range(40):
        case.queues.push("frontier", page(f"q{number}"))

    def work(name: str) -> list[str]:
        taken: list[str] = []
        while True:
            with case.step(name):
                item = case.queues.take("frontier")
                if item is None:
                    return taken
                case.add_person(item.id, name)
                case.queues.finish(item)
                taken.append(item.id)

    with ThreadPoolExecutor(4) as pool:
        taken = [identity for one in pool.map(work, "abcd") for identity in one]
    assert len(taken) == len(set(taken)) == len(case.tree().persons) == 40
    assert case.verify_audit() == ()
