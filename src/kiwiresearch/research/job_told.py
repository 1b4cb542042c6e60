"""Who listens to jobs: they are called whenever there is something new, and look it up themselves."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


class Listeners:
    """Functions that are called, in any thread, when a job has told something or changed."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []
        self._changing = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._listeners)

    @contextlib.contextmanager
    def listening(self, listener: Callable[[], None]) -> Iterator[None]:
        with self._changing:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._changing:
                self._listeners.remove(listener)

    def notify(self) -> None:
        with self._changing:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()
