"""What a host can do: whether the books of a job are here, where it puts what it makes, and the order for it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import BookNotFound
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.family_cases import Cases
from kiwiresearch.research.job import AskBatchWish, BulkWish, FamilyWish, Job, UnreadWish, Wish
from kiwiresearch.research.job_books import JobBooks
from kiwiresearch.research.job_order import Order
from kiwiresearch.research.job_places import bulk_folder, place_for, runs_folder
from kiwiresearch.research.job_rows import job_of
from kiwiresearch.research.people import may_begin
from kiwiresearch.zim.peer import missing_of

if TYPE_CHECKING:
    from kiwiresearch.store.jobs import JobRow
    from kiwiresearch.store.open import Store


@dataclass(frozen=True, slots=True)
class JobsHere:
    """The jobs that this host could do."""

    desk: Desk
    store: Store
    books: JobBooks
    cases: Cases

    def record(self, wish: Wish) -> dict[str, Any]:
        """A wish as it is written down, with the books that a host must have to do it."""
        return self.books.record(wish, by_id=self.store.keeps_all) | self._case_books(wish)

    def fitting(self) -> Callable[[JobRow], bool]:
        """What says whether the books of a job are here, and its user has room for it; it asks once for each user.

        What is no job is taken, and fails.
        """
        has_room = functools.cache(lambda user: may_begin(self.store, self.desk.settings.limits, user))

        def fits(row: JobRow) -> bool:
            if not has_room(row.user):
                return False
            wish = job_of(row).wish
            return isinstance(wish, UnreadWish) or self.books.of(row.wish, wish) is not None

        return fits

    def order(self, row: JobRow, job: Job) -> Order:
        """What the process is told that does a job."""
        wish = job.wish
        if isinstance(wish, UnreadWish) or (books := self.books.of(row.wish, wish)) is None:
            raise BookNotFound("A book of this job is no longer here.", remedy="Put it on the shelf, then resume it.")
        return Order(
            self.desk.folders,
            self.desk.settings,
            books,
            self.books.are_all(row.wish, wish),
            wish,
            self.place(job),
            job.id,
            row.holder,
            job.pages,
            missing=missing_of(row.wish.get("missing", [])),
        )

    def has_folder(self, wish: Wish, job_id: str) -> bool:
        """Whether something is where a job of this id would put what it makes."""
        is_taken = not isinstance(wish, FamilyWish) and is_there(self._place(wish, job_id))
        return is_taken or is_there(runs_folder(self.desk) / job_id)

    def place(self, job: Job) -> Path:
        """Where a job puts what it makes."""
        return self._place(job.wish, job.id)

    @property
    def answers(self) -> Path:
        """Where answers are made that a store keeps."""
        return place_for(self.store, self.desk.folders.state / "answers")

    def _place(self, wish: Wish | UnreadWish, job_id: str) -> Path:
        match wish:
            case FamilyWish(case=case):
                return self.cases.folder(case)
            case BulkWish():
                return bulk_folder(self.desk) / job_id
            case AskBatchWish() if self.store.keeps_all:
                return self.answers / job_id
            case _:
                return runs_folder(self.desk) / job_id

    def _case_books(self, wish: Wish) -> dict[str, list[str]]:
        """Which books a host must have to go on with a case: those it was begun with, as far as they are here."""
        if not isinstance(wish, FamilyWish) or wish.upload or not self.store.keeps_all:
            return {}
        named, here = self.cases.books(wish.case), {str(book.id) for book in self.books.chosen(wish)}
        return {"on": [one for one in named if one in here] or list(named)} if named else {}


def is_there(folder: Path) -> bool:
    """Whether anything goes by this name."""
    with contextlib.suppress(OSError):
        folder.lstat()
        return True
    return False
