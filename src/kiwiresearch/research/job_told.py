"""What jobs have told lately, for those who listen now and those who come later."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kiwiresearch.research.job import Job, JobEvent

KEPT_EVENTS = 1_000
"""How many events of a job are remembered, the latest."""
KEPT_JOBS = 24
"""Of how many jobs events are remembered, those that were started last."""


class Told:
    """The events of jobs, and who is to know of them."""

    def __init__(self) -> None:
        self._events: dict[str, deque[JobEvent]] = {}
        self._listeners: list[Callable[[], None]] = []
        self._changing = threading.Lock()

    def begin(self, job_id: str) -> None:
        """A job is started, or once more: it is the newest now."""
        with self._changing:
            self._events[job_id] = self._events.pop(job_id, deque(maxlen=KEPT_EVENTS))
            for old in list(self._events)[:-KEPT_JOBS]:
                del self._events[old]

    def add(self, job: Job, data: Mapping[str, Any]) -> None:
        with self._changing:
            events = self._events.setdefault(job.id, deque(maxlen=KEPT_EVENTS))
            goes_on = bool(events) and events[-1].attempt == job.attempt
            events.append(JobEvent(job.attempt, events[-1].number + 1 if goes_on else 1, data))

    def after(self, job_id: str, place: tuple[int, int]) -> tuple[JobEvent, ...]:
        with self._changing:
            return tuple(event for event in self._events.get(job_id, ()) if event.place > place)

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
        """Say that there is something new; what it is, listeners look up."""
        with self._changing:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()
