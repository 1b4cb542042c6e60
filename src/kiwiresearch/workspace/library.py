"""The library of a user as a server manages it: books are added, removed and uploaded while it runs."""

from __future__ import annotations

import contextlib
import hashlib
import re
import secrets
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kiwiresearch.errors import BadUsage, BookNotAdded, BookNotFound, CannotWrite, KiwiError
from kiwiresearch.system import free_path
from kiwiresearch.workspace.output_folders import books_folder
from kiwiresearch.workspace.workspace import Workspace
from kiwiresearch.zim import ZIM_MAGIC, ListedBook, listed_book

SUFFIX = ".zim"
PART_PREFIX = ".upload-"
STALE_PART_S = 24 * 3600
"""A partial upload that nothing was written to for this long belongs to a server that was killed."""
RESERVE_BYTES = 256 * 2**20
"""Space that an upload leaves free on the disk: for the list of books, indexes and runs."""
CHECK_EVERY_BYTES = 64 * 2**20
GB = 10**9
MAX_REMOVED = 50
"""How many removed books can be put back with one click; the others are added again by their path."""
MAX_NAME_CHARS = 120


def book_key(book: ListedBook) -> str:
    """A short name for one row of the list, which differs for two copies of the same book."""
    return hashlib.sha256(f"{book.id}\0{book.source}".encode("utf-8", "replace")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class AddedBooks:
    """The result of adding what a path or address refers to."""

    added: tuple[ListedBook, ...]
    already_listed: int
    """How many of the books were in the library before."""
    problems: tuple[KiwiError, ...]


@dataclass(frozen=True, slots=True)
class UnlistedFile:
    """An uploaded file that is not in the library any more."""

    name: str
    size_bytes: int


class Library:
    """The list of books and the folder of uploaded ones, changed by one thread at a time."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = threading.Lock()
        self._removed: OrderedDict[str, ListedBook] = OrderedDict()

    @property
    def folder(self) -> Path:
        """Where uploaded books are."""
        return books_folder(self._workspace)

    def books(self) -> tuple[ListedBook, ...]:
        return self._workspace.shelf_file.books()

    def get(self, key: str) -> ListedBook:
        """A book of the list by its key."""
        found = next((book for book in self.books() if book_key(book) == key), None)
        if found is None:
            raise BookNotFound("This book is not in your library.", remedy="Reload the list of books.")
        return found

    def add(self, text: str) -> AddedBooks:
        """Add the books that a path of this machine or the address of a kiwix-serve refers to."""
        if not text.strip():
            raise BadUsage("No path or address was given.", remedy="Enter a file, a folder or an address.")
        problems: list[KiwiError] = []
        found = self._workspace.look_up_each(text.strip(), problems)
        with self._lock:
            added = self._workspace.shelf_file.add([listed_book(book, source) for book, source in found])
        return AddedBooks(added, len(found) - len(added), tuple(problems))

    def remove(self, key: str) -> ListedBook:
        """Remove a book from the list; its file stays where it is."""
        with self._lock:
            book = self.get(key)
            self._workspace.shelf_file.remove([book])
            self._removed[key] = book
            while len(self._removed) > MAX_REMOVED:
                self._removed.popitem(last=False)
        return book

    def removed_book(self, key: str) -> ListedBook | None:
        """A book that was removed since the server started, unless it is in the library again."""
        book = self._removed.get(key)
        return book if book is not None and book not in self.books() else None

    def restore(self, key: str) -> ListedBook:
        """Put a removed book back."""
        book = self._removed.get(key)
        if book is None:
            raise BookNotFound("This book can no longer be restored.", remedy="Add the book again.")
        with self._lock:
            self._workspace.shelf_file.add([book])
        return book

    def is_uploaded(self, book: ListedBook) -> bool:
        """Whether the file of a book is in the folder of uploaded books."""
        source = book.source
        return source.is_local and source.path.parent == self.folder

    def unlisted_files(self) -> tuple[UnlistedFile, ...]:
        """Uploaded files that are not in the library."""
        listed = {book.source.location for book in self.books()}
        found = []
        for file in sorted(self.folder.glob(f"*{SUFFIX}")) if self.folder.is_dir() else []:
            if str(file) not in listed and not file.name.startswith("."):
                with contextlib.suppress(OSError):  # deleted meanwhile
                    found.append(UnlistedFile(file.name, file.stat().st_size))
        return tuple(found)

    def add_file(self, name: str) -> AddedBooks:
        """Put an uploaded file back into the library."""
        return self.add(str(self._unlisted_path(name)))

    def delete_file(self, name: str) -> None:
        """Delete an uploaded file that is not in the library."""
        try:
            self._unlisted_path(name).unlink()
        except OSError as problem:
            raise CannotWrite(f"{name!r} was not deleted: {problem.strerror}.", remedy="Try again.") from problem

    def _unlisted_path(self, name: str) -> Path:
        if name not in {file.name for file in self.unlisted_files()}:
            raise BookNotFound(
                f"No uploaded file outside your library is named {name!r}.", remedy="Reload the list of books."
            )
        return self.folder / name

    def max_upload_bytes(self, written: int = 0) -> int:
        """How large an upload may become, of which `written` bytes are on the disk already."""
        place = self.folder
        while not place.exists() and place != place.parent:
            place = place.parent
        free = written + max(shutil.disk_usage(place).free - RESERVE_BYTES, 0)
        limit = self._workspace.settings.serve.max_book_gb
        return min(free, int(limit * GB)) if limit else free

    @contextlib.contextmanager
    def upload(self, declared_bytes: int) -> Iterator[Upload]:
        """Receives one file of about `declared_bytes` bytes; whatever happens before `finish`, no file remains."""
        self._drop_stale_parts()
        upload = Upload(self, declared_bytes)
        try:
            yield upload
        finally:
            upload.discard()

    def add_upload(self, part: Path, name: str) -> ListedBook:
        """Add a complete upload to the library; the file is deleted if it is not a usable book or is listed already."""
        with self._lock:
            file = _free_name(self.folder, name)
            part.replace(file)
        # Not under the lock: a child process opens each file first, which can take two minutes.
        book = self._read_book_or_delete(file, name)
        unusable = [item for item in self._copies_of(book) if not self._can_open(item)]
        with self._lock:
            known = next((item for item in self._copies_of(book) if item not in unusable), None)
            if known is None:
                if unusable:  # this upload repairs them
                    self._workspace.shelf_file.remove(unusable)
                self._workspace.shelf_file.add([book])
                return book
        if known.source.location == str(file):  # its file was missing, and is back
            return known
        file.unlink(missing_ok=True)
        raise BookNotAdded(
            f"{known.title!r} is already in your library.",
            reason="known",
            remedy="You do not need to do anything.",
            title=known.title or known.name,
        )

    def _read_book_or_delete(self, file: Path, name: str) -> ListedBook:
        try:
            return listed_book(*self._workspace.opener.look_up(str(file))[0])
        except KiwiError as problem:
            file.unlink(missing_ok=True)
            raise BookNotAdded(
                f"{name!r} cannot be read as a ZIM file.",
                reason="unreadable",
                remedy="Download it again.",
                name=name,
            ) from problem

    def _copies_of(self, book: ListedBook) -> list[ListedBook]:
        return [item for item in self.books() if item.id == book.id]

    def _can_open(self, book: ListedBook) -> bool:
        try:
            self._workspace.opener.look_up(book.source.location)
        except KiwiError:
            return False
        return True

    def _drop_stale_parts(self) -> None:
        # Compared with the times of files, so this is one of the places that read the clock.
        old = time.time() - STALE_PART_S  # noqa: TID251
        for part in self.folder.glob(f"{PART_PREFIX}*") if self.folder.is_dir() else []:
            with contextlib.suppress(OSError):
                if part.stat().st_mtime < old:
                    part.unlink()


class Upload:
    """One file on its way into the folder of uploaded books."""

    def __init__(self, library: Library, declared_bytes: int) -> None:
        self._library = library
        self._max_bytes = library.max_upload_bytes()
        self._size = 0
        self._size_at_last_check = 0
        self._head = b""
        self._part = library.folder / f"{PART_PREFIX}{secrets.token_hex(8)}"
        self._stream: BinaryIO | None = None
        if declared_bytes > self._max_bytes:
            raise self._too_large()

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been written yet."""
        return self._stream is None

    def write(self, data: bytes) -> None:
        """Add bytes; refused at once if they cannot be those of a ZIM file, or if there is no room for them."""
        if len(self._head) < len(ZIM_MAGIC):
            self._head = (self._head + data)[: len(ZIM_MAGIC)]
        if not ZIM_MAGIC.startswith(self._head):
            raise _not_a_zim()
        written = self._size
        self._size += len(data)
        # Others write to this disk too, so the free space is measured again from time to time.
        if self._size - self._size_at_last_check >= CHECK_EVERY_BYTES:
            self._max_bytes = self._library.max_upload_bytes(written)
            self._size_at_last_check = self._size
        if self._size > self._max_bytes:
            raise self._too_large()
        try:
            if self._stream is None:
                self._part.parent.mkdir(parents=True, exist_ok=True)
                self._stream = self._part.open("xb")
            self._stream.write(data)
        except OSError as problem:
            raise BookNotAdded(
                f"The file cannot be saved: {problem.strerror or problem}.",
                reason="no_room",
                remedy="Free up disk space.",
            ) from problem

    def finish(self, name: str) -> ListedBook:
        """Add the complete file to the library."""
        if self._stream is None:
            raise BookNotAdded(f"{name!r} is empty.", reason="empty", remedy="Download it again.", name=name)
        if len(self._head) < len(ZIM_MAGIC):
            raise _not_a_zim()
        self._stream.close()
        return self._library.add_upload(self._part, name)

    def discard(self) -> None:
        """Delete what is left of the upload."""
        if self._stream is not None:
            with contextlib.suppress(OSError):
                self._stream.close()
            with contextlib.suppress(OSError):
                self._part.unlink(missing_ok=True)

    def _too_large(self) -> BookNotAdded:
        return BookNotAdded(
            f"A book can be {self._max_bytes / GB:,.1f} GB at most here.",
            reason="too_large",
            remedy="Free up disk space, or choose a smaller edition.",
            room=self._max_bytes,
        )


def _not_a_zim() -> BookNotAdded:
    return BookNotAdded("This is not a ZIM file.", reason="not_a_zim", remedy="Choose a file that ends in .zim.")


def bare_file_name(name: str) -> str:
    """A safe file name, without folders, whatever was sent; empty if nothing of it is left."""
    return re.sub(r"[^\w.() -]+", "-", name.replace("\\", "/").rpartition("/")[2]).strip(" .-")


def _free_name(folder: Path, name: str) -> Path:
    """The safe file name that no file has yet."""
    stem = bare_file_name(name).removesuffix(SUFFIX).strip(" .-")[:MAX_NAME_CHARS] or "book"
    return free_path(folder / f"{stem}{SUFFIX}", SUFFIX)
