"""Jobs as rows of the store: asked for here or elsewhere, done by whoever has room, seen from everywhere."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from kiwiresearch.disk import write_pieces
from kiwiresearch.errors import (
    FolderTaken,
    Interrupted,
    RunDamaged,
    RunNotFound,
    StoreDamaged,
    StoreError,
    StoreUnreachable,
    TooManyRuns,
)
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.family_cases import Cases, cases_of
from kiwiresearch.research.finished import FinishedRuns
from kiwiresearch.research.job import (
    KINDS,
    NOTHING_SEEN,
    AskBatchWish,
    BulkWish,
    FamilyWish,
    Job,
    JobEvent,
    UnreadWish,
    Wish,
    checked_wish,
)
from kiwiresearch.research.job_books import JobBooks
from kiwiresearch.research.job_files import take_over
from kiwiresearch.research.job_here import JobsHere, is_there
from kiwiresearch.research.job_pages import steps_file
from kiwiresearch.research.job_places import ANSWERS, LISTED, bulk_folder, is_id, name_for, place_for, runs_folder
from kiwiresearch.research.job_removal import drop_upload, remove_copy, remove_run
from kiwiresearch.research.job_rows import job_of
from kiwiresearch.research.job_told import Listeners
from kiwiresearch.research.runs_kept import KeptRuns
from kiwiresearch.research.stores import store_of
from kiwiresearch.research.work import STEPS, discard
from kiwiresearch.research.worker import GRACE_S, MAX_RUNNING, Work, Worker
from kiwiresearch.research.worker_life import WorkerLife
from kiwiresearch.zim.library import Placed
from kiwiresearch.zim.peer import Missing

MOST_QUEUED = 100


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is done at once."""

    running: int = MAX_RUNNING
    """0 works on nothing, and leaves it to others."""
    queued: int = MOST_QUEUED
    grace_s: float = GRACE_S
    """How long a step may still take when a run is to stop."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A job, and what it told after a place."""

    job: Job
    events: tuple[JobEvent, ...]


class Jobs:
    """The jobs of a store, and a worker that does some of them as long as this is open.

    Books are named to a job as they are on this shelf. Times are passed in:
    `now` gives them as text, and they stand in the row of the job alone.
    """

    def __init__(
        self,
        desk: Desk,
        books: Sequence[Placed] | Callable[[], Sequence[Placed]],
        *,
        now: Callable[[], str],
        all_books: bool = False,
        missing: Callable[[], Sequence[Missing]] = tuple,
        limits: Limits | None = None,
        kinds: Collection[str] = KINDS,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._desk = desk
        self._books = JobBooks(books, missing, all_books=all_books)
        self._now = now
        self._limits = limits or Limits()
        self.folder: Path = runs_folder(desk)
        """Where the runs are: each in a folder that its job's id names."""
        self.store = store_of(desk)
        self.cases: Cases = cases_of(desk)
        self.here = JobsHere(desk, self.store, self._books, self.cases)
        """What this host could do."""
        kept = KeptRuns(self.store, self.folder) if self.store.keeps_all else None
        self.runs = FinishedRuns(self.folder, kept)
        """The runs that are finished, whoever made them."""
        self._listeners = Listeners()
        self._starting = threading.RLock()
        self._is_closed = False
        if not self.store.keeps_all:  # their steps are in folders of this host, where such a store would not look
            take_over(self.folder, self.store)
        self._kinds = kinds
        self._worker = self._new_worker(say) if self._limits.running else None

    def _new_worker(self, say: Callable[[str], None] | None) -> Worker:
        work = Work(self.here.order, self.here.fitting, self._now, self._kinds, say)
        life = WorkerLife(self._desk.folders.state)
        limits = self._limits
        return Worker(self.store, work, life, self._listeners, at_once=limits.running, grace_s=limits.grace_s)

    @property
    def is_full(self) -> bool:
        """Whether so many wait that nobody else can."""
        return self.store.jobs.counts()[0] >= self._limits.queued

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
        fits = self.here.fitting()
        waiting = (row for row in self.store.jobs.all(states=("queued",)) if not row.damage)
        return any(row.kind in self._kinds and fits(row) for row in waiting)

    def all(self) -> list[Job]:
        """All jobs, the newest first; one whose row is damaged has failed."""
        return [self._as_known(job_of(row)) for row in self.store.jobs.all()]

    def get(self, job_id: str) -> Job:
        if not is_id(job_id):  # only a damaged row has such an id
            job = next((job for job in self.all() if job.id == job_id), None)
        else:
            row = self.store.jobs.get(job_id)
            job = self._as_known(job_of(row)) if row is not None else None
        if job is None:
            raise RunNotFound(f"There is no job {job_id[:200]!r}.", remedy=LISTED)
        return job

    def can_do(self, job_id: str) -> bool:
        """Whether the books of a job are here."""
        row = self.store.jobs.get(job_id)
        if row is None:
            return False
        wish = job_of(row).wish
        return isinstance(wish, UnreadWish) or self.here.books.of(row.wish, wish) is not None

    def answers(self, job_id: str) -> str:
        """The lines of a batch of questions that is done."""
        job = self.get(job_id)
        if job.wish.kind != "ask" or job.state != "done":
            raise RunNotFound(f"The job {job_id!r} has no answers.", remedy="Wait until a batch of questions is done.")
        try:
            if self.store.keeps_all:
                return self.store.files.read(job_id, ANSWERS).decode("utf-8")
            return (self.folder / job_id / ANSWERS).read_text(encoding="utf-8")
        except (OSError, ValueError) as problem:
            raise RunDamaged(f"The answers of {job_id!r} cannot be read.", remedy="Ask them again.") from problem

    def start(self, wish: Wish, *, user: str = "", priority: int = 0) -> Job:
        """Put a new job in line; it begins when its turn comes."""
        wish = checked_wish(wish, self._desk.settings)
        record = self.here.record(wish)
        with self._starting:
            self._refuse_when_full()
            self._refuse_second(wish)
            row = self.store.jobs.add(
                name_for(wish.name),
                wish.kind,
                record,
                user=user,
                priority=priority,
                asked_at=self._now(),
                is_taken=lambda job_id: self.here.has_folder(wish, job_id),
            )
        self._advance()
        return self.get(row.id)

    def resume(self, job_id: str) -> Job:
        """Put a job that ended before it was done in line again: it goes on in the same folder."""
        with self._starting:
            job = self.get(job_id)
            if isinstance(job.wish, UnreadWish):
                raise StoreDamaged(job.problem, remedy=job.remedy)
            if job.is_open:
                state = "runs already" if job.state == "running" else "is in line already"
                raise FolderTaken(f"The job {job_id!r} {state}.", remedy="Wait for it, or cancel it.")
            if not job.is_resumable:
                raise FolderTaken(f"The job {job_id!r} is done.", remedy="Its run can be read.")
            self._books.chosen(job.wish)
            self._refuse_when_full()
            self._refuse_second(job.wish)
            self.store.jobs.again(job_id)
        self._advance()
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
        if isinstance(job.wish, UnreadWish):
            return self._remove_damaged(job_id, with_run=with_run)
        if job.is_open:
            raise FolderTaken(f"The job {job_id!r} runs, or is in line.", remedy="Cancel it first.")
        if not with_run and (job.pages or job.state == "done"):
            remedy = f"To remove that as well: kiwiresearch jobs remove {job_id} --yes"
            raise FolderTaken(f"The job {job_id!r} has work to keep.", remedy=remedy)
        folder = self.here.place(job) if isinstance(job.wish, AskBatchWish) else self.folder / job_id
        if with_run:
            remove_run(self.store, job_id, folder)
        drop_upload(self.cases, job, self.all())
        self.store.jobs.remove(job_id)
        discard(folder)
        self._steps_copy(job_id).unlink(missing_ok=True)
        left = bulk_folder(self._desk) / job_id if isinstance(job.wish, BulkWish) else folder
        return left if is_there(left) else None

    def _remove_damaged(self, job_id: str, *, with_run: bool) -> Path | None:
        """Forget a job of which nobody knows what it made: without `with_run` its folder is not touched."""
        if not is_id(job_id):  # it names no folder of ours
            self.store.jobs.remove(job_id)
            return None
        row = self.store.jobs.get(job_id)
        if row is not None and row.state == "running":
            raise FolderTaken(f"The job {job_id!r} runs.", remedy=f"Cancel it first: kiwiresearch jobs cancel {job_id}")
        if with_run:
            remove_run(self.store, job_id, self.folder / job_id)
            remove_copy(self.here.answers / job_id)
            self._steps_copy(job_id).unlink(missing_ok=True)
        self.store.jobs.remove(job_id)
        left = (self.folder / job_id, bulk_folder(self._desk) / job_id)
        return next(filter(is_there, left), None)

    def since(self, job_id: str, place: tuple[int, int] = NOTHING_SEEN) -> Seen:
        """What a job told after a place, as far as it is remembered."""
        held = self._worker.held(job_id) if self._worker is not None and is_id(job_id) else None
        before = (held.job.attempt, 0) if held is not None else None
        told = [] if before is not None and place >= before else self._told(job_id, place)
        if held is not None:
            told = [event for event in told if event.place < (held.job.attempt, 0)] + list(held.after(place))
        # Looked up last: of a job that has ended by now, all that it told is there.
        job = self.get(job_id)
        if held is not None and not job.is_open:
            return Seen(job, tuple(self._told(job_id, place)))
        return Seen(job, tuple(told))

    def steps_file(self, job: Job) -> Path:
        """Where the steps of an unfinished run are read; of one that is worked on elsewhere, in a copy."""
        if not self.store.keeps_all or self.pid(job.id) is not None:
            return steps_file(self.folder / job.id)
        copy = self._steps_copy(job.id)
        with contextlib.suppress(OSError, StoreError):
            write_pieces(copy, self.store.parts.read(job.id, STEPS))
        return copy

    def _steps_copy(self, job_id: str) -> Path:
        return place_for(self.store, self._desk.folders.cache / "steps") / job_id

    def listening(self, listener: Callable[[], None]) -> AbstractContextManager[None]:
        """Have a function called, in any thread, whenever a job has told something or changed."""
        return self._listeners.listening(listener)

    def pid(self, job_id: str) -> int | None:
        """The process that works on a job, if one of ours does."""
        held = self._worker.held(job_id) if self._worker is not None else None
        return held.pid if held is not None else None

    def close(self) -> None:
        """Stop all work of ours; what is not done is in line again, for the next server or another worker."""
        self._is_closed = True
        if self._worker is not None:
            self._worker.close()
        self.cases.close()
        self._listeners.notify()

    def _advance(self) -> None:
        """Begin at once what can be; where the store is just away, the worker's next look does."""
        if self._worker is not None:
            with contextlib.suppress(StoreUnreachable):
                self._worker.advance()

    def _as_known(self, job: Job) -> Job:
        """The job with what it has told us since it last told the store."""
        held = self._worker.held(job.id) if self._worker is not None else None
        if held is None or held.job.attempt != job.attempt or not job.is_open:
            return job
        return replace(job, pages=held.job.pages)

    def _told(self, job_id: str, place: tuple[int, int]) -> list[JobEvent]:
        return [JobEvent(*row) for row in self.store.jobs.events(job_id, place)] if is_id(job_id) else []

    def _refuse_when_full(self) -> None:
        if self._is_closed:
            raise Interrupted("The server is being stopped.", remedy="Ask again when it is back.")
        if self.is_full:
            raise TooManyRuns(
                f"{self._limits.queued} runs are waiting already.", remedy="Ask again when some have ended."
            )

    def _refuse_second(self, wish: Wish) -> None:
        """A case is worked on by one at a time."""
        if isinstance(wish, FamilyWish):
            same = (job.wish for job in self.all() if job.is_open and isinstance(job.wish, FamilyWish))
            self.cases.check_free(wish.case, is_ours=any(other.case == wish.case for other in same))
