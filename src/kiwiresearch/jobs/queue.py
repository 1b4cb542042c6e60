"""The queue of jobs in the store: requested here or elsewhere, done by any worker, visible everywhere."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kiwiresearch.cases import CaseRegistry, open_registry, stored_cases
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
from kiwiresearch.jobs.archive_and_trash import ArchiveAndTrash, RemovableWork
from kiwiresearch.jobs.assignment import JobAssignment, JobBooks, path_exists
from kiwiresearch.jobs.job import (
    JOB_KINDS,
    NO_EVENTS_SEEN,
    BulkRequest,
    FamilyRequest,
    Job,
    JobEvent,
    JobRequest,
    QuestionsRequest,
    ResearchRequest,
    UnreadableRequest,
    checked_request,
    job_from_row,
)
from kiwiresearch.jobs.worker import GRACE_S, MAX_RUNNING, Worker, WorkerContext
from kiwiresearch.jobs.worker_state import Listeners, WorkerLock
from kiwiresearch.runs import STEPS, Runs, StoredRuns, discard_empty_run, journal_file, remove_run, remove_run_files
from kiwiresearch.system import write_pieces_atomically
from kiwiresearch.workspace import (
    ANSWERS,
    Workspace,
    bulk_folder,
    is_job_id,
    job_name,
    runs_folder,
    store_folder,
    store_of,
)
from kiwiresearch.zim import ListedBook, MissingBooks


def drop_upload(cases: CaseRegistry, job: Job, others: Iterable[Job]) -> None:
    """Remove the family file uploaded for a job, unless another job still has to import it."""
    request = job.request
    if not isinstance(request, FamilyRequest) or not request.upload:
        return
    waiting = (item.request for item in others if item.id != job.id and item.state != "done")
    same = (request.case, request.upload)
    if not any(isinstance(item, FamilyRequest) and (item.case, item.upload) == same for item in waiting):
        with contextlib.suppress(NothingFound):  # the case is gone, and its files with it
            cases.location(request.case).drop_upload(request.upload)


MAX_QUEUED = 100
LIST_JOBS_HINT = "To list all jobs, use 'kiwiresearch jobs list' or 'GET /api/research'."


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """How many jobs run and wait at once."""

    running: int = MAX_RUNNING
    """With 0 this process runs no jobs, and leaves them to others."""
    queued: int = MAX_QUEUED
    grace_s: float = GRACE_S
    """How long a step may take once its job has to stop."""


@dataclass(frozen=True, slots=True)
class JobUpdate:
    """A job, and its events after a position."""

    job: Job
    events: tuple[JobEvent, ...]


def _case_of(job: Job) -> str:
    return job.request.case if isinstance(job.request, FamilyRequest) else ""


class JobQueue:
    """The jobs of a store, and a worker that runs some of them while this is open.

    A job names its books as they are on this shelf. `now` gives times as text, which are only stored in the job's
    row.
    """

    def __init__(
        self,
        workspace: Workspace,
        books: Sequence[ListedBook] | Callable[[], Sequence[ListedBook]],
        *,
        now: Callable[[], str],
        is_partial_shelf: bool = False,
        missing: Callable[[], Sequence[MissingBooks]] = tuple,
        limits: QueueLimits | None = None,
        kinds: Collection[str] = JOB_KINDS,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._workspace = workspace
        self._books = JobBooks(books, missing, is_partial_shelf=is_partial_shelf)
        self._now = now
        self._limits = limits or QueueLimits()
        self.folder: Path = runs_folder(workspace)
        """Where the runs are: each in a folder named by its job's id."""
        self.store = store_of(workspace)
        self.cases: CaseRegistry = open_registry(workspace)
        self.assignment = JobAssignment(workspace, self.store, self._books, self.cases)
        """Which jobs this host can do."""
        stored_runs = StoredRuns(self.store, self.folder) if self.store.is_shared_store else None
        self.runs = Runs(self.folder, stored_runs)
        """The finished runs, from all hosts."""
        work = RemovableWork(
            self.folder, self.runs, self.cases, self.get, self._has_open_job, self._purge_run, self._purge_family
        )
        stored_removals = self.store.removed if self.store.is_shared_store else None
        self.removed = ArchiveAndTrash(workspace.folders.state / "trash", work, now, stored_removals)
        """Runs and families that were archived or deleted."""
        self.listeners = Listeners()
        """Called, in any thread, whenever a job has reported an event or changed."""
        self._start_lock = threading.RLock()
        self._is_closed = False
        self._kinds = kinds
        self._worker = self._new_worker(say) if self._limits.running else None

    def _new_worker(self, say: Callable[[str], None] | None) -> Worker:
        context = WorkerContext(self.assignment.spec, self.assignment.eligibility, self._now, self._kinds, say)
        lock = WorkerLock(self._workspace.folders.state)
        limits = self._limits
        return Worker(self.store, context, lock, self.listeners, max_running=limits.running, grace_s=limits.grace_s)

    @property
    def is_full(self) -> bool:
        """Whether no more jobs can be queued."""
        return self.store.jobs.counts().queued >= self._limits.queued

    @property
    def max_pages(self) -> int:
        """How many pages a run takes if its request sets no number."""
        return self._workspace.settings.max_pages

    @property
    def is_idle(self) -> bool:
        """Whether no job is running here."""
        return self._worker is None or self._worker.is_idle

    def has_work(self) -> bool:
        """Whether a job is queued that could be done here."""
        fits = self.assignment.eligibility()
        waiting = (row for row in self.store.jobs.all(states=("queued",)) if not row.damage)
        return any(row.kind in self._kinds and fits(row) for row in waiting)

    def all(self) -> list[Job]:
        """All jobs, newest first, without deleted ones; one with a damaged row has failed."""
        deleted, families = self.removed.ids("run", "deleted"), self.removed.ids("family", "deleted")
        jobs = (job_from_row(row) for row in self.store.jobs.all() if row.id not in deleted)
        return [self._with_progress(job) for job in jobs if not (families and _case_of(job) in families)]

    def get(self, job_id: str) -> Job:
        if not is_job_id(job_id):  # only a damaged row has such an id
            job = next((job for job in self.all() if job.id == job_id), None)
        else:
            row = None if job_id in self.removed.ids("run", "deleted") else self.store.jobs.get(job_id)
            job = self._with_progress(job_from_row(row)) if row is not None else None
        if job is None:
            raise RunNotFound(f"No job has the ID {job_id[:200]!r}.", remedy=LIST_JOBS_HINT)
        return job

    def can_do(self, job_id: str) -> bool:
        """Whether the books of a job are here."""
        row = self.store.jobs.get(job_id)
        return row is not None and self.assignment.has_books(row)

    def answers(self, job_id: str) -> str:
        """The answers of a batch of questions that is done, as JSON lines."""
        job = self.get(job_id)
        if job.request.kind != "ask" or job.state != "done":
            raise RunNotFound(
                f"The job {job_id!r} has no answers.", remedy="Only a finished batch of questions has answers."
            )
        try:
            if self.store.is_shared_store:
                return self.store.run_files.read(job_id, ANSWERS).decode("utf-8")
            return (self.folder / job_id / ANSWERS).read_text(encoding="utf-8")
        except (OSError, ValueError) as problem:
            raise RunDamaged(
                f"Could not read the answers of the job {job_id!r}.", remedy="Ask the questions again."
            ) from problem

    def start(self, request: JobRequest, *, user: str = "", priority: int = 0, browser: str = "") -> Job:
        """Queue a new job; `browser` is a key for the browser that asks for it."""
        request = checked_request(request, self._workspace.settings)
        record = self.assignment.record(request) | ({"browser": browser} if browser else {})
        with self._start_lock:
            self._refuse_when_full()
            self._refuse_same_case(request)
            row = self.store.jobs.add(
                job_name(request.name),
                request.kind,
                record,
                user=user,
                priority=priority,
                asked_at=self._now(),
                is_taken=lambda job_id: self.assignment.has_folder(request, job_id),
            )
        self._start_waiting()
        return self.get(row.id)

    def resume(self, job_id: str, *, read_no_more: bool = False) -> Job:
        """Queue a job again that ended unfinished; it continues in the same folder.

        With `read_no_more`, research only writes its brief, from the pages that were read; then it is done for good.
        """
        with self._start_lock:
            job = self.get(job_id)
            if isinstance(job.request, UnreadableRequest):
                raise StoreDamaged(job.problem, remedy=job.remedy)
            if job.is_open:
                state = "is already running" if job.state == "running" else "is already queued"
                raise WrongJobState(f"The job {job_id!r} {state}.", remedy="Wait for it to end, or cancel it.")
            if not job.is_resumable:
                raise WrongJobState(f"The job {job_id!r} is already done.", remedy="Open its result instead.")
            is_research = isinstance(job.request, ResearchRequest)
            if read_no_more and not is_research:
                raise WrongJobState(f"The job {job_id!r} is not research, so it has no brief.", remedy="Resume it.")
            self._books.books_for(job.request)
            self._refuse_when_full()
            self._refuse_same_case(job.request)
            self.store.jobs.restart(job_id, {"read_no_more": read_no_more} if is_research else {})
        self._start_waiting()
        return self.get(job_id)

    def cancel(self, job_id: str) -> Job:
        """Cancel a job, between two steps if possible; an ended job is unchanged."""
        self.get(job_id)
        self.store.jobs.cancel(job_id)
        if self._worker is not None:
            self._worker.stop(job_id)
        self.listeners.notify()
        return self.get(job_id)

    def remove(self, job_id: str, *, with_run: bool = False) -> Path | None:
        """Remove an ended job without pages; with `with_run`, any ended job, together with its run on all hosts.

        Returns the folder that stays, if any: tables of a book, or one that contains other files.
        """
        job = self.get(job_id)
        if isinstance(job.request, UnreadableRequest):
            return self._remove_damaged(job_id, with_run=with_run)
        if job.is_open:
            raise WrongJobState(f"The job {job_id!r} is running or queued.", remedy="Cancel it first.")
        if not with_run and (job.pages or job.state == "done"):
            remedy = f"To delete the results too: kiwiresearch jobs remove {job_id} --yes"
            raise WrongJobState(f"The job {job_id!r} has results.", remedy=remedy)
        folder = (
            self.assignment.output_folder(job.request, job_id)
            if isinstance(job.request, QuestionsRequest)
            else self.folder / job_id
        )
        if with_run:
            remove_run(self.store, job_id, folder)
        drop_upload(self.cases, job, self.all())
        self.store.jobs.remove(job_id)
        discard_empty_run(folder)
        self._journal_copy(job_id).unlink(missing_ok=True)
        left = bulk_folder(self._workspace) / job_id if isinstance(job.request, BulkRequest) else folder
        return left if path_exists(left) else None

    def _has_open_job(self, case: str) -> bool:
        return any(job.is_open and _case_of(job) == case for job in self.all())

    def _purge_run(self, run_id: str) -> None:
        """Remove a run that is no longer in the trash, and its job if it has one."""
        try:
            self.remove(run_id, with_run=True)
        except RunNotFound:
            if self.store.is_shared_store:  # else its folder was in the trash, and another may have its name
                remove_run(self.store, run_id, self.folder / Path(run_id).name)

    def _purge_family(self, case: str) -> None:
        self.cases.close_cached(case)
        cases = stored_cases(self._workspace)
        if cases is not None:
            cases.remove(case)

    def _remove_damaged(self, job_id: str, *, with_run: bool) -> Path | None:
        """Remove a job whose request is unreadable; without `with_run` its folder is not touched."""
        if not is_job_id(job_id):  # it cannot be the name of one of our folders
            self.store.jobs.remove(job_id)
            return None
        row = self.store.jobs.get(job_id)
        if row is not None and row.state == "running":
            raise WrongJobState(
                f"The job {job_id!r} is running.", remedy=f"Cancel it first: kiwiresearch jobs cancel {job_id}"
            )
        if with_run:
            remove_run(self.store, job_id, self.folder / job_id)
            remove_run_files(self.assignment.answers / job_id)
            self._journal_copy(job_id).unlink(missing_ok=True)
        self.store.jobs.remove(job_id)
        left = (self.folder / job_id, bulk_folder(self._workspace) / job_id)
        return next(filter(path_exists, left), None)

    def events_after(self, job_id: str, position: tuple[int, int] = NO_EVENTS_SEEN) -> JobUpdate:
        """The events of a job after a position, as far as they are still stored."""
        leased = self._worker.leased_job(job_id) if self._worker is not None and is_job_id(job_id) else None
        # The events of the running attempt are in memory; those of earlier attempts are only in the store.
        before = (leased.job.attempt, 0) if leased is not None else None
        events = [] if before is not None and position >= before else self._stored_events(job_id, position)
        if leased is not None:
            events = [event for event in events if event.position < (leased.job.attempt, 0)] + list(
                leased.events_after(position)
            )
        # Looked up last: if the job has ended by now, the store has all its events.
        job = self.get(job_id)
        if leased is not None and not job.is_open:
            return JobUpdate(job, tuple(self._stored_events(job_id, position)))
        return JobUpdate(job, tuple(events))

    def journal_file(self, job: Job) -> Path:
        """The journal of an unfinished run; if another host works on it, a copy."""
        if not self.store.is_shared_store or self.pid(job.id) is not None:
            return journal_file(self.folder / job.id)
        copy = self._journal_copy(job.id)
        with contextlib.suppress(OSError, StoreError):
            write_pieces_atomically(copy, self.store.unfinished_files.read(job.id, STEPS))
        return copy

    def _journal_copy(self, job_id: str) -> Path:
        return store_folder(self.store, self._workspace.folders.cache / "steps") / job_id

    def pid(self, job_id: str) -> int | None:
        """The process id of a job that runs here."""
        leased = self._worker.leased_job(job_id) if self._worker is not None else None
        return leased.pid if leased is not None else None

    def close(self) -> None:
        """Stop all our jobs; the unfinished ones are queued again, for the next server or another worker."""
        self._is_closed = True
        if self._worker is not None:
            self._worker.close()
        self.cases.close()
        self.listeners.notify()

    def _start_waiting(self) -> None:
        """Start what can be started at once; if the store is unreachable, the worker does so on its next pass."""
        if self._worker is not None:
            with contextlib.suppress(StoreUnreachable):
                self._worker.lease_jobs()

    def _with_progress(self, job: Job) -> Job:
        """The job with the progress that is not stored yet."""
        leased = self._worker.leased_job(job.id) if self._worker is not None else None
        if leased is None or leased.job.attempt != job.attempt or not job.is_open:
            return job
        return replace(job, pages=leased.job.pages)

    def _stored_events(self, job_id: str, position: tuple[int, int]) -> list[JobEvent]:
        return [JobEvent(*row) for row in self.store.jobs.events(job_id, position)] if is_job_id(job_id) else []

    def _refuse_when_full(self) -> None:
        if self._is_closed:
            raise Interrupted("The server is shutting down.", remedy="Try again when it is back.")
        if self.is_full:
            raise TooManyRuns(
                f"{self._limits.queued} jobs are already waiting.", remedy="Try again when some of them have started."
            )

    def _refuse_same_case(self, request: JobRequest) -> None:
        """Refuse a second job on the same family case."""
        if isinstance(request, FamilyRequest):
            self.cases.require_free(request.case, has_open_job=self._has_open_job(request.case))
