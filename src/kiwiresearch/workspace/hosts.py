"""The hosts that share one store: how a workspace reaches them, and how a server announces itself."""

from __future__ import annotations

import contextlib
import functools
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import BadSettings, BookNotFound, HostAway, KiwiError, StoreError
from kiwiresearch.ids import BookId
from kiwiresearch.workspace.neighbours import ALIVE_S, OtherHost, OtherHosts
from kiwiresearch.workspace.policy import hidden_books
from kiwiresearch.workspace.shared_books import CLOSING_S, OwnBooks, SharedShelf, unique_books
from kiwiresearch.workspace.workspace import Workspace, store_of
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.library import ListedBook, Shelf, listed_book
from kiwiresearch.zim.policy import book_hidden

if TYPE_CHECKING:
    from kiwiresearch.store.store import Store

ANNOUNCE_EVERY_S = 3.0
"""How often a host announces itself and looks who else is there."""


def host_name(desk: Workspace) -> str:
    """What this host is called among the others."""
    return desk.settings.serve.name.strip() or socket.gethostname()


def is_shared(desk: Workspace) -> bool:
    """Whether the settings name a store, in which hosts meet."""
    return bool(desk.settings.store.strip())


class RemoteBooks:
    """The other hosts of a desk's store, met when they are first needed; it opens their books."""

    def __init__(self, desk: Workspace) -> None:
        self._desk = desk

    @functools.cached_property
    def hosts(self) -> OtherHosts:
        met = OtherHosts(store_of(self._desk), host_name(self._desk))
        met.refresh()
        return met

    @property
    def failures(self) -> int:
        return self.hosts.failures if "neighbours" in self.__dict__ else 0

    def __call__(self, book: BookId) -> Archive:
        return self.hosts.open(book)


def connect_hosts(desk: Workspace) -> RemoteBooks:
    """Let a desk open books of other hosts; it meets them once."""
    if not isinstance(desk.opener.peer_opener, RemoteBooks):
        desk.opener.peer_opener = RemoteBooks(desk)
    return desk.opener.peer_opener


def full_shared_shelf(desk: Workspace, own: Sequence[ListedBook]) -> Shelf:
    """Our own books and those of the other hosts; where the store is away, our own alone, which is told."""
    try:
        return SharedShelf(own, connect_hosts(desk).hosts, desk.opener, sample=functools.cache(desk.sample))
    except StoreError as problem:
        desk.opener.say(f"{problem} Only the books of this host are asked.")
        return Shelf(unique_books(own) or [desk.sample()], desk.opener, is_sample=not own)


def all_shared_books(desk: Workspace, own: Sequence[ListedBook]) -> Sequence[ListedBook]:
    """The books that a user may name: our own, and those of the hosts that are up."""
    try:
        far = connect_hosts(desk).hosts.books().values()
    except StoreError:
        return own
    return unique_books([*own, *(listed_book(one.book, one.source) for one in far)])


def chosen_shared_shelf(desk: Workspace, chosen: Sequence[ListedBook]) -> Shelf:
    """The books a user named, of any host, in the order that all hosts have; BookHidden for one that is not allowed."""
    for book in hidden_books([one for one in chosen if one.source.is_on_peer], desk.settings.policy):
        raise book_hidden(book.title or book.name, desk.settings.policy)
    try:
        own = [book for book in chosen if not book.source.is_on_peer]
        return SharedShelf(own, connect_hosts(desk).hosts, desk.opener, only={book.id for book in chosen})
    except StoreError:
        return Shelf(unique_books(chosen), desk.opener)


def unreachable_book(desk: Workspace, wanted: str) -> KiwiError | None:
    """What to say of a book that goes by this name on a host that is away; None where no host has such a book."""
    policy = desk.settings.policy
    with contextlib.suppress(StoreError):
        for host in connect_hosts(desk).hosts.all():
            for one in host.books.values():
                book = listed_book(one.book, one.source)
                if book.matches(wanted):
                    is_hidden = bool(hidden_books([book], policy))
                    return (
                        book_hidden(wanted, policy)
                        if is_hidden
                        else connect_hosts(desk).hosts.unreachable_book(book.id)
                    )
    return None


@dataclass(frozen=True, slots=True)
class HostStatus:
    """A host as 'kiwiresearch hosts' and the desk tell of it."""

    name: str
    url: str
    is_up: bool
    is_ours: bool
    silent_s: float
    """How long ago it was heard of."""
    there_s: float
    """How long it has been there when it was heard of last; 0 where it has no books to tell."""
    books: tuple[str, ...]
    why: str = ""

    def record(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "url": self.url,
            "up": self.is_up,
            "ours": self.is_ours,
            "heard_s_ago": round(self.silent_s, 1),
            "there_s": round(self.there_s, 1),
            "books": list(self.books),
            "why": self.why,
        }


def host_statuses(desk: Workspace) -> list[HostStatus]:
    """All hosts of the store by name, each asked whether it answers."""
    store = store_of(desk)
    everybody = OtherHosts(store, "")
    try:
        everybody.refresh()
        now = store.now()
        return [_status(everybody, host, now, host_name(desk)) for host in everybody.all()]
    finally:
        everybody.close()


def _status(everybody: OtherHosts, host: OtherHost, now: float, own: str) -> HostStatus:
    why = "" if host.is_announced else f"It has not been heard of for more than {ALIVE_S:.0f} s."
    if host.is_announced:
        try:
            everybody.ping(host)
        except HostAway as problem:
            why = problem.message
    titles = tuple(one.book.title or one.book.name for _, one in sorted(host.books.items()))
    heard, there = max(now - host.seen_at, 0.0), max(host.seen_at - host.since, 0.0) if host.since else 0.0
    return HostStatus(host.name, host.url, not why, host.name == own, heard, there, titles, why)


def forget_host(desk: Workspace, name: str) -> None:
    """Take a host out of the store that will not come back: its books are no longer missing."""
    store = store_of(desk)
    if name not in {row.name for row in store.hosts.all()}:
        raise BookNotFound(f"There is no host {name!r}.", remedy="'kiwiresearch hosts' shows them all.")
    store.hosts.leave(name)


class HostPresence:
    """A server among the others: announced every few seconds, gone from the list when it ends."""

    def __init__(self, desk: Workspace, shelf: Shelf, url: str) -> None:
        self._store: Store = store_of(desk)
        self._neighbours = connect_hosts(desk).hosts
        self._url = url
        self._end = threading.Event()
        self.name = host_name(desk)
        self.secret = self._store.hosts.key("peers")
        self._since = self._store.now()
        own = shelf.own if isinstance(shelf, SharedShelf) else ()
        self.books = OwnBooks(desk, own)
        self._refuse_duplicate_name()
        self._threads = [
            threading.Thread(target=work, name="hosts", daemon=True) for work in (self._work, self._retry_failed)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def announce(self) -> None:
        """Say that we are here, with these books."""
        sheets = [sheet | {"since": self._since} for sheet in self.books.sheets()]
        if not self._end.is_set():  # opening large books takes a while
            self._store.hosts.announce(self.name, self._url, sheets)

    def refresh(self) -> None:
        """See who else is there."""
        self._neighbours.refresh()

    def leave(self) -> None:
        """Take ourselves off the list, so that nobody waits for us."""
        self._end.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(CLOSING_S)
        with contextlib.suppress(StoreError):
            self._store.hosts.leave(self.name)

    def close(self) -> None:
        """Leave, and close the books that others asked."""
        self.leave()
        self._neighbours.close()
        self.books.close()

    def _work(self) -> None:
        while not self._end.is_set():
            with contextlib.suppress(KiwiError):  # a store that is away comes back; until then we know whom we knew
                self.announce()
                self.refresh()
            self._end.wait(ANNOUNCE_EVERY_S)

    def _retry_failed(self) -> None:
        """Knock apart from the rest: hosts that let us wait must not keep us from saying that we are here."""
        while not self._end.wait(ANNOUNCE_EVERY_S):
            self._neighbours.retry_failed()

    def _refuse_duplicate_name(self) -> None:
        """Two servers of one name would speak for each other."""
        everybody = OtherHosts(self._store, "")
        try:
            everybody.refresh()
            same = [host for host in everybody.all() if host.name == self.name and host.url != self._url]
            for host in same:
                with contextlib.suppress(HostAway):  # it was killed and left its row behind
                    everybody.ping(host)
                    raise BadSettings(
                        f"Another host of this store is called {self.name!r}, at {host.url!r}.",
                        remedy="Give each its own: 'name' below [serve] in the settings, or KIWIRESEARCH_SERVE_NAME.",
                    )
        finally:
            everybody.close()
