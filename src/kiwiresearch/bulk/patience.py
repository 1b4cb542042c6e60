"""A page that takes endlessly is given up, so that the pages behind it get their turn."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

PAGE_S = 120.0
"""No page takes a second; one that takes this long would take for ever."""


class TookTooLong(BaseException):
    """Not an Exception: nobody on the way may take it for a page that cannot be read."""


@contextlib.contextmanager
def patience(seconds: float = PAGE_S) -> Iterator[None]:
    """Raise TookTooLong in the block after some time, where the system can: in a main thread, not on Windows."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
