"""The store: opened by its URL, brought to the current version, and compared by its digest."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Self

from sqlalchemy import Connection, delete, select, update

from kiwiresearch.errors import BadUsage, CannotWrite, StoreDamaged
from kiwiresearch.store.audit import Audit
from kiwiresearch.store.database import BUSY_S, STORE_ERRORS, Database
from kiwiresearch.store.engine import Address
from kiwiresearch.store.hosts import Hosts
from kiwiresearch.store.jobs import Jobs
from kiwiresearch.store.leases import Leases
from kiwiresearch.store.runs import Files, NoteLines, Parts
from kiwiresearch.store.schema import Schema, digest, table_names
from kiwiresearch.store.tables import CASE, HOST, JOB, METADATA, STORE
from kiwiresearch.store.users import Users

SCHEMA = Schema(METADATA, STORE, version=1, migrations=MappingProxyType({}))
CLOCK_COLUMNS = frozenset({JOB.c.started_at, JOB.c.lease_until, HOST.c.seen_at})
"""Times by the store's own clock, which differ between two stores of the same content."""


def prepare_tables(db: Database) -> None:
    """Create or migrate the tables; any number of processes may do so at once."""
    _make_file(db)
    with db.reading() as connection:
        version = _version(connection, db)
    if db.is_file:
        db.enable_wal()
    if version != SCHEMA.version:
        with db.writing("tables") as connection:
            version = _version(connection, db)
            if version:
                SCHEMA.upgrade(connection, version)
            else:
                SCHEMA.create(connection)


def _make_file(db: Database) -> None:
    if db.path is None:
        return
    try:
        db.path.parent.mkdir(parents=True, exist_ok=True)
        if not db.path.exists():  # it will contain a secret: nobody else may read it
            os.close(os.open(db.path, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as problem:
        why = "a file is where its folder should be" if isinstance(problem, FileExistsError) else problem.strerror
        raise CannotWrite(
            f"The store {db.name!r} cannot be made: {why}.",
            remedy="Check the folder's permissions and the space on the disk.",
        ) from problem


def _version(connection: Connection, db: Database) -> int:
    """The version of the store; 0 if there is none yet."""
    version = SCHEMA.read_version(connection, db)
    others = table_names(connection) if version == 0 else set()
    if others if db.is_file else others & set(METADATA.tables):
        raise StoreDamaged(
            f"{db.name!r} is no store: the tables of one are not in it.", remedy="Name another file or address."
        )
    return version


@dataclass(frozen=True, slots=True)
class CaseEntry:
    """A family case. Its id names nobody; its name may be that of a living person."""

    id: str
    name: str
    place: str
    """The schema or file that holds it."""
    made_at: str
    changed_at: str


class CaseList:
    """The family cases of a store; their contents are elsewhere."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(self, row: CaseEntry) -> bool:
        """Add a case; False if there is one with its id or name."""
        new = self._db.insert(CASE).values(asdict(row)).on_conflict_do_nothing().returning(CASE.c.id)
        with self._db.writing() as connection:
            return connection.execute(new).one_or_none() is not None

    def get(self, case_id: str) -> CaseEntry | None:
        with self._db.reading() as connection:
            row = connection.execute(select(CASE).where(CASE.c.id == case_id)).one_or_none()
        return CaseEntry(**row._mapping) if row is not None else None

    def all(self) -> list[CaseEntry]:
        """All cases by their ids."""
        with self._db.reading() as connection:
            return [CaseEntry(**row._mapping) for row in connection.execute(select(CASE).order_by(CASE.c.id))]

    def note_change(self, case_id: str, *, at: str) -> None:
        with self._db.writing() as connection:
            connection.execute(update(CASE).where(CASE.c.id == case_id).values(changed_at=at))

    def remove(self, case_id: str) -> None:
        """Delete the entry of a case, whose contents the caller has removed."""
        with self._db.writing() as connection:
            connection.execute(delete(CASE).where(CASE.c.id == case_id))


class Store:
    """Jobs, runs, notes, hosts, users, audit and cases; safe to use from several threads and processes.

    A process that forks must not use in the child what it opened before.
    """

    def __init__(self, database: Database, *, is_primary: bool) -> None:
        self._database = database
        self.display_name = database.name
        """The URL without its password, or the file: the name used in messages."""
        self.is_shared = not database.is_file
        """Whether it is a server, which several hosts can reach."""
        self.is_primary = is_primary
        """Whether it holds runs, notes and cases, and folders are only working copies."""
        self.jobs = Jobs(database)
        self.leases = Leases(database)
        self.parts = Parts(database)
        self.files = Files(database)
        self.notes = NoteLines(database)
        self.hosts = Hosts(database)
        self.users = Users(database)
        self.audit = Audit(database)
        self.cases = CaseList(database)

    def now(self) -> float:
        """Seconds since 1970: by the clock of the shared server, or by the one passed in."""
        with self._database.reading() as connection:
            return self._database.now(connection)

    def digest(self) -> str:
        """A hash of everything in the store except its secret and the times of its own clock."""
        with self._database.reading() as connection:
            return digest(
                connection, [table for table in METADATA.tables.values() if table is not STORE], CLOCK_COLUMNS
            )

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(url: str, *, is_primary: bool, clock: Callable[[], float], busy_s: float = BUSY_S) -> Store:
    """The store at `sqlite:///ABSOLUTE/PATH` or `postgresql://…`, created if it does not exist.

    `clock` gives seconds since 1970, for the leases in a file. Errors: BadUsage (unknown kind of URL, no
    driver), CannotWrite, StoreUnreachable (try again), StoreDamaged (not a store, or a newer one).
    """
    if "://" not in url:
        remedy = "Write sqlite:///ABSOLUTE/PATH or postgresql://USER@HOST/DATABASE."
        raise BadUsage("The store is no URL.", remedy=remedy)
    database = Database(Address.parse(url, "store"), STORE_ERRORS, clock, busy_s=busy_s)
    try:
        prepare_tables(database)
    except BaseException:
        database.close()
        raise
    return Store(database, is_primary=is_primary)
