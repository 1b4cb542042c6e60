"""Which jobs this host can do: whether it has the books, where the output goes, and the order for the process."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.cases.registry import CaseRegistry
from kiwiresearch.codec import plain
from kiwiresearch.errors import BookNotFound, StoreDamaged
from kiwiresearch.jobs.job import (
    BulkRequest,
    FamilyRequest,
    Job,
    JobRequest,
    QuestionsRequest,
    UnreadableRequest,
    job_from_row,
    request_record,
)
from kiwiresearch.jobs.process import JobOrder
from kiwiresearch.workspace.places import bulk_folder, runs_folder, store_folder
from kiwiresearch.workspace.policy import open_books_named
from kiwiresearch.workspace.setting_values import LimitSettings, user_limits
from kiwiresearch.workspace.workspace import Workspace
from kiwiresearch.zim.library import ListedBook, unknown_book
from kiwiresearch.zim.peer import MissingBooks, missing_from_record

if TYPE_CHECKING:
    from kiwiresearch.store.job_row import JobRow
    from kiwiresearch.store.store import Store


def may_start_job(store: Store, settings: LimitSettings, user: str) -> bool:
    """Whether one more run of a user may be worked on now; who is told apart by no name always may.

    Nobody else waits where the limits of one cannot be read.
    """
    try:
        known = store.people.get(user) if user else None
    except StoreDamaged:
        return False
    most = user_limits(settings, known.role, known.limits).running if known is not None else 0
    return not most or store.jobs.counts(user).running < most


class JobBooks:
    """The books that are here now, those of other hosts too: they come and go."""

    def __init__(
        self,
        here: Sequence[ListedBook] | Callable[[], Sequence[ListedBook]],
        missing: Callable[[], Sequence[MissingBooks]],
        *,
        all_books: bool,
    ) -> None:
        self._here: Callable[[], Sequence[ListedBook]] = here if callable(here) else lambda: here
        self._missing = missing
        self._all_books = all_books

    def books_for(self, wish: JobRequest) -> tuple[ListedBook, ...]:
        """The books of a wish; the names are those of books on this shelf, never of other files."""
        here, chosen = tuple(self._here()), list[ListedBook]()
        for name in wish.books:
            found = open_books_named(here, name, lambda book: book)
            if not found:
                raise unknown_book(name, here)
            chosen += found
        return tuple(dict.fromkeys(chosen)) or here

    def record(self, wish: JobRequest, *, by_id: bool) -> dict[str, Any]:
        """A wish as it is written down; `by_id` names the very books with it, as others may do it elsewhere.

        So does who has only some of the shelf: others of this machine have the others.
        """
        chosen, record = self.books_for(wish), request_record(wish)
        if (by_id or self._all_books) and not isinstance(wish, FamilyRequest):  # a case knows its books itself
            record |= {"on": [book.id for book in chosen], "all_books": self._are_all(wish)}
            if not wish.books and (missing := self._missing()):
                record["missing"] = plain(missing)
        return record

    def local_books(self, record: Mapping[str, Any], wish: JobRequest) -> tuple[ListedBook, ...] | None:
        """The books of a wish that was written down; None if one of them is not here.

        Tables are made of a file, so a book that another host has will not do for them.
        """
        is_bulk = isinstance(wish, BulkRequest)
        here = {str(book.id): book for book in reversed(self._here()) if not (is_bulk and book.source.is_on_peer)}
        if isinstance(record.get("on"), list):
            ids = [str(one) for one in record["on"]]
            return tuple(here[one] for one in ids) if set(ids) <= set(here) else None
        is_whole_shelf = not wish.books and not isinstance(wish, FamilyRequest)
        if is_whole_shelf and self._all_books:  # who has only some of it leaves that to others
            return None
        if not all(open_books_named(here.values(), name, lambda book: book) for name in wish.books):
            return None
        return self.books_for(wish)

    def searches_all(self, record: Mapping[str, Any], wish: JobRequest) -> bool:
        """Whether each of them is searched in full."""
        return bool(record.get("all_books", self._are_all(wish)))

    def _are_all(self, wish: JobRequest) -> bool:
        return bool(wish.books) or self._all_books


@dataclass(frozen=True, slots=True)
class JobAssignment:
    """The jobs that this host could do."""

    desk: Workspace
    store: Store
    books: JobBooks
    cases: CaseRegistry

    def record(self, wish: JobRequest) -> dict[str, Any]:
        """A wish as it is written down, with the books that a host must have to do it."""
        return self.books.record(wish, by_id=self.store.is_primary) | self._case_books(wish)

    def eligibility(self) -> Callable[[JobRow], bool]:
        """What says whether the books of a job are here, and its user has room for it; it asks once for each user.

        What is no job is taken, and fails.
        """
        has_room = functools.cache(lambda user: may_start_job(self.store, self.desk.settings.limits, user))

        def fits(row: JobRow) -> bool:
            if not has_room(row.user):
                return False
            wish = job_from_row(row).wish
            return isinstance(wish, UnreadableRequest) or self.books.local_books(row.wish, wish) is not None

        return fits

    def order(self, row: JobRow, job: Job) -> JobOrder:
        """What the process is told that does a job."""
        wish = job.wish
        if isinstance(wish, UnreadableRequest) or (books := self.books.local_books(row.wish, wish)) is None:
            raise BookNotFound("A book of this job is no longer here.", remedy="Put it on the shelf, then resume it.")
        return JobOrder(
            self.desk.folders,
            self.desk.settings,
            books,
            self.books.searches_all(row.wish, wish),
            wish,
            self.place(job),
            job.id,
            row.holder,
            job.pages,
            missing=missing_from_record(row.wish.get("missing", [])),
        )

    def has_folder(self, wish: JobRequest, job_id: str) -> bool:
        """Whether something is where a job of this id would put what it makes."""
        is_taken = not isinstance(wish, FamilyRequest) and exists(self._place(wish, job_id))
        return is_taken or exists(runs_folder(self.desk) / job_id)

    def place(self, job: Job) -> Path:
        """Where a job puts what it makes."""
        return self._place(job.wish, job.id)

    @property
    def answers(self) -> Path:
        """Where answers are made that a store keeps."""
        return store_folder(self.store, self.desk.folders.state / "answers")

    def _place(self, wish: JobRequest | UnreadableRequest, job_id: str) -> Path:
        match wish:
            case FamilyRequest(case=case):
                return self.cases.folder(case)
            case BulkRequest():
                return bulk_folder(self.desk) / job_id
            case QuestionsRequest() if self.store.is_primary:
                return self.answers / job_id
            case _:
                return runs_folder(self.desk) / job_id

    def _case_books(self, wish: JobRequest) -> dict[str, list[str]]:
        """Which books a host must have to go on with a case: those it was begun with, as far as they are here."""
        if not isinstance(wish, FamilyRequest) or wish.upload or not self.store.is_primary:
            return {}
        named, here = self.cases.books(wish.case), {str(book.id) for book in self.books.books_for(wish)}
        return {"on": [one for one in named if one in here] or list(named)} if named else {}


def exists(folder: Path) -> bool:
    """Whether anything goes by this name."""
    with contextlib.suppress(OSError):
        folder.lstat()
        return True
    return False
