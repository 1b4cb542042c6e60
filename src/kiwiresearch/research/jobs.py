"""Research as jobs: each in a process of its own, some at once, the others in line; nothing is lost on the way."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kiwiresearch.errors import CannotWrite, FolderTaken, Interrupted, KiwiError, RunError, TooManyRuns
from kiwiresearch.research.book_names import by_name
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.family_cases import Cases, cases_of
from kiwiresearch.research.job import NOTHING_SEEN, FamilyWish, Job, JobEvent, JobState, Wish, checked_wish
from kiwiresearch.research.job_files import Held, JobFiles, runs_folder
from kiwiresearch.research.job_order import Order
from kiwiresearch.research.job_process import ENDED, GO_ON, Ending, JobProcess
from kiwiresearch.research.job_told import Told
from kiwiresearch.zim.library import Placed, unknown_book

MAX_RUNNING = 2
MOST_QUEUED = 100
GRACE_S = 10.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is done at once."""

    running: int = MAX_RUNNING
    queued: int = MOST_QUEUED
    grace_s: float = GRACE_S
    """How long a step may still take when a run is to stop."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A job, and what it told after a place."""

    job: Job
    events: tuple[JobEvent, ...]


@dataclass(slots=True)
class _Open:
    """A job of ours that waits or is worked on."""

    held: Held
    job: Job
    process: JobProcess | None = None
    wanted: JobState | None = None
    """What it becomes when its process ends because we wanted it to."""


class Jobs:
    """The research jobs of one server; what is on the disk counts for those of others and of before.

    Books are named to a job as they are on this shelf. Times are passed in:
    `now` gives them as text, and they stand in the file of the job alone.
    """

    def __init__(
        self,
        desk: Desk,
        books: Sequence[Placed],
        *,
        now: Callable[[], str],
        all_books: bool = False,
        limits: Limits | None = None,
    ) -> None:
        self._desk = desk
        self._books = tuple(books)
        self._all_books = all_books
        self._now = now
        self._limits = limits or Limits()
        self._files = JobFiles(runs_folder(desk))
        self.cases: Cases = cases_of(desk)
        self._told = Told()
        self._changing = threading.RLock()
        self._open: dict[str, _Open] = {}
        self._threads: list[threading.Thread] = []
        self._is_closed = False
        self._turn = 0
        self._take_up_all()

    @property
    def folder(self) -> Path:
        """Where the runs are: each in a folder that its job's id names."""
        return self._files.folder

    @property
    def is_full(self) -> bool:
        """Whether so many wait that nobody else can."""
        with self._changing:
            return sum(one.job.state == "queued" for one in self._open.values()) >= self._limits.queued

    def all(self) -> list[Job]:
        """All jobs of the folder, the newest first."""
        found = {job.id: job for job in self._files.all()}
        with self._changing:
            found |= {job_id: one.job for job_id, one in self._open.items()}
        return sorted(found.values(), key=lambda job: (-job.turn, job.id))

    def get(self, job_id: str) -> Job:
        with self._changing:
            if job_id not in self._open:
                job = self._files.read(job_id)
                if not job.is_open or self._is_closed:
                    return job
                self._take_up(job_id)  # its server may be gone
                self._advance()
            return self._open[job_id].job if job_id in self._open else self._files.read(job_id)

    def start(self, wish: Wish) -> Job:
        """Put a new run, or a case, in line; it begins when its turn comes."""
        wish = checked_wish(wish, self._desk.settings)
        self._chosen(wish)
        with self._changing:
            self._refuse_when_full()
            self._refuse_second(wish)
            held = self._files.new(Job("", wish, turn=self._turn + 1, asked_at=self._now()))
            return self._line_up(held)

    def resume(self, job_id: str) -> Job:
        """Put a run that ended before it was done in line again: it goes on in the same folder."""
        with self._changing:
            job = self.get(job_id)
            if job.is_open:
                state = "runs already" if job.state == "running" else "is in line already"
                raise FolderTaken(f"The job {job_id!r} {state}.", remedy="Wait for it, or cancel it.")
            if not job.is_resumable:
                raise FolderTaken(f"The job {job_id!r} is done.", remedy="Its run can be read.")
            self._chosen(job.wish)
            self._refuse_when_full()
            self._refuse_second(job.wish)
            held = self._files.hold(job_id)
            again = replace(job, state="queued", turn=self._turn + 1, problem="", remedy="", ended_at="")
            return self._line_up(self._files.changed(held, again))

    def cancel(self, job_id: str) -> Job:
        """Stop a run, between two steps if it can be; what has ended stays as it is."""
        with self._changing:
            job = self._ours_or_ended(job_id)
            one = self._open.get(job_id)
            if one is None:
                return job
            if job.state == "queued":
                self._end(one, Ending("cancelled"))
            else:
                self._stop(one, "cancelled")
            return one.job

    def remove(self, job_id: str) -> None:
        """Forget a job that ended without a page: there is nothing of it but that it was asked for."""
        with self._changing:
            job = self.get(job_id)
            if job.is_open or job.pages or job.state == "done":
                raise FolderTaken(f"The job {job_id!r} has work to keep.", remedy="Remove its folder by hand.")
            held = self._files.hold(job_id)
            try:
                self._files.remove(job_id)
            finally:
                held.let_go()

    def since(self, job_id: str, place: tuple[int, int] = NOTHING_SEEN) -> Seen:
        """What a job told after a place, as far as it is remembered."""
        with self._changing:
            return Seen(self._ours_or_ended(job_id), self._told.after(job_id, place))

    def listening(self, listener: Callable[[], None]) -> AbstractContextManager[None]:
        """Have a function called, in any thread, whenever a job has told something or changed."""
        return self._told.listening(listener)

    def pid(self, job_id: str) -> int | None:
        """The process that works on a job, if one does."""
        with self._changing:
            one = self._open.get(job_id)
            return one.process.pid if one is not None and one.process is not None else None

    def close(self) -> None:
        """Stop all runs; those that ran are interrupted, and those in line stay there for the next server."""
        with self._changing:
            self._is_closed = True
            for one in list(self._open.values()):
                if one.job.state == "running":
                    self._stop(one, "interrupted")
                else:
                    del self._open[one.job.id]
                    one.held.let_go()
            threads = list(self._threads)
        for thread in threads:
            thread.join()
        self.cases.close()
        self._told.notify()

    def _take_up_all(self) -> None:
        """Find the jobs of before: what ran is interrupted, and what waited is in line again."""
        with self._changing:
            for job in sorted(self._files.all(), key=lambda job: (job.turn, job.id)):
                self._turn = max(self._turn, job.turn)
                if job.is_open:
                    self._take_up(job.id)
            self._advance()

    def _take_up(self, job_id: str) -> None:
        """Make a job ours whose server is gone; one that another server works on stays its own."""
        with contextlib.suppress(RunError):
            held = self._files.hold(job_id)
            if held.job.state == "queued":
                self._open[job_id] = _Open(held, held.job)
                return
            if held.job.state == "running":
                lost = replace(held.job, state="interrupted", problem=ENDED, remedy=GO_ON)
                held = self._files.changed(held, lost)
            held.let_go()

    def _ours_or_ended(self, job_id: str) -> Job:
        job = self.get(job_id)
        if job.is_open and job_id not in self._open:
            raise FolderTaken(f"Another server works on the job {job_id!r}.", remedy="Ask that one.")
        return job

    def _chosen(self, wish: Wish) -> tuple[Placed, ...]:
        """The books of a wish; the names are those of books on this shelf, never of other files."""
        chosen: list[Placed] = []
        for name in wish.books:
            found = by_name(self._books, name, lambda book: book)
            if not found:
                raise unknown_book(name, self._books)
            chosen += found
        return tuple(dict.fromkeys(chosen)) or self._books

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
            same = (one.job.wish for one in self._open.values() if isinstance(one.job.wish, FamilyWish))
            self.cases.check_free(wish.case, is_ours=any(other.case == wish.case for other in same))

    def _line_up(self, held: Held) -> Job:
        one = self._open[held.job.id] = _Open(held, held.job)
        self._turn = max(self._turn, one.job.turn)
        self._advance()
        return one.job

    def _advance(self) -> None:
        """Start those whose turn it is."""
        running = sum(one.job.state == "running" for one in self._open.values())
        for one in sorted(self._open.values(), key=lambda one: one.job.turn):
            if one.job.state == "queued" and running < self._limits.running and not self._is_closed:
                running += 1
                self._change(one, state="running", attempt=one.job.attempt + 1, started_at=self._now())
                self._told.begin(one.job.id)
                thread = threading.Thread(target=self._work, args=(one,), name=f"job {one.job.id}", daemon=True)
                self._threads = [*(old for old in self._threads if old.is_alive()), thread]
                thread.start()
        self._told.notify()

    def _work(self, one: _Open) -> None:
        """Follow one job to its end."""
        ending = Ending("failed", {"problem": "The server has a fault.", "remedy": GO_ON})
        try:
            ending = self._followed(one)
        except KiwiError as problem:
            ending = Ending("failed", {"problem": problem.message, "remedy": problem.remedy})
        except OSError as problem:
            words = f"The process of the run cannot be started: {problem.strerror}."
            ending = Ending("failed", {"problem": words, "remedy": GO_ON})
        finally:
            with self._changing:
                self._end(one, ending)
                self._advance()

    def _followed(self, one: _Open) -> Ending:
        with JobProcess(self._order(one.job)) as process:
            with self._changing:
                one.process = process
                if one.wanted is not None:
                    process.stop(self._limits.grace_s)
            for event in process.events():
                with self._changing:
                    self._told.add(one.job, event)
                    if "order" in event:
                        self._change(one, pages=event["order"])
                self._told.notify()
            return process.ending(one.wanted)

    def _order(self, job: Job) -> Order:
        books, all_books = self._chosen(job.wish), bool(job.wish.books) or self._all_books
        out = self.cases.folder(job.wish.case) if isinstance(job.wish, FamilyWish) else self.folder / job.id
        return Order(self._desk.folders, self._desk.settings, books, all_books, job.wish, out)

    def _end(self, one: _Open, ending: Ending) -> None:
        self._change(one, state=ending.state, ended_at=self._now(), **ending.told)
        del self._open[one.job.id]
        one.held.let_go()
        self._told.notify()

    def _stop(self, one: _Open, wanted: JobState) -> None:
        one.wanted = one.wanted or wanted
        if one.process is not None:
            one.process.stop(self._limits.grace_s)

    def _change(self, one: _Open, **changes: Any) -> None:
        one.job = replace(one.job, **changes)
        with contextlib.suppress(CannotWrite):  # a run that has no room on the disk says so itself
            self._files.write(one.job)
