"""The other hosts of a store: who has which book, who answers, and who is left in peace for a while."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import HostAway, StoreError
from kiwiresearch.ids import BookId
from kiwiresearch.research.host_lines import HostLines, Place
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.peer import Missing, PeerArchive
from kiwiresearch.zim.peer_calls import Call, Reply
from kiwiresearch.zim.peer_sheet import FarBook, far_book

if TYPE_CHECKING:
    from kiwiresearch.store.hosts import HostRow
    from kiwiresearch.store.open import Store

HEARD_S = 15.0
"""A host that did not announce itself for so long is down."""

REST_S = 5.0
"""A host that failed is not asked again for so long, nor waited for."""

LONGEST_REST_S = 300.0
"""One that answers knocks and fails what it is asked rests four times as long each time, up to this."""

OLD_S = 6.0
"""Where no server looks all the time who is there, what was seen counts for so long."""

SILENT = "It has not been heard of lately."


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another host as we know it."""

    name: str
    url: str
    books: Mapping[BookId, FarBook]
    seen_at: float
    is_heard: bool
    """Whether it announced itself lately."""
    since: float = 0.0
    """Since when it is there, by the clock of the store; 0 where it does not tell."""
    rests_until: float = 0.0
    why: str = ""
    """What went wrong when it was asked last; empty where nothing did."""

    @property
    def place(self) -> Place:
        return self.name, self.url

    @property
    def is_up(self) -> bool:
        return self.is_heard and time.monotonic() >= self.rests_until


class Neighbours:
    """All hosts of a store but our own. Several threads may ask."""

    def __init__(self, store: Store, own_name: str) -> None:
        self._store = store
        self._own_name = own_name
        self._changing = threading.Lock()
        self._known: dict[str, Neighbour] = {}
        self._rests: dict[Place, tuple[float, str]] = {}
        """Until when a host is left alone, and why."""
        self._failed: dict[Place, int] = {}
        """How often a host has failed since it last answered what it was asked."""
        self._lines = HostLines()
        self._open = 0
        self._secret = ""
        self._looked_at = 0.0
        self.failures = 0
        """How often a book could be asked on no host at all."""

    def look(self) -> None:
        """See in the store who is there."""
        self._looked_at = time.monotonic()
        rows, now = self._store.hosts.all(), self._store.now()
        self._secret = self._secret or self._store.hosts.key("peers")
        known = {row.name: _neighbour(row, now) for row in rows if row.name != self._own_name}
        places = {host.place for host in known.values()}
        with self._changing:
            self._known = known
            self._rests = {place: rest for place, rest in self._rests.items() if place in places}
            self._failed = {place: count for place, count in self._failed.items() if place in places}
        self._lines.keep_only(places)

    def look_if_old(self) -> None:
        """The same where nobody has looked for a while; who cannot, goes on with what was seen."""
        if time.monotonic() - self._looked_at > OLD_S:
            with contextlib.suppress(StoreError):
                self.look()

    def all(self) -> list[Neighbour]:
        """The hosts by name, as they are now."""
        with self._changing:
            known, rests = sorted(self._known.items()), self._rests
            nothing = (0.0, "")
            return [
                replace(host, rests_until=until, why=why)
                for _, host in known
                for until, why in [rests.get(host.place, nothing)]
            ]

    def books(self) -> dict[BookId, FarBook]:
        """The books of the hosts that are up; one that several have is that of the first by name."""
        found: dict[BookId, FarBook] = {}
        for host in self.all():
            if host.is_up:
                found = dict(host.books) | found
        return found

    def host_of(self, book: str) -> str:
        """The host that is asked for a book; empty where none is up that has it."""
        return next((host.name for host in self._having(BookId(book))), "")

    def missing(self, there: Collection[BookId], only: Collection[BookId] | None = None) -> tuple[Missing, ...]:
        """The books that no host is up to be asked for, `there` being those that need no other host."""
        known = {*there, *self.books()}
        found = []
        for host in self.all():
            lost = [one.book for book, one in host.books.items() if book not in known]
            wanted = [(book.id, book.title or book.name) for book in lost if only is None or book.id in only]
            if not host.is_up and wanted:
                known |= {book for book, _ in wanted}
                found.append(Missing(host.name, tuple(sorted(wanted)), host.why or SILENT))
        return tuple(found)

    def open(self, book: BookId) -> Archive:
        """A book of another host; when the last one is closed, the lines are."""
        found = self.books().get(book)
        if found is None:
            with contextlib.suppress(StoreError):
                self.look()
            found = self.books().get(book)
        with self._changing:
            self._open += found is not None
            self.failures += found is None
        if found is None:
            raise self.nobody(book)
        return PeerArchive(found.book, self, found.titles)

    def let_go(self) -> None:
        """Hear that a book was closed."""
        with self._changing:
            self._open -= 1
            is_last = not self._open
        if is_last:
            self.close()

    def ask(self, book: BookId, calls: Sequence[Call[Any]]) -> list[Reply | None]:
        """What the first host says that has the book and answers; the store is asked for others before giving up."""
        for is_last in (False, True):
            for host in self._having(book):
                try:
                    with self._lines.to(host.place, self._secret) as line:
                        replies = line.ask(book, calls)
                except HostAway as problem:
                    self._fail(host, problem.message)
                else:
                    self._failed.pop(host.place, None)
                    return replies
            if not is_last:
                with contextlib.suppress(StoreError):
                    self.look()
        with self._changing:
            self.failures += 1
        raise self.nobody(book)

    def knock(self) -> None:
        """See whether those who failed answer again, so that no reader has to wait to find out."""
        for host in self.all():
            if host.rests_until and not self._is_tired_of(host):
                try:
                    self.ping(host)
                except HostAway as problem:
                    self.rest(host, problem.message, for_s=REST_S + HEARD_S)
                else:
                    with self._changing:
                        self._rests.pop(host.place, None)

    def ping(self, host: Neighbour) -> None:
        """HostAway unless a host is there and knows us."""
        with self._lines.to(host.place, self._secret) as line:
            line.ping()

    def _fail(self, host: Neighbour, why: str) -> None:
        """Leave a host alone that failed; several who were asking it at once count as one."""
        with self._changing:
            is_known = self._rests.get(host.place, (0.0, ""))[0] > time.monotonic()
            count = self._failed[host.place] = max(self._failed.get(host.place, 0) + (not is_known), 1)
        self.rest(host, why, for_s=min(REST_S * 4 ** (min(count, 10) - 1), LONGEST_REST_S))

    def _is_tired_of(self, host: Neighbour) -> bool:
        """Whether a host failed again after it had answered a knock: it rests to the end."""
        return self._failed.get(host.place, 0) > 1 and not host.is_up

    def rest(self, host: Neighbour, why: str, *, for_s: float = REST_S) -> None:
        """Leave a host alone for a while."""
        with self._changing:
            self._rests[host.place] = (time.monotonic() + for_s, why)

    def close(self) -> None:
        """Hang up; who asks again gets a new line."""
        self._lines.keep_only(())

    def nobody(self, book: BookId) -> HostAway:
        """What to say of a book that no host can be asked for."""
        having = [host for host in self.all() if book in host.books]
        title = next((host.books[book].book.title for host in having), book)
        why = next((host.why for host in having if host.why), f"It is on {_named(having)}.")
        return HostAway(
            f"The book {title!r} cannot be asked now. {why}",
            remedy="'kiwiresearch hosts' shows who is there; try again when its host is.",
        )

    def _having(self, book: BookId) -> list[Neighbour]:
        return [host for host in self.all() if host.is_up and book in host.books]


def _named(hosts: Sequence[Neighbour]) -> str:
    return " and ".join(repr(host.name) for host in hosts) or "no host of this store any more"


def _neighbour(row: HostRow, now: float) -> Neighbour:
    """A host as it announced itself; of its books, what is no data sheet is left out."""
    books: dict[BookId, FarBook] = {}
    since = 0.0
    for record in row.books:
        with contextlib.suppress(ValueError, TypeError, AttributeError, OverflowError):
            one = far_book(record)
            books[one.book.id] = one
            told = float(record.get("since", 0.0))
            since = told if math.isfinite(told) else 0.0
    return Neighbour(row.name, row.url, books, row.seen_at, now - row.seen_at <= HEARD_S, since)
