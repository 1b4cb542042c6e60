"""Counters of a case, and the conditions under which its research stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from kiwiresearch.codec import plain
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.loop.source_records import RELIABILITY, is_local
from kiwiresearch.kin.sources import EvidenceSource
from kiwiresearch.kin.store import QUEUES, CaseStore, ClueItem, FrontierItem, Item, ItemStatus

TARGET_CONFIDENCE = 0.9
"""The confidence that ends a case, or this share of the best its sources can reach."""
# Returns diminish if fewer than one in ten of the recent queries found something, and this many in a row nothing.
LOW_DISCOVERY_RATE = 0.1
MAX_FRUITLESS_QUERIES = 10
RECENT_QUERIES = 20
"""The number of queries that the discovery rate is computed from."""


@dataclass(frozen=True, slots=True)
class LoopState:
    """The state of a case that the stop conditions look at."""

    budget_used: int = 0
    budget_limit: int = 0
    target_person_confidence: float = 0.0
    attainable_confidence: float = 1.0
    """The best the enabled sources can reach: one encyclopedia alone never gives 0.9."""
    generation_depth: int = 0
    """The number of generations around the seed in which no search is waiting."""
    target_generations: int = 0
    recent_discovery_rate: float = 1.0
    """The share of the last queries that brought new facts."""
    queries_since_last_discovery: int = 0
    frontier_queue: int = 0
    clue_queue: int = 0
    revisit_queue: int = 0
    iteration_count: int = 0
    max_iterations: int = 0


def target_confidence(attainable: float) -> float:
    """The confidence to reach; lower if the sources cannot reach it."""
    return TARGET_CONFIDENCE if attainable >= TARGET_CONFIDENCE else TARGET_CONFIDENCE * attainable


# In this order: the first that holds is reported.
STOP_CONDITIONS: Mapping[str, Callable[[LoopState], bool]] = {
    "budget_exhausted": lambda state: state.budget_used >= state.budget_limit,
    "confidence_achieved": lambda state: (
        state.target_person_confidence >= target_confidence(state.attainable_confidence)
        and state.generation_depth >= state.target_generations
    ),
    "diminishing_returns": lambda state: (
        state.recent_discovery_rate < LOW_DISCOVERY_RATE and state.queries_since_last_discovery > MAX_FRUITLESS_QUERIES
    ),
    "frontier_empty": lambda state: state.frontier_queue == 0 and state.clue_queue == 0 and state.revisit_queue == 0,
    "max_iterations": lambda state: state.iteration_count >= state.max_iterations,
}

COMPLETE = frozenset({"confidence_achieved", "frontier_empty"})
"""Conditions that end the research because nothing is left to do; the others are limits."""

# The placeholders are fields of `LoopState`.
REASONS: Mapping[str, str] = {
    "budget_exhausted": "The limit of {budget_limit} pages was reached.",
    "confidence_achieved": (
        "The facts about the starting person are as well supported as these sources allow, "
        "and there is no one left to look for up to generation {target_generations}."
    ),
    "diminishing_returns": "The last {queries_since_last_discovery} searches found nothing new.",
    "frontier_empty": "There are no pages or clues left to follow.",
    "max_iterations": "The limit of {max_iterations} steps was reached.",
}


def stop_reason(state: LoopState) -> str | None:
    """The name of the first condition that holds; None to continue."""
    return next((name for name, holds in STOP_CONDITIONS.items() if holds(state)), None)


def stop_sentence(reason: str, state: LoopState) -> str:
    return REASONS[reason].format(**plain(state))


BOOKS_CONFIDENCE = (RELIABILITY["lead"] * 0.9 + RELIABILITY["infobox"] * 0.75) / 2
"""What books can reach for a person: a rule is 0.9 sure of dates in the lead (`life_dates.EXACT_LEAD_CONFIDENCE`), and
0.75 of places, which only the box has (`boxes.LOWER_BOX_CONFIDENCE`). Books copy from each other, so they count as one
source."""
OTHER_CONFIDENCE = {"wikidata": RELIABILITY["wikidata"] * 0.65}
"""The confidence that other sources can reach, by their own rating: a sourced and preferred statement of Wikidata."""


def attainable_confidence(sources: Iterable[EvidenceSource]) -> float:
    """The confidence that the sources of a case can reach: that of the best, since agreement does not raise it."""
    reached = [
        BOOKS_CONFIDENCE if is_local(source) else OTHER_CONFIDENCE.get(source.id, RELIABILITY["plugin"])
        for source in sources
    ]
    return max(reached, default=BOOKS_CONFIDENCE)


OPEN_STATUSES: tuple[ItemStatus, ...] = ("pending", "taken")


@dataclass(frozen=True, slots=True)
class CaseProgress:
    """Counters of a case."""

    iterations: int = 0
    fetches: int = 0
    since_discovery: int = 0
    recent: tuple[int, ...] = ()
    """New statements of the last queries."""

    @classmethod
    def load(cls, store: CaseStore) -> CaseProgress:
        stored = store.state("progress") or {}
        return cls(**{**stored, "recent": tuple(stored.get("recent", ()))})

    def save(self, store: CaseStore) -> None:
        store.set_state("progress", plain(self))

    def after_step(self) -> CaseProgress:
        return replace(self, iterations=self.iterations + 1)

    def after_query(self, new: int, *, fetched: bool) -> CaseProgress:
        """After a query that brought `new` statements; only a fetched record counts towards the budget."""
        return replace(
            self.after_step(),
            fetches=self.fetches + fetched,
            since_discovery=0 if new else self.since_discovery + 1,
            recent=(*self.recent, new)[-RECENT_QUERIES:],
        )

    def after_pause(self, waiting: int) -> CaseProgress:
        """Continue a case that ended because searches found nothing: those still waiting are all made."""
        return replace(self, since_discovery=-waiting, recent=())

    def after_import(self) -> CaseProgress:
        """Reset after an import of new people: earlier searches without results do not apply to them."""
        return replace(self, since_discovery=0, recent=())

    def loop_state(self, store: CaseStore, settings: CaseSettings, attainable: float = BOOKS_CONFIDENCE) -> LoopState:
        sizes = store.queues.sizes()
        return LoopState(
            budget_used=self.fetches,
            budget_limit=settings.budget,
            target_person_confidence=_confidence(store),
            attainable_confidence=attainable,
            generation_depth=_depth(store, settings),
            target_generations=settings.generations,
            recent_discovery_rate=sum(map(bool, self.recent)) / len(self.recent) if self.recent else 1.0,
            queries_since_last_discovery=self.since_discovery,
            frontier_queue=sizes["frontier"],
            clue_queue=sizes["clue"],
            revisit_queue=sizes["revisit"],
            iteration_count=self.iterations,
            max_iterations=settings.max_iterations,
        )


def _confidence(store: CaseStore) -> float:
    """The confidence of the least certain seed."""
    return min((store.person(seed).confidence for seed in store.seeds), default=0.0)


def _depth(store: CaseStore, settings: CaseSettings) -> int:
    """As `LoopState.generation_depth`: no search, clue or revisit is waiting there."""
    waiting = [
        abs(_generation(item))
        for queue in QUEUES
        for status in OPEN_STATUSES
        for item in store.queues.items(queue, status)
    ]
    # Something waits in the generation `min(waiting)`, so only those before it are complete.
    return min(waiting) - 1 if waiting else settings.generations


def _generation(item: Item) -> int:
    context = (
        item.context if isinstance(item, FrontierItem) else item.evidence_hints if isinstance(item, ClueItem) else {}
    )
    return int(context.get("generation", 0))
