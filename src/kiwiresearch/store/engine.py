"""Engines over SQLite files and PostgreSQL servers, and their failures as errors of ours."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoResultFound, OperationalError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import NullPool, Pool, QueuePool

from kiwiresearch.errors import BadUsage, CannotWrite, KiwiError
from kiwiresearch.ids import canonical_json

BACKUP = "Take it from a backup."
AGAIN = "Wait until it is done, then try again."
LOCKED = "is being written by another process"
BUSY = "is used by too many at once"
MORE_CONNECTIONS = "Try again, or let the server have more connections."
OTHER_SCHEMA = "Make the schema, or name another."
CHECK_SERVER = "Check that the server runs and the address is right."
FREE_SPACE = "Make room, then go on."


@dataclass(frozen=True, slots=True)
class ErrorKinds:
    """What a database holds, and which errors tell of it."""

    noun: str
    busy: type[KiwiError]
    damaged: type[KiwiError]
    unreachable: type[KiwiError]


class _EngineMessage(NamedTuple):
    """What an engine says, and what that means to a user."""

    words: str
    error: type[KiwiError]
    text: str
    remedy: str


def _table(kind: ErrorKinds) -> tuple[_EngineMessage, ...]:
    other = f"is no {kind.noun}: it is another kind of file"
    return (
        _EngineMessage("database is locked", kind.busy, LOCKED, AGAIN),
        _EngineMessage("canceling statement due to lock timeout", kind.busy, LOCKED, AGAIN),
        _EngineMessage("deadlock detected", kind.busy, LOCKED, "Try again."),
        _EngineMessage("too many clients", kind.busy, BUSY, MORE_CONNECTIONS),
        _EngineMessage("remaining connection slots", kind.busy, BUSY, MORE_CONNECTIONS),
        _EngineMessage("disk is full", CannotWrite, "cannot be written: the disk is full", FREE_SPACE),
        _EngineMessage("no space left", CannotWrite, "cannot be written: the disk is full", FREE_SPACE),
        _EngineMessage("disk i/o error", CannotWrite, "cannot be written: the disk is full or failing", FREE_SPACE),
        _EngineMessage(
            "readonly database", CannotWrite, "may only be read", "Check who may write the file and its folder."
        ),
        _EngineMessage(
            "read-only transaction", CannotWrite, "may only be read", "Name the server that can be written."
        ),
        _EngineMessage("permission denied", CannotWrite, "may not be used by you", "Check the permissions."),
        _EngineMessage(
            "authentication failed", kind.unreachable, "does not let you in", "Check the user and the password."
        ),
        _EngineMessage('database "', kind.unreachable, "is not on its server", "Make the database, or name another."),
        _EngineMessage(
            'role "', kind.unreachable, "does not know you", "Make the user on its server, or name another."
        ),
        _EngineMessage(
            "no schema has been selected", kind.unreachable, "names a schema that is not there", OTHER_SCHEMA
        ),
        _EngineMessage(
            "unable to open", CannotWrite, "cannot be opened", "Check that the folder is there and can be written."
        ),
        _EngineMessage("not a database", kind.damaged, other, f"Name the file of a {kind.noun}."),
        _EngineMessage("malformed", kind.damaged, "is damaged", BACKUP),
        _EngineMessage("no such table", kind.damaged, "is damaged: a table of it is missing", BACKUP),
        _EngineMessage('relation "', kind.damaged, "is damaged: a table of it is missing", BACKUP),
        _EngineMessage("no such column", kind.damaged, "is damaged: a column of it is missing", BACKUP),
        _EngineMessage("connection", kind.unreachable, "cannot be reached", CHECK_SERVER),
    )


@contextmanager
def database_errors(name: str, kind: ErrorKinds) -> Iterator[None]:
    """Turn what the engine says about the database `name` into an error of ours; bugs keep their traceback."""
    try:
        yield
    except (UnicodeEncodeError, UnicodeDecodeError) as problem:
        raise BadUsage(
            f"The {kind.noun} {name!r} was given a text with half a character in it, which no database keeps.",
            remedy="Read the source again with another encoding.",
        ) from problem
    except UnicodeError as problem:  # no server can have such a name
        raise kind.unreachable(f"The {kind.noun} {name!r} cannot be reached.", remedy=CHECK_SERVER) from problem
    except NoResultFound as problem:
        raise kind.damaged(f"The {kind.noun} {name!r} is damaged: a row of it is missing.", remedy=BACKUP) from problem
    except PoolTimeout as problem:
        raise kind.busy(f"The {kind.noun} {name!r} {BUSY}.", remedy="Try again.") from problem
    except (DBAPIError, StatementError, sqlite3.Error) as problem:
        if isinstance(problem, StatementError) and isinstance(problem.orig, KiwiError):
            raise problem.orig from problem  # a value was refused before the engine saw it
        said = problem.orig if isinstance(problem, StatementError) else problem
        known = _error_for(name, kind, str(said))
        if known is None and isinstance(problem, OperationalError) and not isinstance(said, sqlite3.Error):
            known = kind.unreachable(
                f"The {kind.noun} {name!r} cannot be reached.", remedy=CHECK_SERVER
            )  # a server has many words
        if known is None:
            raise
        raise known from problem


def _error_for(name: str, kind: ErrorKinds, said: str) -> KiwiError | None:
    lowered = said.lower()
    for row in _table(kind):
        if row.words in lowered:
            return row.error(f"The {kind.noun} {name!r} {row.text}.", remedy=row.remedy)
    if "nul" in lowered and ("0x00" in lowered or "cannot contain" in lowered):
        return BadUsage(
            f"The {kind.noun} {name!r} was given a text with a NUL character in it, which PostgreSQL does not keep.",
            remedy="Remove the character from the source.",
        )
    return None


SERVER_SCHEMES = ("postgresql://", "postgres://", "postgresql+psycopg://")
FILE_SCHEME = "sqlite://"
DRIVE = re.compile(r"/+[A-Za-z]:[\\/]")
CONNECT_S = 10
"""How long a server may take to let somebody in."""
KEEPALIVE = {"keepalives_idle": 5, "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 15_000}
"""By which a server that went away without a word is noticed, and not waited for by the hour."""
POOL_SIZE = 5
"""How many connections of one process stay open; twice as many may be open for a while."""


def server_url(where: str) -> URL:
    """The address of a PostgreSQL database, whichever of its names it begins with."""
    try:
        return make_url(where).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError) as problem:
        raise BadUsage(
            "The address of the PostgreSQL database cannot be read.",
            remedy="Write it as postgresql://USER@HOST/DATABASE.",
        ) from problem


def without_password(url: URL) -> str:
    """An address as messages may show it: without a password, wherever it stands."""
    plain = url.set(drivername="postgresql").difference_update_query(["password", "sslpassword"])
    return plain.render_as_string(hide_password=True)


def file_path(where: str) -> Path:
    """The file that a sqlite:// address names; it is always absolute, with three slashes or with four."""
    rest = where.removeprefix(FILE_SCHEME)
    if not rest.startswith("/") or not rest.strip("/") or not where.isprintable():
        raise BadUsage(f"{where!r} names no file.", remedy="Write it as sqlite:///ABSOLUTE/PATH.")
    path = rest.lstrip("/")
    return Path(path) if DRIVE.match(rest) else Path(f"/{path}")


def file_engine(
    path: Path,
    *,
    busy_s: float,
    begin: Callable[[Connection], str],
    loads: Callable[[str], Any] = json.loads,
    pool: type[Pool] = QueuePool,
) -> Engine:
    """An engine over a file that begins transactions as `begin` says; nothing is opened yet."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=pool,
        json_serializer=canonical_json,
        json_deserializer=loads,
        connect_args={"timeout": busy_s, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: object) -> None:
        connection.isolation_level = None  # the driver would begin on its own, and late
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=NORMAL")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin(connection))

    return engine


def server_engine(address: str, *, busy_s: float, pool: type[Pool] = QueuePool) -> Engine:
    """An engine over a server; nobody waits longer than `busy_s` for another's write."""
    kept: dict[str, Any] = {} if pool is NullPool else {"pool_size": POOL_SIZE, "max_overflow": POOL_SIZE}
    try:
        engine = create_engine(
            address,
            poolclass=pool,
            pool_pre_ping=pool is not NullPool,  # a server that was restarted has forgotten its connections
            json_serializer=canonical_json,
            connect_args={"connect_timeout": CONNECT_S, **KEEPALIVE},
            **kept,
        )
    except ModuleNotFoundError as problem:
        raise BadUsage(
            "PostgreSQL cannot be used: its driver is not installed.",
            remedy="Install it: pip install 'kiwiresearch[dist]'",
        ) from problem

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {int(busy_s * 1000)}")
        connection.commit()

    return engine
