"""Books shared between hosts: those this host offers to others, and one shelf over the books of all."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import BookNotFound, KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.search import TITLE_CALLS, TitleLookup
from kiwiresearch.workspace.models import TitleIndexes
from kiwiresearch.workspace.other_hosts import OtherHosts
from kiwiresearch.workspace.policy import hidden_books
from kiwiresearch.workspace.workspace import Workspace
from kiwiresearch.zim import (
    BOOK_CALLS,
    TOGETHER_BYTES,
    Archive,
    BadCall,
    CallReply,
    ListedBook,
    MissingBooks,
    Opener,
    PeerArchive,
    Shelf,
    announcement_of,
    answer_call,
    listed_book,
    without_policy,
)

CLOSING_S = 2.0
"""How long closing waits for work in progress."""


@dataclass(slots=True)
class _OwnBook:
    """A book that other hosts may call, one call at a time, as libzim's searches require."""

    archive: Archive
    titles: TitleLookup | None
    read_lock: threading.Lock = field(default_factory=threading.Lock)

    def announcement(self) -> JsonDict:
        titles = self.titles
        return announcement_of(self.archive.book, (titles.rows, titles.complete) if titles else None)

    def refresh_titles(self, indexes: TitleIndexes) -> None:
        """Use the title index that was built meanwhile, if there is one."""
        if self.titles is not None and self.titles.complete:
            return
        found = indexes.open_existing(self.archive)
        if found is None or (self.titles is not None and found.rows <= self.titles.rows and not found.complete):
            if found is not None:
                found.close()
            return
        with self.read_lock:
            before, self.titles = self.titles, found
        if before is not None:
            before.close()

    def responds(self, until: float) -> bool:
        """Whether the book answers before a moment of the monotonic clock."""
        if not self.read_lock.acquire(timeout=max(until - time.monotonic(), 0.0)):
            return False
        try:
            with contextlib.suppress(KiwiError):  # an error is an answer too
                self.archive.resolve(self.archive.book.main_page)
        finally:
            self.read_lock.release()
        return True

    def close(self) -> None:
        with self.read_lock:
            self.archive.close()
            if self.titles is not None:
                self.titles.close()

    def answer(self, call: Sequence[Any]) -> CallReply:
        if call and call[0] in TITLE_CALLS:
            if self.titles is None:
                raise BadCall("the book has no title index")
            return answer_call(TITLE_CALLS, self.titles, call)
        return answer_call(BOOK_CALLS, self.archive, call)


class OwnBooks:
    """The books this host offers to others: its own files, not books on a server or on another host."""

    def __init__(self, workspace: Workspace, books: Callable[[], Sequence[ListedBook]]) -> None:
        """`books` gives the current list, which may change."""
        self._workspace = workspace
        self._books = books
        self._indexes = TitleIndexes(workspace.folders.cache / "titles")
        self._open_lock = threading.Lock()
        self._open: Mapping[str, _OwnBook] | None = None

    def announcements(self) -> list[JsonDict]:
        """The announcements of all books that can be opened, sorted by UUID."""
        self._follow_list()
        for book in self._opened().values():
            with contextlib.suppress(KiwiError):  # an unreadable index is ignored
                book.refresh_titles(self._indexes)
        return [book.announcement() for _, book in sorted(self._opened().items())]

    def all_respond(self, timeout_s: float) -> bool:
        """Whether every open book answers within this time."""
        until = time.monotonic() + timeout_s
        return all(book.responds(until) for book in (self._open or {}).values())

    def answers(self, book_id: str, calls: Sequence[Sequence[Any]]) -> list[CallReply | None]:
        """A reply to each call; None for those that would make the answer too large.

        BookNotFound for a book that is not here, BadCall for calls that none of our hosts would make.
        """
        book = self._opened().get(book_id)
        if book is None:
            raise BookNotFound(f"The book {book_id!r} was not found here.")
        replies: list[CallReply | None] = []
        size = 0
        for call in calls:
            if replies and size > TOGETHER_BYTES:
                replies.append(None)
                continue
            with book.read_lock:  # released between calls, so that others need not wait for a long list
                reply = book.answer(call)
            size += len(reply.content)
            replies.append(reply)
        return replies

    def close(self) -> None:
        """Close the books, unless they are still being opened, for which closing does not wait."""
        if not self._open_lock.acquire(timeout=CLOSING_S):
            return
        try:
            for book in (self._open or {}).values():
                book.close()
            self._open = {}
        finally:
            self._open_lock.release()

    def _opened(self) -> Mapping[str, _OwnBook]:
        with self._open_lock:
            if self._open is None:
                self._open = self._opened_from(self._files(), {})
            return self._open

    def _files(self) -> tuple[ListedBook, ...]:
        return tuple(book for book in self._books() if book.source.is_local)

    def _opened_from(self, files: Sequence[ListedBook], before: Mapping[str, _OwnBook]) -> Mapping[str, _OwnBook]:
        found: dict[str, _OwnBook] = {}
        for listed in files:
            if listed.id in before:
                found[listed.id] = before[listed.id]
            elif listed.id not in found:
                with contextlib.suppress(KiwiError):  # reported to this host's own users
                    archive = self._workspace.opener.open(listed.source)
                    found[archive.book.id] = _OwnBook(archive, self._indexes.open(archive))
        return found

    def _follow_list(self) -> None:
        """Open books that were added to the list meanwhile, and close those that were removed."""
        with self._open_lock:
            if self._open is None:
                return
            before, self._open = self._open, self._opened_from(self._files(), self._open)
            gone = [book for key, book in before.items() if key not in self._open]
        for book in gone:
            book.close()


def unique_books(books: Sequence[ListedBook]) -> tuple[ListedBook, ...]:
    """Each book once, preferring our own file; sorted by UUID, so that all hosts use the same order."""
    found: dict[BookId, ListedBook] = {}
    for book in sorted(books, key=lambda item: item.source.is_on_peer):
        found.setdefault(book.id, book)
    return tuple(found[book] for book in sorted(found))


class SharedShelf(Shelf):
    """The books of all hosts of a store that are up; it changes only on `refresh`."""

    def __init__(
        self,
        own: Callable[[], Sequence[ListedBook]],
        hosts: OtherHosts,
        opener: Opener,
        *,
        only: Collection[BookId] | None = None,
        sample: Callable[[], ListedBook] | None = None,
    ) -> None:
        """`own` are the current books of this host; `only` are the books a user named.

        `sample` is used if no host has any book.
        """
        self._own_books = own
        self._hosts = hosts
        self._only = only
        self._sample = sample
        self._failures = hosts.failures
        self._missing: tuple[MissingBooks, ...] = ()
        super().__init__((), opener)
        self._update()

    @property
    def follows_library(self) -> bool:  # type: ignore[override]
        return self._only is None

    @property
    def own(self) -> tuple[ListedBook, ...]:
        """The books whose files are on this host."""
        return tuple(self._own_books())

    @property
    def missing(self) -> tuple[MissingBooks, ...]:
        return self._missing

    @property
    def failures(self) -> int:
        return self._hosts.failures

    def refresh(self) -> bool:
        """Reload the list; after a failure all books of other hosts are reopened, since replies may be incomplete."""
        has_failed = self._failures != self._hosts.failures
        if has_failed:
            self._failures = self._hosts.failures
            for book in [archive for archive in self._archives if archive.source.is_on_peer]:
                self._archives.pop(book).close()
        has_changed = self._drop_reindexed() or has_failed
        before = self.books
        self._update()
        for gone in self._archives.keys() - set(self.books):
            self._archives.pop(gone).close()
        return has_changed or before != self.books

    def _drop_reindexed(self) -> bool:
        """Close the books whose title index on their host has changed, so that they are reopened with the new one."""
        known = self._hosts.books()
        old = []
        for book, archive in self._archives.items():
            remote = without_policy(archive)
            if (
                isinstance(remote, PeerArchive)
                and book.id in known
                and remote.title_index_size != known[book.id].titles
            ):
                old.append(book)
        for book in old:
            self._archives.pop(book).close()
        return bool(old)

    def host_of(self, book: ListedBook) -> str:
        return self._hosts.host_of(book.id) if book.source.is_on_peer else ""

    def currently_missing(self) -> tuple[MissingBooks, ...]:
        known = [
            listed_book(peer_book.book, peer_book.source)
            for host in self._hosts.all()
            for peer_book in host.books.values()
        ]
        hidden = hidden_books(known, self._opener.policy)  # a hidden book is not missing
        return self._hosts.missing([book.id for book in (*self.own, *hidden)], self._only)

    def current_books(self) -> tuple[ListedBook, ...]:
        books = self._books_of_hosts()
        return books or (() if self._sample is None or self.currently_missing() else (self._sample(),))

    def _books_of_hosts(self) -> tuple[ListedBook, ...]:
        self._hosts.refresh_if_stale()
        of_others = [listed_book(peer_book.book, peer_book.source) for peer_book in self._hosts.books().values()]
        hidden = set(hidden_books(of_others, self._opener.policy))
        books = unique_books([*self.own, *(book for book in of_others if book not in hidden)])
        return tuple(book for book in books if self._only is None or book.id in self._only)

    def _update(self) -> None:
        self.books = self.current_books()
        self._missing = self.currently_missing()
        self.is_sample = bool(self.books) and not self._books_of_hosts()
