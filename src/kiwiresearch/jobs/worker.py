"""A worker: leases jobs from the store, runs each in a process, and records how it ended."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from kiwiresearch.errors import BadUsage, KiwiError, LeaseLost, StoreUnreachable
from kiwiresearch.jobs.job import JOB_KINDS, Job, UnreadableRequest, job_from_row
from kiwiresearch.jobs.process import PROCESS_POOL, RESUME_HINT, JobEnding, JobSpec, failed
from kiwiresearch.jobs.worker_state import LeasedJob, Listeners, WorkerLock
from kiwiresearch.messages import message_in

if TYPE_CHECKING:
    from kiwiresearch.store import JobRow, Store

MAX_RUNNING = 2
GRACE_S = 10.0
LEASE_S = 15.0
"""A worker that does not renew its leases for this long loses its jobs; its processes exit sooner on their own."""
RENEW_S = 2.0
"""How often a worker renews its leases and looks for expired ones."""
POLL_S = 0.5
"""How often a worker looks for jobs while there are any, or somebody follows one."""
IDLE_POLL_S = 5.0
"""How often it looks otherwise: only another program of this machine can have queued one."""
SHARED_POLL_S = 2.0
"""How often an idle worker looks if several hosts share the store: any of them can have queued a job."""
MAX_LOST_STARTS = 3
"""A job that was lost this many times fails."""
WORKER_STOPPED = "its worker was stopped"
POSTPONE_S = 5.0
"""How long this worker leaves a job alone when its host, store or folder is unavailable."""


def audit_job_end(store: Store, job: Job, state: str, ended_at: str) -> None:
    """Record in the audit how a user's job ended, on whichever host."""
    if job.user:
        store.audit.add(ended_at, job.user, job.worker, "ended", job.id, state, {"pages": job.pages})


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """What a worker has to know about jobs."""

    make_spec: Callable[[JobRow, Job], JobSpec]
    """Makes the specification of a job: what to do, where and with which books."""
    eligibility: Callable[[], Callable[[JobRow], bool]]
    """Returns, for each pass over the queue, a predicate for the jobs that this host can do."""
    now: Callable[[], str]
    kinds: Collection[str] = JOB_KINDS
    log: Callable[[str], None] | None = None
    """Called when a job starts and when it ends."""

    def log_line(self, words: str) -> None:
        if self.log is not None:
            self.log(words)


class Worker:
    """Runs several jobs at once, each in a process of its own, until it is closed.

    One thread renews the leases every few seconds and expires those of dead workers; another leases what
    waits, so that leasing never delays a renewal. A caller that queues a job in this process need not wait
    for either: `lease_jobs` starts it at once.
    """

    def __init__(
        self,
        store: Store,
        context: WorkerContext,
        lock: WorkerLock,
        listeners: Listeners,
        *,
        max_running: int,
        grace_s: float,
    ) -> None:
        self._store, self._context, self._worker_lock, self._listeners = store, context, lock, listeners
        self._max_running, self._grace_s = max_running, grace_s
        self._leased: dict[str, LeasedJob] = {}
        self._job_threads: list[threading.Thread] = []
        # Nothing may call the store while it holds this lock: the store can block for seconds.
        self._state_lock = threading.RLock()
        self._leasing_lock = threading.Lock()
        self._is_closed = False
        self._ended = threading.Event()
        self._due: dict[str, float] = {}
        self._retry_at: dict[str, float] = {}
        """When to retry the jobs for which something was unavailable."""
        self._has_reported = False
        """Whether the current problem with the store was already reported."""
        self._waiting = 0
        """How many jobs waited when we last looked."""
        self._wake = threading.Event()
        """Set when something happens in this process, so that an idle worker looks again."""
        steps = (self._heartbeat, self._poll)
        loops = (self._beat_loop, self._poll_loop)
        self._threads = [threading.Thread(target=loop, name="worker", daemon=True) for loop in loops]
        for step in steps:  # once here, so that a store that fails is reported before the threads start
            step()
        for thread in self._threads:
            thread.start()

    @property
    def is_idle(self) -> bool:
        return not self.leased_count

    @property
    def leased_count(self) -> int:
        with self._state_lock:
            return len(self._leased)

    def leased_job(self, job_id: str) -> LeasedJob | None:
        """The job, if it is leased to this worker."""
        with self._state_lock:
            return self._leased.get(job_id)

    def lease_jobs(self) -> None:
        """Lease and start the jobs whose turn it is, as long as there is room."""
        with self._leasing_lock:
            while self._has_room():
                row = self._store.leases.lease_next(
                    self._worker_lock.name, self._context.kinds, lease_s=LEASE_S, can_do=self._can_do()
                )
                if row is None:
                    break
                self._start(row)
        self._wake.set()
        self._listeners.notify()

    def _has_room(self) -> bool:
        with self._state_lock:
            return not self._is_closed and len(self._leased) < self._max_running

    def _can_do(self) -> Callable[[JobRow], bool]:
        is_eligible = self._context.eligibility()

        def can_do(row: JobRow) -> bool:
            if self.leased_job(row.id) is not None:  # our earlier attempt lost its lease, and has not noticed yet
                return False
            return self._retry_at.get(row.id, 0.0) <= time.monotonic() and is_eligible(row)

        return can_do

    def stop(self, job_id: str) -> None:
        """Stop a job of ours at once; stop requests from other hosts are only seen at the next renewal."""
        leased = self.leased_job(job_id)
        if leased is not None:
            leased.stop("cancel", self._grace_s)

    def close(self) -> None:
        """Stop between two steps; unfinished jobs are queued again."""
        self._stop_all()
        with self._leasing_lock:  # a job may have been leased meanwhile
            self._stop_all()
            threads = list(self._job_threads)
        for thread in threads:
            thread.join()
        self._ended.set()
        self._wake.set()
        for thread in self._threads:
            thread.join()
        self._worker_lock.end()
        self._listeners.notify()

    def _stop_all(self) -> None:
        with self._state_lock:
            self._is_closed = True
            for leased in self._leased.values():
                leased.stop("requeue", self._grace_s)

    def _start(self, row: JobRow) -> None:
        job = job_from_row(row)
        if isinstance(job.request, UnreadableRequest):
            problem = {"problem": job.problem, "remedy": job.remedy}
            self._store.jobs.end(row.holder, row.id, "failed", problem, ended_at=self._context.now())
            return
        leased = LeasedJob(self._store, row, job)
        with self._state_lock:
            self._leased[row.id] = leased
        self._context.log_line(f"{row.id}: started" if row.attempt == 1 else f"{row.id}: resumed")
        thread = threading.Thread(target=self._follow, args=(leased,), name=f"job {row.id}", daemon=True)
        self._job_threads = [*(old for old in self._job_threads if old.is_alive()), thread]
        thread.start()

    def _follow(self, leased: LeasedJob) -> None:
        """Follow one job to its end."""
        ending: JobEnding | None = failed("The server failed unexpectedly.", RESUME_HINT)
        try:
            ending = self._run(leased)
        except StoreUnreachable as problem:
            ending = None
            self._postpone(leased, problem.message)
        except KiwiError as problem:
            ending = failed(problem.message, problem.remedy)
        except OSError as problem:
            ending = failed(f"Could not start a process for the job: {problem.strerror}.", RESUME_HINT)
        finally:
            self._end(leased, ending)
            self._listeners.notify()
            self._safely(self.lease_jobs)

    def _run(self, leased: LeasedJob) -> JobEnding | None:
        spec = self._context.make_spec(leased.row, leased.job)
        process = PROCESS_POOL.acquire()
        try:
            leased.attach(process)
            for event in process.events(spec):
                leased.add_event(event)
                self._listeners.notify()
            if process.last.get("event") == "lost":
                leased.is_lease_lost = True
            if process.last.get("event") == "unavailable":
                self._postpone(leased, message_in(process.last, "problem"))
            return process.ending(is_cancelled=leased.stop_reason == "cancel")
        finally:
            leased.detach()
            PROCESS_POOL.release(process)

    def _postpone(self, leased: LeasedJob, why: str) -> None:
        """Retry it later: something that it needs is unavailable."""
        leased.requeue_reason = why
        now = time.monotonic()
        waiting = {job_id: at for job_id, at in self._retry_at.items() if at > now}
        self._retry_at = {**waiting, leased.job.id: now + POSTPONE_S}

    def _end(self, leased: LeasedJob, ending: JobEnding | None) -> None:
        """Store how a job ended, as soon as the store can be reached; nothing is written if the lease was lost.

        Without an ending the job was given back: it was stopped between two steps, or something is unavailable. The
        ending "interrupted" means that its process was killed. Both return to the queue, but only a kill counts.
        """
        try:
            if leased.is_lease_lost or not self._write_until_stored(leased.store_events):
                return
            if ending is None or ending.state == "interrupted":
                self._write_until_stored(lambda: self._requeue(leased, is_killed=ending is not None))
            elif self._write_until_stored(lambda: self._write_end(leased, ending)):
                self._context.log_line(f"{leased.job.id}: {ending.state}. {ending.details.get('problem', '')}".rstrip())
                # Only once the end is stored: if this process dies in between, only the audit row is missing.
                self._write_until_stored(
                    lambda: audit_job_end(self._store, leased.job, ending.state, self._context.now())
                )
        finally:
            with self._state_lock:
                del self._leased[leased.job.id]

    def _requeue(self, leased: LeasedJob, *, is_killed: bool) -> None:
        """Queue it again; one that was killed (out of memory, say) fails after `MAX_LOST_STARTS`."""
        state = "queued"
        if is_killed:
            state = self._store.leases.requeue_killed(
                leased.row.holder, leased.job.id, max_lost_starts=MAX_LOST_STARTS
            ).state
        else:
            self._store.leases.requeue(leased.row.holder, leased.job.id, leased.requeue_reason or WORKER_STOPPED)
        self._context.log_line(f"{leased.job.id}: {'waiting for another worker' if state == 'queued' else state}")

    def _write_end(self, leased: LeasedJob, ending: JobEnding) -> None:
        progress: dict[str, Any] = {"pages": leased.job.pages, **ending.details}
        self._store.jobs.end(leased.row.holder, leased.job.id, ending.state, progress, ended_at=self._context.now())

    def _write_until_stored(self, write: Callable[[], None]) -> bool:
        """Write to the store as soon as it can be reached; False if the lease was lost, or is left to expire."""
        while True:
            try:
                write()
            except LeaseLost:
                return False
            except BadUsage as problem:  # trying again cannot help
                self._context.log_line(str(problem))
                return False
            except KiwiError as problem:  # the store is unreachable, or its disk is full
                self._report_once(problem)
                if self._is_closed:
                    return False
                time.sleep(POLL_S)
            else:
                return True

    def _beat_loop(self) -> None:
        while not self._ended.wait(POLL_S):
            self._heartbeat()

    def _poll_loop(self) -> None:
        """Look for jobs that others queued: often while jobs run, wait or are watched, rarely otherwise.

        A job that is queued in this process is leased at once.
        """
        while not self._ended.is_set():
            is_busy = self.leased_count or self._waiting or self._listeners
            idle_s = SHARED_POLL_S if self._store.is_server else IDLE_POLL_S
            if is_busy:
                self._ended.wait(POLL_S)
            elif self._wake.wait(idle_s):
                self._wake.clear()
                continue  # whatever woke us has already leased the waiting jobs
            if not self._ended.is_set():
                self._poll()

    def _heartbeat(self) -> None:
        self._safely(self._store_events)
        self._safely(self._renew_leases)

    def _poll(self) -> None:
        self._safely(self._lease_waiting)
        PROCESS_POOL.close_idle()
        if self._listeners and self._claim_if_due("listeners", 2 * POLL_S):
            self._listeners.notify()  # workers elsewhere may have reported events

    def _safely(self, action: Callable[[], None]) -> None:
        """Report a failure; the next pass tries again."""
        try:
            action()
        except KiwiError as problem:
            self._report_once(problem)
        except Exception:
            traceback.print_exc(file=sys.stderr)

    def _report_once(self, problem: KiwiError) -> None:
        """Report once that the store cannot be used just now."""
        if not self._has_reported:
            self._has_reported = True
            print(f"kiwiresearch: {problem}", file=sys.stderr, flush=True)

    def _store_events(self) -> None:
        for leased in self._leased_jobs():
            if not leased.is_lease_lost:
                try:
                    leased.store_events()
                except LeaseLost:
                    self._listeners.notify()

    def _renew_leases(self) -> None:
        """Renew our leases before expiring others: this machine may have been suspended, so ours may be overdue."""
        may_renew_rarely = self.is_idle and not self._store.is_server
        if not self._claim_if_due("renewal", IDLE_POLL_S if may_renew_rarely else RENEW_S):
            return
        for leased in self._leased_jobs():
            leased.renew(LEASE_S, self._grace_s)
        dead = self._worker_lock.dead_workers()
        if dead or self._store.jobs.counts().running > len(self._leased_jobs()):
            self._store.leases.expire(max_lost_starts=MAX_LOST_STARTS, is_dead=frozenset(dead).__contains__)
            self._worker_lock.forget(dead)
        self._has_reported = False

    def _lease_waiting(self) -> None:
        if self._has_room():
            self._waiting = self._store.jobs.counts().queued
            if self._waiting:
                self.lease_jobs()

    def _leased_jobs(self) -> list[LeasedJob]:
        with self._state_lock:
            return list(self._leased.values())

    def _claim_if_due(self, what: Literal["renewal", "listeners"], every_s: float) -> bool:
        """Whether it is time to do it again; if so, the next time is only after `every_s`."""
        now = time.monotonic()
        if now < self._due.get(what, 0.0):
            return False
        self._due[what] = now + every_s
        return True
