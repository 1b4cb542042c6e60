"""The database behind the store: short transactions on pooled connections, one clock, and counters."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, event, select, text
from sqlalchemy.dialects import postgresql, sqlite

from kiwiresearch.errors import BadUsage, StoreDamaged, StoreUnreachable
from kiwiresearch.store.engine import (
    FILE_SCHEME,
    SERVER_SCHEMES,
    ErrorKinds,
    database_errors,
    file_engine,
    file_path,
    server_engine,
    server_url,
    without_password,
)
from kiwiresearch.store.tables import COUNTER, JOB, RUN

BUSY_S = 30.0
BEGIN_OPTION = "kiwi_begin"
STORE_ERRORS = ErrorKinds("store", busy=StoreUnreachable, damaged=StoreDamaged, unreachable=StoreUnreachable)
LOCK_SPACE = 543_197_703
"""The number under which locks of the store are known to a PostgreSQL server."""
LOCK = text("SELECT pg_advisory_xact_lock(:space, hashtext(coalesce(current_schema(), '') || ' ' || :lock))")
CLOCK = text("SELECT extract(epoch FROM clock_timestamp())")


class Database:
    """A file or a server. Safe to use from several threads; every transaction has a connection of its own."""

    def __init__(self, url: str, clock: Callable[[], float], *, busy_s: float = BUSY_S) -> None:
        self._clock = clock
        self.busy_s = busy_s
        self.path: Path | None = None
        if url.startswith(FILE_SCHEME):
            self.path = file_path(url)
            self.name = str(self.path)
            self._engine = file_engine(
                self.path, busy_s=busy_s, begin=lambda one: str(one.get_execution_options().get(BEGIN_OPTION, "BEGIN"))
            )
            event.listen(self._engine, "connect", _accept_any_bytes)
        elif url.startswith(SERVER_SCHEMES):
            address = server_url(url)
            self.name = without_password(address)
            self._engine = server_engine(address.render_as_string(hide_password=False), busy_s=busy_s)
        else:
            kind, is_url, _ = url.partition("://")
            what = f"{kind[:40]!r} is no kind of database a store can be" if is_url else "The store is no URL"
            raise BadUsage(f"{what}.", remedy="Write sqlite:///ABSOLUTE/PATH or postgresql://USER@HOST/DATABASE.")

    @property
    def is_file(self) -> bool:
        return self.path is not None

    @contextmanager
    def writing(self, *locks: str) -> Iterator[Connection]:
        """One transaction that is kept whole or not at all.

        Who names the same lock comes one after the other; a file has one writer at a time anyway.
        """
        with database_errors(self.name, STORE_ERRORS), self._engine.connect() as connection:
            if self.is_file:
                connection = connection.execution_options(**{BEGIN_OPTION: "BEGIN IMMEDIATE"})
            with connection.begin():
                if not self.is_file:
                    for lock in locks:
                        connection.execute(LOCK, {"space": LOCK_SPACE, "lock": lock})
                yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One view of the store, in which nothing changes."""
        with database_errors(self.name, STORE_ERRORS), self._engine.connect() as connection:
            if not self.is_file:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin() as transaction:
                yield connection
                transaction.rollback()

    def now(self, connection: Connection) -> float:
        """Seconds since 1970: a server's own clock, since those of its hosts differ; else the one passed in."""
        if self.is_file:
            return self._clock()
        return float(connection.execute(CLOCK).scalar_one())

    def insert(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """An insert that can say what is to happen where the key is taken."""
        return sqlite.insert(table) if self.is_file else postgresql.insert(table)

    def enable_wal(self) -> bool:
        """Let readers of the file not wait for its writer, if its disk can do that; False if it is in use just now."""
        with database_errors(self.name, STORE_ERRORS), self._engine.connect() as connection:
            raw = connection.connection.dbapi_connection
            assert raw is not None
            cursor = raw.cursor()
            try:
                cursor.execute("PRAGMA journal_mode=WAL").fetchone()
            except sqlite3.OperationalError as problem:
                if "locked" not in str(problem):
                    raise
                return False
            finally:
                cursor.close()
        return True

    def close(self) -> None:
        self._engine.dispose()


def _accept_any_bytes(connection: Any, _: object) -> None:
    """Let a text that is no UTF-8 be damage of its row; by itself SQLite refuses all rows that are read with it."""
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")


def next_number(db: Database, connection: Connection, name: str) -> int:
    """The next of a kind of number; whoever wants one meanwhile waits until the transaction ends."""
    first = db.insert(COUNTER).values(name=name, value=1)
    counted = first.on_conflict_do_update(index_elements=["name"], set_={"value": COUNTER.c.value + 1})
    return int(connection.execute(counted.returning(COUNTER.c.value)).scalar_one())


def unused_id(connection: Connection, name: str, is_taken: Callable[[str], bool]) -> str:
    """The first "name-N" that nobody has."""
    used: set[str] = set()
    for column in (JOB.c.id, RUN.c.id):
        used.update(connection.scalars(select(column).where(column.startswith(f"{name}-", autoescape=True))))
    number = 1
    while (found := f"{name}-{number}") in used or is_taken(found):
        number += 1
    return found
