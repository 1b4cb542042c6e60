"""Which jobs this host can do: whether it has the books, where the output goes, and what its process has to know."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.cases import CaseRegistry
from kiwiresearch.codec import JsonDict, plain
from kiwiresearch.errors import BookNotFound, StoreDamaged
from kiwiresearch.jobs.job import (
    BulkRequest,
    FamilyRequest,
    Job,
    JobRequest,
    QuestionsRequest,
    UnreadableRequest,
    job_from_row,
)
from kiwiresearch.jobs.process import JobSpec
from kiwiresearch.workspace import (
    LimitSettings,
    Workspace,
    books_matching,
    bulk_folder,
    runs_folder,
    store_folder,
    user_limits,
)
from kiwiresearch.zim import ListedBook, MissingBooks, missing_from_record, unknown_book

if TYPE_CHECKING:
    from kiwiresearch.store import JobRow, Store


def may_start_job(store: Store, settings: LimitSettings, user: str) -> bool:
    """Whether one more job of a user may run now; jobs without a user always may.

    A user whose limits cannot be read has to wait, so that nobody else does.
    """
    try:
        user_row = store.users.get(user) if user else None
    except StoreDamaged:
        return False
    max_running = user_limits(settings, user_row.role, user_row.limits).running if user_row is not None else 0
    return not max_running or store.jobs.counts(user).running < max_running


class JobBooks:
    """The books available on this shelf now, including those of other hosts, which come and go."""

    def __init__(
        self,
        here: Sequence[ListedBook] | Callable[[], Sequence[ListedBook]],
        missing: Callable[[], Sequence[MissingBooks]],
        *,
        is_partial_shelf: bool,
    ) -> None:
        self._here: Callable[[], Sequence[ListedBook]] = here if callable(here) else lambda: here
        self._missing = missing
        self._is_partial_shelf = is_partial_shelf

    def books_for(self, request: JobRequest) -> tuple[ListedBook, ...]:
        """The books of a request; names match only books on this shelf, never other files."""
        here, chosen = tuple(self._here()), list[ListedBook]()
        for name in request.books:
            found = books_matching(here, name, lambda book: book)
            if not found:
                raise unknown_book(name, here)
            chosen += found
        return tuple(dict.fromkeys(chosen)) or here

    def record(self, request: JobRequest, *, by_id: bool) -> JsonDict:
        """A request as it is stored; `by_id` adds the ids of its books, since another host may do it.

        They are also added if this process has only part of the shelf: other processes have other parts.
        """
        chosen = self.books_for(request)
        record: JsonDict = plain(request)
        if (by_id or self._is_partial_shelf) and not isinstance(request, FamilyRequest):  # a case stores its own books
            record |= {"on": [book.id for book in chosen], "all_books": self._searches_every_book(request)}
            if not request.books and (missing := self._missing()):
                record["missing"] = plain(missing)
        return record

    def local_books(self, record: Mapping[str, Any], request: JobRequest) -> tuple[ListedBook, ...] | None:
        """The books of a stored request; None if one of them is not here.

        Tables are made from a file, so a book of another host will not do for them.
        """
        is_bulk = isinstance(request, BulkRequest)
        # Reversed: of two books with the same id, the first on the shelf is used.
        here = {str(book.id): book for book in reversed(self._here()) if not (is_bulk and book.source.is_on_peer)}
        if isinstance(record.get("on"), list):
            ids = [str(book_id) for book_id in record["on"]]
            return tuple(here[book_id] for book_id in ids) if set(ids) <= set(here) else None
        is_whole_shelf = not request.books and not isinstance(request, FamilyRequest)
        if is_whole_shelf and self._is_partial_shelf:  # a process with only part of the shelf leaves it to others
            return None
        if not all(books_matching(here.values(), name, lambda book: book) for name in request.books):
            return None
        return self.books_for(request)

    def searches_all(self, record: Mapping[str, Any], request: JobRequest) -> bool:
        """Whether each book is searched in full."""
        return bool(record.get("all_books", self._searches_every_book(request)))

    def _searches_every_book(self, request: JobRequest) -> bool:
        return bool(request.books) or self._is_partial_shelf


@dataclass(frozen=True, slots=True)
class JobAssignment:
    """The jobs that this host can do, and what its processes need for them."""

    workspace: Workspace
    store: Store
    books: JobBooks
    cases: CaseRegistry

    def record(self, request: JobRequest) -> JsonDict:
        """A request as it is stored, with the books that a host must have to do it."""
        return self.books.record(request, by_id=self.store.is_shared_store) | self._case_books(request)

    def eligibility(self) -> Callable[[JobRow], bool]:
        """A predicate for jobs whose books are here and whose user may run one more; it looks up each user once."""
        has_room = functools.cache(lambda user: may_start_job(self.store, self.workspace.settings.limits, user))
        return lambda row: has_room(row.user) and self.has_books(row)

    def has_books(self, row: JobRow) -> bool:
        """Whether the books of a job are here; an unreadable job needs none, and fails."""
        request = job_from_row(row).request
        return isinstance(request, UnreadableRequest) or self.books.local_books(row.request, request) is not None

    def spec(self, row: JobRow, job: Job) -> JobSpec:
        """The job as its process receives it."""
        request = job.request
        if isinstance(request, UnreadableRequest) or (books := self.books.local_books(row.request, request)) is None:
            raise BookNotFound(
                "A book that this job needs is no longer in the library.",
                remedy="Add the book again, then resume the job.",
            )
        return JobSpec(
            self.workspace.folders,
            self.workspace.settings,
            books,
            self.books.searches_all(row.request, request),
            request,
            self.output_folder(request, job.id),
            job.id,
            row.holder,
            job.pages,
            missing=missing_from_record(row.request.get("missing", [])),
        )

    def has_folder(self, request: JobRequest, job_id: str) -> bool:
        """Whether something already exists where a job with this id would write."""
        is_taken = not isinstance(request, FamilyRequest) and path_exists(self.output_folder(request, job_id))
        return is_taken or path_exists(runs_folder(self.workspace) / job_id)

    @property
    def answers(self) -> Path:
        """Where answers are written before they are moved to the store."""
        return store_folder(self.store, self.workspace.folders.state / "answers")

    def output_folder(self, request: JobRequest | UnreadableRequest, job_id: str) -> Path:
        """Where a job writes."""
        match request:
            case FamilyRequest(case=case):
                return self.cases.folder(case)
            case BulkRequest():
                return bulk_folder(self.workspace) / job_id
            case QuestionsRequest() if self.store.is_shared_store:
                return self.answers / job_id
            case _:
                return runs_folder(self.workspace) / job_id

    def _case_books(self, request: JobRequest) -> dict[str, list[str]]:
        """The books that a host must have to continue a case: those it was started with, as far as they are here."""
        if not isinstance(request, FamilyRequest) or request.upload or not self.store.is_shared_store:
            return {}
        named, here = self.cases.books(request.case), {str(book.id) for book in self.books.books_for(request)}
        return {"on": [book_id for book_id in named if book_id in here] or list(named)} if named else {}


def path_exists(folder: Path) -> bool:
    """Whether anything has this name, even a broken link."""
    with contextlib.suppress(OSError):
        folder.lstat()
        return True
    return False
