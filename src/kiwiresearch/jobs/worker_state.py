"""The state of a worker: the lock that shows it is alive, its leased jobs, and their listeners."""

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
from kiwiresearch.runs import FolderLock
from kiwiresearch.system import FileLock

if TYPE_CHECKING:
    from kiwiresearch.store import JobRow, Store


class Listeners:
    """Functions that are called, in any thread, when a job has reported an event or changed."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []
        self._state_lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._listeners)

    @contextlib.contextmanager
    def listening(self, listener: Callable[[], None]) -> Iterator[None]:
        with self._state_lock:
            self._listeners.append(listener)
        try:
            yield
        finally:
            with self._state_lock:
                self._listeners.remove(listener)

    def notify(self) -> None:
        with self._state_lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()


WORKERS_FOLDER = "workers"
LOCK_TRIES = 5
LOCK_TIMEOUT_S = 1.0
"""How long to wait for our own lock: another worker may hold it for a moment while it tests whether we are dead."""


class WorkerLock:
    """A lock on a file named after this worker, which the system releases when the process ends.

    A worker that can take the lock of another knows that the other is dead, and need not wait for
    its leases to expire. Workers on other machines have no file here: only their leases show it.
    """

    def __init__(self, state: Path) -> None:
        self._folder = state / WORKERS_FOLDER
        host = re.sub(r"[^\w-]+", "-", platform.node()).strip("-")[:60] or "host"
        self.name = f"{host}.{os.getpid()}.{secrets.token_hex(4)}"
        self._file_lock = FolderLock(self._folder / self.name)
        try:
            self._acquire()
        except OSError as problem:
            remedy = "Check its permissions, or set KIWIRESEARCH_HOME to another folder."
            raise CannotWrite.to(self._folder, problem, remedy=remedy) from problem

    def _acquire(self) -> None:
        """Lock the file that others see; one that took our new file for a dead worker's may just have removed it."""
        for _ in range(LOCK_TRIES):
            if self._file_lock.wait(LOCK_TIMEOUT_S) and self._file_lock.is_current():
                return
            self._file_lock.release()
        raise OSError("files there cannot be locked")

    def dead_workers(self) -> tuple[str, ...]:
        """The names of dead workers of this machine that are not forgotten yet."""
        try:
            names = [file.name for file in self._folder.iterdir()]
        except OSError:
            names = []
        return tuple(sorted(name for name in names if name != self.name and self._is_dead(name)))

    def forget(self, names: tuple[str, ...]) -> None:
        """Remove the files of workers whose jobs are queued again."""
        for name in names:
            with contextlib.suppress(OSError):
                (self._folder / name).unlink()

    def end(self) -> None:
        """Release the lock and remove its file."""
        self.forget((self.name,) if os.name == "posix" else ())  # Windows cannot remove an open file
        self._file_lock.release()

    def _is_dead(self, name: str) -> bool:
        lock = FileLock(self._folder / name)
        with contextlib.suppress(OSError):
            if lock.acquire():
                lock.release()
                return True
        return False


MAX_EVENTS = 1_000
"""How many of a job's latest events stay in memory."""

StopReason = Literal["", "cancel", "requeue"]


class LeasedJob:
    """A job that this worker has leased and that a process works on; several threads use it."""

    def __init__(self, store: Store, row: JobRow, job: Job) -> None:
        self.row = row
        self.job = job
        self.stop_reason: StopReason = ""
        """Why we asked its process to stop, if we did."""
        self.is_lease_lost = False
        """Whether the lease was lost to another worker."""
        self.requeue_reason = ""
        """Why it is queued again, if not because we stopped it."""
        self._store = store
        self._process: JobProcess | None = None
        self._grace_s = 0.0
        self._events: deque[JobEvent] = deque(maxlen=MAX_EVENTS)
        self._event_count = 0
        self._unstored: list[Mapping[str, Any]] = []
        self._stored_pages = job.pages
        self._lock = threading.RLock()
        self._store_lock = threading.Lock()
        """Held while events are stored, so that they stay in order and none is stored after the job has ended."""

    @property
    def pid(self) -> int | None:
        process = self._process
        return process.pid if process is not None else None

    def attach(self, process: JobProcess) -> None:
        """Set the process that works on the job; a stop that was requested before is passed on now."""
        with self._lock:
            self._process = process
            if self.is_lease_lost:
                process.kill()
            elif self.stop_reason:
                process.stop(self._grace_s)

    def stop(self, wanted: StopReason, grace_s: float) -> None:
        with self._lock:
            self.stop_reason, self._grace_s = self.stop_reason or wanted, grace_s
            if self._process is not None:
                self._process.stop(grace_s)

    def mark_lost(self) -> None:
        """Kill the process: another worker has the job, and nothing more may be written here."""
        with self._lock:
            self.is_lease_lost = True
            if self._process is not None:
                self._process.kill()

    def add_event(self, event: Mapping[str, Any]) -> None:
        with self._lock:
            self._event_count += 1
            self._events.append(JobEvent(self.job.attempt, self._event_count, event))
            self._unstored.append(event)
            if "order" in event:
                self.job = replace(self.job, pages=event["order"])

    def events_after(self, position: tuple[int, int]) -> tuple[JobEvent, ...]:
        with self._lock:
            return tuple(event for event in self._events if event.position > position)

    def store_events(self) -> None:
        """Store new events and the progress, for other hosts to see; raises LeaseLost."""
        with self._store_lock:
            with self._lock:
                rows, self._unstored, pages = self._unstored, [], self.job.pages
            try:
                if rows:
                    self._store.jobs.add_events(self.row.holder, self.job.id, self.job.attempt, rows)
                    # Stored: if the report below fails, they must not be stored a second time.
                    rows = []
                if pages != self._stored_pages:
                    self._store.jobs.report_progress(self.row.holder, self.job.id, {"pages": pages})
                    self._stored_pages = pages
            except LeaseLost:
                self.mark_lost()
                raise
            except Exception:
                with self._lock:  # retried next time, before events that arrived meanwhile
                    self._unstored = [*rows, *self._unstored]
                raise

    def renew(self, lease_s: float, grace_s: float) -> None:
        """Renew the lease; stops the job if a user wants that, or kills it if the lease is lost."""
        state = self._store.leases.renew(self.row.holder, self.job.id, lease_s=lease_s)
        if state == "lost":
            self.mark_lost()
        elif state == "stop":
            self.stop("cancel", grace_s)

    def detach(self) -> None:
        with self._lock:
            self._process = None
