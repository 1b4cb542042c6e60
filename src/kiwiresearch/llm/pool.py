"""Which of several servers is asked next, and what happens when one fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

from kiwiresearch.errors import ModelUnreachable

Member = TypeVar("Member")
Item = TypeVar("Item")

REST_S = 30.0
"""How long one that failed is asked only when the others fail too."""


class Passing(Exception):
    """Trouble that may be over when asked again; never seen outside this package."""

    def __init__(self, told: ModelUnreachable) -> None:
        super().__init__(str(told))
        self.told = told


class Pool(Generic[Member]):
    """Equal servers, and how many calls each has under way."""

    def __init__(self, members: Sequence[Member], *, pause_s: float) -> None:
        self.members = tuple(members)
        self._pause_s = pause_s
        self._lock = threading.Lock()
        self._busy = [0] * len(self.members)
        self._resting_until = [0.0] * len(self.members)

    def first_that_works(self, act: Callable[[Member], Iterator[Item]], *, can_begin_again: bool) -> Iterator[Item]:
        """All items from one member: of those that work, the least busy.

        One that fails hands over to the next, and one whose trouble may pass is asked a second time,
        but once items have been given out only if the caller can do with them from the beginning.
        """
        out: set[int] = set()
        for is_last_round in (False, True):
            left = set(range(len(self.members))) - out
            while left:
                with self._turn(left) as number:
                    left.discard(number)
                    has_begun = False
                    try:
                        for item in act(self.members[number]):
                            has_begun = True
                            yield item
                    except (Passing, ModelUnreachable) as trouble:
                        self._resting_until[number] = time.monotonic() + REST_S
                        problem = trouble.told if isinstance(trouble, Passing) else trouble
                        if isinstance(trouble, ModelUnreachable):
                            out.add(number)
                        if has_begun and not can_begin_again:
                            raise problem from trouble
                    else:
                        self._resting_until[number] = 0.0
                        return
            if is_last_round or len(out) == len(self.members):
                raise problem
            time.sleep(self._pause_s)

    @contextmanager
    def _turn(self, left: set[int]) -> Iterator[int]:
        """The number of the member to ask, counted as busy until the turn ends."""
        now = time.monotonic()
        with self._lock:
            chosen = min(left, key=lambda n: (now < self._resting_until[n], self._busy[n], n))
            self._busy[chosen] += 1
        try:
            yield chosen
        finally:
            with self._lock:
                self._busy[chosen] -= 1
