"""Books in ZIM files, read with libzim."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import libzim.reader
import libzim.search
import libzim.suggestion

from kiwiresearch.errors import BookDamaged, NotABook, PageNotFound, RedirectLoop
from kiwiresearch.zim.archive import MAX_HOPS, Book, Entry, EntryInfo, EntryName, EntryRef, Match, TitleEntry
from kiwiresearch.zim.files import FileGuard, check_magic, parts_of
from kiwiresearch.zim.listing import DAMAGED_ENTRY_ERRORS, Listing, book_from_zim, stored_at, title_of

if TYPE_CHECKING:
    from libzim.reader import Archive as RawArchive
    from libzim.reader import Entry as RawEntry

    from kiwiresearch.zim.directory import Directory

# The descriptors belong to the process: two threads that redirect them at once would restore the wrong ones.
_lock = threading.RLock()


def _flush_c_buffers() -> None:
    # C++ streams buffer text and would print it after the descriptors are restored.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Discard what C code prints while the block runs; Python's own output is flushed first."""
    with _lock:
        with contextlib.suppress(ValueError, OSError, AttributeError):
            sys.stdout.flush()
            sys.stderr.flush()
        _flush_c_buffers()
        try:
            # C code writes to the descriptors directly, so replacing `sys.stdout` would not catch it.
            saved = [(fd, os.dup(fd)) for fd in (1, 2)]
        except OSError:  # a process without standard streams has nothing to protect
            yield
            return
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for fd, _ in saved:
                os.dup2(nowhere, fd)
            os.close(nowhere)
            yield
        finally:
            _flush_c_buffers()
            for fd, copy in saved:
                os.dup2(copy, fd)
                os.close(copy)


CLUSTER_CACHE_BYTES = 16 * 2**20
"""Size of libzim's cache of decompressed clusters, shared by all books of the process.

The process grows by about four and a half times the setting, since a cluster keeps its decoder.
Questions and crawls take no longer than with 64 MiB, because pages are cached after they are read.
"""

libzim.reader.set_cluster_cache_max_size(CLUSTER_CACHE_BYTES)


def set_cluster_cache(size: int) -> None:
    """Set the size of libzim's cluster cache in bytes, shared by all books of the process."""
    libzim.reader.set_cluster_cache_max_size(size)


ILLUSTRATION_PIXELS = 48
"""The one size that every book has; libzim offers the favicon of old files for it."""

MAX_ILLUSTRATION_BYTES = 512 * 1024
"""Anything larger is not a picture of that size."""

GUARDED_ENTRIES = 32
"""Titles are listed by the million, so the file is checked for changes only once per this many."""


class LibzimArchive:
    """One ZIM file, or one book split into several."""

    def __init__(self, path: Path) -> None:
        parts = parts_of(path)
        check_magic(parts)
        self._parts = parts
        with quiet():
            try:
                self._raw: RawArchive = libzim.reader.Archive(parts[0])
            except DAMAGED_ENTRY_ERRORS as problem:
                raise NotABook(
                    f"The ZIM file {str(path)!r} cannot be opened: {reason_of(problem)}.",
                    remedy="It is incomplete or damaged. Copy or download it again.",
                ) from problem
            self._guard = FileGuard(parts)
            self._old = not self._raw.has_new_namespace_scheme
            self._listing = Listing(self._raw, old=self._old)
            try:
                self._book = book_from_zim(self._raw, path, parts)
            except DAMAGED_ENTRY_ERRORS as problem:
                raise _damaged(path, problem) from problem
        self._searcher: libzim.search.Searcher | None = None
        self._suggester: libzim.suggestion.SuggestionSearcher | None = None

    @property
    def book(self) -> Book:
        return self._book

    @property
    def parts(self) -> tuple[Path, ...]:
        return self._parts

    def read(self, path: str) -> Entry:
        raw, via = self._found(path)
        with self._reporting_damage(path):
            item = raw.get_item()
            content, mimetype = bytes(item.content), item.mimetype
        ref = EntryRef(self._book.id, raw.path)
        return Entry(ref, title_of(raw), mimetype, content, via)

    def info(self, path: str) -> EntryInfo:
        raw, via = self._found(path)
        with self._reporting_damage(path):
            item = raw.get_item()
            ref = EntryRef(self._book.id, raw.path)
            stored = stored_at(self._guard.read, raw._index)
            return EntryInfo(ref, item.mimetype, item.size, via, is_packed=stored is None)

    def part(self, path: str, start: int, end: int) -> bytes:
        raw, _ = self._found(path)
        with self._reporting_damage(path):
            item = raw.get_item()
            stored = stored_at(self._guard.read, raw._index)
            # Compressed, or our reading of the structure disagrees with libzim's, which then decides.
            if stored is None or stored.size != item.size:
                return bytes(item.content[start:end])
            count = max(min(end, stored.size) - start, 0)
            found = self._guard.read(stored.place + start, count)
            if len(found) != count:
                raise IndexError("the file is incomplete")  # caught by `_reporting_damage`, as libzim's own errors are
            return found

    def resolve(self, path: str) -> str | None:
        try:
            found = self._follow(path)
        except RedirectLoop:
            return None
        return found[0].path if found else None

    def by_title(self, title: str) -> str | None:
        self._guard.check()
        try:
            raw = self._raw.get_entry_by_title(title)
        except (KeyError, RuntimeError, UnicodeEncodeError):
            return None
        if title_of(raw) != title:  # libzim may return the nearest title instead
            return None
        return self.resolve(raw.path)

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        found = self._query(words)
        return self._matches(found.getResults(0, limit)) if found else ()

    def paths_with(self, words: str, limit: int) -> tuple[str, ...]:
        found = self._query(words)
        try:
            return tuple(found.getResults(0, limit)) if found else ()
        except DAMAGED_ENTRY_ERRORS:
            return ()

    def title(self, path: str) -> str:
        self._guard.check()
        raw = self._entry(path)
        if raw is None:
            raise _no_page(path, self._book)
        return title_of(raw)

    def estimate(self, words: str) -> int:
        found = self._query(words)
        return found.getEstimatedMatches() if found else 0

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        self._guard.check()
        try:
            if self._suggester is None:
                with quiet():
                    suggester = libzim.suggestion.SuggestionSearcher(self._raw)
                    # The first use prints a line, so it happens while the output is silenced.
                    list(suggester.suggest(text).getResults(0, 1))
                self._suggester = suggester
            # Old books suggest every redirect of a page too: ask for more, so that enough pages remain.
            results = list(self._suggester.suggest(text).getResults(0, 3 * limit))
            return self._matches(results)[:limit]
        except (RuntimeError, UnicodeError):
            return ()

    def articles(self) -> Iterator[str]:
        for number in map(int, self.directory().articles):
            self._guard.check()
            if self._listing.is_article(number):  # the directory includes damaged entries
                yield self._raw._get_entry_by_id(number).path

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        front = self._listing.front_entries()
        for number in range(start, self._raw.entry_count):
            if number % GUARDED_ENTRIES == 0:
                self._guard.check()
            try:
                # A damaged entry costs its own title, not the rest of the list.
                found = self._listing.title_at(number, front)
            except DAMAGED_ENTRY_ERRORS:
                continue
            if found is not None:
                yield found

    def directory(self) -> Directory:
        """The numbers of articles, in the order that reads fastest, and of redirects to them."""
        from kiwiresearch.zim.directory import directory_of

        self._guard.check()
        front, size = self._listing.front(), self._book.size_bytes
        return directory_of(self._guard.read, size, front, count=self._raw.entry_count, old=self._old)

    def name_at(self, number: int) -> EntryName:
        """Path, title and type of the entry with this number; for a redirect, its final target."""
        self._guard.check()
        with self._reporting_damage(f"number {number}"):
            return self._listing.name_at(number)

    def path_at(self, number: int) -> str:
        """The path of the entry with this number, which is often readable even if the entry is damaged."""
        self._guard.check()
        with self._reporting_damage(f"number {number}"):
            return str(self._raw._get_entry_by_id(number).path)

    def read_at(self, number: int) -> Entry:
        """The entry with this number, which must not be a redirect."""
        self._guard.check()
        with self._reporting_damage(f"number {number}"):
            raw = self._raw._get_entry_by_id(number)
            item = raw.get_item()
            return Entry(EntryRef(self._book.id, raw.path), title_of(raw), item.mimetype, bytes(item.content))

    def url(self, path: str) -> str:
        return str(EntryRef(self._book.id, path))

    @property
    def checksum(self) -> str:
        """The checksum stored in the file; empty if there is none."""
        return str(self._raw.checksum) if self._raw.has_checksum else ""

    def checksum_holds(self) -> bool | None:
        """Whether the bytes match the checksum stored in the file; None if there is none.

        Reads the complete file and holds the interpreter's lock meanwhile.
        """
        self._guard.check()
        return self._raw.check() if self._raw.has_checksum else None

    def illustration(self) -> bytes:
        """The book's cover as its maker stored it, at most MAX_ILLUSTRATION_BYTES; empty if it has none."""
        with contextlib.suppress(KeyError, RuntimeError):
            if self._raw.has_illustration(ILLUSTRATION_PIXELS):
                item = self._raw.get_illustration_item(ILLUSTRATION_PIXELS)
                if item.size <= MAX_ILLUSTRATION_BYTES:
                    return bytes(item.content)
        return b""

    def close(self) -> None:
        self._guard.close()

    def _found(self, path: str) -> tuple[RawEntry, tuple[str, ...]]:
        found = self._follow(path)
        if found is None:
            raise _no_page(path, self._book)
        return found

    @contextlib.contextmanager
    def _reporting_damage(self, path: str) -> Iterator[None]:
        """Turn libzim's errors for a damaged entry into BookDamaged."""
        try:
            yield
        except DAMAGED_ENTRY_ERRORS as problem:
            raise BookDamaged(
                f"The page {path!r} of {self._book.source!r} cannot be read: {reason_of(problem)}.",
                remedy="The file is damaged. Copy or download it again.",
            ) from problem

    def _follow(self, path: str) -> tuple[RawEntry, tuple[str, ...]] | None:
        self._guard.check()
        raw = self._entry(path)
        if raw is None:
            return None
        via: list[str] = []
        try:
            while raw.is_redirect:
                via.append(raw.path)
                raw = raw.get_redirect_entry()
                if len(via) > MAX_HOPS or raw.path in via:
                    raise RedirectLoop(
                        f"The page {path!r} of {self._book.title!r} redirects in a loop.",
                        remedy="This is an error in the book. Choose another page.",
                    )
        except DAMAGED_ENTRY_ERRORS as problem:
            raise _damaged(self._parts[0], problem) from problem
        return raw, tuple(via)

    def _entry(self, path: str) -> RawEntry | None:
        try:
            raw = self._raw.get_entry_by_path(path)
        except (KeyError, UnicodeEncodeError):
            return None
        except DAMAGED_ENTRY_ERRORS as problem:
            raise _damaged(self._parts[0], problem) from problem
        # libzim finds any 'L/PATH' in new files, and a path without 'A/' in old ones: only the latter is wanted.
        if raw.path == path or (self._old and raw.path == f"A/{path}"):
            return raw
        return None

    def _query(self, words: str) -> libzim.search.Search | None:
        self._guard.check()
        if not self._book.indexes.full_text or not words.strip():
            return None
        try:
            if self._searcher is None:
                with quiet():  # libzim prints a line when an index is first used
                    searcher = libzim.search.Searcher(self._raw)
                    searcher.search(libzim.search.Query().set_query(words)).getEstimatedMatches()
                self._searcher = searcher
            return self._searcher.search(libzim.search.Query().set_query(words))
        except (RuntimeError, UnicodeError):
            return None

    def _matches(self, paths: Iterable[str]) -> tuple[Match, ...]:
        found: dict[str, Match] = {}
        for path in paths:
            with contextlib.suppress(RedirectLoop, BookDamaged):
                followed = self._follow(path)
                if followed:
                    raw, via = followed
                    alias = title_of(self._raw.get_entry_by_path(path)) if via else ""
                    found.setdefault(raw.path, Match(raw.path, title_of(raw), alias=alias))
        return tuple(found.values())


def reason_of(problem: Exception) -> str:
    """The first line of libzim's message, without its full stop."""
    text = re.sub(r"\s+", " ", str(problem).strip().splitlines()[0] if str(problem).strip() else "")
    return text.rstrip(". :") or "libzim gave no reason"


def _damaged(path: Path, problem: Exception) -> BookDamaged:
    return BookDamaged(
        f"The ZIM file {str(path)!r} is damaged: {reason_of(problem)}.",
        remedy="Copy or download it again.",
    )


def _no_page(path: str, book: Book) -> PageNotFound:
    return PageNotFound(f"{book.title!r} has no page at {path!r}.")
