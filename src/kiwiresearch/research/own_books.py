"""The books of this host as others ask for them: open beside those its own readers use, so nobody waits in a circle.

Two hosts that search at the same moment each hold their own books while they wait for the
other's. What they ask of each other is therefore read from books that no search holds.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kiwiresearch.errors import BookNotFound, KiwiError
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.title_indexes import TitleIndexes
from kiwiresearch.search.peer_titles import WAYS as TITLE_WAYS
from kiwiresearch.search.titles import Titles
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.library import Placed
from kiwiresearch.zim.peer_calls import WAYS, NotACall, Reply, answered
from kiwiresearch.zim.peer_sheet import sheet_of
from kiwiresearch.zim.peer_wire import TOGETHER_BYTES

CLOSING_S = 2.0
"""How long the end waits for work under way."""


@dataclass(slots=True)
class _OwnBook:
    """A book that others may ask; one at a time, as libzim's searches want it."""

    archive: Archive
    titles: Titles | None
    reading: threading.Lock = field(default_factory=threading.Lock)

    def sheet(self) -> dict[str, Any]:
        titles = self.titles
        return sheet_of(self.archive.book, (titles.rows, titles.complete) if titles else None)

    def look_for_titles(self, indexes: TitleIndexes) -> None:
        """Take the index of titles that somebody has built meanwhile."""
        if self.titles is not None and self.titles.complete:
            return
        found = indexes.there(self.archive)
        if found is None or (self.titles is not None and found.rows <= self.titles.rows and not found.complete):
            if found is not None:
                found.close()
            return
        with self.reading:
            before, self.titles = self.titles, found
        if before is not None:
            before.close()

    def is_well(self, until: float) -> bool:
        """Whether something can be looked up before that moment, by the clock that only goes on."""
        if not self.reading.acquire(timeout=max(until - time.monotonic(), 0.0)):
            return False
        try:
            with contextlib.suppress(KiwiError):  # a book that says what is wrong with it lets nobody wait
                self.archive.resolve(self.archive.book.main_page)
        finally:
            self.reading.release()
        return True

    def answer(self, call: Sequence[Any]) -> Reply:
        if call and call[0] in TITLE_WAYS:
            if self.titles is None:
                raise NotACall("the book has no index of titles")
            return answered(TITLE_WAYS, self.titles, call)
        return answered(WAYS, self.archive, call)


class OwnBooks:
    """What this host has for others; books that are themselves on a server or on another host are not passed on."""

    def __init__(self, desk: Desk, books: Sequence[Placed]) -> None:
        self._desk = desk
        self._placed = tuple(book for book in books if not (book.source.is_served or book.source.is_far))
        self._indexes = TitleIndexes(desk.folders.cache / "titles")
        self._opening = threading.Lock()
        self._open: Mapping[str, _OwnBook] | None = None

    def sheets(self) -> list[dict[str, Any]]:
        """What is announced: the data sheets of all books that can be opened, by UUID."""
        for book in self._opened().values():
            with contextlib.suppress(KiwiError):  # an index that cannot be read is none
                book.look_for_titles(self._indexes)
        return [book.sheet() for _, book in sorted(self._opened().items())]

    def are_well(self, patience_s: float) -> bool:
        """Whether every book that is open answers in this time."""
        until = time.monotonic() + patience_s
        return all(book.is_well(until) for book in (self._open or {}).values())

    def answers(self, book_id: str, calls: Sequence[Sequence[Any]]) -> list[Reply | None]:
        """A reply to each call; None for those that would make the answer too long.

        BookNotFound for a book that is not here, NotACall for calls that no host of ours makes.
        """
        book = self._opened().get(book_id)
        if book is None:
            raise BookNotFound(f"There is no book {book_id!r} here.")
        replies: list[Reply | None] = []
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
