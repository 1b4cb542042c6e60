"""The store: opened by its URL and brought to the current version; its hosts, its list of cases, and its digest."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import isfinite
from types import MappingProxyType
from typing import Any, Literal, Self

from sqlalchemy import Connection, Row, delete, select, text, update

from kiwiresearch.errors import BadUsage, CannotWrite, StoreDamaged
from kiwiresearch.store.audit import Audit
from kiwiresearch.store.database import BUSY_S, STORE_ERRORS, Database
from kiwiresearch.store.engine import BACKUP_REMEDY, Address
from kiwiresearch.store.jobs import Jobs
from kiwiresearch.store.leases import Leases
from kiwiresearch.store.questions import QuestionRows
from kiwiresearch.store.removed_items import RemovedRows
from kiwiresearch.store.runs import NoteLines, RunFiles, UnfinishedFiles
from kiwiresearch.store.schema import DatabaseSchema, Migration, digest, table_names
from kiwiresearch.store.sign_in_links import SignInLinks
from kiwiresearch.store.tables import (
    CASE,
    HOST,
    JOB,
    LINK,
    METADATA,
    PASSWORD,
    QUESTIONS,
    REMOVED,
    STORE,
    is_storable,
)
from kiwiresearch.store.users import Users

SECRET = "secret"  # noqa: S105 — only the name of the row
KeyUse = Literal["peers", "door"]
"""The purpose of a key: one authenticates hosts to each other, the other signs the cookies of users.

Keys are derived from these words: another word would sign everybody out, so cookies are still called "door", as in
earlier versions.
"""


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host as it last announced itself."""

    name: str
    url: str
    books: tuple[Mapping[str, Any], ...]
    seen_at: float
    """By the clock of the store; compare it with `Store.now()`."""


class Hosts:
    """The hosts of a store."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def announce(self, name: str, url: str, books: Sequence[Mapping[str, Any]]) -> None:
        """Record that a host is up now, with these books."""
        with self._db.writing() as connection:
            values = {"url": url, "books": [dict(book) for book in books], "seen_at": self._db.now(connection)}
            connection.execute(self._db.upsert(HOST, {"name": name, **values}))

    def all(self) -> list[HostRow]:
        """All hosts that have not left, by name."""
        with self._db.reading() as connection:
            rows = connection.execute(select(HOST).order_by(HOST.c.name)).all()
        return [_host(row) for row in rows if is_storable(row.name)]

    def leave(self, name: str) -> None:
        with self._db.writing() as connection:
            connection.execute(delete(HOST).where(HOST.c.name == name))


class StoreKeys:
    """The keys that the hosts of a store share."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def key(self, use: KeyUse) -> str:
        """The key of this store for one use; neither the secret nor another key can be derived from it."""
        return hmac.new(self.secret().encode(), use.encode(), sha256).hexdigest()

    def secret(self) -> str:
        """The secret of this store, made on first use; only keys derived from it leave the store."""
        wanted = select(STORE.c.value).where(STORE.c.name == SECRET)
        with self._db.reading() as connection:
            found = connection.execute(wanted).scalar()
        if found is not None:
            return _checked_secret(found)
        with self._db.writing() as connection:
            new = self._db.insert(STORE).values(name=SECRET, value=secrets.token_urlsafe(32))
            connection.execute(new.on_conflict_do_nothing())
            return _checked_secret(connection.execute(wanted).scalar_one())


def _checked_secret(secret: str) -> str:
    if not is_storable(secret):
        raise StoreDamaged("The store is damaged: its secret is not valid.", remedy=BACKUP_REMEDY)
    return secret


def _host(row: Row[Any]) -> HostRow:
    """The host of a row; a damaged row is ignored until the host announces itself again."""
    is_intact = (
        is_storable(row.url) and row.books is not None and isinstance(row.seen_at, float) and isfinite(row.seen_at)
    )
    return HostRow(row.name, row.url, tuple(row.books), row.seen_at) if is_intact else HostRow(row.name, "", (), 0.0)


def _rename_job_columns(connection: Connection) -> None:
    """Name the columns of a job's request and report like their fields."""
    for old, new in (("wish", "request"), ("told", "report")):
        connection.execute(text(f"ALTER TABLE {JOB.name} RENAME COLUMN {old} TO {new}"))


def _add_shared_lists(connection: Connection) -> None:
    for table in (REMOVED, QUESTIONS):
        table.create(connection)


MIGRATIONS: Mapping[int, Migration] = MappingProxyType(
    {2: PASSWORD.create, 3: _rename_job_columns, 4: _add_shared_lists, 5: LINK.create}
)
"""Version 2 has passwords, version 3 other names of columns, version 4 a trash and recent questions for
all hosts, version 5 sign-in links."""
SCHEMA = DatabaseSchema(METADATA, STORE, version=max(MIGRATIONS), migrations=MIGRATIONS)
CLOCK_COLUMNS = frozenset({JOB.c.started_at, JOB.c.lease_until, HOST.c.seen_at, QUESTIONS.c.changed_at})
"""Times by the store's own clock, which differ between two stores of the same content."""


def prepare_tables(db: Database) -> None:
    """Create or migrate the tables; any number of processes may do so at once."""
    _make_file(db)
    with db.reading() as connection:
        # Before anything is changed: another kind of file is refused as it is.
        version = _version(connection, db)
    if db.is_file:
        db.enable_wal()
    if version != SCHEMA.version:
        with db.writing("tables") as connection:
            # Again, since another process may have created or migrated the tables before this one got the lock.
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
        why = "its folder is a file" if isinstance(problem, FileExistsError) else problem.strerror
        raise CannotWrite(
            f"Could not create the store {db.name!r}: {why}.",
            remedy="Check the permissions of the folder and the free disk space.",
        ) from problem


def _version(connection: Connection, db: Database) -> int:
    """The version of the store; 0 if there is none yet."""
    version = SCHEMA.read_version(connection, db)
    others = table_names(connection) if version == 0 else set()
    # A file must be a store of its own; in a schema of a server, tables of others do no harm.
    if others if db.is_file else others & set(METADATA.tables):
        raise StoreDamaged(f"{db.name!r} is not a kiwiresearch store.", remedy="Use another file or address.")
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

    def __init__(self, database: Database, *, is_shared_store: bool) -> None:
        self._database = database
        self.display_name = database.name
        """The URL without its password, or the file: the name used in messages."""
        self.is_server = not database.is_file
        """Whether it is a PostgreSQL server, not a file."""
        self.is_shared_store = is_shared_store
        """Whether the settings named it: it holds runs, notes and cases too, and folders are only working copies."""
        self.jobs = Jobs(database)
        self.leases = Leases(database)
        self.unfinished_files = UnfinishedFiles(database)
        self.run_files = RunFiles(database)
        self.notes = NoteLines(database)
        self.hosts = Hosts(database)
        self.keys = StoreKeys(database)
        self.users = Users(database)
        self.links = SignInLinks(database)
        self.audit = Audit(database)
        self.cases = CaseList(database)
        self.removed = RemovedRows(database)
        self.questions = QuestionRows(database)

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


def open_store(url: str, *, is_shared_store: bool, clock: Callable[[], float], busy_s: float = BUSY_S) -> Store:
    """The store at `sqlite:///ABSOLUTE/PATH` or `postgresql://…`, created if it does not exist.

    `clock` gives seconds since 1970, for the leases in a file. Errors: BadUsage (unknown kind of URL, no
    driver), CannotWrite, StoreUnreachable (try again), StoreDamaged (not a store, or a newer one).
    """
    if "://" not in url:
        remedy = "Use sqlite:///ABSOLUTE/PATH or postgresql://USER@HOST/DATABASE."
        raise BadUsage("The address of the store is not a URL.", remedy=remedy)
    database = Database(Address.parse(url, "store"), STORE_ERRORS, clock, busy_s=busy_s)
    try:
        prepare_tables(database)
    except BaseException:
        database.close()
        raise
    return Store(database, is_shared_store=is_shared_store)
