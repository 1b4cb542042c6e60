"""The candidates of a crawl in the order they will be visited."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable

from kiwiresearch.crawl.candidate import Candidate
from kiwiresearch.zim.entry import EntryRef

Key = tuple[float, int, EntryRef]


class Frontier:
    """Best score first; then the shallower page; then book and path.

    The last two make the order total: equal scores come out the same way on
    every run, whatever order they went in. Candidates wait by level: all on
    one, or each on its depth.
    """

    def __init__(self, score_of: Callable[[Candidate], float], *, by_depth: bool) -> None:
        self._score_of = score_of
        self._by_depth = by_depth
        self._levels: dict[int, list[tuple[Key, EntryRef]]] = {}
        self._candidates: dict[EntryRef, Candidate] = {}

    def put(self, candidate: Candidate) -> None:
        """Place a candidate, or place it anew when what speaks for it has changed."""
        candidate.key = self._key(candidate)
        self._candidates[candidate.ref] = candidate
        heapq.heappush(self._levels.setdefault(self._level(candidate), []), (candidate.key, candidate.ref))

    def remove(self, ref: EntryRef) -> None:
        self._candidates.pop(ref, None)

    def reorder(self) -> None:
        """Score all candidates again, after something changed that concerns all."""
        self._levels.clear()
        for candidate in self._candidates.values():
            self.put(candidate)

    def refresh(self, refs: Iterable[EntryRef]) -> None:
        """Score some candidates again: those of them that are still waiting."""
        for ref in refs:
            if ref in self._candidates:
                self.put(self._candidates[ref])

    def best(self, level: int = 0) -> Candidate | None:
        """The best candidate of a level; it stays where it is."""
        heap = self._levels.get(level, [])
        while heap:
            key, ref = heap[0]
            candidate = self._candidates.get(ref)
            if candidate is None or candidate.key != key or self._level(candidate) != level:
                heapq.heappop(heap)  # taken, or placed anew since
                continue
            if self._key(candidate) > key:  # a branch has filled up since it was placed
                heapq.heappop(heap)
                self.put(candidate)
                continue
            return candidate
        return None

    def levels(self) -> list[int]:
        """Levels on which candidates wait, the lowest first."""
        return [level for level in sorted(self._levels) if self.best(level) is not None]

    def __contains__(self, ref: object) -> bool:
        return ref in self._candidates

    def __len__(self) -> int:
        return len(self._candidates)

    def get(self, ref: EntryRef) -> Candidate | None:
        return self._candidates.get(ref)

    def in_order(self) -> list[Candidate]:
        """All candidates, the best first."""
        return sorted(self._candidates.values(), key=self._key)

    def _key(self, candidate: Candidate) -> Key:
        return (-self._score_of(candidate), candidate.depth, candidate.ref)

    def _level(self, candidate: Candidate) -> int:
        return candidate.depth if self._by_depth else 0
