"""A job that a worker holds: what it has told so far, and what of that the store knows."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from kiwiresearch.errors import LeaseLost
from kiwiresearch.research.job import Job, JobEvent
from kiwiresearch.research.job_process import JobProcess

if TYPE_CHECKING:
    from kiwiresearch.store.jobs import JobRow
    from kiwiresearch.store.open import Store

KEPT_EVENTS = 1_000
"""How many events of a job are remembered, the latest."""

Wanted = Literal["", "cancel", "give back"]


class HeldJob:
    """A job of ours that is worked on; several threads look at it."""

    def __init__(self, store: Store, row: JobRow, job: Job) -> None:
        self.row = row
        self.job = job
        self.wanted: Wanted = ""
        """What becomes of it when its process stops because we wanted it to."""
        self.is_lost = False
        """Whether another worker has it by now."""
        self.why = ""
        """Why it goes back into the line, where we did not want it to stop."""
        self._store = store
        self._process: JobProcess | None = None
        self._grace_s = 0.0
        self._events: deque[JobEvent] = deque(maxlen=KEPT_EVENTS)
        self._told = 0
        self._untold: list[Mapping[str, Any]] = []
        self._pages_told = job.pages
        self._changing = threading.RLock()
        self._telling = threading.Lock()
        """Who tells the store does so alone: events keep their order, and none is told of an ended job."""

    @property
    def pid(self) -> int | None:
        process = self._process
        return process.pid if process is not None else None

    def begun(self, process: JobProcess) -> None:
        """A process works on it; if it was to stop before that, it is told now."""
        with self._changing:
            self._process = process
            if self.is_lost:
                process.kill()
            elif self.wanted:
                process.stop(self._grace_s)

    def stop(self, wanted: Wanted, grace_s: float) -> None:
        with self._changing:
            self.wanted, self._grace_s = self.wanted or wanted, grace_s
            if self._process is not None:
                self._process.stop(grace_s)

    def lose(self) -> None:
        """Another worker has it: nothing more is written of it here."""
        with self._changing:
            self.is_lost = True
            if self._process is not None:
                self._process.kill()

    def hear(self, event: Mapping[str, Any]) -> None:
        with self._changing:
            self._told += 1
            self._events.append(JobEvent(self.job.attempt, self._told, event))
            self._untold.append(event)
            if "order" in event:
                self.job = replace(self.job, pages=event["order"])

    def after(self, place: tuple[int, int]) -> tuple[JobEvent, ...]:
        with self._changing:
            return tuple(event for event in self._events if event.place > place)

    def tell_store(self) -> None:
        """Put into the store what others may want to see; LeaseLost if it is no longer ours."""
        with self._telling:
            self._tell_store()

    def _tell_store(self) -> None:
        with self._changing:
            rows, self._untold, pages = self._untold, [], self.job.pages
        try:
            if rows:
                self._store.jobs.add_events(self.row.holder, self.job.id, self.job.attempt, rows)
                rows = []
            if pages != self._pages_told:
                self._store.jobs.tell(self.row.holder, self.job.id, {"pages": pages})
                self._pages_told = pages
        except LeaseLost:
            self.lose()
            raise
        except Exception:
            with self._changing:
                self._untold = [*rows, *self._untold]
            raise

    def renew(self, lease_s: float, grace_s: float) -> None:
        """Say that we live, and hear whether somebody wants it stopped."""
        state = self._store.jobs.renew(self.row.holder, self.job.id, lease_s=lease_s)
        if state == "lost":
            self.lose()
        elif state == "stop":
            self.stop("cancel", grace_s)

    def end(self) -> None:
        """Its process is no longer its own."""
        with self._changing:
            self._process = None
