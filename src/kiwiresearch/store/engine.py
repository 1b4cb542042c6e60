"""Addresses of databases, engines over SQLite files and PostgreSQL servers, and our errors for their failures."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoResultFound, OperationalError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import NullPool, QueuePool

from kiwiresearch.errors import BadUsage, CannotWrite, KiwiError
from kiwiresearch.ids import canonical_json
from kiwiresearch.system import expand_user

BACKUP_REMEDY = "Restore it from a backup."
WAIT_FOR_WRITER = "Wait until that process is done, then try again."
LOCKED = "is being written by another process"
MANY_CONNECTIONS = "has too many connections"
MORE_CONNECTIONS = "Try again, or allow more connections on the server."
CHECK_SERVER = "Check the address, and that the server is running."
FREE_SPACE = "Free up disk space, then continue."


@dataclass(frozen=True, slots=True)
class ErrorKinds:
    """The noun for the content of a database, and the errors for its failures."""

    noun: str
    busy: type[KiwiError]
    damaged: type[KiwiError]
    unreachable: type[KiwiError]


class _EngineMessage(NamedTuple):
    """A failure as an engine reports it, and what it means to a user.

    Codes are SQLSTATEs of PostgreSQL and prefixes of SQLite's error names. Words are needed where a failure
    has no code of its own, as when a server refuses a connection.
    """

    codes: tuple[str, ...]
    words: tuple[str, ...]
    error: type[KiwiError]
    text: str
    remedy: str


def _engine_messages(kind: ErrorKinds) -> tuple[_EngineMessage, ...]:
    other = f"is not a {kind.noun}: it is another kind of file"
    # The first match counts: 'permission denied for database "x"' comes before 'database "x" does not exist', and
    # "connection", which occurs in many messages, comes last.
    rows: tuple[tuple[tuple[str, ...], tuple[str, ...], type[KiwiError], str, str], ...] = (
        (("SQLITE_BUSY", "SQLITE_LOCKED", "55P03"), (), kind.busy, LOCKED, WAIT_FOR_WRITER),
        (("40P01",), (), kind.busy, LOCKED, "Try again."),
        (("53300",), ("too many clients", "remaining connection slots"), kind.busy, MANY_CONNECTIONS, MORE_CONNECTIONS),
        (("SQLITE_FULL", "53100"), (), CannotWrite, "could not be written: the disk is full", FREE_SPACE),
        (("SQLITE_IOERR",), (), CannotWrite, "could not be written: the disk is full or failing", FREE_SPACE),
        (("SQLITE_READONLY",), (), CannotWrite, "is read-only", "Check the permissions of the file and its folder."),
        (("25006",), (), CannotWrite, "is read-only", "Use the server that accepts changes."),
        (("42501",), ("permission denied",), CannotWrite, "denied you access", "Check the permissions."),
        (("28P01",), ("authentication failed",), kind.unreachable, "rejected the user or password",
         "Check the user and the password."),
        (("3D000",), ('database "',), kind.unreachable, "does not exist on its server",
         "Create the database, or use another."),
        ((), ('role "',), kind.unreachable, "does not know this user",
         "Create the user on the server, or use another."),
        (("3F000",), (), kind.unreachable, "does not have that schema", "Create the schema, or use another."),
        (("SQLITE_CANTOPEN",), (), CannotWrite, "cannot be opened",
         "Check that the folder exists and that you can write to it."),
        (("SQLITE_NOTADB",), (), kind.damaged, other, f"Choose the file of a {kind.noun}."),
        (("SQLITE_CORRUPT",), (), kind.damaged, "is damaged", BACKUP_REMEDY),
        (("42P01",), ("no such table",), kind.damaged, "is damaged: a table is missing", BACKUP_REMEDY),
        (("42703",), ("no such column",), kind.damaged, "is damaged: a column is missing", BACKUP_REMEDY),
        ((), ("connection",), kind.unreachable, "cannot be reached", CHECK_SERVER),
    )  # fmt: skip
    return tuple(_EngineMessage(*row) for row in rows)


@contextmanager
def database_errors(name: str, kind: ErrorKinds) -> Iterator[None]:
    """Turn an engine error about the database `name` into one of ours; bugs keep their traceback."""
    try:
        yield
    except (UnicodeEncodeError, UnicodeDecodeError) as problem:
        raise BadUsage(
            f"The {kind.noun} {name!r} cannot store text with an incomplete character.",
            remedy="Save the text as UTF-8, then import it again.",
        ) from problem
    except UnicodeError as problem:  # no server can have such a name
        raise kind.unreachable(f"The {kind.noun} {name!r} cannot be reached.", remedy=CHECK_SERVER) from problem
    except NoResultFound as problem:
        raise kind.damaged(f"The {kind.noun} {name!r} is damaged: a row is missing.", remedy=BACKUP_REMEDY) from problem
    except PoolTimeout as problem:
        raise kind.busy(f"The {kind.noun} {name!r} {MANY_CONNECTIONS}.", remedy="Try again.") from problem
    except (DBAPIError, StatementError, sqlite3.Error) as problem:
        if isinstance(problem, StatementError) and isinstance(problem.orig, KiwiError):
            raise problem.orig from problem  # a value was refused before the engine saw it
        cause = problem.orig if isinstance(problem, StatementError) else problem
        known = _error_for(name, kind, cause)
        if known is None and isinstance(problem, OperationalError) and not isinstance(cause, sqlite3.Error):
            known = kind.unreachable(
                f"The {kind.noun} {name!r} cannot be reached.", remedy=CHECK_SERVER
            )  # servers word this in many ways
        if known is None:
            raise
        raise known from problem


def error_code(problem: BaseException | None) -> str:
    """PostgreSQL's SQLSTATE or SQLite's error name; empty if the engine gives none."""
    return str(getattr(problem, "sqlstate", None) or getattr(problem, "sqlite_errorname", None) or "")


def _error_for(name: str, kind: ErrorKinds, cause: BaseException | None) -> KiwiError | None:
    code, words = error_code(cause), str(cause).lower()
    for row in _engine_messages(kind):
        if code.startswith(row.codes) or any(word in words for word in row.words):
            return row.error(f"The {kind.noun} {name!r} {row.text}.", remedy=row.remedy)
    if "nul" in words and ("0x00" in words or "cannot contain" in words):
        return BadUsage(
            f"The {kind.noun} {name!r} cannot store text with a NUL character.",
            remedy="Remove the character from the source.",
        )
    return None


SERVER_SCHEMES = ("postgresql://", "postgres://", "postgresql+psycopg://")
FILE_SCHEME = "sqlite://"
# '/C:/…' in a URL is a path on Windows.
DRIVE = re.compile(r"/+[A-Za-z]:[\\/]")
CONNECT_S = 10
"""How long connecting to a server may take."""
POSTGRES_KEEPALIVE = {"keepalives_idle": 5, "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 15_000}
"""With these settings a vanished server is noticed within seconds instead of hours."""
POOL_SIZE = 5
"""How many connections a process leaves open; a few more may be open for a while."""
BEGIN_OPTION = "kiwi_begin"
"""The execution option that sets how a transaction on a file begins."""


@dataclass(frozen=True, slots=True)
class Address:
    """A file or a PostgreSQL database; `name` is what messages call it, without a password."""

    name: str
    path: Path | None
    url: URL

    @classmethod
    def of_file(cls, path: Path) -> Address:
        return cls(str(path), path, URL.create("sqlite", database=str(path)))

    @classmethod
    def parse(cls, where: Path | str, noun: str) -> Address:
        """The database at a path, or at an address with sqlite:// or postgresql://."""
        if isinstance(where, Path) or "://" not in where:
            return cls.of_file(expand_user(where))
        if where.startswith(FILE_SCHEME):
            return cls.of_file(file_path(where))
        if where.startswith(SERVER_SCHEMES):
            url = _server_url(where)
            shown = url.set(drivername="postgresql").difference_update_query(["password", "sslpassword"])
            return cls(shown.render_as_string(hide_password=True), None, url)
        raise BadUsage(
            f"{where.partition('://')[0][:40]!r} is not a supported kind of database for a {noun}.",
            remedy="Use sqlite:///ABSOLUTE/PATH or postgresql://USER@HOST/DATABASE.",
        )


def _server_url(where: str) -> URL:
    """The address of a PostgreSQL database, with any of its schemes."""
    try:
        return make_url(where).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError) as problem:
        raise BadUsage(
            "The address of the PostgreSQL database is not valid.",
            remedy="Use the form postgresql://USER@HOST/DATABASE.",
        ) from problem


def file_path(where: str) -> Path:
    """The file of a sqlite:// address; it is always absolute, with three slashes or with four."""
    rest = where.removeprefix(FILE_SCHEME)
    if not rest.startswith("/") or not rest.strip("/") or not where.isprintable():
        raise BadUsage(f"{where!r} is not a valid address of a file.", remedy="Use the form sqlite:///ABSOLUTE/PATH.")
    path = rest.lstrip("/")
    return Path(path) if DRIVE.match(rest) else Path(f"/{path}")


def open_engine(address: Address, kind: ErrorKinds, *, busy_s: float, connections: int = POOL_SIZE) -> Engine:
    """An engine that opens nothing yet; it waits at most `busy_s` for a lock of another process.

    It pools `connections` connections. With one there is never a second, so that a session's lock covers everything
    done with the engine; with none, each connection is closed after use.
    """
    is_file = address.path is not None
    pool: dict[str, Any] = {"poolclass": NullPool}
    if connections:
        overflow = 0 if connections == 1 else 2 * connections if is_file else connections
        pool = {"poolclass": QueuePool, "pool_size": connections, "max_overflow": overflow}
        pool["pool_pre_ping"] = not is_file  # a restarted server has dropped its connections
    given = (
        {"timeout": busy_s, "check_same_thread": False}
        if is_file
        else {"connect_timeout": CONNECT_S, **POSTGRES_KEEPALIVE}
    )

    def loads(text: str) -> Any:
        if text == "null":  # most columns of JSON have no value
            return None
        try:
            return json.loads(text)
        except ValueError as problem:
            raise kind.damaged(
                f"The {kind.noun} {address.name!r} is damaged: {text[:40]!r} is not valid.", remedy=BACKUP_REMEDY
            ) from problem

    try:
        engine = create_engine(
            address.url,
            json_serializer=canonical_json,
            json_deserializer=loads if is_file else None,  # a server stores nothing but valid JSON
            connect_args=given,
            **pool,
        )
    except ModuleNotFoundError as problem:
        raise BadUsage(
            "PostgreSQL cannot be used: its driver is not installed.",
            remedy="Install it with: pip install 'kiwiresearch[dist]'",
        ) from problem
    if is_file:
        event.listen(engine, "connect", _set_up_file_connection)
        event.listen(engine, "begin", _begin_on_file)
    else:
        event.listen(engine, "connect", lambda connection, _: _limit_lock_waits(connection, busy_s))
    return engine


def _set_up_file_connection(connection: Any, _: object) -> None:
    connection.isolation_level = None  # the driver would begin transactions on its own, and late
    connection.execute("PRAGMA foreign_keys=ON")
    # With write-ahead logging, a power failure may undo the last commits but cannot damage the file.
    connection.execute("PRAGMA synchronous=NORMAL")
    # A text that is not UTF-8 should damage its own row only: by default SQLite refuses all rows read with it.
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")


def _begin_on_file(connection: Connection) -> None:
    connection.exec_driver_sql(str(connection.get_execution_options().get(BEGIN_OPTION, "BEGIN")))


def _limit_lock_waits(connection: Any, busy_s: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = {int(busy_s * 1000)}")
    connection.commit()
