"""The queue of jobs in the store: requested here or elsewhere, done by any worker, visible everywhere."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from kiwiresearch.cases.registry import CaseRegistry, open_registry
from kiwiresearch.errors import (
    Interrupted,
    NothingFound,
    RunDamaged,
    RunNotFound,
    StoreDamaged,
    StoreError,
    StoreUnreachable,
    TooManyRuns,
    WrongJobState,
)
from kiwiresearch.jobs.assignment import JobAssignment, JobBooks, exists
from kiwiresearch.jobs.job import (
    JOB_KINDS,
    NO_EVENTS_SEEN,
    BulkRequest,
    FamilyRequest,
    Job,
    JobEvent,
    JobRequest,
    QuestionsRequest,
    UnreadableRequest,
    checked_request,
    job_from_row,
)
from kiwiresearch.jobs.worker import GRACE_S, MAX_RUNNING, Worker, WorkerContext
from kiwiresearch.jobs.worker_state import Listeners, WorkerLock
from kiwiresearch.runs.folder import STEPS, discard_empty_run
from kiwiresearch.runs.progress import steps_file
from kiwiresearch.runs.run import Runs
from kiwiresearch.runs.store_copy import StoredRuns, remove_run, remove_run_files
from kiwiresearch.system import write_pieces_atomically
from kiwiresearch.workspace.places import (
    ANSWERS,
    LIST_HINT,
    bulk_folder,
    is_job_id,
    job_name,
    runs_folder,
    store_folder,
)
from kiwiresearch.workspace.workspace import Workspace, store_of
from kiwiresearch.zim.library import ListedBook
from kiwiresearch.zim.peer import MissingBooks


def drop_upload(cases: CaseRegistry, job: Job, others: Iterable[Job]) -> None:
    """Keep the family file of a job no longer, unless one of the others has yet to take it in."""
    wish = job.wish
    if not isinstance(wish, FamilyRequest) or not wish.upload:
        return
    waiting = (one.wish for one in others if one.id != job.id and one.state != "done")
    same = (wish.case, wish.upload)
    if not any(isinstance(one, FamilyRequest) and (one.case, one.upload) == same for one in waiting):
        with contextlib.suppress(NothingFound):  # the case is gone, and its files with it
            cases.place(wish.case).drop_file(wish.upload)


MAX_QUEUED = 100


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """How much is done at once."""

    running: int = MAX_RUNNING
    """0 works on nothing, and leaves it to others."""
    queued: int = MAX_QUEUED
    grace_s: float = GRACE_S
    """How long a step may still take when a run is to stop."""


@dataclass(frozen=True, slots=True)
class JobUpdate:
    """A job, and what it told after a place."""

    job: Job
    events: tuple[JobEvent, ...]


class JobQueue:
    """The jobs of a store, and a worker that does some of them as long as this is open.

    Books are named to a job as they are on this shelf. Times are passed in:
    `now` gives them as text, and they stand in the row of the job alone.
    """

    def __init__(
        self,
        desk: Workspace,
        books: Sequence[ListedBook] | Callable[[], Sequence[ListedBook]],
        *,
        now: Callable[[], str],
        all_books: bool = False,
        missing: Callable[[], Sequence[MissingBooks]] = tuple,
        limits: QueueLimits | None = None,
        kinds: Collection[str] = JOB_KINDS,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._desk = desk
        self._books = JobBooks(books, missing, all_books=all_books)
        self._now = now
        self._limits = limits or QueueLimits()
        self.folder: Path = runs_folder(desk)
        """Where the runs are: each in a folder that its job's id names."""
        self.store = store_of(desk)
        self.cases: CaseRegistry = open_registry(desk)
        self.assignment = JobAssignment(desk, self.store, self._books, self.cases)
        """What this host could do."""
        kept = StoredRuns(self.store, self.folder) if self.store.is_primary else None
        self.runs = Runs(self.folder, kept)
        """The runs that are finished, whoever made them."""
        self._listeners = Listeners()
        self._starting = threading.RLock()
        self._is_closed = False
        self._kinds = kinds
        self._worker = self._new_worker(say) if self._limits.running else None

    def _new_worker(self, say: Callable[[str], None] | None) -> Worker:
        context = WorkerContext(self.assignment.order, self.assignment.eligibility, self._now, self._kinds, say)
        lock = WorkerLock(self._desk.folders.state)
        limits = self._limits
        return Worker(self.store, context, lock, self._listeners, max_running=limits.running, grace_s=limits.grace_s)

    @property
    def is_full(self) -> bool:
        """Whether so many wait that nobody else can."""
        return self.store.jobs.counts().queued >= self._limits.queued

    @property
    def max_pages(self) -> int:
        """How many pages a run takes that does not say so itself."""
        return self._desk.settings.max_pages

    @property
    def is_idle(self) -> bool:
        """Whether nothing is worked on here."""
        return self._worker is None or self._worker.is_idle

    def has_work(self) -> bool:
        """Whether something waits that could be done here."""
        fits = self.assignment.eligibility()
        waiting = (row for row in self.store.jobs.all(states=("queued",)) if not row.damage)
        return any(row.kind in self._kinds and fits(row) for row in waiting)

    def all(self) -> list[Job]:
        """All jobs, the newest first; one whose row is damaged has failed."""
        return [self._with_progress(job_from_row(row)) for row in self.store.jobs.all()]

    def get(self, job_id: str) -> Job:
        if not is_job_id(job_id):  # only a damaged row has such an id
            job = next((job for job in self.all() if job.id == job_id), None)
        else:
            row = self.store.jobs.get(job_id)
            job = self._with_progress(job_from_row(row)) if row is not None else None
        if job is None:
            raise RunNotFound(f"There is no job {job_id[:200]!r}.", remedy=LIST_HINT)
        return job

    def can_do(self, job_id: str) -> bool:
        """Whether the books of a job are here."""
        row = self.store.jobs.get(job_id)
        if row is None:
            return False
        wish = job_from_row(row).wish
        return isinstance(wish, UnreadableRequest) or self.assignment.books.local_books(row.wish, wish) is not None

    def answers(self, job_id: str) -> str:
        """The lines of a batch of questions that is done."""
        job = self.get(job_id)
        if job.wish.kind != "ask" or job.state != "done":
            raise RunNotFound(f"The job {job_id!r} has no answers.", remedy="Wait until a batch of questions is done.")
        try:
            if self.store.is_primary:
                return self.store.files.read(job_id, ANSWERS).decode("utf-8")
            return (self.folder / job_id / ANSWERS).read_text(encoding="utf-8")
        except (OSError, ValueError) as problem:
            raise RunDamaged(f"The answers of {job_id!r} cannot be read.", remedy="Ask them again.") from problem

    def start(self, wish: JobRequest, *, user: str = "", priority: int = 0) -> Job:
        """Put a new job in line; it begins when its turn comes."""
        wish = checked_request(wish, self._desk.settings)
        record = self.assignment.record(wish)
        with self._starting:
            self._refuse_when_full()
            self._refuse_same_case(wish)
            row = self.store.jobs.add(
                job_name(wish.name),
                wish.kind,
                record,
                user=user,
                priority=priority,
                asked_at=self._now(),
                is_taken=lambda job_id: self.assignment.has_folder(wish, job_id),
            )
        self._start_waiting()
        return self.get(row.id)

    def resume(self, job_id: str) -> Job:
        """Put a job that ended before it was done in line again: it goes on in the same folder."""
        with self._starting:
            job = self.get(job_id)
            if isinstance(job.wish, UnreadableRequest):
                raise StoreDamaged(job.problem, remedy=job.remedy)
            if job.is_open:
                state = "runs already" if job.state == "running" else "is in line already"
                raise WrongJobState(f"The job {job_id!r} {state}.", remedy="Wait for it, or cancel it.")
            if not job.is_resumable:
                raise WrongJobState(f"The job {job_id!r} is done.", remedy="Its run can be read.")
            self._books.books_for(job.wish)
            self._refuse_when_full()
            self._refuse_same_case(job.wish)
            self.store.jobs.restart(job_id)
        self._start_waiting()
        return self.get(job_id)

    def cancel(self, job_id: str) -> Job:
        """Stop a job, between two steps if it can be; what has ended stays as it is."""
        self.get(job_id)
        self.store.jobs.cancel(job_id)
        if self._worker is not None:
            self._worker.stop(job_id)
        self._listeners.notify()
        return self.get(job_id)

    def remove(self, job_id: str, *, with_run: bool = False) -> Path | None:
        """Forget a job that ended without a page; `with_run` any that has ended, and all of its run for every host.

        The folder is given back that stays: tables of a book, or one that holds what no run writes.
        """
        job = self.get(job_id)
        if isinstance(job.wish, UnreadableRequest):
            return self._remove_damaged(job_id, with_run=with_run)
        if job.is_open:
            raise WrongJobState(f"The job {job_id!r} runs, or is in line.", remedy="Cancel it first.")
        if not with_run and (job.pages or job.state == "done"):
            remedy = f"To remove that as well: kiwiresearch jobs remove {job_id} --yes"
            raise WrongJobState(f"The job {job_id!r} has work to keep.", remedy=remedy)
        folder = self.assignment.place(job) if isinstance(job.wish, QuestionsRequest) else self.folder / job_id
        if with_run:
            remove_run(self.store, job_id, folder)
        drop_upload(self.cases, job, self.all())
        self.store.jobs.remove(job_id)
        discard_empty_run(folder)
        self._steps_copy(job_id).unlink(missing_ok=True)
        left = bulk_folder(self._desk) / job_id if isinstance(job.wish, BulkRequest) else folder
        return left if exists(left) else None

    def _remove_damaged(self, job_id: str, *, with_run: bool) -> Path | None:
        """Forget a job of which nobody knows what it made: without `with_run` its folder is not touched."""
        if not is_job_id(job_id):  # it names no folder of ours
            self.store.jobs.remove(job_id)
            return None
        row = self.store.jobs.get(job_id)
        if row is not None and row.state == "running":
            raise WrongJobState(
                f"The job {job_id!r} runs.", remedy=f"Cancel it first: kiwiresearch jobs cancel {job_id}"
            )
        if with_run:
            remove_run(self.store, job_id, self.folder / job_id)
            remove_run_files(self.assignment.answers / job_id)
            self._steps_copy(job_id).unlink(missing_ok=True)
        self.store.jobs.remove(job_id)
        left = (self.folder / job_id, bulk_folder(self._desk) / job_id)
        return next(filter(exists, left), None)

    def events_after(self, job_id: str, place: tuple[int, int] = NO_EVENTS_SEEN) -> JobUpdate:
        """What a job told after a place, as far as it is remembered."""
        held = self._worker.leased_job(job_id) if self._worker is not None and is_job_id(job_id) else None
        before = (held.job.attempt, 0) if held is not None else None
        told = [] if before is not None and place >= before else self._stored_events(job_id, place)
        if held is not None:
            told = [event for event in told if event.position < (held.job.attempt, 0)] + list(held.events_after(place))
        # Looked up last: of a job that has ended by now, all that it told is there.
        job = self.get(job_id)
        if held is not None and not job.is_open:
            return JobUpdate(job, tuple(self._stored_events(job_id, place)))
        return JobUpdate(job, tuple(told))

    def steps_file(self, job: Job) -> Path:
        """Where the steps of an unfinished run are read; of one that is worked on elsewhere, in a copy."""
        if not self.store.is_primary or self.pid(job.id) is not None:
            return steps_file(self.folder / job.id)
        copy = self._steps_copy(job.id)
        with contextlib.suppress(OSError, StoreError):
            write_pieces_atomically(copy, self.store.parts.read(job.id, STEPS))
        return copy

    def _steps_copy(self, job_id: str) -> Path:
        return store_folder(self.store, self._desk.folders.cache / "steps") / job_id

    def listening(self, listener: Callable[[], None]) -> AbstractContextManager[None]:
        """Have a function called, in any thread, whenever a job has told something or changed."""
        return self._listeners.listening(listener)

    def pid(self, job_id: str) -> int | None:
        """The process that works on a job, if one of ours does."""
        held = self._worker.leased_job(job_id) if self._worker is not None else None
        return held.pid if held is not None else None

    def close(self) -> None:
        """Stop all work of ours; what is not done is in line again, for the next server or another worker."""
        self._is_closed = True
        if self._worker is not None:
            self._worker.close()
        self.cases.close()
        self._listeners.notify()

    def _start_waiting(self) -> None:
        """Begin at once what can be; where the store is just away, the worker's next look does."""
        if self._worker is not None:
            with contextlib.suppress(StoreUnreachable):
                self._worker.lease_jobs()

    def _with_progress(self, job: Job) -> Job:
        """The job with what it has told us since it last told the store."""
        held = self._worker.leased_job(job.id) if self._worker is not None else None
        if held is None or held.job.attempt != job.attempt or not job.is_open:
            return job
        return replace(job, pages=held.job.pages)

    def _stored_events(self, job_id: str, place: tuple[int, int]) -> list[JobEvent]:
        return [JobEvent(*row) for row in self.store.jobs.events(job_id, place)] if is_job_id(job_id) else []

    def _refuse_when_full(self) -> None:
        if self._is_closed:
            raise Interrupted("The server is being stopped.", remedy="Ask again when it is back.")
        if self.is_full:
            raise TooManyRuns(
                f"{self._limits.queued} runs are waiting already.", remedy="Ask again when some have ended."
            )

    def _refuse_same_case(self, wish: JobRequest) -> None:
        """A case is worked on by one at a time."""
        if isinstance(wish, FamilyRequest):
            same = (job.wish for job in self.all() if job.is_open and isinstance(job.wish, FamilyRequest))
            self.cases.check_free(wish.case, is_ours=any(other.case == wish.case for other in same))
