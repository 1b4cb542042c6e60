"""The other hosts of a store: which books each has, whether it answers, and the connections to them."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import HostAway, StoreError
from kiwiresearch.ids import BookId
from kiwiresearch.messages.message import Message
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.peer import MissingBook, MissingBooks, PeerArchive
from kiwiresearch.zim.peer_protocol import Call, CallReply, PeerBook, peer_book

if TYPE_CHECKING:
    from kiwiresearch.store.hosts import HostRow
    from kiwiresearch.store.store import Store
    from kiwiresearch.zim.peer_client import PeerClient

ADDRESSES = ("http://", "https://")
HostAddress = tuple[str, str]
"""The name of a host and its address: one that moves is another."""


@dataclass(slots=True)
class _Connection:
    line: PeerClient
    users: int = 0
    is_over: bool = False


class HostConnections:
    """Lines by host; one that is no longer wanted is closed as soon as nobody speaks on it."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._kept: dict[HostAddress, _Connection] = {}

    @contextlib.contextmanager
    def connection_to(self, place: HostAddress, secret: str) -> Iterator[PeerClient]:
        """A line, for as long as the block takes."""
        kept = self._taken(place, secret)
        try:
            yield kept.line
        finally:
            with self._changing:
                kept.users -= 1
                is_last = kept.is_over and not kept.users
            if is_last:
                kept.line.close()

    def close_others(self, places: Collection[HostAddress]) -> None:
        """Hang up on all others."""
        with self._changing:
            gone = [self._kept.pop(place) for place in set(self._kept) - set(places)]
            for kept in gone:
                kept.is_over = True
            idle = [kept for kept in gone if not kept.users]
        for kept in idle:
            kept.line.close()

    def _taken(self, place: HostAddress, secret: str) -> _Connection:
        from kiwiresearch.zim.peer_client import PeerClient

        name, url = place
        if not url.startswith(ADDRESSES):
            raise HostAway(f"The host {name!r} has no address.", remedy="See 'public_url' below [serve] there.")
        with self._changing:
            if place not in self._kept:
                self._kept[place] = _Connection(PeerClient(name, url.rstrip("/"), secret))
            kept = self._kept[place]
            kept.users += 1
            return kept


ALIVE_S = 15.0
"""A host that did not announce itself for so long is down."""

SUSPEND_S = 5.0
"""A host that failed is not asked again for so long, nor waited for."""

MAX_SUSPEND_S = 300.0
"""One that answers knocks and fails what it is asked rests four times as long each time, up to this."""

STALE_S = 6.0
"""Where no server looks all the time who is there, what was seen counts for so long."""

SILENT = "It has not been heard of lately."


@dataclass(frozen=True, slots=True)
class OtherHost:
    """Another host as we know it."""

    name: str
    url: str
    books: Mapping[BookId, PeerBook]
    seen_at: float
    is_announced: bool
    """Whether it announced itself lately."""
    since: float = 0.0
    """Since when it is there, by the clock of the store; 0 where it does not tell."""
    suspended_until: float = 0.0
    problem: str = ""
    """What went wrong when it was asked last; empty where nothing did."""

    @property
    def address(self) -> HostAddress:
        return self.name, self.url

    @property
    def is_up(self) -> bool:
        return self.is_announced and time.monotonic() >= self.suspended_until


class OtherHosts:
    """All hosts of a store but our own. Several threads may ask."""

    def __init__(self, store: Store, own_name: str) -> None:
        self._store = store
        self._own_name = own_name
        self._changing = threading.Lock()
        self._known: dict[str, OtherHost] = {}
        self._rests: dict[HostAddress, tuple[float, str]] = {}
        """Until when a host is left alone, and why."""
        self._failed: dict[HostAddress, int] = {}
        """How often a host has failed since it last answered what it was asked."""
        self._lines = HostConnections()
        self._open = 0
        self._secret = ""
        self._looked_at = 0.0
        self.failures = 0
        """How often a book could be asked on no host at all."""

    def refresh(self) -> None:
        """See in the store who is there."""
        self._looked_at = time.monotonic()
        rows, now = self._store.hosts.all(), self._store.now()
        self._secret = self._secret or self._store.hosts.key("peers")
        known = {row.name: _neighbour(row, now) for row in rows if row.name != self._own_name}
        places = {host.address for host in known.values()}
        with self._changing:
            self._known = known
            self._rests = {place: rest for place, rest in self._rests.items() if place in places}
            self._failed = {place: count for place, count in self._failed.items() if place in places}
        self._lines.close_others(places)

    def refresh_if_stale(self) -> None:
        """The same where nobody has looked for a while; who cannot, goes on with what was seen."""
        if time.monotonic() - self._looked_at > STALE_S:
            with contextlib.suppress(StoreError):
                self.refresh()

    def all(self) -> list[OtherHost]:
        """The hosts by name, as they are now."""
        with self._changing:
            known, rests = sorted(self._known.items()), self._rests
            nothing = (0.0, "")
            return [
                replace(host, suspended_until=until, problem=why)
                for _, host in known
                for until, why in [rests.get(host.address, nothing)]
            ]

    def books(self) -> dict[BookId, PeerBook]:
        """The books of the hosts that are up; one that several have is that of the first by name."""
        found: dict[BookId, PeerBook] = {}
        for host in self.all():
            if host.is_up:
                found = dict(host.books) | found
        return found

    def host_of(self, book: str) -> str:
        """The host that is asked for a book; empty where none is up that has it."""
        return next((host.name for host in self._hosts_with(BookId(book))), "")

    def missing(self, there: Collection[BookId], only: Collection[BookId] | None = None) -> tuple[MissingBooks, ...]:
        """The books that no host is up to be asked for, `there` being those that need no other host."""
        known = {*there, *self.books()}
        found = []
        for host in self.all():
            lost = [one.book for book, one in host.books.items() if book not in known]
            wanted = [(book.id, book.title or book.name) for book in lost if only is None or book.id in only]
            if not host.is_up and wanted:
                known |= {book for book, _ in wanted}
                books = tuple(MissingBook(*one) for one in sorted(wanted))
                found.append(MissingBooks(host.name, books, host.problem or SILENT))
        return tuple(found)

    def open(self, book: BookId) -> Archive:
        """A book of another host; when the last one is closed, the lines are."""
        found = self.books().get(book)
        if found is None:
            with contextlib.suppress(StoreError):
                self.refresh()
            found = self.books().get(book)
        with self._changing:
            self._open += found is not None
            self.failures += found is None
        if found is None:
            raise self.unreachable_book(book)
        return PeerArchive(found.book, self, found.titles)

    def release(self) -> None:
        """Hear that a book was closed."""
        with self._changing:
            self._open -= 1
            is_last = not self._open
        if is_last:
            self.close()

    def ask(self, book: BookId, calls: Sequence[Call[Any]]) -> list[CallReply | None]:
        """What the first host says that has the book and answers; the store is asked for others before giving up."""
        for is_last in (False, True):
            for host in self._hosts_with(book):
                try:
                    with self._lines.connection_to(host.address, self._secret) as line:
                        replies = line.ask(book, calls)
                except HostAway as problem:
                    self._fail(host, problem.message)
                else:
                    self._failed.pop(host.address, None)
                    return replies
            if not is_last:
                with contextlib.suppress(StoreError):
                    self.refresh()
        with self._changing:
            self.failures += 1
        raise self.unreachable_book(book)

    def retry_failed(self) -> None:
        """See whether those who failed answer again, so that no reader has to wait to find out."""
        for host in self.all():
            if host.suspended_until and not self._keeps_failing(host):
                try:
                    self.ping(host)
                except HostAway as problem:
                    self.suspend(host, problem.message, for_s=SUSPEND_S + ALIVE_S)
                else:
                    with self._changing:
                        self._rests.pop(host.address, None)

    def ping(self, host: OtherHost) -> None:
        """HostAway unless a host is there and knows us."""
        with self._lines.connection_to(host.address, self._secret) as line:
            line.ping()

    def _fail(self, host: OtherHost, why: str) -> None:
        """Leave a host alone that failed; several who were asking it at once count as one."""
        with self._changing:
            is_known = self._rests.get(host.address, (0.0, ""))[0] > time.monotonic()
            count = self._failed[host.address] = max(self._failed.get(host.address, 0) + (not is_known), 1)
        self.suspend(host, why, for_s=min(SUSPEND_S * 4 ** (min(count, 10) - 1), MAX_SUSPEND_S))

    def _keeps_failing(self, host: OtherHost) -> bool:
        """Whether a host failed again after it had answered a knock: it rests to the end."""
        return self._failed.get(host.address, 0) > 1 and not host.is_up

    def suspend(self, host: OtherHost, why: str, *, for_s: float = SUSPEND_S) -> None:
        """Leave a host alone for a while."""
        with self._changing:
            self._rests[host.address] = (time.monotonic() + for_s, why)

    def close(self) -> None:
        """Hang up; who asks again gets a new line."""
        self._lines.close_others(())

    def unreachable_book(self, book: BookId) -> HostAway:
        """What to say of a book that no host can be asked for."""
        having = [host for host in self.all() if book in host.books]
        title = next((host.books[book].book.title for host in having), book)
        why = next((host.problem for host in having if host.problem), f"It is on {_named(having)}.")
        return HostAway(
            Message(f"The book {title!r} cannot be asked now. {why}", "host.book_away", book=title, why=why),
            remedy="'kiwiresearch hosts' shows who is there; try again when its host is.",
        )

    def _hosts_with(self, book: BookId) -> list[OtherHost]:
        return [host for host in self.all() if host.is_up and book in host.books]


def _named(hosts: Sequence[OtherHost]) -> str:
    return " and ".join(repr(host.name) for host in hosts) or "no host of this store any more"


def _neighbour(row: HostRow, now: float) -> OtherHost:
    """A host as it announced itself; of its books, what is no data sheet is left out."""
    books: dict[BookId, PeerBook] = {}
    since = 0.0
    for record in row.books:
        with contextlib.suppress(ValueError, TypeError, AttributeError, OverflowError):
            one = peer_book(record)
            books[one.book.id] = one
            told = float(record.get("since", 0.0))
            since = told if math.isfinite(told) else 0.0
    return OtherHost(row.name, row.url, books, row.seen_at, now - row.seen_at <= ALIVE_S, since)
