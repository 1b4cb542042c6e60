"""The planner: its input, the plan by rules, and how a plan is applied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from kiwiresearch.codec import JsonDict
from kiwiresearch.kin.loop.progress import STOP_CONDITIONS, LoopState
from kiwiresearch.kin.loop.queries import QueryKey, QueryOrigin, TreePosition, suggested_items
from kiwiresearch.kin.loop.revisits import BetterQuery, FailedSearch, original_item_id, query_label
from kiwiresearch.kin.resolve import MergeProposal
from kiwiresearch.kin.store import CaseStore, ClueItem, FrontierItem, RevisitItem
from kiwiresearch.kin.tree import Tree

ActionKind = Literal["fetch", "revisit", "merge", "stop"]
MAX_ACTIONS = 5
MAX_EXPANSIONS = 5


@dataclass(frozen=True, slots=True)
class CurrentState:
    """The state of a case, in numbers."""

    persons_discovered: int = 0
    assertions_made: int = 0
    sources_queried: int = 0
    budget_remaining: int = 0
    frontier_size: int = 0
    clue_queue_size: int = 0


@dataclass(frozen=True, slots=True)
class PendingQuery:
    """An item of the frontier."""

    id: str
    query: str
    source_tier: int
    priority: float


@dataclass(frozen=True, slots=True)
class PendingClue:
    """A hypothesis to follow; never a fact."""

    id: str
    person: str
    """The id of the person it is about."""
    text: str
    priority: float
    suggested_queries: tuple[str, ...] = ()
    is_fact: Literal[False] = False


@dataclass(frozen=True, slots=True)
class PastSearch:
    """A search that found nothing, which proves nothing."""

    id: str
    source_id: str
    query: str


@dataclass(frozen=True, slots=True)
class PendingMerge:
    """Two records that may be the same person."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class PlannerInput:
    """What a planner is given; its plan may name nothing else."""

    current_state: CurrentState
    recent_discoveries: tuple[str, ...] = ()
    pending_clues: tuple[PendingClue, ...] = ()
    stop_conditions: Mapping[str, bool] = field(default_factory=dict)
    """Each condition by its name, and whether it holds."""
    pending_queries: tuple[PendingQuery, ...] = ()
    past_searches: tuple[PastSearch, ...] = ()
    merges: tuple[PendingMerge, ...] = ()
    revisits: tuple[Revisit, ...] = ()
    """Revisits that are queued."""


@dataclass(frozen=True, slots=True)
class PlannedAction:
    """An action; the target is the id of an item, a search or a pair, and empty for a stop."""

    action: ActionKind
    target: str = ""
    priority: float = 0.0
    query: str = ""
    source_tier: int = 0


@dataclass(frozen=True, slots=True)
class Expansion:
    """Another query about a person."""

    person: str
    query: str


@dataclass(frozen=True, slots=True)
class Revisit:
    """A search to repeat; `search` is the id of the one that found nothing."""

    source_id: str
    improved_query: str
    reason: str
    search: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a planner answers."""

    reasoning: str
    next_actions: tuple[PlannedAction, ...] = ()
    query_expansions: tuple[Expansion, ...] = ()
    revisit_recommendations: tuple[Revisit, ...] = ()
    should_stop: bool = False
    stop_reason: str | None = None
    decided_by: str = "rules"
    from_model: tuple[PlannedAction | Expansion | Revisit, ...] = ()
    """The parts that a model proposed."""

    def record(self) -> JsonDict:
        """The plan as JSON; the specification has two names for revisits."""
        row = asdict(replace(self, from_model=()))
        del row["from_model"]
        return {**row, "revisit_schedule": row["revisit_recommendations"]}


def plan_by_rules(given: PlannerInput) -> Plan:
    """Stop if a condition holds, else the most promising items first, Tier 0 before the others."""
    # The first condition that holds, in the order of `STOP_CONDITIONS`.
    reason = next((name for name, holds in given.stop_conditions.items() if holds), None)
    if reason is not None:
        stop = PlannedAction("stop", priority=1.0)
        return Plan(f"Stop condition reached: {reason}.", (stop,), should_stop=True, stop_reason=reason)
    ordered = sorted(
        given.pending_queries,
        key=lambda pending_query: (pending_query.source_tier, -pending_query.priority, pending_query.id),
    )
    actions = [
        PlannedAction(
            "fetch", pending_query.id, _clamp(pending_query.priority), pending_query.query, pending_query.source_tier
        )
        for pending_query in ordered[:MAX_ACTIONS]
    ]
    actions += [
        PlannedAction("revisit", revisit.search, query=revisit.improved_query)
        for revisit in given.revisits[: MAX_ACTIONS - len(actions)]
    ]
    actions += [
        PlannedAction("merge", merge.id, _clamp(merge.score))
        for merge in given.merges[:1]
        if len(actions) < MAX_ACTIONS
    ]
    clues = sorted(given.pending_clues, key=lambda clue: (-clue.priority, clue.id))
    expansions = [Expansion(clue.person, query) for clue in clues for query in clue.suggested_queries]
    queries, revisits = len(given.pending_queries), len(given.revisits)
    reasoning = f"Waiting: {queries} searches, {len(given.pending_clues)} clues, {revisits} repeat searches."
    return Plan(reasoning, tuple(actions), tuple(expansions[:MAX_EXPANSIONS]), given.revisits)


def _clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


RECENT_DISCOVERIES = 10
MAX_CONSIDERED = 50
MAX_BOOST = 0.1
"""The most priority an item can gain if a model picks it."""
MAX_SUGGESTED = 3


def planner_input(
    store: CaseStore, tree: Tree, state: LoopState, failed: Sequence[FailedSearch], proposals: Sequence[MergeProposal]
) -> PlannerInput:
    """The case as a planner sees it."""
    found = [query for query in store.queries() if query.new_assertions]
    discoveries = [f"{query_label(row.query)}: {row.new_assertions} new statements" for row in found]
    return PlannerInput(
        CurrentState(
            len(tree.persons),
            store.assertion_count(),
            len(tree.sources),
            max(state.budget_limit - state.budget_used, 0),
            state.frontier_queue,
            state.clue_queue,
        ),
        tuple(discoveries[-RECENT_DISCOVERIES:]),
        tuple(
            PendingClue(clue.id, clue.related_person_id, clue.hypothesis_text, clue.priority, clue.suggested_queries)
            for clue in pending_clues(store)
        ),
        {name: holds(state) for name, holds in STOP_CONDITIONS.items()},
        tuple(_pending_query(item) for item in _frontier(store)[:MAX_CONSIDERED]),
        tuple(
            PastSearch(failed_search.item.id, source, str(failed_search.item.context["name"]))
            for failed_search in failed
            for source in failed_search.sources
        )[-MAX_CONSIDERED:],
        tuple(
            PendingMerge(" ".join(proposal.candidate_pair), proposal.similarity_score)
            for proposal in proposals
            if proposal.recommended_action != "separate" and not proposal.vetoes
        ),
        tuple(
            Revisit(item.original_source_id, item.improved_query, item.revisit_reason, original_item_id(item))
            for item in store.queues.items("revisit", "pending")
            if isinstance(item, RevisitItem)
        ),
    )


def pending_clues(store: CaseStore) -> tuple[ClueItem, ...]:
    """The waiting clues, best first."""
    return tuple(clue_item for clue_item in store.queues.items("clue", "pending") if isinstance(clue_item, ClueItem))


def requested_revisits(plan: Plan, may_be_asked: Callable[[str], bool]) -> Mapping[str, list[BetterQuery]]:
    """Revisits that a model asks for, by item; their queries may be sent to other sources."""
    found: dict[str, list[BetterQuery]] = defaultdict(list)
    for revisit in (
        revisit for revisit in plan.from_model if isinstance(revisit, Revisit) and may_be_asked(revisit.improved_query)
    ):
        found[revisit.search].append(BetterQuery(revisit.improved_query, revisit.reason or "a model asks for it"))
    return found


def apply_plan(store: CaseStore, plan: Plan, tree: Tree, known: Sequence[QueryKey], earliness: float) -> None:
    """Carry out what a model proposed, within limits; what the rules plan is already in the queues."""
    frontier = {frontier_item.id: frontier_item for frontier_item in _frontier(store)}
    for action in (planned_action for planned_action in plan.from_model if isinstance(planned_action, PlannedAction)):
        item = frontier.get(action.target)
        if item is not None:
            # A model can only raise a priority, and never above 1, so that no item is left behind forever.
            store.queues.reprioritise(item, round(min(item.priority + MAX_BOOST * action.priority, 1.0), 4))
    hints_for = {clue.related_person_id: clue.evidence_hints for clue in pending_clues(store)}
    by_person: dict[str, list[str]] = defaultdict(list)
    for expansion in (expansion for expansion in plan.from_model if isinstance(expansion, Expansion)):
        by_person[expansion.person].append(expansion.query)
    for person, queries in by_person.items():
        hints = hints_for.get(person)
        if hints is None or store.canonical(person) not in tree.persons:
            continue
        name = tree.persons[store.canonical(person)].name
        origin = QueryOrigin(person, name, TreePosition.from_context(hints), earliness=earliness)
        for new in suggested_items(queries, origin, MAX_SUGGESTED, known):
            store.queues.push("frontier", new)


def _frontier(store: CaseStore) -> tuple[FrontierItem, ...]:
    return tuple(item for item in store.queues.items("frontier", "pending") if isinstance(item, FrontierItem))


def _pending_query(item: FrontierItem) -> PendingQuery:
    tier = int(item.source_tiers[0]) if item.source_tiers else 0
    return PendingQuery(item.id, str(item.context.get("name") or item.query_string), tier, item.priority)
