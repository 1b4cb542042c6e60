"""A worker: claims jobs from the store, has a process do each, and records how it ended."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import BadUsage, KiwiError, LeaseLost, StoreUnreachable
from kiwiresearch.jobs.job import JOB_KINDS, Job, UnreadableRequest, job_from_row
from kiwiresearch.jobs.leases import LeasedJob, Listeners, WorkerLock
from kiwiresearch.jobs.process import RESUME_HINT, JobEnding, JobOrder, JobProcesses, failed
from kiwiresearch.messages.message import message_in

if TYPE_CHECKING:
    from kiwiresearch.store.job_row import JobRow
    from kiwiresearch.store.store import Store

MAX_RUNNING = 2
GRACE_S = 10.0
LEASE_S = 15.0
"""After so long without word of a worker its jobs go to others; its processes end sooner, by themselves."""
RENEW_S = 2.0
"""How often a worker gives word, and looks for those that gave none."""
POLL_S = 0.5
"""How often a worker looks whether there is something to do."""
MAX_TRIES = 3
"""A job that was lost so often fails."""
STOPPED = "its worker was stopped"
POSTPONE_S = 5.0
"""How long a job waits that misses a host, the store or a folder before anybody here tries it again."""


def audit_job_end(store: Store, job: Job, state: str, at: str) -> None:
    """Tell the audit how work of a user ended, whoever did it."""
    if job.user:
        store.audit.add(at, job.user, job.worker, "ended", job.id, state, {"pages": job.pages})


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """What a worker needs to know of jobs."""

    order: Callable[[JobRow, Job], JobOrder]
    """What is to be done, where and with which books."""
    fits: Callable[[], Callable[[JobRow], bool]]
    """Gives, for each look along the line, what says whether a job can be done here."""
    now: Callable[[], str]
    kinds: Collection[str] = JOB_KINDS
    say: Callable[[str], None] | None = None
    """Hears which job begins, and how it ended."""

    def report(self, words: str) -> None:
        if self.say is not None:
            self.say(words)


class Worker:
    """Some jobs at once, each in a process of its own; it lives until it is closed.

    A thread says every few seconds that the worker lives, and takes back the jobs of those
    that are gone; another takes what waits, so that no claim keeps a lease waiting. Whoever
    puts a job in line here need not wait for that: `advance` takes it at once.
    """

    def __init__(
        self, store: Store, work: WorkerContext, life: WorkerLock, listeners: Listeners, *, at_once: int, grace_s: float
    ) -> None:
        self._store, self._work, self._life, self._listeners = store, work, life, listeners
        self._at_once, self._grace_s = at_once, grace_s
        self._processes = JobProcesses()
        self._held: dict[str, LeasedJob] = {}
        self._threads: list[threading.Thread] = []
        self._changing = threading.RLock()
        self._claiming = threading.Lock()
        """Of whoever takes jobs; nobody asks the store while holding `_changing`."""
        self._is_closed = False
        self._ended = threading.Event()
        self._due: dict[str, float] = {}
        self._rest_until: dict[str, float] = {}
        """Jobs that miss something, and when to see whether it is back."""
        self._is_away = False
        looks = (self._heartbeat, self._poll)
        self._keepers = [
            threading.Thread(target=self._loop, args=(look,), name="worker", daemon=True) for look in looks
        ]
        for look in looks:
            look()
        for keeper in self._keepers:
            keeper.start()

    @property
    def is_idle(self) -> bool:
        with self._changing:
            return not self._held

    def held(self, job_id: str) -> LeasedJob | None:
        """The job, if this worker has it."""
        with self._changing:
            return self._held.get(job_id)

    def advance(self) -> None:
        """Take the jobs whose turn it is, as long as there is room."""
        with self._claiming:
            while self._has_room():
                row = self._store.jobs.claim(self._life.name, self._work.kinds, lease_s=LEASE_S, fits=self._fitting())
                if row is None:
                    break
                self._take(row)
        self._listeners.notify()

    def _has_room(self) -> bool:
        with self._changing:
            return not self._is_closed and len(self._held) < self._at_once

    def _fitting(self) -> Callable[[JobRow], bool]:
        fits = self._work.fits()

        def is_for_us(row: JobRow) -> bool:
            if self.held(row.id) is not None:  # an attempt of ours that was given up, and does not know it yet
                return False
            return self._rest_until.get(row.id, 0.0) <= time.monotonic() and fits(row)

        return is_for_us

    def stop(self, job_id: str) -> None:
        """Stop a job of ours at once, which others have to wait for until we hear of their wish."""
        held = self.held(job_id)
        if held is not None:
            held.stop("cancel", self._grace_s)

    def close(self) -> None:
        """Stop between two steps; what is not done goes back into the line, for whoever comes next."""
        self._give_all_back()
        with self._claiming:  # what is just being taken goes back as well
            self._give_all_back()
            threads = list(self._threads)
        for thread in threads:
            thread.join()
        self._ended.set()
        for keeper in self._keepers:
            keeper.join()
        self._processes.close_idle(idle_s=0.0)
        self._life.end()
        self._listeners.notify()

    def _give_all_back(self) -> None:
        with self._changing:
            self._is_closed = True
            for held in self._held.values():
                held.stop("give back", self._grace_s)

    def _take(self, row: JobRow) -> None:
        job = job_from_row(row)
        if isinstance(job.wish, UnreadableRequest):
            problem = {"problem": job.problem, "remedy": job.remedy}
            self._store.jobs.end(row.holder, row.id, "failed", problem, ended_at=self._work.now())
            return
        held = LeasedJob(self._store, row, job)
        with self._changing:
            self._held[row.id] = held
        self._work.report(f"{row.id}: begins" if row.attempt == 1 else f"{row.id}: goes on")
        thread = threading.Thread(target=self._follow, args=(held,), name=f"job {row.id}", daemon=True)
        self._threads = [*(old for old in self._threads if old.is_alive()), thread]
        thread.start()

    def _follow(self, held: LeasedJob) -> None:
        """Follow one job to its end."""
        ending: JobEnding | None = failed("The server has a fault.", RESUME_HINT)
        try:
            ending = self._ending(held)
        except StoreUnreachable as problem:
            ending = None
            self._postpone(held, problem.message)
        except KiwiError as problem:
            ending = failed(problem.message, problem.remedy)
        except OSError as problem:
            ending = failed(f"The process of the run cannot be started: {problem.strerror}.", RESUME_HINT)
        finally:
            self._end(held, ending)
            self._listeners.notify()
            self._safely(self.advance)

    def _ending(self, held: LeasedJob) -> JobEnding | None:
        order = self._work.order(held.row, held.job)
        process = self._processes.acquire()
        try:
            held.attach(process)
            for event in process.events(order):
                held.add_event(event)
                self._listeners.notify()
            if process.last.get("event") == "lost":
                held.is_lost = True
            if process.last.get("event") == "away":
                self._postpone(held, message_in(process.last, "problem"))
            return process.ending(is_cancelled=held.stop_reason == "cancel")
        finally:
            held.detach()
            self._processes.release(process)

    def _postpone(self, held: LeasedJob, why: str) -> None:
        """Something that it needs is away, and may be back by the time it is tried again."""
        held.return_reason = why
        now = time.monotonic()
        resting = {job_id: until for job_id, until in self._rest_until.items() if until > now}
        self._rest_until = {**resting, held.job.id: now + POSTPONE_S}

    def _end(self, held: LeasedJob, ending: JobEnding | None) -> None:
        """Write down how a job ended, as soon as the store can be reached; what is lost is no longer ours to end."""
        try:
            if held.is_lost or not self._until_stored(held.store_events):
                return
            if ending is None or ending.state == "interrupted":
                self._until_stored(lambda: self._put_back(held, is_killed=ending is not None))
            elif self._until_stored(lambda: self._write_end(held, ending)):
                self._work.report(f"{held.job.id}: {ending.state}. {ending.details.get('problem', '')}".rstrip())
                self._until_stored(lambda: audit_job_end(self._store, held.job, ending.state, self._work.now()))
        finally:
            with self._changing:
                del self._held[held.job.id]

    def _put_back(self, held: LeasedJob, *, is_killed: bool) -> None:
        """Have it wait again; what was killed, as by a system that ran out of memory, is tried only so often."""
        state = "queued"
        if is_killed:
            state = self._store.jobs.lose(held.row.holder, held.job.id, most_tries=MAX_TRIES).state
        else:
            self._store.jobs.give_back(held.row.holder, held.job.id, held.return_reason or STOPPED)
        self._work.report(f"{held.job.id}: {'waits for another worker' if state == 'queued' else state}")

    def _write_end(self, held: LeasedJob, ending: JobEnding) -> None:
        told: dict[str, Any] = {"pages": held.job.pages, **ending.details}
        self._store.jobs.end(held.row.holder, held.job.id, ending.state, told, ended_at=self._work.now())

    def _until_stored(self, tell: Callable[[], None]) -> bool:
        """Tell the store something as soon as it can be reached; False if that is no longer ours to tell."""
        while True:
            try:
                tell()
            except LeaseLost:
                return False
            except BadUsage as problem:  # no other try would mend that: its lease lapses
                self._work.report(str(problem))
                return False
            except KiwiError as problem:  # the store is away, or its disk is full
                self._report_once(problem)
                if self._is_closed:
                    return False  # its lease lapses, and somebody else goes on with it
                time.sleep(POLL_S)
            else:
                return True

    def _loop(self, look: Callable[[], None]) -> None:
        while not self._ended.wait(POLL_S):
            look()

    def _heartbeat(self) -> None:
        self._safely(self._store_events)
        self._safely(self._renew_leases)

    def _poll(self) -> None:
        self._safely(self._claim_waiting)
        self._processes.close_idle()
        if self._listeners and self._is_due("listeners", 2 * POLL_S):
            self._listeners.notify()  # others may have told something

    def _safely(self, what: Callable[[], None]) -> None:
        """What goes wrong is said, and tried again with the next look."""
        try:
            what()
        except KiwiError as problem:
            self._report_once(problem)
        except Exception:
            traceback.print_exc(file=sys.stderr)

    def _report_once(self, problem: KiwiError) -> None:
        """Say once that the store cannot be used just now."""
        if not self._is_away:
            self._is_away = True
            print(f"kiwiresearch: {problem}", file=sys.stderr, flush=True)

    def _store_events(self) -> None:
        for held in self._leased_jobs():
            if not held.is_lost:
                try:
                    held.store_events()
                except LeaseLost:
                    self._listeners.notify()

    def _renew_leases(self) -> None:
        """Renew our leases, and only then look for those that lapsed: this machine may have slept."""
        if not self._is_due("word", RENEW_S):
            return
        for held in self._leased_jobs():
            held.renew(LEASE_S, self._grace_s)
        dead = self._life.dead_workers()
        if dead or self._store.jobs.counts()[1] > len(self._leased_jobs()):
            self._store.jobs.reap(most_tries=MAX_TRIES, is_dead=frozenset(dead).__contains__)
            self._life.forget(dead)
        self._is_away = False

    def _claim_waiting(self) -> None:
        if self._has_room() and self._store.jobs.counts()[0]:
            self.advance()

    def _leased_jobs(self) -> list[LeasedJob]:
        with self._changing:
            return list(self._held.values())

    def _is_due(self, what: str, every_s: float) -> bool:
        now = time.monotonic()
        if now < self._due.get(what, 0.0):
            return False
        self._due[what] = now + every_s
        return True
