"""Pages compared by several processes at once; what comes out is in order, and the same for any number of them."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from kiwiresearch.bulk.processes import cores
from kiwiresearch.errors import KiwiError
from kiwiresearch.research.snapshots_change import PageChange
from kiwiresearch.research.snapshots_page import Pair, page_change
from kiwiresearch.research.snapshots_places import Place, opened
from kiwiresearch.research.snapshots_sides import Side

BATCH_PAGES = 32
WORTH_PAGES = 400
"""Smaller books are compared before other processes have begun."""
AHEAD = 3
"""So many batches for each process wait to be taken or to be told."""

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Sides:
    """Both snapshots, opened by one process."""

    old: Side
    new: Side


Work = Callable[[Sides, tuple[In, ...]], list[Out]]


def changes_of(sides: Sides, pairs: tuple[Pair, ...]) -> list[PageChange]:
    """What became of each page."""
    return [page_change(pair, sides.old, sides.new) for pair in pairs]


def texts_of(sides: Sides, pairs: tuple[Pair, ...]) -> list[str]:
    """The digest of each old page that has a text to be known by; empty for the others."""
    found = []
    for pair in pairs:
        try:
            seen = sides.old.look(pair.old)
        except KiwiError:
            seen = None
        found.append(seen.digest if seen and seen.is_telling else "")
    return found


class Crew:
    """Those who do the work: this process alone, or others beside it."""

    def __init__(self, sides: Sides, pool: ProcessPoolExecutor | None, workers: int) -> None:
        self._sides = sides
        self._pool = pool
        self._most = AHEAD * workers

    def each(self, work: Work[In, Out], things: Iterable[In]) -> Iterator[Out]:
        """What comes of each thing, in their order; only a few are under way at a time."""
        batches = iter(things)
        groups = iter(lambda: tuple(itertools.islice(batches, BATCH_PAGES)), ())
        if self._pool is None:
            for group in groups:
                yield from work(self._sides, group)
            return
        waiting: deque[Future[list[Out]]] = deque()
        try:
            for group in groups:
                waiting.append(self._pool.submit(_there, work, group))
                if len(waiting) >= self._most:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        except BrokenProcessPool as problem:
            raise KiwiError(
                "A process that compared pages has died.",
                remedy="The machine may lack memory: try again with '--workers 1'.",
            ) from problem


@contextmanager
def crew(old: Place, new: Place, sides: Sides, workers: int) -> Iterator[Crew]:
    """A crew of so many processes; 0 are as many as the machine and the books are worth."""
    count = workers or _worth(sides)
    if count < 2:
        yield Crew(sides, None, 1)
        return
    pool = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _begin, (old, new))
    try:
        yield Crew(sides, pool, count)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _worth(sides: Sides) -> int:
    return cores() if max(sides.old.pages, sides.new.pages) >= WORTH_PAGES else 1


_OPEN: list[Sides] = []
"""What a process of the crew has open."""


def _begin(old: Place, new: Place) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started us hears it, and ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _OPEN[:] = [Sides(opened(old), opened(new))]


def _end_with_parent() -> None:
    """Whoever is killed cannot end those it has started: they see it themselves, and would else wait for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _there(work: Work[In, Out], group: tuple[In, ...]) -> list[Out]:
    return work(_OPEN[0], group)
