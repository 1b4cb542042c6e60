"""Counters of a case, kept in it: steps, records, and how much the last queries brought."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kiwiresearch.kin.loop.looking import is_local
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.loop.stops import RECENT, LoopState
from kiwiresearch.kin.loop.verifying import RELIABILITY
from kiwiresearch.kin.sources.source import SourceOf
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.items import QUEUES, ClueItem, FrontierItem, Item, ItemStatus

OF_BOOKS = (RELIABILITY["lead"] * 0.9 + RELIABILITY["infobox"] * 0.75) / 2
"""What books can reach for a person: dates stand in the lead, where a rule is nine tenths sure of them, and places
only in the box, where it is three quarters sure. All that is sure to be copied from each other counts as one source."""
OF_OTHERS = {"wikidata": RELIABILITY["wikidata"] * 0.65}
"""What other sources can reach by the sureness they give their own statements; plugins give at most all of theirs."""


def attainable(sources: Iterable[SourceOf]) -> float:
    """What the sources of a case can reach: as much as the best of them, since agreement makes none of them better."""
    reached = [OF_BOOKS if is_local(one) else OF_OTHERS.get(one.id, RELIABILITY["plugin"]) for one in sources]
    return max(reached, default=OF_BOOKS)


OPEN: tuple[ItemStatus, ...] = ("pending", "leased")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a case has come."""

    iterations: int = 0
    fetches: int = 0
    since_discovery: int = 0
    recent: tuple[int, ...] = ()
    """New statements of the last queries."""

    @classmethod
    def of(cls, store: CaseStore) -> Progress:
        kept = store.state("progress") or {}
        recent = tuple(kept.get("recent", ()))
        return cls(kept.get("iterations", 0), kept.get("fetches", 0), kept.get("since_discovery", 0), recent)

    def record(self) -> dict[str, Any]:
        return {
            "iterations": self.iterations,
            "fetches": self.fetches,
            "since_discovery": self.since_discovery,
            "recent": list(self.recent),
        }

    def stepped(self) -> Progress:
        return replace(self, iterations=self.iterations + 1)

    def asked(self, new: int, *, fetched: bool) -> Progress:
        """After a query that brought so many new statements; one that brought no record costs nothing of the budget."""
        return replace(
            self.stepped(),
            fetches=self.fetches + fetched,
            since_discovery=0 if new else self.since_discovery + 1,
            recent=(*self.recent, new)[-RECENT:],
        )

    def renewed(self) -> Progress:
        """After somebody brought new people: what was asked in vain before says nothing of them."""
        return replace(self, since_discovery=0, recent=())

    def loop_state(self, store: CaseStore, settings: CaseSettings, attainable: float = OF_BOOKS) -> LoopState:
        sizes = store.sizes()
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
    """How sure the seeds are: the least sure one decides."""
    seeds = store.state("seeds") or []
    return min((store.person(seed).confidence for seed in seeds), default=0.0)


def _depth(store: CaseStore, settings: CaseSettings) -> int:
    """So many generations from the seed nobody waits to be looked for, be it by a clue or a second look."""
    waiting = [
        abs(int(_told(item).get("generation", 0)))
        for queue in QUEUES
        for status in OPEN
        for item in store.items(queue, status)
    ]
    return min(waiting) - 1 if waiting else settings.generations


def _told(item: Item) -> Mapping[str, Any]:
    if isinstance(item, FrontierItem):
        return item.context
    return item.evidence_hints if isinstance(item, ClueItem) else {}


def state_of(state: LoopState) -> Mapping[str, Any]:
    """The state as data, for the log."""
    return {name: getattr(state, name) for name in LoopState.__slots__}
