"""The other hosts of a store: their books, whether they answer, and the connections to them."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import HostUnreachable, StoreError
from kiwiresearch.ids import BookId
from kiwiresearch.messages import Message
from kiwiresearch.network import WEB_SCHEMES
from kiwiresearch.zim import Archive, Call, CallReply, MissingBook, MissingBooks, PeerArchive, PeerBook, peer_book

if TYPE_CHECKING:
    from kiwiresearch.store import HostRow, Store
    from kiwiresearch.zim import PeerClient

HostAddress = tuple[str, str]
"""The name of a host and its URL: a host that moves counts as another one."""


@dataclass(slots=True)
class _Connection:
    client: PeerClient
    users: int = 0
    is_retired: bool = False


class HostConnections:
    """Connections by host; one that is no longer needed is closed when its last user is done."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: dict[HostAddress, _Connection] = {}

    @contextlib.contextmanager
    def connection_to(self, address: HostAddress, secret: str) -> Iterator[PeerClient]:
        """A connection for the duration of the block."""
        connection = self._acquire(address, secret)
        try:
            yield connection.client
        finally:
            with self._lock:
                connection.users -= 1
                is_last = connection.is_retired and not connection.users
            if is_last:
                connection.client.close()

    def close_others(self, addresses: Collection[HostAddress]) -> None:
        """Close the connections to all hosts but these."""
        with self._lock:
            retired = [self._connections.pop(address) for address in set(self._connections) - set(addresses)]
            for connection in retired:
                connection.is_retired = True
            idle = [connection for connection in retired if not connection.users]
        for connection in idle:
            connection.client.close()

    def _acquire(self, address: HostAddress, secret: str) -> _Connection:
        from kiwiresearch.zim import PeerClient

        name, url = address
        if not url.startswith(WEB_SCHEMES):
            raise HostUnreachable(
                f"The host {name!r} has no address.", remedy="Set 'public_url' under [serve] on that host."
            )
        with self._lock:
            if address not in self._connections:
                self._connections[address] = _Connection(PeerClient(name, url.rstrip("/"), secret))
            connection = self._connections[address]
            connection.users += 1
            return connection


ALIVE_S = 15.0
"""A host that has not announced itself for this long is down."""

SUSPEND_S = 5.0
"""How long a host that failed is not called again."""

MAX_SUSPEND_S = 300.0
"""A host that answers pings but fails its calls is suspended four times longer each time, up to this."""

STALE_S = 6.0
"""For how long the list of hosts is used if no server refreshes it regularly."""

OFFLINE = "It is offline."


@dataclass(frozen=True, slots=True)
class OtherHost:
    """Another host, as last seen in the store."""

    name: str
    url: str
    books: Mapping[BookId, PeerBook]
    seen_at: float
    is_announced: bool
    """Whether it announced itself recently."""
    started_at: float = 0.0
    """When it started, by the clock of the store; 0 if it does not say."""
    suspended_until: float = 0.0
    problem: str = ""
    """What went wrong when it was last called, if anything."""

    @property
    def address(self) -> HostAddress:
        return self.name, self.url

    @property
    def is_up(self) -> bool:
        return self.is_announced and time.monotonic() >= self.suspended_until


class OtherHosts:
    """All hosts of a store but our own; may be used by several threads."""

    def __init__(self, store: Store, own_name: str) -> None:
        self._store = store
        self._own_name = own_name
        self._lock = threading.Lock()
        self._known: dict[str, OtherHost] = {}
        self._suspended: dict[HostAddress, tuple[float, str]] = {}
        """Until when a host is not called, and why."""
        self._failed: dict[HostAddress, int] = {}
        """How often a host has failed since it last answered a call."""
        self._connections = HostConnections()
        self._open_books = 0
        self._secret = ""
        self._refreshed_at = 0.0
        self.failures = 0
        """How often none of the hosts with a book could be reached."""

    def refresh(self) -> None:
        """Load the hosts and their books from the store."""
        self._refreshed_at = time.monotonic()
        rows, now = self._store.hosts.all(), self._store.now()
        self._secret = self._secret or self._store.keys.key("peers")
        known = {row.name: _other_host(row, now) for row in rows if row.name != self._own_name}
        addresses = {host.address for host in known.values()}
        with self._lock:
            self._known = known
            self._suspended = {address: rest for address, rest in self._suspended.items() if address in addresses}
            self._failed = {address: count for address, count in self._failed.items() if address in addresses}
        self._connections.close_others(addresses)

    def refresh_if_stale(self) -> None:
        """Reload the list if it is old; if the store is unreachable, the old list is used."""
        if time.monotonic() - self._refreshed_at > STALE_S:
            with contextlib.suppress(StoreError):
                self.refresh()

    def all(self) -> list[OtherHost]:
        """The hosts sorted by name, in their current state."""
        with self._lock:
            return [
                replace(host, suspended_until=until, problem=why)
                for _, host in sorted(self._known.items())
                for until, why in [self._suspended.get(host.address, (0.0, ""))]
            ]

    def books(self) -> dict[BookId, PeerBook]:
        """The books of the hosts that are up; if several have a book, that of the first by name."""
        found: dict[BookId, PeerBook] = {}
        for host in self.all():
            if host.is_up:
                found = dict(host.books) | found
        return found

    def host_of(self, book: str) -> str:
        """The name of the host that is called for a book; empty if no host is up that has it."""
        return next((host.name for host in self._hosts_with(BookId(book))), "")

    def missing(
        self, available: Collection[BookId], only: Collection[BookId] | None = None
    ) -> tuple[MissingBooks, ...]:
        """The books whose hosts are all down; `available` are those that need no other host."""
        known = {*available, *self.books()}
        found = []
        for host in self.all():
            lost = [book_entry.book for book, book_entry in host.books.items() if book not in known]
            wanted = [(book.id, book.title or book.name) for book in lost if only is None or book.id in only]
            if not host.is_up and wanted:
                known |= {book for book, _ in wanted}
                books = tuple(MissingBook(*item) for item in sorted(wanted))
                found.append(MissingBooks(host.name, books, host.problem or OFFLINE))
        return tuple(found)

    def open(self, book: BookId) -> Archive:
        """Open a book of another host; when the last book is closed, the connections are closed too."""
        found = self.books().get(book)
        if found is None:
            with contextlib.suppress(StoreError):
                self.refresh()
            found = self.books().get(book)
        with self._lock:
            self._open_books += found is not None
            self.failures += found is None
        if found is None:
            raise self.book_away_error(book)
        return PeerArchive(found.book, self, found.titles)

    def release(self) -> None:
        """Called when a book is closed."""
        with self._lock:
            self._open_books -= 1
            is_last = not self._open_books
        if is_last:
            self.close()

    def ask(self, book: BookId, calls: Sequence[Call[Any]]) -> list[CallReply | None]:
        """The replies of the first host that has the book and answers; before giving up, the hosts are reloaded."""
        for is_last in (False, True):
            for host in self._hosts_with(book):
                try:
                    with self._connections.connection_to(host.address, self._secret) as client:
                        replies = client.ask(book, calls)
                except HostUnreachable as problem:
                    self._fail(host, problem.message)
                else:
                    self._failed.pop(host.address, None)
                    return replies
            if not is_last:
                with contextlib.suppress(StoreError):
                    self.refresh()
        with self._lock:
            self.failures += 1
        raise self.book_away_error(book)

    def retry_failed(self) -> None:
        """Ping the hosts that failed, so that no reader has to wait to find out whether they are back."""
        for host in self.all():
            if host.suspended_until and not self._keeps_failing(host):
                try:
                    self.ping(host)
                except HostUnreachable as problem:
                    # By then a host that is gone counts as down, so that no reader has to try it in between.
                    self.suspend(host, problem.message, for_s=SUSPEND_S + ALIVE_S)
                else:
                    with self._lock:
                        self._suspended.pop(host.address, None)

    def ping(self, host: OtherHost) -> None:
        """Raise HostUnreachable unless a host is there and accepts our secret."""
        with self._connections.connection_to(host.address, self._secret) as client:
            client.ping()

    def _fail(self, host: OtherHost, why: str) -> None:
        """Suspend a host that failed; several calls that fail at the same time count as one."""
        with self._lock:
            is_known = self._suspended.get(host.address, (0.0, ""))[0] > time.monotonic()
            count = self._failed[host.address] = max(self._failed.get(host.address, 0) + (not is_known), 1)
        # Exponential backoff: 5, 20, 80, then 300 seconds. The count is bounded to keep the power small.
        self.suspend(host, why, for_s=min(SUSPEND_S * 4 ** (min(count, 10) - 1), MAX_SUSPEND_S))

    def _keeps_failing(self, host: OtherHost) -> bool:
        """Whether a host failed again after it had answered a ping; its suspension is then not cut short."""
        return self._failed.get(host.address, 0) > 1 and not host.is_up

    def suspend(self, host: OtherHost, why: str, *, for_s: float = SUSPEND_S) -> None:
        """Do not call a host for a while."""
        with self._lock:
            self._suspended[host.address] = (time.monotonic() + for_s, why)

    def close(self) -> None:
        """Close all connections; further calls open new ones."""
        self._connections.close_others(())

    def book_away_error(self, book: BookId) -> HostUnreachable:
        """The error for a book that no host can be called for."""
        having = [host for host in self.all() if book in host.books]
        title = next((host.books[book].book.title for host in having), book)
        names = " and ".join(repr(host.name) for host in having) or "a host that no longer uses this store"
        why = next((host.problem for host in having if host.problem), f"It is on {names}.")
        return HostUnreachable(
            Message(f"The book {title!r} is not available right now. {why}", "host.book_away", book=title, why=why),
            remedy="Check with 'kiwiresearch hosts' which hosts are online, then try again.",
        )

    def _hosts_with(self, book: BookId) -> list[OtherHost]:
        return [host for host in self.all() if host.is_up and book in host.books]


def _other_host(row: HostRow, now: float) -> OtherHost:
    """A host as it announced itself; invalid records of books are left out."""
    books: dict[BookId, PeerBook] = {}
    since = 0.0
    for record in row.books:
        with contextlib.suppress(ValueError, TypeError, AttributeError, OverflowError):
            announced = peer_book(record)
            books[announced.book.id] = announced
            stated = float(record.get("since", 0.0))
            since = stated if math.isfinite(stated) else 0.0
    return OtherHost(row.name, row.url, books, row.seen_at, now - row.seen_at <= ALIVE_S, since)
