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
    """Two records that may be one person."""

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
    """Another query around a person."""

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
    reason = next((name for name, holds in given.stop_conditions.items() if holds), None)
    if reason is not None:
        stop = PlannedAction("stop", priority=1.0)
        return Plan(f"Stop condition reached: {reason}.", (stop,), should_stop=True, stop_reason=reason)
    ordered = sorted(given.pending_queries, key=lambda one: (one.source_tier, -one.priority, one.id))
    actions = [
        PlannedAction("fetch", one.id, _clamp(one.priority), one.query, one.source_tier)
        for one in ordered[:MAX_ACTIONS]
    ]
    actions += [
        PlannedAction("revisit", one.search, query=one.improved_query)
        for one in given.revisits[: MAX_ACTIONS - len(actions)]
    ]
    actions += [
        PlannedAction("merge", one.id, _clamp(one.score)) for one in given.merges[:1] if len(actions) < MAX_ACTIONS
    ]
    clues = sorted(given.pending_clues, key=lambda one: (-one.priority, one.id))
    expansions = [Expansion(one.person, query) for one in clues for query in one.suggested_queries]
    queries, revisits = len(given.pending_queries), len(given.revisits)
    left = f"Waiting: {queries} searches, {len(given.pending_clues)} clues, {revisits} repeat searches."
    return Plan(left, tuple(actions), tuple(expansions[:MAX_EXPANSIONS]), given.revisits)


def _clamp(value: float) -> float:
    return min(max(value, 0.0), 1.0)


RECENT_DISCOVERIES = 10
MAX_CONSIDERED = 50
MAX_BOOST = 0.1
"""How much priority an item gains at most if a model picks it."""
MAX_SUGGESTED = 3


def planner_input(
    store: CaseStore, tree: Tree, state: LoopState, failed: Sequence[FailedSearch], proposals: Sequence[MergeProposal]
) -> PlannerInput:
    """The case as a planner sees it."""
    found = [one for one in store.queries() if one.new_assertions]
    discoveries = [f"{query_label(one.query)}: {one.new_assertions} new statements" for one in found]
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
            PendingClue(one.id, one.related_person_id, one.hypothesis_text, one.priority, one.suggested_queries)
            for one in pending_clues(store)
        ),
        {name: holds(state) for name, holds in STOP_CONDITIONS.items()},
        tuple(_pending_query(one) for one in _frontier(store)[:MAX_CONSIDERED]),
        tuple(
            PastSearch(one.item.id, source, str(one.item.context["name"])) for one in failed for source in one.sources
        )[-MAX_CONSIDERED:],
        tuple(
            PendingMerge(" ".join(one.candidate_pair), one.similarity_score)
            for one in proposals
            if one.recommended_action != "separate" and not one.vetoes
        ),
        tuple(
            Revisit(one.original_source_id, one.improved_query, one.revisit_reason, original_item_id(one))
            for one in store.queues.items("revisit", "pending")
            if isinstance(one, RevisitItem)
        ),
    )


def pending_clues(store: CaseStore) -> tuple[ClueItem, ...]:
    """The waiting clues, best first."""
    return tuple(one for one in store.queues.items("clue", "pending") if isinstance(one, ClueItem))


def requested_revisits(plan: Plan, may_be_asked: Callable[[str], bool]) -> Mapping[str, list[BetterQuery]]:
    """Revisits that a model asks for, by item; their queries may be sent to other sources."""
    found: dict[str, list[BetterQuery]] = defaultdict(list)
    for one in (one for one in plan.from_model if isinstance(one, Revisit) and may_be_asked(one.improved_query)):
        found[one.search].append(BetterQuery(one.improved_query, one.reason or "a model asks for it"))
    return found


def apply_plan(store: CaseStore, plan: Plan, tree: Tree, known: Sequence[QueryKey], age: float) -> None:
    """Carry out what a model proposed, within limits; what the rules plan is already in the queues."""
    frontier = {one.id: one for one in _frontier(store)}
    for action in (one for one in plan.from_model if isinstance(one, PlannedAction)):
        item = frontier.get(action.target)
        if item is not None:
            store.queues.reprioritise(item, round(min(item.priority + MAX_BOOST * action.priority, 1.0), 4))
    hints_for = {one.related_person_id: one.evidence_hints for one in pending_clues(store)}
    by_person: dict[str, list[str]] = defaultdict(list)
    for one in (one for one in plan.from_model if isinstance(one, Expansion)):
        by_person[one.person].append(one.query)
    for person, queries in by_person.items():
        hints = hints_for.get(person)
        if hints is None or store.canonical(person) not in tree.persons:
            continue
        name = tree.persons[store.canonical(person)].name
        origin = QueryOrigin(person, name, TreePosition.from_context(hints), age=age)
        for new in suggested_items(queries, origin, MAX_SUGGESTED, known):
            store.queues.push("frontier", new)


def _frontier(store: CaseStore) -> tuple[FrontierItem, ...]:
    return tuple(one for one in store.queues.items("frontier", "pending") if isinstance(one, FrontierItem))


def _pending_query(item: FrontierItem) -> PendingQuery:
    tier = int(item.source_tiers[0]) if item.source_tiers else 0
    return PendingQuery(item.id, str(item.context.get("name") or item.query_string), tier, item.priority)
