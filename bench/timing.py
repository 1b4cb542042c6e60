"""Processor time of some work, the best of several interleaved rounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


def best_of(rounds: int, works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of processor time for each piece of work, taken in turn so that a busy machine hits all alike."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, work in works.items():
            before = time.process_time()
            work()
            spent = time.process_time() - before
            best[name] = min(spent, best.get(name, spent))
    return best
