"""CPU time and percentiles for the benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence


def best_of(rounds: int, tasks: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """The least CPU time of each task, in seconds.

    Each round runs every task once, so that other load on the machine affects them all alike.
    """
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, task in tasks.items():
            before = time.process_time()
            task()
            spent = time.process_time() - before
            best[name] = min(spent, best.get(name, spent))
    return best


def p95(values: Sequence[float]) -> float:
    """The 95th percentile; 0 if there are no values."""
    return sorted(values)[int(0.95 * len(values))] if values else 0.0
