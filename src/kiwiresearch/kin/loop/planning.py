"""What the planner is told of a case, and what of its plan is done: an order, new queries, second looks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from kiwiresearch.kin.agents.planner import (
    Action,
    CurrentState,
    Expansion,
    PendingClue,
    PendingMerge,
    Plan,
    PlannerInput,
    Revisit,
    Searched,
    Waiting,
)
from kiwiresearch.kin.loop.following import Origin, Standing, suggested
from kiwiresearch.kin.loop.novelty import Asked
from kiwiresearch.kin.loop.remembered import query_words
from kiwiresearch.kin.loop.revisiting import Better, Negative, item_of
from kiwiresearch.kin.loop.stops import STOP_CONDITIONS, LoopState
from kiwiresearch.kin.resolve.proposal import MergeProposal
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.items import ClueItem, FrontierItem, RevisitItem
from kiwiresearch.kin.tree import Tree

RECENT = 10
LOOKED_AT = 50
PICKED = 0.1
"""So much further ahead an item gets at most that a model picks."""
MOST_SUGGESTED = 3


def planner_input(
    store: CaseStore,
    tree: Tree,
    state: LoopState,
    negatives: Sequence[Negative],
    proposals: Sequence[MergeProposal],
) -> PlannerInput:
    """The case as a planner sees it."""
    found = [one for one in store.queries() if one.new_assertions]
    discoveries = [f"{query_words(one.query)}: {one.new_assertions} new statements" for one in found]
    return PlannerInput(
        CurrentState(
            len(tree.persons),
            store.assertion_count(),
            len(tree.sources),
            max(state.budget_limit - state.budget_used, 0),
            state.frontier_queue,
            state.clue_queue,
        ),
        tuple(discoveries[-RECENT:]),
        tuple(
            PendingClue(one.id, one.related_person_id, one.hypothesis_text, one.priority, one.suggested_queries)
            for one in clues_of(store)
        ),
        {name: holds(state) for name, holds in STOP_CONDITIONS.items()},
        tuple(_waiting(one) for one in _frontier(store)[:LOOKED_AT]),
        tuple(
            Searched(one.item.id, source, str(one.item.context["name"])) for one in negatives for source in one.sources
        )[-LOOKED_AT:],
        tuple(
            PendingMerge(" ".join(one.candidate_pair), one.similarity_score)
            for one in proposals
            if one.recommended_action != "separate" and not one.vetoes
        ),
        tuple(
            Revisit(one.original_source_id, one.improved_query, one.revisit_reason, item_of(one))
            for one in store.items("revisit", "pending")
            if isinstance(one, RevisitItem)
        ),
    )


def clues_of(store: CaseStore) -> tuple[ClueItem, ...]:
    """The clues that wait, the best first."""
    return tuple(one for one in store.items("clue", "pending") if isinstance(one, ClueItem))


def wishes_of(plan: Plan, may_be_asked: Callable[[str], bool]) -> Mapping[str, list[Better]]:
    """Second looks that a model asks for, by the item they are for; the words may go to sources outside."""
    found: dict[str, list[Better]] = defaultdict(list)
    for one in (one for one in plan.proposed if isinstance(one, Revisit) and may_be_asked(one.improved_query)):
        found[one.search].append(Better(one.improved_query, one.reason or "a model asks for it"))
    return found


def follow(store: CaseStore, plan: Plan, tree: Tree, known: Sequence[Asked], age: float) -> None:
    """Do what a model asks for, as far as the rules allow; what the rules plan is in the queues already."""
    frontier = {one.id: one for one in _frontier(store)}
    for action in (one for one in plan.proposed if isinstance(one, Action)):
        item = frontier.get(action.target)
        if item is not None:
            store.reprioritise(item, round(min(item.priority + PICKED * action.priority, 1.0), 4))
    places = {one.related_person_id: one.evidence_hints for one in clues_of(store)}
    by_person: dict[str, list[str]] = defaultdict(list)
    for one in (one for one in plan.proposed if isinstance(one, Expansion)):
        by_person[one.person].append(one.query)
    for person, queries in by_person.items():
        hints = places.get(person)
        if hints is None or store.canonical(person) not in tree.persons:
            continue
        standing = Standing(int(hints.get("generation", 0)), int(hints.get("aside", 0)))
        origin = Origin(person, tree.persons[store.canonical(person)].name, standing, age=age)
        for new in suggested(queries, origin, MOST_SUGGESTED, known):
            store.push("frontier", new)


def _frontier(store: CaseStore) -> tuple[FrontierItem, ...]:
    return tuple(one for one in store.items("frontier", "pending") if isinstance(one, FrontierItem))


def _waiting(item: FrontierItem) -> Waiting:
    tier = int(item.source_tiers[0]) if item.source_tiers else 0
    return Waiting(item.id, str(item.context.get("name") or item.query_string), tier, item.priority)
