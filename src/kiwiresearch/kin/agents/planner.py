"""The planner: what to do next, what to ask differently, and whether to stop; its contract and its rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

ActionKind = Literal["fetch", "revisit", "merge", "stop"]
MOST_ACTIONS = 5
MOST_EXPANSIONS = 5


@dataclass(frozen=True, slots=True)
class CurrentState:
    """Where the case stands, in numbers."""

    persons_discovered: int = 0
    assertions_made: int = 0
    sources_queried: int = 0
    budget_remaining: int = 0
    frontier_size: int = 0
    clue_queue_size: int = 0


@dataclass(frozen=True, slots=True)
class Waiting:
    """An item of the frontier: what it asks for, and about whom."""

    id: str
    query: str
    source_tier: int
    priority: float


@dataclass(frozen=True, slots=True)
class PendingClue:
    """A hypothesis that waits; never a fact."""

    id: str
    person: str
    """The id of the person it is about."""
    text: str
    priority: float
    suggested_queries: tuple[str, ...] = ()
    is_fact: Literal[False] = False


@dataclass(frozen=True, slots=True)
class Searched:
    """A search that found nothing, which is no evidence of absence."""

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
    """All that a planner is given; it may name nothing that is not in here."""

    current_state: CurrentState
    recent_discoveries: tuple[str, ...] = ()
    pending_clues: tuple[PendingClue, ...] = ()
    stop_conditions: Mapping[str, bool] = field(default_factory=dict)
    """Each condition by its name, and whether it holds."""
    waiting: tuple[Waiting, ...] = ()
    searched: tuple[Searched, ...] = ()
    merges: tuple[PendingMerge, ...] = ()
    revisits: tuple[Revisit, ...] = ()
    """Second looks that the scheduler has queued."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something to do; the target is the id of an item, a search, a pair, or empty for a stop."""

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
    """A source to ask again; `search` is the id of the search that found nothing."""

    source_id: str
    improved_query: str
    reason: str
    search: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a planner answers, under both names that second looks go by."""

    reasoning: str
    next_actions: tuple[Action, ...] = ()
    query_expansions: tuple[Expansion, ...] = ()
    revisit_recommendations: tuple[Revisit, ...] = ()
    should_stop: bool = False
    stop_reason: str | None = None
    decided_by: str = "rules"
    proposed: tuple[Action | Expansion | Revisit, ...] = ()
    """What of it is a model's own."""

    @property
    def revisit_schedule(self) -> tuple[Revisit, ...]:
        return self.revisit_recommendations

    def record(self) -> dict[str, Any]:
        """The plan as data."""
        row = asdict(replace(self, proposed=()))
        del row["proposed"]
        return {**row, "revisit_schedule": row["revisit_recommendations"]}


def plan(given: PlannerInput) -> Plan:
    """The plan of the rules: stop where a condition holds, else the most promising first, Tier 0 before the others."""
    reason = next((name for name, holds in given.stop_conditions.items() if holds), None)
    if reason is not None:
        stop = Action("stop", priority=1.0)
        return Plan(f"The condition {reason!r} holds.", (stop,), should_stop=True, stop_reason=reason)
    ordered = sorted(given.waiting, key=lambda one: (one.source_tier, -one.priority, one.id))
    actions = [
        Action("fetch", one.id, _share(one.priority), one.query, one.source_tier) for one in ordered[:MOST_ACTIONS]
    ]
    actions += [
        Action("revisit", one.search, query=one.improved_query) for one in given.revisits[: MOST_ACTIONS - len(actions)]
    ]
    actions += [Action("merge", one.id, _share(one.score)) for one in given.merges[:1] if len(actions) < MOST_ACTIONS]
    clues = sorted(given.pending_clues, key=lambda one: (-one.priority, one.id))
    expansions = [Expansion(one.person, query) for one in clues for query in one.suggested_queries]
    left = f"{len(given.waiting)} queries, {len(given.pending_clues)} clues, {len(given.revisits)} second looks wait."
    return Plan(left, tuple(actions), tuple(expansions[:MOST_EXPANSIONS]), given.revisits)


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
