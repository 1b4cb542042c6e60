"""A database: short transactions on pooled connections, locks, one clock, and the ways to write a row."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from sqlalchemy import Connection, Table, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from kiwiresearch.errors import StoreDamaged, StoreUnreachable
from kiwiresearch.store.engine import (
    BEGIN_OPTION,
    POOL_SIZE,
    Address,
    ErrorKinds,
    database_errors,
    error_code,
    open_engine,
)

BUSY_S = 30.0
# Between two tries to switch to write-ahead logging.
PAUSE_S = 0.01
STORE_ERRORS = ErrorKinds("store", busy=StoreUnreachable, damaged=StoreDamaged, unreachable=StoreUnreachable)
LOCK_SPACE = 543_197_703
"""The number that marks our advisory locks on a PostgreSQL server."""
LOCK_KEY = (
    f"{LOCK_SPACE}, hashtext(coalesce(current_schema(), current_setting('search_path')) || ' ' || CAST(:lock AS text))"
)
"""A lock is known by its name and schema, even before the schema exists: two schemas never wait for each other."""
LOCK = text(f"SELECT pg_advisory_xact_lock({LOCK_KEY})")
TRY_SESSION_LOCK = text(f"SELECT pg_try_advisory_lock({LOCK_KEY})")
WAIT_SESSION_LOCK = text(f"SELECT pg_advisory_lock({LOCK_KEY})")
UNLOCK_SESSION = text(f"SELECT pg_advisory_unlock({LOCK_KEY})")
BACKEND = text("SELECT pg_backend_pid()")
CLOCK = text("SELECT extract(epoch FROM clock_timestamp())")
KEEPALIVE_SETTINGS = ("tcp_keepalives_idle = 5", "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3")
"""With these settings the server notices within half a minute that the machine of a lock's holder is gone."""
Insert = sqlite.Insert | postgresql.Insert


class Database:
    """A file or a server. Safe to use from several threads; every transaction has its own connection.

    With only one connection, `hold` takes a lock that lasts beyond a transaction.
    """

    def __init__(
        self,
        address: Address,
        kinds: ErrorKinds,
        clock: Callable[[], float] = time.monotonic,
        *,
        busy_s: float = BUSY_S,
        connections: int = POOL_SIZE,
    ) -> None:
        self.path = address.path
        self.name = address.name
        self.is_file = address.path is not None
        self.kinds = kinds
        self._clock = clock
        self._busy_s = busy_s
        self._engine = open_engine(address, kinds, busy_s=busy_s, connections=connections)
        self._held_lock = ""
        self._holder = 0
        """The server's process number of the connection that holds the lock."""

    def errors(self) -> AbstractContextManager[None]:
        """Turn errors of the engine into ours; bugs keep their traceback."""
        return database_errors(self.name, self.kinds)

    @contextmanager
    def writing(self, *locks: str) -> Iterator[Connection]:
        """One transaction, committed completely or rolled back.

        Transactions that name the same lock run one after the other; a file has one writer at a time anyway.
        """
        with self.errors(), self.write_transaction(*locks) as connection:
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One consistent view of the database."""
        with self.errors(), self.read_transaction() as connection:
            yield connection

    @contextmanager
    def write_transaction(self, *locks: str) -> Iterator[Connection]:
        """Like `writing`, for callers that raise other errors inside and wrap their statements in `errors`."""
        with self._engine.connect() as connection:
            if self.is_file:
                # SQLite refuses to turn a read transaction into a write if another process has written meanwhile.
                connection = connection.execution_options(**{BEGIN_OPTION: "BEGIN IMMEDIATE"})
            with connection.begin():
                if not self.is_file:
                    for lock in locks:
                        connection.execute(LOCK, {"lock": lock})
                    self._check_held(connection)
                yield connection

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """Like `reading`, for callers that raise other errors inside and wrap their statements in `errors`."""
        with self._engine.connect() as connection:
            if not self.is_file:
                # By default each statement of a server's transaction sees a newer state.
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin() as transaction:
                yield connection
                transaction.rollback()

    def hold(self, lock: str, *, timeout_s: float) -> bool:
        """Hold a lock of a server until the database is closed; False if it was not free in time.

        The lock belongs to the connection: if that is lost, nothing more can be written.
        """
        with self.errors(), self._engine.connect() as connection:
            taken = connection.execute(TRY_SESSION_LOCK, {"lock": lock}).scalar_one()
            if not taken and not (timeout_s and _wait_for_lock(connection, lock, timeout_s)):
                return False
            for setting in KEEPALIVE_SETTINGS:
                connection.execute(text(f"SET {setting}"))
            self._holder = int(connection.execute(BACKEND).scalar_one())
            self._held_lock = lock
            connection.commit()
        return True

    def _check_held(self, connection: Connection) -> None:
        if self._held_lock and self._holder != connection.execute(BACKEND).scalar_one():
            noun = self.kinds.noun
            raise StoreUnreachable(
                f"The connection to the {noun} {self.name!r} was lost, and others may have changed it since.",
                remedy=f"Open the {noun} again. Only the current step was lost.",
            )

    def now(self, connection: Connection) -> float:
        """Seconds since 1970: by the server's clock, since those of its hosts differ, or by the one passed in."""
        if self.is_file:
            return self._clock()
        return float(connection.execute(CLOCK).scalar_one())

    def version(self, connection: Connection) -> Hashable | None:
        """Equal as long as nobody has changed the file, in this transaction or another; None for a server."""
        if not self.is_file:
            return None
        raw = connection.connection.dbapi_connection
        assert isinstance(raw, sqlite3.Connection)
        # `data_version` changes with writes of other connections only, and is comparable only on the same one.
        by_others = raw.execute("PRAGMA data_version").fetchone()[0]
        return raw, by_others, raw.total_changes

    def insert(self, table: Table) -> Insert:
        """An insert that can handle a conflict of keys."""
        return sqlite.insert(table) if self.is_file else postgresql.insert(table)

    def upsert(self, table: Table, row: Mapping[str, Any]) -> Insert:
        """Insert a row, or replace the one with its key."""
        keys = [column.name for column in table.primary_key]
        rest = {name: value for name, value in row.items() if name not in keys}
        return self.insert(table).values(dict(row)).on_conflict_do_update(index_elements=keys, set_=rest)

    def enable_wal(self) -> None:
        """Use write-ahead logging, so that readers need not wait for the writer, if the disk allows it.

        Only a process that has the file to itself can switch. There is no signal for that, so it retries.
        """
        until = time.monotonic() + self._busy_s
        while not self._try_wal() and time.monotonic() < until:
            time.sleep(PAUSE_S)

    def _try_wal(self) -> bool:
        with self.errors(), self._engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            assert raw is not None
            cursor = raw.cursor()
            try:
                # On a disk that does not support it, the result is another mode and not an error.
                cursor.execute("PRAGMA journal_mode=WAL").fetchone()
            except sqlite3.OperationalError as problem:
                if not error_code(problem).startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                    raise
                return False
            finally:
                cursor.close()
        return True

    def close(self) -> None:
        """Close all connections, and release the lock at once: the server would notice only after a while."""
        if self._held_lock:
            # If the connection is lost, so is the lock.
            with contextlib.suppress(SQLAlchemyError), self._engine.begin() as connection:
                connection.execute(UNLOCK_SESSION, {"lock": self._held_lock})
        self._engine.dispose()


def _wait_for_lock(connection: Connection, lock: str, timeout_s: float) -> bool:
    """Wait for the lock on the server, which passes it on at once; False if that took too long."""
    connection.execute(text(f"SET LOCAL lock_timeout = {max(1, int(timeout_s * 1000))}"))
    try:
        connection.execute(WAIT_SESSION_LOCK, {"lock": lock})
    except OperationalError as problem:
        if error_code(problem.orig) != "55P03":
            raise
        connection.rollback()
        return False
    return True
