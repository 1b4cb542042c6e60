"""When a case is done: five conditions under their names, looked at before each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

WANTED = 0.9
"""The confidence that ends a case, or that share of what its sources can give at best."""
FEW = 0.1
PATIENCE = 10
RECENT = 20
"""So many of the last queries tell how much a query still brings."""


@dataclass(frozen=True, slots=True)
class LoopState:
    """Where a case stands."""

    budget_used: int = 0
    budget_limit: int = 0
    target_person_confidence: float = 0.0
    attainable_confidence: float = 1.0
    """What the sources that are switched on can reach: one encyclopedia proves nothing to nine tenths."""
    generation_depth: int = 0
    """So many generations from the seed nobody is left to be looked for."""
    target_generations: int = 0
    recent_discovery_rate: float = 1.0
    """New facts for each of the last queries."""
    queries_since_last_discovery: int = 0
    frontier_queue: int = 0
    clue_queue: int = 0
    revisit_queue: int = 0
    iteration_count: int = 0
    max_iterations: int = 0


def wanted(attainable: float) -> float:
    """Nine tenths, or of sources that cannot prove so much nine tenths of what they can."""
    return WANTED if attainable >= WANTED else WANTED * attainable


STOP_CONDITIONS: Mapping[str, Callable[[LoopState], bool]] = {
    "budget_exhausted": lambda state: state.budget_used >= state.budget_limit,
    "confidence_achieved": lambda state: (
        state.target_person_confidence >= wanted(state.attainable_confidence)
        and state.generation_depth >= state.target_generations
    ),
    "diminishing_returns": lambda state: (
        state.recent_discovery_rate < FEW and state.queries_since_last_discovery > PATIENCE
    ),
    "frontier_empty": lambda state: state.frontier_queue == 0 and state.clue_queue == 0 and state.revisit_queue == 0,
    "max_iterations": lambda state: state.iteration_count >= state.max_iterations,
}

REASONS: Mapping[str, str] = {
    "budget_exhausted": "The budget of {budget_limit} records is used up.",
    "confidence_achieved": (
        "The seed is as sure as these sources can make it, and nobody within "
        "{target_generations} generations is left to be looked for."
    ),
    "diminishing_returns": "The last {queries_since_last_discovery} queries brought nothing new.",
    "frontier_empty": "Nothing is left to look for: no page, no clue, no second look.",
    "max_iterations": "The limit of {max_iterations} steps is reached.",
}


def stop_reason(state: LoopState) -> str | None:
    """The name of the first condition that holds; None to go on."""
    return next((name for name, holds in STOP_CONDITIONS.items() if holds(state)), None)


def told(reason: str, state: LoopState) -> str:
    """The reason in a sentence."""
    values = {name: getattr(state, name) for name in LoopState.__slots__}
    return REASONS[reason].format(**values)
