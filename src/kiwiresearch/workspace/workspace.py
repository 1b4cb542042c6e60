"""A user's workspace: settings, shelf, books and the database, opened together."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from kiwiresearch.errors import CannotWrite, KiwiError, NothingFound, PageNotFound
from kiwiresearch.messages import Message
from kiwiresearch.page import PageDoc, Section, open_page
from kiwiresearch.system import make_private_folder
from kiwiresearch.workspace import settings as settings_module
from kiwiresearch.workspace.settings import Folders, Settings
from kiwiresearch.zim import (
    Archive,
    Book,
    BookLocation,
    FileChecks,
    FileState,
    ListedBook,
    Opener,
    OpenFileNotes,
    Shelf,
    ShelfFile,
    files_in,
    find_path,
    hidden_page_named_error,
    is_address,
    listed_book,
    near_titles,
    unknown_book,
)

if TYPE_CHECKING:
    from kiwiresearch.store import Store

SAMPLE_NOTICE = (
    "Your library is empty, so kiwiresearch uses the sample book. "
    "To add your own books: kiwiresearch books add FILE.zim"
)

BookState = FileState | Literal["served"]
"""What is known of the file of a book; one on a server or another host is not checked here."""


@dataclass(slots=True, eq=False)
class Workspace:
    """The settings, folders, shelf and book opener of a user, which every command works with.

    Only `settings` may change, while a server runs. Code that reads `workspace.settings` on each use sees the change
    at once.
    """

    folders: Folders
    settings: Settings
    shelf_file: ShelfFile
    opener: Opener
    environment: Mapping[str, str]
    """The variables that override the settings file."""

    def sample(self) -> ListedBook:
        """The sample book, built on first use."""
        from kiwiresearch.zim import sample_file

        source = BookLocation(str(sample_file(self.folders.cache)))
        archive = self.opener.open(source)
        archive.close()
        return listed_book(archive.book, source)

    def check(self, book: ListedBook) -> tuple[BookState, str]:
        """Compare a book with its checksum: its state and the reason; a missing file is "unopenable"."""
        if not book.source.is_local:
            return "served", ""
        try:
            file_check = self.opener.check(book.source)
        except KiwiError as problem:
            return "unopenable", problem.message.rstrip(".")
        return file_check.state, file_check.reason

    def on_shelf(self, wanted: Sequence[str]) -> list[ListedBook]:
        """The books on the shelf with these names."""
        books = self.shelf_file.books()
        found = []
        for name in wanted:
            matching = [book for book in books if book.matches(name)]
            if not matching:
                raise unknown_book(name, books)
            found += matching
        return list(dict.fromkeys(found))

    def note_books_read(self, books: Sequence[ListedBook]) -> None:
        """Note where books that are not on the shelf were read, so that a run can be verified against them later."""
        with contextlib.suppress(KiwiError):  # the note is optional
            known = {book.id for book in self.shelf_file.books()}
            self._books_read.add([book for book in books if book.source.is_local and book.id not in known])

    def books_read_before(self, ids: Collection[str]) -> list[ListedBook]:
        """Those of the books that were read elsewhere than on the shelf, and are still there with the same UUID."""
        found: list[ListedBook] = []
        with contextlib.suppress(KiwiError):
            for noted in reversed(self._books_read.books()):
                if noted.id in ids and noted.id not in {book.id for book in found}:
                    with contextlib.suppress(KiwiError):
                        there = [listed_book(*each) for each in self.opener.look_up(noted.source.location)]
                        found += [book for book in there if book.id == noted.id]
        return found

    @property
    def _books_read(self) -> ShelfFile:
        return ShelfFile(self.folders.state / "books-read.json")

    def look_up_each(self, text: str, problems: list[KiwiError]) -> list[tuple[Book, BookLocation]]:
        """The books that a path or address refers to; unusable files are added to `problems`."""
        if is_address(text):
            return self.opener.look_up(text)
        found = []
        for file in files_in(Path(text)):
            try:
                found += self.opener.look_up(str(file))
            except KiwiError as problem:
                problems.append(problem)
        return found


def open_workspace(
    environment: Mapping[str, str] = os.environ, *, say: Callable[[str], None] | None = None
) -> Workspace:
    """Open the workspace of a user; notices for the user are passed to `say`."""
    where = settings_module.folders(environment)
    settings = settings_module.load(where, environment)
    # Families, questions and research of users are there. If this fails, the first write reports it.
    with contextlib.suppress(OSError):
        make_private_folder(where.state)
    for report in OpenFileNotes(where.state / "open").crash_reports():
        if say:
            say(str(report))
    return make_workspace(where, settings, environment, say)


def make_workspace(
    where: Folders,
    settings: Settings,
    environment: Mapping[str, str] = MappingProxyType({}),
    say: Callable[[str], None] | None = None,
) -> Workspace:
    """A workspace of these folders and settings."""
    from kiwiresearch.zim import set_cluster_cache

    set_cluster_cache(settings.cluster_cache_mb * 2**20)
    opener = Opener(
        FileChecks(where.cache / "checks"),
        OpenFileNotes(where.state / "open"),
        allow_damaged=settings.allow_damaged,
        timeout_s=settings.serve_timeout_s,
        say=say,
        policy=settings.policy,
    )
    return Workspace(where, settings, ShelfFile(where.shelf_file), opener, environment)


@dataclass(frozen=True, slots=True)
class ShelfPage:
    """A page and its book."""

    book: Book
    page: PageDoc
    archive: Archive


def find_page(shelf: Shelf, words: str) -> ShelfPage:
    """The page with this title or path, from the first book of the shelf that has it."""
    archives = shelf.archives()
    if not archives:
        raise no_books_error()
    missing = f"No page named {words!r} in {shelf_label(shelf)}."
    archive, path = locate_page(archives, words, missing, "Try another title.")
    return ShelfPage(archive.book, open_page(archive, path), archive)


def locate_page(archives: Sequence[Archive], words: str, missing: str, remedy: str) -> tuple[Archive, str]:
    """The first book that has a page with this title or path, and the path.

    Raises PageHidden if a policy hides the page, else PageNotFound with the message `missing`;
    its remedy names similar titles, if there are any.
    """
    for archive in archives:
        if path := find_path(archive, words):
            return archive, path
    raise hidden_page_named_error(archives, words) or PageNotFound(
        missing, remedy=similar_titles_hint(archives, words) or remedy
    )


MAX_NAMED_SECTIONS = 100


def sections_named(page: PageDoc, heading: str) -> tuple[Section, ...]:
    """The section of this heading or anchor and those below it; PageNotFound names the sections there are."""
    chosen = page.below(heading)
    if not chosen:
        named = page.sections[1:][:MAX_NAMED_SECTIONS]
        names = ", ".join(repr(section.heading) for section in named) or "only the introduction"
        raise PageNotFound(
            f"The page {page.title!r} has no section named {heading!r}.", remedy=f"Its sections: {names}."
        )
    return chosen


def shelf_label(shelf: Shelf) -> str:
    """The title of the only book of a shelf, or how many books there are, for messages."""
    count = len(shelf.books)
    return repr(shelf.books[0].title) if count == 1 else f"your {count} books"


def no_books_error() -> NothingFound:
    """The error for a shelf without any book: the library of a host, or what a policy leaves of it."""
    return NothingFound(
        Message("There is no book to search.", "search.no_books"),
        remedy=Message(
            "Add a book to your library, or check that the policy allows those that you have.", "remedy.add_book"
        ),
    )


def similar_titles_hint(archives: Sequence[Archive], words: str) -> str:
    """A sentence with titles that may have been meant; empty if there are none."""
    near = dict.fromkeys(title for archive in archives for title in near_titles(archive, words))
    titles = tuple(near)[:3]
    text = f"Similar titles: {', '.join(map(repr, titles))}."
    return Message(text, "remedy.near", titles=titles) if titles else ""


STORE_FILE = "store.sqlite"
MAX_OPEN = 8
"""How many stores a process keeps open, the most recently used ones."""

_OPEN: dict[tuple[int, str], Store] = {}
_OPEN_LOCK = threading.Lock()


def store_of(workspace: Workspace) -> Store:
    """The store of a workspace, opened once per process; it reconnects by itself."""
    from kiwiresearch.store import open_store

    named = workspace.settings.store.strip()
    url = named or f"sqlite:///{_file(workspace)}"
    with _OPEN_LOCK:
        key = (os.getpid(), url)  # connections must not be shared with a forked child
        # Leases expire by this clock; it does not affect results.
        store = _OPEN.pop(key, None) or open_store(url, is_shared_store=bool(named), clock=time.time)  # noqa: TID251
        _OPEN[key] = store
        for old in list(_OPEN)[:-MAX_OPEN]:
            _OPEN.pop(old).close()
    return store


@atexit.register
def close_stores() -> None:
    """Close all connections of this process; a store that is used again opens new ones."""
    with _OPEN_LOCK:
        while _OPEN:
            _OPEN.popitem()[1].close()


def _file(workspace: Workspace) -> str:
    folder = workspace.folders.state
    try:
        make_private_folder(folder)
    except OSError as problem:
        remedy = "Check its permissions, or set KIWIRESEARCH_HOME to another folder."
        raise CannotWrite.to(folder, problem, remedy=remedy) from problem
    return str(folder.absolute() / STORE_FILE)
