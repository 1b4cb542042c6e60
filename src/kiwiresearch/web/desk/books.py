"""The page of the library: all books for readers, and for the owner the forms that add, remove and look after them.

One class has all its handlers, since each ends by showing the same page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kiwiresearch.errors import BadUsage, BookNotAdded, BookNotFound, KiwiError, UploadFault
from kiwiresearch.ids import BookId
from kiwiresearch.jobs import JobQueue
from kiwiresearch.search import OpenBook
from kiwiresearch.version import __version__
from kiwiresearch.web.addresses import page_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.form_file import uploaded_file
from kiwiresearch.web.desk.pages import PageRenderer, redirect
from kiwiresearch.web.family_files import PART_TIMEOUT_S, drain_body, next_part
from kiwiresearch.web.guard import OwnerAccess, RoleRouter, requires_role
from kiwiresearch.web.problems import Problem, Refused, problem_of
from kiwiresearch.workspace import (
    AtlasEstimate,
    BookState,
    BookStatus,
    BookTask,
    Upload,
    book_key,
    book_statuses,
    estimate,
    hidden_books,
)
from kiwiresearch.zim import Book, EntryRef, ListedBook, is_address

BUFFER_BYTES = 4 * 2**20
"""How much of an upload is written to the disk at a time."""
DOWNLOAD_AGAIN = "Download the file again."

BookKey = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]
BookUuid = Annotated[str, Path(max_length=100)]
PagePath = Annotated[str, Path(max_length=4000)]
TypedPath = Annotated[str, Form(max_length=4000)]
FileName = Annotated[str, Form(max_length=300)]
Count = Annotated[int, Query(ge=0, le=10**6)]
Key = Annotated[str, Query(max_length=16)]


@dataclass(frozen=True, slots=True)
class LibraryBook:
    """A book as the page of the library shows it; one that cannot be opened has only a name and a problem."""

    key: str
    listed: ListedBook
    book: Book | None = None
    check: BookState | Literal[""] = ""
    problem: Problem | None = None
    host: str = ""
    titles: int = 0
    """How many of its titles are indexed."""
    all_titles: bool = False
    is_own: bool = False
    """Whether it is in the list of this server's owner, and not on another host or the sample."""
    is_uploaded: bool = False
    is_hidden: bool = False
    """Whether the policy hides it from everybody."""
    tasks: tuple[BookTask, ...] = ()
    atlas: str = ""
    """The address of its atlas; empty if it has none."""
    is_atlas_made: bool = False
    """Whether its atlas was created here, so that it can be deleted here."""
    is_atlas_old: bool = False
    """Whether an earlier version of the program created it."""

    @property
    def atlas_task(self) -> BookTask | None:
        return next((task for task in self.tasks if task.kind == "atlas"), None)

    @property
    def estimate(self) -> AtlasEstimate:
        """What its atlas will take."""
        return estimate(self.book.articles if self.book else 0)

    @property
    def title(self) -> str:
        return (self.book.title if self.book else "") or self.listed.title or self.listed.name

    @property
    def language(self) -> str:
        return (self.book.language if self.book else "") or "eng"

    @property
    def address(self) -> str:
        """The address of its main page; empty if it has none."""
        is_there = self.book is not None and bool(self.book.main_page) and not self.is_hidden
        return page_address(EntryRef(self.book.id, self.book.main_page)) if is_there and self.book else ""

    @property
    def is_file(self) -> bool:
        """Whether its file is on this machine, so that it can be checked and indexed here."""
        return self.listed.source.is_local


def router(context: ServerContext, _jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The list, the covers, and the owner's forms."""
    routes = RoleRouter("reader", include_in_schema=False)
    shown = BookPages(context, pages)
    routes.get("/books")(shown.all)
    routes.get("/books/{book_id}/cover")(shown.cover)
    routes.get("/picture/{book_id}/{path:path}")(shown.picture)
    routes.post("/books/add")(shown.add)
    routes.post("/books/upload")(shown.upload)
    routes.post("/books/restore")(shown.restore)
    routes.post("/books/file/add")(shown.add_file)
    routes.post("/books/file/delete")(shown.delete_file)
    routes.post("/books/{key}/remove")(shown.remove)
    routes.post("/books/{key}/index")(shown.index)
    routes.post("/books/{key}/check")(shown.check)
    routes.post("/books/{key}/atlas")(shown.make_atlas)
    routes.post("/books/{key}/atlas/stop")(shown.stop_atlas)
    routes.post("/books/{key}/atlas/delete")(shown.delete_atlas)
    return routes


def _after_adding(books: Sequence[ListedBook]) -> Response:
    """The list of books, which names the one that was added."""
    only_book = {"book": book_key(books[0])} if len(books) == 1 else {}
    return redirect(f"/books?{urlencode({'added': len(books)} | only_book)}")


class BookPages:
    """The page and the actions of its forms; all but the list are for the owner."""

    def __init__(self, context: ServerContext, pages: PageRenderer) -> None:
        self._context = context
        self._pages = pages
        self._library = context.library
        self._tasks = context.book_tasks
        self._covers = pages.covers
        self._access = OwnerAccess(context.workspace.settings.serve)

    def all(
        self,
        request: Request,
        added: Count = 0,
        book: Key = "",
        restored: Key = "",
        removed: Key = "",
        deleted: Count = 0,
    ) -> Response:
        """All books, and what was just done; `book` is the one that was added."""
        return self._show(
            request, added=added, added_key=book, restored=restored, removed=removed, is_deleted=bool(deleted)
        )

    def cover(self, book_id: BookUuid) -> Response:
        """The cover of a book."""
        listed = next((book for book in self._context.shelf.books if book.id == book_id), None)
        found = self._covers.of(listed) if listed else None
        if found is None:
            raise BookNotFound("This book has no cover.")
        return found.response()

    def picture(self, book_id: BookUuid, path: PagePath) -> Response:
        """The lead picture of a page."""
        return self._pages.pictures.response(EntryRef(BookId(book_id), path))

    @requires_role("owner", "manage")
    def add(self, request: Request, what: TypedPath = "") -> Response:
        """Add books by path or address; if some cannot be added, the page says why."""
        self._access.require_server_owner(request)
        try:
            result = self._library.add(what)
        except (KiwiError, OSError) as error:
            return self._show(request, typed=what, problems=(_problem(error),))
        self._context.reload_books()
        if _is_missing(what.strip(), result.problems):
            return self._show(request, typed=what, fault="no_path")
        if result.problems or not result.added:
            problems = tuple(map(problem_of, result.problems))
            added, known = len(result.added), result.already_listed
            return self._show(request, typed=what, problems=problems, added=added, known=known)
        return _after_adding(result.added)

    @requires_role("owner", "manage")
    async def upload(self, request: Request) -> Response:
        """Receive a book; a file that is not one is deleted, and the page says why."""
        stream = request.stream()
        try:
            self._access.require_server_owner(request)
            book = await self._receive(request, stream)
        except BookNotAdded as fault:
            await drain_body(stream)
            return await run_in_threadpool(self._show, request, fault=fault.reason, named=fault.values)
        except (Refused, KiwiError):
            await drain_body(stream)
            raise
        return _after_adding([book])

    async def _receive(self, request: Request, stream: Any) -> ListedBook:
        try:
            file = await uploaded_file(request, stream, empty_remedy=DOWNLOAD_AGAIN)
        except BadUsage as problem:
            raise BookNotAdded(problem.message, reason="no_file", remedy=problem.remedy) from problem
        length = request.headers.get("content-length", "")
        announced = int(length) if length.isascii() and length.isdigit() and len(length) < 20 else 0
        with self._library.upload(announced) as upload:
            await _write_parts(file.parts, upload)
            book = await run_in_threadpool(upload.finish, file.name)
        await run_in_threadpool(self._context.reload_books)
        return book

    @requires_role("owner", "manage")
    def remove(self, request: Request, key: BookKey) -> Response:
        """Remove a book from the library; the next page offers to put it back."""
        self._access.require_server_owner(request)
        book = self._library.remove(key)
        self._tasks.stop(book)
        self._context.reload_books()
        return redirect(f"/books?removed={key}")

    @requires_role("owner", "manage")
    def restore(self, request: Request, key: Annotated[str, Form(max_length=16)] = "") -> Response:
        """Put a removed book back."""
        self._access.require_server_owner(request)
        self._library.restore(key)
        self._context.reload_books()
        return redirect(f"/books?{urlencode({'restored': key}, errors='replace')}")

    @requires_role("owner", "manage")
    def add_file(self, request: Request, name: FileName = "") -> Response:
        """Put an uploaded file that was removed back into the library."""
        self._access.require_server_owner(request)
        result = self._library.add_file(name)
        self._context.reload_books()
        if result.problems:
            return self._show(request, problems=tuple(map(problem_of, result.problems)))
        return _after_adding(result.added)

    @requires_role("owner", "manage")
    def delete_file(self, request: Request, name: FileName = "") -> Response:
        """Delete an uploaded file that is not in the library."""
        self._access.require_server_owner(request)
        self._library.delete_file(name)
        return redirect("/books?deleted=1")

    @requires_role("owner", "manage")
    def index(self, request: Request, key: BookKey) -> Response:
        """Start the title index of a book."""
        self._access.require_server_owner(request)
        self._tasks.start("index", self._library.get(key))
        return redirect(f"/books#book-{key}")

    @requires_role("owner", "manage")
    def check(self, request: Request, key: BookKey) -> Response:
        """Start to compare a book with its checksum."""
        self._access.require_server_owner(request)
        self._tasks.start("check", self._library.get(key))
        return redirect(f"/books#book-{key}")

    @requires_role("owner", "manage")
    def make_atlas(self, request: Request, key: BookKey) -> Response:
        """Start the atlas of a book, or resume it."""
        self._access.require_server_owner(request)
        self._tasks.start("atlas", self._shelf_book(key))
        return redirect(f"/books#book-{key}")

    @requires_role("owner", "manage")
    def stop_atlas(self, request: Request, key: BookKey) -> Response:
        """Stop the atlas of a book; it can be resumed."""
        self._access.require_server_owner(request)
        self._tasks.stop(self._shelf_book(key))
        return redirect(f"/books#book-{key}")

    @requires_role("owner", "manage")
    def delete_atlas(self, request: Request, key: BookKey) -> Response:
        """Delete the atlas of a book that was created here."""
        self._access.require_server_owner(request)
        self._tasks.forget(self._shelf_book(key))
        return redirect(f"/books#book-{key}")

    def _shelf_book(self, key: str) -> ListedBook:
        """A book of this server, which may also be the sample or one that was named at the start."""
        found = next((book for book in self._context.shelf.books if book_key(book) == key), None)
        return found or self._library.get(key)

    def _show(
        self,
        request: Request,
        *,
        typed: str = "",
        problems: tuple[Problem, ...] = (),
        fault: UploadFault | Literal["no_path", ""] = "",
        named: Mapping[str, object] = MappingProxyType({}),
        added: int = 0,
        added_key: str = "",
        restored: str = "",
        known: int = 0,
        removed: str = "",
        is_deleted: bool = False,
    ) -> Response:
        is_owner = self._access.may_manage(request)
        books = self._books(is_owner=is_owner)
        values: dict[str, Any] = {
            "books": books,
            "is_owner": is_owner,
            "is_sample": self._context.shelf.is_sample,
            "is_chosen": not self._context.shelf.follows_library,
            "missing": self._context.shelf.missing,
            "is_busy": any(task.is_open for book in books for task in book.tasks),
            "typed": typed,
            "problems": problems,
            "fault": fault,
            "named": named,
            "added": added,
            "added_book": next((book for book in books if book.key == added_key), None) if added == 1 else None,
            "restored": next((book for book in books if book.key == restored), None),
            "known": known,
            "is_deleted": is_deleted,
            "removed": self._library.removed_book(removed) if is_owner and removed else None,
            "removed_key": removed,
            "unlisted": self._library.unlisted_files() if is_owner else (),
            "room": self._library.max_upload_bytes() if is_owner else 0,
        }
        removed_book = values["removed"]
        values["removed_file"] = (
            removed_book.source.path.name if removed_book and self._library.is_uploaded(removed_book) else ""
        )
        status = 400 if fault or (problems and not added) else 200
        return self._pages.show(request, "books.html", status=status, **values)

    def _books(self, *, is_owner: bool) -> tuple[LibraryBook, ...]:
        """The books of this server; for the owner also those of the library that the policy hides."""
        with self._context.locked_finder() as finder:
            statuses = book_statuses(self._context.workspace, self._context.shelf)
            try:
                opened: Mapping[str, OpenBook] = {book.id: book for book in finder.books}
            except KiwiError:  # one book that cannot be opened must not hide the others
                opened = {}
        listed = self._library.books()
        found = [
            self._book(status, opened.get(status.listed.id), is_own=status.listed in listed) for status in statuses
        ]
        if is_owner:
            hidden = hidden_books(listed, self._context.workspace.settings.policy)
            found += [
                LibraryBook(book_key(listed_book), listed_book, is_own=True, is_hidden=True) for listed_book in hidden
            ]
        return tuple(found)

    def _book(self, row: BookStatus, opened: OpenBook | None, *, is_own: bool) -> LibraryBook:
        titles = opened.titles if opened else None
        key = book_key(row.listed)
        atlas = self._context.atlases.find(row.listed.id)
        is_made = atlas is not None and atlas.bulk.folder in self._tasks.folders.finished()
        return LibraryBook(
            key,
            row.listed,
            row.book,
            row.check,
            problem_of(row.problem) if row.problem else None,
            row.host,
            titles.rows if titles else 0,
            all_titles=bool(titles and titles.complete),
            is_own=is_own,
            is_uploaded=is_own and self._library.is_uploaded(row.listed),
            tasks=self._tasks.of(row.listed),
            atlas=f"/atlas/{row.listed.id}" if atlas else "",
            is_atlas_made=is_made,
            is_atlas_old=atlas is not None and is_made and atlas.bulk.manifest.version != __version__,
        )


async def _write_parts(parts: Any, upload: Upload) -> None:
    """Write a file to the disk as it arrives; one that stops arriving is given up."""
    waiting: list[bytes] = []
    size = 0
    try:
        while (data := await next_part(parts, PART_TIMEOUT_S)) is not None:
            waiting.append(data)
            size += len(data)
            if size >= BUFFER_BYTES or upload.is_empty:
                await run_in_threadpool(upload.write, b"".join(waiting))
                waiting, size = [], 0
    except TimeoutError as problem:
        raise BookNotAdded("The upload stopped.", reason="stopped", remedy="Send the file again.") from problem
    if waiting:
        await run_in_threadpool(upload.write, b"".join(waiting))


def _is_missing(what: str, problems: Sequence[KiwiError]) -> bool:
    """Whether there is nothing at the path that was typed; a list of books may name files that are missing."""
    is_path = not is_address(what) and not what.endswith(".xml")
    return is_path and [(type(kiwi_error), kiwi_error.__cause__) for kiwi_error in problems] == [(BookNotFound, None)]


def _problem(error: Exception) -> Problem:
    return problem_of(error if isinstance(error, KiwiError) else BadUsage(f"{error}.", remedy="Check the path."))
