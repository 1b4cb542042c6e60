"""Books shared between hosts: what this host offers to others, and one shelf over the books of all."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kiwiresearch.errors import BookNotFound, KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.search.open_book import TITLE_CALLS as TITLE_WAYS
from kiwiresearch.search.titles import TitleLookup
from kiwiresearch.workspace.neighbours import OtherHosts
from kiwiresearch.workspace.policy import hidden_books
from kiwiresearch.workspace.search_aids import TitleIndexes
from kiwiresearch.workspace.workspace import Workspace
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.library import ListedBook, Opener, Shelf, listed_book
from kiwiresearch.zim.peer import MissingBooks, PeerArchive
from kiwiresearch.zim.peer_protocol import BOOK_CALLS, TOGETHER_BYTES, BadCall, CallReply, announcement_of, answer_call
from kiwiresearch.zim.policy import without_policy

CLOSING_S = 2.0
"""How long the end waits for work under way."""


@dataclass(slots=True)
class _OwnBook:
    """A book that others may ask; one at a time, as libzim's searches want it."""

    archive: Archive
    titles: TitleLookup | None
    reading: threading.Lock = field(default_factory=threading.Lock)

    def sheet(self) -> dict[str, Any]:
        titles = self.titles
        return announcement_of(self.archive.book, (titles.rows, titles.complete) if titles else None)

    def refresh_titles(self, indexes: TitleIndexes) -> None:
        """Take the index of titles that somebody has built meanwhile."""
        if self.titles is not None and self.titles.complete:
            return
        found = indexes.open_existing(self.archive)
        if found is None or (self.titles is not None and found.rows <= self.titles.rows and not found.complete):
            if found is not None:
                found.close()
            return
        with self.reading:
            before, self.titles = self.titles, found
        if before is not None:
            before.close()

    def responds(self, until: float) -> bool:
        """Whether something can be looked up before that moment, by the clock that only goes on."""
        if not self.reading.acquire(timeout=max(until - time.monotonic(), 0.0)):
            return False
        try:
            with contextlib.suppress(KiwiError):  # a book that says what is wrong with it lets nobody wait
                self.archive.resolve(self.archive.book.main_page)
        finally:
            self.reading.release()
        return True

    def answer(self, call: Sequence[Any]) -> CallReply:
        if call and call[0] in TITLE_WAYS:
            if self.titles is None:
                raise BadCall("the book has no index of titles")
            return answer_call(TITLE_WAYS, self.titles, call)
        return answer_call(BOOK_CALLS, self.archive, call)


class OwnBooks:
    """What this host has for others; books that are themselves on a server or on another host are not passed on."""

    def __init__(self, desk: Workspace, books: Sequence[ListedBook]) -> None:
        self._desk = desk
        self._placed = tuple(book for book in books if not (book.source.is_served or book.source.is_on_peer))
        self._indexes = TitleIndexes(desk.folders.cache / "titles")
        self._opening = threading.Lock()
        self._open: Mapping[str, _OwnBook] | None = None

    def sheets(self) -> list[dict[str, Any]]:
        """What is announced: the data sheets of all books that can be opened, by UUID."""
        for book in self._opened().values():
            with contextlib.suppress(KiwiError):  # an index that cannot be read is none
                book.refresh_titles(self._indexes)
        return [book.sheet() for _, book in sorted(self._opened().items())]

    def all_respond(self, patience_s: float) -> bool:
        """Whether every book that is open answers in this time."""
        until = time.monotonic() + patience_s
        return all(book.responds(until) for book in (self._open or {}).values())

    def answers(self, book_id: str, calls: Sequence[Sequence[Any]]) -> list[CallReply | None]:
        """A reply to each call; None for those that would make the answer too long.

        BookNotFound for a book that is not here, NotACall for calls that no host of ours makes.
        """
        book = self._opened().get(book_id)
        if book is None:
            raise BookNotFound(f"There is no book {book_id!r} here.")
        replies: list[CallReply | None] = []
        size = 0
        for call in calls:
            if replies and size > TOGETHER_BYTES:
                replies.append(None)
                continue
            with book.reading:  # let go between two calls, so that nobody waits for a long list of others
                reply = book.answer(call)
            size += len(reply.content)
            replies.append(reply)
        return replies

    def close(self) -> None:
        """Close the books; if they are only being opened, the end does not wait for that."""
        if not self._opening.acquire(timeout=CLOSING_S):
            return
        try:
            for book in (self._open or {}).values():
                with book.reading:
                    book.archive.close()
                    if book.titles is not None:
                        book.titles.close()
            self._open = {}
        finally:
            self._opening.release()

    def _opened(self) -> Mapping[str, _OwnBook]:
        with self._opening:
            if self._open is None:
                self._open = self._each()
            return self._open

    def _each(self) -> dict[str, _OwnBook]:
        found: dict[str, _OwnBook] = {}
        for placed in self._placed:
            if placed.id in found:
                continue
            with contextlib.suppress(KiwiError):  # what is wrong with a book, its own host tells its own readers
                archive = self._desk.opener.open(placed.source)
                found[archive.book.id] = _OwnBook(archive, self._indexes.open(archive))
        return found


def unique_books(books: Sequence[ListedBook]) -> tuple[ListedBook, ...]:
    """Each book once, our own file first; by UUID, so that all hosts have the same order."""
    found: dict[BookId, ListedBook] = {}
    for book in sorted(books, key=lambda one: one.source.is_on_peer):
        found.setdefault(book.id, book)
    return tuple(found[book] for book in sorted(found))


class SharedShelf(Shelf):
    """The books of all hosts of a store that are up; it changes only when it is told to look again."""

    def __init__(
        self,
        own: Sequence[ListedBook],
        neighbours: OtherHosts,
        opener: Opener,
        *,
        only: Collection[BookId] | None = None,
        sample: Callable[[], ListedBook] | None = None,
    ) -> None:
        """`only` are the books a user named; `sample` stands in where no host has any book."""
        self.own = tuple(own)
        """The books whose files are here."""
        self._neighbours = neighbours
        self._only = only
        self._sample = sample
        self._failures = neighbours.failures
        self._missing: tuple[MissingBooks, ...] = ()
        super().__init__((), opener)
        self._update()

    @property
    def missing(self) -> tuple[MissingBooks, ...]:
        return self._missing

    @property
    def failures(self) -> int:
        return self._neighbours.failures

    def refresh(self) -> bool:
        """Take the books as they are now; of a host that failed, nothing is kept that was read meanwhile."""
        has_failed = self._failures != self._neighbours.failures
        if has_failed:
            self._failures = self._neighbours.failures
            for book in [one for one in self._archives if one.source.is_on_peer]:
                self._archives.pop(book).close()
        has_changed = self._drop_reindexed() or has_failed
        before = self.books
        self._update()
        for gone in self._archives.keys() - set(self.books):
            self._archives.pop(gone).close()
        return has_changed or before != self.books

    def _drop_reindexed(self) -> bool:
        """Close the books whose host has another index of their titles by now, to open them with it."""
        known = self._neighbours.books()
        old = []
        for book, archive in self._archives.items():
            far = without_policy(archive)
            if isinstance(far, PeerArchive) and book.id in known and far.title_index_size != known[book.id].titles:
                old.append(book)
        for book in old:
            self._archives.pop(book).close()
        return bool(old)

    def host_of(self, book: ListedBook) -> str:
        """The other host that has a book; empty for one of our own."""
        return self._neighbours.host_of(book.id) if book.source.is_on_peer else ""

    def currently_missing(self) -> tuple[MissingBooks, ...]:
        known = [listed_book(one.book, one.source) for host in self._neighbours.all() for one in host.books.values()]
        hidden = hidden_books(known, self._opener.policy)  # what may not be read is missed by nobody
        return self._neighbours.missing([book.id for book in (*self.own, *hidden)], self._only)

    def current_books(self) -> tuple[ListedBook, ...]:
        self._neighbours.refresh_if_stale()
        far = [listed_book(one.book, one.source) for one in self._neighbours.books().values()]
        hidden = set(hidden_books(far, self._opener.policy))
        books = unique_books([*self.own, *(book for book in far if book not in hidden)])
        return tuple(book for book in books if self._only is None or book.id in self._only)

    def _update(self) -> None:
        books = self.current_books()
        self._missing = self.currently_missing()
        self.is_sample = self._sample is not None and not books and not self._missing
        self.books = (self._sample(),) if self._sample and self.is_sample else books
