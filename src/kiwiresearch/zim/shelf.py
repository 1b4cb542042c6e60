"""The shelf: the books a user has added, how they are looked up by name, and how they are opened."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from kiwiresearch.errors import BadSettings, BadUsage, BookDamaged, BookNotFound, HostUnreachable, KiwiError
from kiwiresearch.ids import BookId, canonical_json
from kiwiresearch.system import expand_user, write_atomically
from kiwiresearch.zim.archive import Archive, Book
from kiwiresearch.zim.files import OpenFileNotes, parts_of
from kiwiresearch.zim.integrity import FileCheck, FileChecks
from kiwiresearch.zim.peer import MissingBooks, PeerOpener
from kiwiresearch.zim.policy import Policy, with_policy
from kiwiresearch.zim.sources import SERVE_TIMEOUT_S, SUFFIXES, BookLocation, ServedBook, files_in, is_address

SHELF_VERSION = 1
NO_POLICY = Policy()


@dataclass(frozen=True, slots=True)
class ListedBook:
    """A book on the shelf, as recorded when it was added."""

    id: BookId
    name: str
    title: str
    source: BookLocation

    def matches(self, wanted: str) -> bool:
        """Whether `wanted` refers to this book, by name, title, UUID, path or file name."""
        folded = wanted.casefold().strip()
        names = {self.name, self.title, self.id, str(self.source), self.source.served}
        if not self.source.is_served:
            names |= {self.source.path.name, self.source.path.stem}
            if wanted and self.source.location == str(expand_user(wanted).absolute()):
                return True
        return folded in {name.casefold() for name in names if name}


def listed_book(book: Book, source: BookLocation) -> ListedBook:
    return ListedBook(book.id, book.name, book.title, source)


class ShelfFile:
    """The list of books, stored in its own file and re-read before each change."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def books(self) -> tuple[ListedBook, ...]:
        try:
            # Paths may contain bytes that are not UTF-8; escaped like this they survive reading and writing.
            text = self.path.read_text(encoding="utf-8", errors="surrogateescape")
        except FileNotFoundError:
            return ()
        except OSError as problem:
            raise BadSettings(f"Could not read the list of books {str(self.path)!r}: {problem.strerror}.") from problem
        try:
            return tuple(_book_from_row(row) for row in json.loads(text)["books"])
        except (ValueError, KeyError, TypeError) as problem:
            raise BadSettings(
                f"The list of books {str(self.path)!r} is damaged.",
                remedy="Repair or delete it, then add your books again.",
            ) from problem

    def add(self, new: Sequence[ListedBook]) -> tuple[ListedBook, ...]:
        """Put books on the shelf and return those that were new: a book with the same UUID and source is not."""
        known = self.books()
        listed = {(book.id, book.source) for book in known}
        added = tuple(book for book in dict.fromkeys(new) if (book.id, book.source) not in listed)
        if added:
            self._write((*known, *added))
        return added

    def remove(self, books: Sequence[ListedBook]) -> None:
        self._write(tuple(book for book in self.books() if book not in books))

    def _write(self, books: Sequence[ListedBook]) -> None:
        rows = [{"id": book.id, "name": book.name, "title": book.title, **asdict(book.source)} for book in books]
        try:
            write_atomically(self.path, canonical_json({"version": SHELF_VERSION, "books": rows}, indent=2) + "\n")
        except OSError as problem:
            raise BadSettings(
                f"Could not write the list of books {str(self.path)!r}: {problem.strerror}.",
                remedy="Check the folder's permissions, or set KIWIRESEARCH_HOME to a folder you can write to.",
            ) from problem


def _book_from_row(row: dict[str, str]) -> ListedBook:
    source = BookLocation(str(row["location"]), str(row["served"]))
    return ListedBook(BookId(str(row["id"])), str(row["name"]), str(row["title"]), source)


class Opener:
    """Opens books, checks which files can be trusted, and passes on notices for the user."""

    def __init__(
        self,
        file_checks: FileChecks,
        open_files: OpenFileNotes | None = None,
        *,
        allow_damaged: bool = False,
        timeout_s: float = SERVE_TIMEOUT_S,
        say: Callable[[str], None] | None = None,
        policy: Policy = NO_POLICY,
    ) -> None:
        self._file_checks = file_checks
        self._open_files = open_files
        self._allow_damaged = allow_damaged
        self._timeout_s = timeout_s
        self.say = say or (lambda _: None)
        self.policy = policy
        self.peer_opener: PeerOpener | None = None
        """Opens books of other hosts; None if no store is shared with any."""
        self._catalogues: dict[str, tuple[ServedBook, ...]] = {}
        """The books of each kiwix-serve, by its address."""

    def open(self, source: BookLocation) -> Archive:
        """Open a book, without the pages that the policy hides."""
        if source.is_on_peer:
            archive = self._open_on_peer(source)
        elif source.is_served:
            archive = self._open_served(source)
        else:
            archive = self._open_file(source.path)
        return with_policy(archive, self.policy)

    def look_up(self, text: str) -> list[tuple[Book, BookLocation]]:
        """All books a path or address refers to; each file is opened briefly to read its metadata."""
        if is_address(text):
            return self._books_on_server(text)
        found = []
        for file in files_in(Path(text)):
            source = BookLocation(str(expand_user(file).absolute()))
            archive = self._open_file(source.path)
            found.append((archive.book, source))
            archive.close()
        return found

    def file_check(self, source: BookLocation) -> FileCheck | None:
        """The remembered result of checking a book's file; None for a book on a server or another host."""
        return self._file_checks.known(parts_of(source.path)) if source.is_local else None

    def check(self, source: BookLocation) -> FileCheck:
        return self._file_checks.check_now(source.path)

    def _open_file(self, path: Path) -> Archive:
        from kiwiresearch.zim.libzim import LibzimArchive

        file_check = self._file_checks.of(path)
        try:
            file_check.raise_if_bad(path)
        except BookDamaged as problem:
            if not self._allow_damaged:
                raise
            self.say(f"{problem.message} Reading it anyway, because 'allow_damaged' is set.")
        if file_check.state == "unchecked":
            self._file_checks.check_in_background(path)
            self.say(f"{path.name!r} has not been checked for damage yet. The check is running in the background.")
        archive = LibzimArchive(path)
        if self._open_files:
            self._open_files.note_open(archive.parts)
        return archive

    def _open_on_peer(self, source: BookLocation) -> Archive:
        if self.peer_opener is None:
            raise HostUnreachable(
                f"The book {source.path.name!r} is on another host, but no shared store is set.",
                remedy="Set 'store' in the settings to the store that your hosts share.",
            )
        return self.peer_opener(BookId(source.peer_book_id))

    def _open_served(self, source: BookLocation) -> Archive:
        from kiwiresearch.zim.kiwix_serve import KiwixServer, ServeArchive

        server = KiwixServer(source.location, timeout_s=self._timeout_s)
        try:
            if source.location not in self._catalogues:  # one request serves all its books on the shelf
                self._catalogues[source.location] = server.catalogue()
        except KiwiError:
            server.close()
            raise
        for served in self._catalogues[source.location]:
            if source.served in (served.name, served.book.id):
                return ServeArchive(server, served)
        server.close()
        raise BookNotFound(
            f"The server {server.root!r} no longer has the book {source.served!r}.",
            remedy="To add the books that it has now, run 'kiwiresearch books add URL'.",
        )

    def _books_on_server(self, address: str) -> list[tuple[Book, BookLocation]]:
        from kiwiresearch.zim.kiwix_serve import KiwixServer

        address, _, wanted = address.partition("#")
        server = KiwixServer(address, timeout_s=self._timeout_s)
        try:
            found = [(served.book, BookLocation(server.root, served.name)) for served in server.catalogue()]
        finally:
            server.close()
        if wanted:
            found = [row for row in found if wanted in (row[1].served, row[0].name, row[0].id)]
        if not found:
            raise BookNotFound(
                f"The server {server.root!r} has no book{f' named {wanted!r}' if wanted else 's'}.",
                remedy="Start kiwix-serve with at least one ZIM file.",
            )
        return found


class Shelf:
    """The books one command or program uses; each is opened on first use."""

    follows_library = False
    """Whether it has all books of the user's list, and notices when that changes."""

    def __init__(self, books: Sequence[ListedBook], opener: Opener, *, is_sample: bool = False) -> None:
        self.books = tuple(books)
        self.is_sample = is_sample
        self._opener = opener
        self._archives: dict[ListedBook, Archive] = {}

    @property
    def missing(self) -> tuple[MissingBooks, ...]:
        """Books of this shelf that are unavailable because their host cannot be reached."""
        return ()

    @property
    def failures(self) -> int:
        """How often a book of another host could not be reached while in use."""
        return self._opener.peer_opener.failures if self._opener.peer_opener else 0

    def current_books(self) -> tuple[ListedBook, ...]:
        """The current list of books; `books` does not change until `refresh`."""
        return self.books

    def currently_missing(self) -> tuple[MissingBooks, ...]:
        """The unavailable books as of now; `missing` does not change until `refresh`."""
        return self.missing

    def host_of(self, book: ListedBook) -> str:  # noqa: ARG002 (overridden by shelves that hosts share)
        """The name of the other host that has a book; empty for a book of this host."""
        return ""

    def refresh(self) -> bool:
        """Reload the list, if it is one that may change; returns whether it did."""
        return False

    def open(self, book: ListedBook) -> Archive:
        if book not in self._archives:
            self._archives[book] = self._opener.open(book.source)
        return self._archives[book]

    def archives(self) -> list[Archive]:
        """All books, opened; a failure is raised only if no book can be opened, or if a host cannot be reached."""
        found: list[Archive] = []
        problems: list[KiwiError] = []
        for book in self.books:
            try:
                found.append(self.open(book))
            except HostUnreachable:
                raise
            except KiwiError as problem:
                problems.append(problem)
        if problems and not found:
            raise problems[0]
        for left_out in problems:
            self._opener.say(f"Skipped: {left_out}")
        return found

    def close(self) -> None:
        for archive in self._archives.values():
            archive.close()
        self._archives.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def pick_books(books: Sequence[ListedBook], wanted: str, opener: Opener) -> list[ListedBook]:
    """The books a name, title, UUID, path or address refers to, whether they are on the shelf or not."""
    found = [book for book in books if book.matches(wanted)]
    if found:
        return found
    if not wanted.strip():
        raise BadUsage("The book name is empty.", remedy="To list your books, run 'kiwiresearch books list'.")
    path = expand_user(wanted)
    if is_address(wanted) or path.suffix in SUFFIXES or "/" in wanted or _exists(path):
        return [listed_book(book, source) for book, source in opener.look_up(wanted)]
    raise unknown_book(wanted, books)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # the name is too long for the system
        return False


def unknown_book(wanted: str, books: Sequence[ListedBook]) -> BookNotFound:
    """The error for a name that no book has, with the nearest name as a hint."""
    names = {name.casefold(): name for book in books for name in (book.name, book.title) if name}
    names = {word: name for folded, name in names.items() for word in re.findall(r"[^\W_]{4,}", folded)} | names
    near = difflib.get_close_matches(wanted.casefold(), list(names), n=1, cutoff=0.6)
    inside = [name for folded, name in names.items() if len(wanted) > 2 and wanted.casefold() in folded]
    guess = names[near[0]] if near else inside[0] if inside else ""
    hint = f"Did you mean {guess!r}? " if guess else ""
    return BookNotFound(
        f"No book named {wanted!r} in your library.",
        remedy=f"{hint}To list your books, run 'kiwiresearch books list'.",
    )
