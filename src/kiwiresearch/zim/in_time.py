"""A limit for a whole call over HTTP: timeouts count from the last byte, and never end who sends one now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

OPENED = ("connection.connect_tcp.complete", "connection.start_tls.complete")
PIECE = 16_384
"""So much is written at a time, before one looks at the clock again."""


class Limit:
    """The seconds that a call may take in all."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._begun = time.monotonic()

    def left(self) -> float:
        """How many are left; TimeoutError where none is."""
        left = self._begun + self.seconds - time.monotonic()
        if left <= 0:
            raise TimeoutError("it does not come to an end")
        return left


LIMIT: ContextVar[Limit] = ContextVar("limit")


@contextmanager
def within(seconds: float) -> Iterator[Limit]:
    """Have all that is read and written in this block done in so many seconds; TimeoutError otherwise."""
    limit = Limit(seconds)
    before = LIMIT.set(limit)
    try:
        yield limit
    finally:
        LIMIT.reset(before)


def bounded(event: str, info: Mapping[str, Any]) -> None:
    """The "trace" of an HTTP client: each line that it opens keeps the limit of whoever uses it, now and later."""
    if event in OPENED:
        line = info["return_value"]
        read, write = line.read, line.write

        def write_pieces(data: bytes, timeout: float | None = None) -> None:
            for start in range(0, len(data), PIECE):
                _in_time(write, data[start : start + PIECE], timeout)

        line.read = lambda size, timeout=None: _in_time(read, size, timeout)
        line.write = write_pieces


def _in_time(do: Callable[..., Any], what: int | bytes, timeout: float | None) -> Any:
    limit = LIMIT.get()
    left = limit.left()
    try:
        return do(what, timeout=left if timeout is None else min(timeout, left))
    except Exception:
        limit.left()  # where the limit has passed, that is the reason
        raise
