"""The store: one database for all that outlives a process, opened by its URL."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from kiwiresearch.store.audit import Audit
from kiwiresearch.store.cases import CaseRows
from kiwiresearch.store.database import BUSY_S, Database
from kiwiresearch.store.files import Files
from kiwiresearch.store.hosts import Hosts
from kiwiresearch.store.jobs import Jobs
from kiwiresearch.store.notes import NoteLines
from kiwiresearch.store.parts import Parts
from kiwiresearch.store.people import People
from kiwiresearch.store.versions import make_ready


class Store:
    """Jobs, runs, notes, hosts, people, audit and cases. All of it is safe from several threads and processes.

    A process that forks must not use in the child what it opened before.
    """

    def __init__(self, database: Database, *, keeps_all: bool) -> None:
        self._database = database
        self.url_name = database.name
        """The URL without its password, or the file: what messages call it."""
        self.is_shared = not database.is_file
        """Whether it is a server, which several hosts can reach."""
        self.keeps_all = keeps_all
        """Whether runs, notes and cases live in it, and folders are only working copies."""
        self.jobs = Jobs(database)
        self.parts = Parts(database)
        self.files = Files(database)
        self.notes = NoteLines(database)
        self.hosts = Hosts(database)
        self.people = People(database)
        self.audit = Audit(database)
        self.cases = CaseRows(database)

    def now(self) -> float:
        """Seconds since 1970: by the clock of the server that all share, else by the one passed in."""
        with self._database.reading() as connection:
            return self._database.now(connection)

    def digest(self) -> str:
        """A hash over all that is kept; what differs from one store to the next without meaning is left out."""
        from kiwiresearch.store.digest import digest_of

        return digest_of(self._database)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_store(url: str, *, keeps_all: bool, clock: Callable[[], float], busy_s: float = BUSY_S) -> Store:
    """The store at `sqlite:///ABSOLUTE/PATH` or `postgresql://…`, made if it is not there yet.

    `clock` gives seconds since 1970, by which leases are judged in a file. Errors: BadUsage (no such
    kind of URL, no driver), CannotWrite, StoreUnreachable (try again), StoreDamaged (no store, or a newer one).
    """
    database = Database(url, clock, busy_s=busy_s)
    try:
        make_ready(database)
    except BaseException:
        database.close()
        raise
    return Store(database, keeps_all=keeps_all)
