"""What a user sees while a whole book is worked through: how far it is, how fast, and how long it takes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kiwiresearch.cli.options import say
from kiwiresearch.text.plural import counted

if TYPE_CHECKING:
    from kiwiresearch.bulk.run import Progress

EVERY_S = 30.0
"""Where there is no terminal, a line is enough so often."""


@contextmanager
def told() -> Iterator[Callable[[Progress], None]]:
    """Who tells the user: a line that changes on a terminal, else a line now and then."""
    if sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        from rich.console import Console
        from rich.live import Live

        console = Console(file=sys.stderr, highlight=False)
        with Live("Beginning …", console=console, refresh_per_second=4, transient=True) as live:
            rate = Rate(time.monotonic())
            yield lambda progress: live.update(rate.line(progress, time.monotonic()))
    else:
        yield _Seldom().tell


class _Seldom:
    def __init__(self) -> None:
        self._rate = Rate(time.monotonic())
        self._next = time.monotonic() + EVERY_S

    def tell(self, progress: Progress) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + EVERY_S
            say(self._rate.line(progress, now))


class Rate:
    """Turns progress into words; what was done before does not count as speed."""

    def __init__(self, start: float) -> None:
        self._start = start

    def line(self, progress: Progress, now: float) -> str:
        new, passed = progress.done - progress.kept, max(now - self._start, 0.001)
        share = f"{progress.done:,} of {progress.total:,} entries"
        errors = counted(progress.errors, "error")
        if not new:
            return f"{share}, {errors}"
        left = (progress.total - progress.done) * passed / new
        return f"{share}, {new / passed:,.0f} a second, {duration(left)} left, {errors}"


def duration(seconds: float) -> str:
    """A time as people say it: '40 s', '12 min', '3 h 5 min'."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    hours, minutes = divmod(round(whole / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
