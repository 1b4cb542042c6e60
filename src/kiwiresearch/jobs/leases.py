"""What a worker holds: the lock that shows it is alive, the jobs it has leased, and who listens to them."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import secrets
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kiwiresearch.errors import CannotWrite, LeaseLost
from kiwiresearch.jobs.job import Job, JobEvent
from kiwiresearch.jobs.process import JobProcess
from kiwiresearch.runs.folder import FolderLock
from kiwiresearch.system import FileLock

if TYPE_CHECKING:
    from kiwiresearch.store.job_row import JobRow
    from kiwiresearch.store.store import Store


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


FOLDER = "workers"
TRIES = 5
TIMEOUT_S = 1.0
"""How long a neighbour may take that looks whether we are dead before we have begun."""


class WorkerLock:
    """A lock that ends with this process, in a file that its name names.

    Whoever can take the lock of another knows that that one is dead, and need not
    wait for its leases to lapse. Of workers elsewhere there is no file: leases tell.
    """

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER
        self.name = f"{_host()}.{os.getpid()}.{secrets.token_hex(4)}"
        self._lock = FolderLock(self._folder / self.name)
        try:
            self._acquire()
        except OSError as problem:
            raise CannotWrite(
                f"The folder {str(self._folder)!r} cannot be written: {problem.strerror or problem}.",
                remedy="Check its permissions, or set KIWIRESEARCH_HOME to another folder.",
            ) from problem

    def _acquire(self) -> None:
        """Have the lock of the file that others see: a neighbour may have taken a new one for that of a dead worker."""
        for _ in range(TRIES):
            if self._lock.wait(TIMEOUT_S) and self._lock.is_current():
                return
            self._lock.release()
        raise OSError("no file there can be locked")

    def dead_workers(self) -> tuple[str, ...]:
        """The workers of this machine that are gone, and were not yet forgotten."""
        return tuple(sorted(name for name in self._names() if name != self.name and self._is_dead(name)))

    def forget(self, names: tuple[str, ...]) -> None:
        """What they held is in line again: nobody need look at them any more."""
        for name in names:
            with contextlib.suppress(OSError):
                (self._folder / name).unlink()

    def end(self) -> None:
        """Nothing is held any more."""
        self.forget((self.name,) if os.name == "posix" else ())  # elsewhere an open file cannot be removed
        self._lock.release()

    def _names(self) -> list[str]:
        try:
            return [file.name for file in self._folder.iterdir()]
        except OSError:
            return []

    def _is_dead(self, name: str) -> bool:
        lock = FileLock(self._folder / name)
        with contextlib.suppress(OSError):
            if lock.acquire():
                lock.release()
                return True
        return False


def _host() -> str:
    return re.sub(r"[^\w-]+", "-", platform.node()).strip("-")[:60] or "host"


KEPT_EVENTS = 1_000
"""How many events of a job are remembered, the latest."""

StopReason = Literal["", "cancel", "give back"]


class LeasedJob:
    """A job of ours that is worked on; several threads look at it."""

    def __init__(self, store: Store, row: JobRow, job: Job) -> None:
        self.row = row
        self.job = job
        self.stop_reason: StopReason = ""
        """What becomes of it when its process stops because we wanted it to."""
        self.is_lost = False
        """Whether another worker has it by now."""
        self.return_reason = ""
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

    def attach(self, process: JobProcess) -> None:
        """A process works on it; if it was to stop before that, it is told now."""
        with self._changing:
            self._process = process
            if self.is_lost:
                process.kill()
            elif self.stop_reason:
                process.stop(self._grace_s)

    def stop(self, wanted: StopReason, grace_s: float) -> None:
        with self._changing:
            self.stop_reason, self._grace_s = self.stop_reason or wanted, grace_s
            if self._process is not None:
                self._process.stop(grace_s)

    def lose(self) -> None:
        """Another worker has it: nothing more is written of it here."""
        with self._changing:
            self.is_lost = True
            if self._process is not None:
                self._process.kill()

    def add_event(self, event: Mapping[str, Any]) -> None:
        with self._changing:
            self._told += 1
            self._events.append(JobEvent(self.job.attempt, self._told, event))
            self._untold.append(event)
            if "order" in event:
                self.job = replace(self.job, pages=event["order"])

    def events_after(self, place: tuple[int, int]) -> tuple[JobEvent, ...]:
        with self._changing:
            return tuple(event for event in self._events if event.position > place)

    def store_events(self) -> None:
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

    def detach(self) -> None:
        """Its process is no longer its own."""
        with self._changing:
            self._process = None
