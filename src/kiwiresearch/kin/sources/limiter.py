"""How often a host is asked: a bucket that fills at the slowest pace anybody asked for, kept between commands."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from kiwiresearch.errors import SourceResting
from kiwiresearch.kin.sources.memory import PluginMemory

LONGEST_WAIT_S = 60.0
"""Longer than this nobody sits and waits: the query goes back to its queue."""
LONGEST_REST_S = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Clock:
    """The time of day in seconds, given by whoever runs the case, and a way to let it pass."""

    now: Callable[[], float]
    wait: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Pace:
    """So many requests at once, so many seconds for each further one, and so many between any two."""

    burst: int
    gap_s: float
    apart_s: float = 0.0


class Limiter:
    """Waits until a host may be asked, or says when it may be; threads wait one behind the other."""

    def __init__(self, memory: PluginMemory, clock: Clock) -> None:
        self._memory = memory
        self._clock = clock
        self._turn = threading.Lock()

    def take(self, host: str, pace: Pace) -> None:
        """Take one request from the host's bucket, and wait for it if need be."""
        with self._turn:
            self._take(host, pace)

    def _take(self, host: str, pace: Pace) -> None:
        now = self._clock.now()
        state = self._state(host)
        last = min(state.get("at", now), now)  # a clock that was set back starts anew
        tokens = min(float(pace.burst), state.get("tokens", float(pace.burst)) + (now - last) / pace.gap_s)
        waits = [min(state.get("not_before", 0.0) - now, LONGEST_REST_S), (1.0 - tokens) * pace.gap_s]
        if "at" in state:
            waits.append(last + pace.apart_s - now)
        wait = max(0.0, *waits)
        if wait > LONGEST_WAIT_S:
            raise SourceResting(f"The host {host!r} wants to be left alone.", after_s=wait)
        if wait > 0:
            self._clock.wait(wait)
        left = min(float(pace.burst), tokens + wait / pace.gap_s) - 1.0
        self._memory.set(_key(host), {"at": now + wait, "tokens": max(left, 0.0), "not_before": 0.0})

    def rest(self, host: str, seconds: float) -> None:
        """Leave the host alone for a time."""
        now = self._clock.now()
        seconds = min(max(seconds, 0.0), LONGEST_REST_S)
        self._memory.set(_key(host), {"at": now, "tokens": 0.0, "not_before": now + seconds})

    def _state(self, host: str) -> dict[str, float]:
        found = self._memory.get(_key(host))
        known = found if isinstance(found, dict) else {}
        return {name: float(value) for name, value in known.items() if isinstance(value, int | float)}


def _key(host: str) -> str:
    return f"pace/{host}"
