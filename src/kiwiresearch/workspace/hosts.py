"""Hosts that share one store: how a workspace reaches the others, and how a server announces itself."""

from __future__ import annotations

import contextlib
import functools
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kiwiresearch.codec import Record
from kiwiresearch.errors import BadSettings, BookNotFound, HostUnreachable, KiwiError, StoreError
from kiwiresearch.ids import BookId
from kiwiresearch.workspace.other_hosts import ALIVE_S, OtherHost, OtherHosts
from kiwiresearch.workspace.policy import hidden_books
from kiwiresearch.workspace.shared_books import CLOSING_S, OwnBooks, SharedShelf, unique_books
from kiwiresearch.workspace.workspace import Workspace, store_of
from kiwiresearch.zim import Archive, ListedBook, Shelf, book_hidden_error, listed_book

if TYPE_CHECKING:
    from kiwiresearch.store import Store

ANNOUNCE_EVERY_S = 3.0
"""How often a host announces itself and looks for others."""


def host_name(workspace: Workspace) -> str:
    """The name of this host among the others."""
    return workspace.settings.serve.name.strip() or socket.gethostname()


class OtherHostBooks:
    """Opens books of the other hosts of a workspace's store; the hosts are looked up on first use."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    @functools.cached_property
    def hosts(self) -> OtherHosts:
        hosts = OtherHosts(store_of(self._workspace), host_name(self._workspace))
        hosts.refresh()
        return hosts

    @property
    def failures(self) -> int:
        return self.hosts.failures if "hosts" in self.__dict__ else 0  # do not look up the hosts just for this

    def __call__(self, book: BookId) -> Archive:
        return self.hosts.open(book)


def connect_hosts(workspace: Workspace) -> OtherHostBooks:
    """Let a workspace open books of other hosts; they are looked up only once."""
    if not isinstance(workspace.opener.peer_opener, OtherHostBooks):
        workspace.opener.peer_opener = OtherHostBooks(workspace)
    return workspace.opener.peer_opener


def full_shared_shelf(workspace: Workspace, own: Callable[[], Sequence[ListedBook]]) -> Shelf:
    """Our own books and those of the other hosts; only our own, with a notice, if the store is unreachable."""
    try:
        return SharedShelf(
            own, connect_hosts(workspace).hosts, workspace.opener, sample=functools.cache(workspace.sample)
        )
    except StoreError as problem:
        workspace.opener.say(f"{problem} Using only the books on this host.")
        books = own()
        return Shelf(unique_books(books) or [workspace.sample()], workspace.opener, is_sample=not books)


def all_shared_books(workspace: Workspace, own: Sequence[ListedBook]) -> Sequence[ListedBook]:
    """The books that a user can name: our own, and those of the hosts that are up."""
    try:
        of_others = connect_hosts(workspace).hosts.books().values()
    except StoreError:
        return own
    return unique_books([*own, *(listed_book(peer_book.book, peer_book.source) for peer_book in of_others)])


def chosen_shared_shelf(workspace: Workspace, chosen: Sequence[ListedBook]) -> Shelf:
    """The books a user named, from any host, in the order that all hosts use; BookHidden if one is not allowed."""
    for book in hidden_books([item for item in chosen if item.source.is_on_peer], workspace.settings.policy):
        raise book_hidden_error(book.title or book.name, workspace.settings.policy)
    try:
        own = [book for book in chosen if not book.source.is_on_peer]
        return SharedShelf(
            lambda: own, connect_hosts(workspace).hosts, workspace.opener, only={book.id for book in chosen}
        )
    except StoreError:
        return Shelf(unique_books(chosen), workspace.opener)


def away_or_hidden_error(workspace: Workspace, wanted: str) -> KiwiError | None:
    """The error for a book with this name on an unreachable host; None if no host has such a book."""
    policy = workspace.settings.policy
    with contextlib.suppress(StoreError):
        hosts = connect_hosts(workspace).hosts
        for host in hosts.all():
            for peer_book in host.books.values():
                book = listed_book(peer_book.book, peer_book.source)
                if book.matches(wanted):
                    return (
                        book_hidden_error(wanted, policy)
                        if hidden_books([book], policy)
                        else hosts.book_away_error(book.id)
                    )
    return None


@dataclass(frozen=True, slots=True)
class HostStatus(Record):
    """A host as `kiwiresearch hosts` shows it."""

    name: str
    url: str
    up: bool
    ours: bool
    heard_s_ago: float
    """How long ago it announced itself."""
    there_s: float
    """How long it had been up when last heard of; 0 if it announced no books."""
    books: tuple[str, ...]
    why: str = ""
    """Why it is down."""


def host_statuses(workspace: Workspace) -> list[HostStatus]:
    """All hosts of the store by name; each is pinged to see whether it answers."""
    store = store_of(workspace)
    hosts = OtherHosts(store, "")
    try:
        hosts.refresh()
        now = store.now()
        return [_status(hosts, host, now, host_name(workspace)) for host in hosts.all()]
    finally:
        hosts.close()


def _status(hosts: OtherHosts, host: OtherHost, now: float, own: str) -> HostStatus:
    why = "" if host.is_announced else f"It has not responded for more than {ALIVE_S:.0f} s."
    if host.is_announced:
        try:
            hosts.ping(host)
        except HostUnreachable as problem:
            why = problem.message
    titles = tuple(book.book.title or book.book.name for _, book in sorted(host.books.items()))
    heard, there = max(now - host.seen_at, 0.0), max(host.seen_at - host.started_at, 0.0) if host.started_at else 0.0
    return HostStatus(host.name, host.url, not why, host.name == own, round(heard, 1), round(there, 1), titles, why)


def forget_host(workspace: Workspace, name: str) -> None:
    """Remove a host that will not return from the store, so that its books no longer count as missing."""
    store = store_of(workspace)
    if name not in {row.name for row in store.hosts.all()}:
        raise BookNotFound(f"No host is named {name!r}.", remedy="To list the hosts, run 'kiwiresearch hosts'.")
    store.hosts.leave(name)


class HostPresence:
    """Announces this server in the store every few seconds, and removes it when it stops."""

    def __init__(self, workspace: Workspace, shelf: Shelf, url: str) -> None:
        self._store: Store = store_of(workspace)
        self.hosts = connect_hosts(workspace).hosts
        self._url = url
        self._stopping = threading.Event()
        self.name = host_name(workspace)
        self.secret = self._store.keys.key("peers")
        self._started_at = self._store.now()
        self.books = OwnBooks(workspace, lambda: shelf.own if isinstance(shelf, SharedShelf) else ())
        self._refuse_duplicate_name()
        self._threads = [
            threading.Thread(target=work, name="hosts", daemon=True)
            for work in (self._announce_regularly, self._retry_failed)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def announce(self) -> None:
        """Announce this host and its books."""
        announcements = [announcement | {"since": self._started_at} for announcement in self.books.announcements()]
        if not self._stopping.is_set():  # opening large books takes a while
            self._store.hosts.announce(self.name, self._url, announcements)

    def leave(self) -> None:
        """Remove this host from the store, so that no other host waits for it."""
        self._stopping.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(CLOSING_S)
        with contextlib.suppress(StoreError):
            self._store.hosts.leave(self.name)

    def close(self) -> None:
        """Leave, and close the books that were offered to others."""
        self.leave()
        self.hosts.close()
        self.books.close()

    def _announce_regularly(self) -> None:
        while not self._stopping.is_set():
            with contextlib.suppress(KiwiError):  # if the store is unreachable, the last list is used meanwhile
                self.announce()
                self.hosts.refresh()
            self._stopping.wait(ANNOUNCE_EVERY_S)

    def _retry_failed(self) -> None:
        """Runs in its own thread: slow hosts must not delay our own announcements."""
        while not self._stopping.wait(ANNOUNCE_EVERY_S):
            self.hosts.retry_failed()

    def _refuse_duplicate_name(self) -> None:
        """Raise BadSettings if another running server has the same name: each would announce itself for both."""
        hosts = OtherHosts(self._store, "")
        try:
            hosts.refresh()
            same = [host for host in hosts.all() if host.name == self.name and host.url != self._url]
            for host in same:
                with contextlib.suppress(HostUnreachable):  # it was killed and left its row behind
                    hosts.ping(host)
                    raise BadSettings(
                        f"Another host that uses this store is also named {self.name!r}: {host.url!r}.",
                        remedy="Give each host its own 'name' under [serve] in the settings (KIWIRESEARCH_SERVE_NAME).",
                    )
        finally:
            hosts.close()
