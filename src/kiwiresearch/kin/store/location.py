"""Where a case is kept: a file, or a schema of a PostgreSQL database with its locks."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, Text, literal_column, make_url, select, text, update
from sqlalchemy.exc import OperationalError, ProgrammingError, SQLAlchemyError
from sqlalchemy.pool import NullPool, QueuePool
from sqlalchemy.schema import DropSchema

from kiwiresearch.errors import (
    BadUsage,
    CannotWrite,
    FolderInUse,
    FolderTaken,
    RunDamaged,
    RunNotFound,
    StoreUnreachable,
)
from kiwiresearch.kin.store.folder_lock import WAIT_REMEDY
from kiwiresearch.kin.store.tables import AuditHeadRow, table
from kiwiresearch.store import engine
from kiwiresearch.store.engine import (
    BACKUP,
    SERVER_SCHEMES,
    ErrorKinds,
    file_engine,
    server_engine,
    server_url,
    without_password,
)

CASE_ERRORS = ErrorKinds("case", busy=FolderTaken, damaged=RunDamaged, unreachable=StoreUnreachable)


def case_errors(name: str) -> AbstractContextManager[None]:
    """Turn what the engine says about the case `name` into an error of ours; bugs keep their traceback."""
    return engine.database_errors(name, CASE_ERRORS)


@dataclass(frozen=True, slots=True)
class CaseLocation:
    """A file or an address; `name` is what messages call it, without a password."""

    name: str
    path: Path | None = None
    address: str = ""

    @classmethod
    def of(cls, where: Path | str) -> CaseLocation:
        if isinstance(where, Path) or "://" not in where:
            path = Path(where).expanduser()
            return cls(str(path), path)
        if not where.startswith(SERVER_SCHEMES):
            raise BadUsage(
                f"{where.partition('://')[0]!r} is no kind of database a case can be kept in.",
                remedy="Give a file, or an address that begins with postgresql://.",
            )
        url = server_url(where)
        return cls(without_password(url), None, url.render_as_string(hide_password=False))

    def engine(self, busy_s: float, begin: Callable[[], str]) -> Engine:
        """An engine that begins transactions as `begin` says; nothing is opened yet."""
        if self.path is None:
            return server_engine(self.address, busy_s=busy_s, pool=NullPool)
        return file_engine(self.path, busy_s=busy_s, begin=lambda _: begin(), loads=self._json, pool=NullPool)

    def _json(self, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError as problem:
            raise RunDamaged(
                f"The case {self.name!r} is damaged: {text[:40]!r} is not what it wrote.", remedy=BACKUP
            ) from problem

    def check_exists(self) -> None:
        """A file that is missing would be made by opening it."""
        if self.path is not None and not self.path.is_file():
            raise RunNotFound(f"There is no case at {self.name!r}.", remedy="Start one with 'kiwiresearch kin start'.")

    @contextmanager
    def building(self) -> Iterator[CaseLocation]:
        """A place beside this one to make a case at; it comes here only when it is whole."""
        if self.path is None:
            yield self
            return
        if self.path.exists():
            raise self.taken_error()
        part = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        try:
            _make_folder(self.path.parent)
            yield CaseLocation(self.name, part)
            if not _move_if_absent(part, self.path):
                raise self.taken_error()
        except OSError as problem:
            raise CannotWrite(
                f"The case {self.name!r} cannot be written: {problem.strerror}.",
                remedy="Check the folder's permissions and the space on the disk.",
            ) from problem
        finally:
            for left in (part, part.with_name(f"{part.name}-journal")):
                with contextlib.suppress(OSError):
                    left.unlink(missing_ok=True)

    def taken_error(self) -> FolderTaken:
        return FolderTaken(
            f"There is something at {self.name!r} already.", remedy="Open it, or start the case at another place."
        )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as problem:
        raise NotADirectoryError(problem.errno, "a file is where its folder should be") from problem


def _move_if_absent(part: Path, target: Path) -> bool:
    """Move a file to where none is; False if one came to be there."""
    try:
        os.link(part, target)  # unlike a rename, it never takes the place of a file
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        part.rename(target)
    return True


WRITER = 543_197_702
"""The advisory lock that makes a PostgreSQL case have one writer, as a file has."""
HOLDER = 543_197_704
"""The advisory lock of who works on a case, however many steps that takes."""
KEEPALIVE_SETTINGS = ("tcp_keepalives_idle = 5", "tcp_keepalives_interval = 5", "tcp_keepalives_count = 3")
"""Settings by which the server notices within half a minute that the holder's machine is gone."""
SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]*")
CASE_KEY = "hashtext(coalesce(current_schema(), current_setting('search_path')))"
"""The case by its schema, also while that is yet to be made: no two cases wait for each other."""
TRY_LOCK = text(f"SELECT pg_try_advisory_lock(:key, {CASE_KEY}), pg_backend_pid()")
WAIT_LOCK = text(f"SELECT pg_advisory_lock(:key, {CASE_KEY})")
UNLOCK = text(f"SELECT pg_advisory_unlock(:key, {CASE_KEY})")
WRITE_LOCK = text(f"SELECT pg_advisory_xact_lock(:key, {CASE_KEY}), pg_backend_pid()")


def create_schema(connection: Connection) -> None:
    """Make the schema that the address names, if it is not there; it stays if the transaction does."""
    if connection.execute(text("SELECT current_schema()")).scalar() is not None:
        return
    named = str(connection.execute(text("SHOW search_path")).scalar())
    if SCHEMA_NAME.fullmatch(named) is None:
        raise BadUsage(f"There is no schema {named!r} on the server.", remedy="Name one that is there.")
    connection.execute(text(f"CREATE SCHEMA {named}"))


def hold_case(connection: Connection, name: str, *, patience_s: float) -> int:
    """Let nobody else change the case while this connection lives; the server's number for it.

    The lock is the connection's own: whoever has lost it can write nothing more through it.
    """
    taken, backend = connection.execute(TRY_LOCK, {"key": HOLDER}).one()
    if not taken and not (patience_s and _wait_for_lock(connection, patience_s)):
        raise FolderInUse(f"Another command is working on the case {name!r}.", remedy=WAIT_REMEDY)
    for setting in KEEPALIVE_SETTINGS:
        connection.execute(text(f"SET {setting}"))
    connection.commit()
    return int(backend)


def release_case(connection: Connection) -> None:
    """Let others change the case now: the server sees only some time later that a connection was closed."""
    with contextlib.suppress(SQLAlchemyError):  # one that is lost holds nothing any more
        connection.rollback()
        connection.execute(UNLOCK, {"key": HOLDER})
        connection.commit()


def _wait_for_lock(connection: Connection, patience_s: float) -> bool:
    """Wait for the lock as the server does, which gives it on at once; whether that was in time."""
    connection.execute(text(f"SET LOCAL lock_timeout = {max(1, int(patience_s * 1000))}"))
    try:
        connection.execute(WAIT_LOCK, {"key": HOLDER})
    except OperationalError as problem:
        if "lock timeout" not in str(problem.orig):
            raise
        connection.rollback()
        return False
    return True


def begin_write(connection: Connection, name: str, holder: int) -> None:
    """Wait until no other step is under way; a `holder` that is not this connection has lost the case."""
    backend = connection.execute(WRITE_LOCK, {"key": WRITER}).one()[1]
    if holder not in (0, backend):
        raise StoreUnreachable(
            f"The server of the case {name!r} was away meanwhile, and others may have changed it.",
            remedy="Open the case again: nothing is lost but the step under way.",
        )


def touch_revision(connection: Connection) -> None:
    """Have the change noticed: a row that was written anew has another transaction to its name."""
    connection.execute(update(table(AuditHeadRow)).values(seq=AuditHeadRow.seq))


BUSY_S = 30.0
SEARCH_PATH = re.compile(r"-c\s*search_path=\S+")
TAG_LETTERS = 8


class CaseSchemas:
    """The schemas of one database; several stores in it keep their cases apart."""

    def __init__(self, address: str, *, keeps_open: bool = False) -> None:
        """Where `keeps_open`, connections are kept for the next question until it is closed."""
        self._place = CaseLocation.of(address)
        self._engine = server_engine(self._place.address, busy_s=BUSY_S, pool=QueuePool if keeps_open else NullPool)
        self.name = self._place.name

    def close(self) -> None:
        self._engine.dispose()

    def schema(self, case_id: str) -> str:
        """The schema of a new case: named after the store's own and the id of the case."""
        with case_errors(self.name), self._engine.connect() as connection:
            own = str(connection.execute(text("SELECT current_schema()")).scalar())
        tag = hashlib.sha256(own.encode()).hexdigest()[:TAG_LETTERS]
        return f"case_{tag}_{case_id}"

    def address(self, schema: str) -> str:
        """Where the case of a schema is opened."""
        url = make_url(self._place.address)
        given = url.query.get("options", ())
        others = SEARCH_PATH.sub("", given if isinstance(given, str) else " ".join(given)).split()
        options = " ".join([*others, f"-csearch_path={schema}"])
        return url.update_query_dict({"options": options}).render_as_string(hide_password=False)

    def revision(self, schema: str) -> str:
        """What is another text after each change of the case; empty where there is none."""
        asked = select(literal_column("xmin::text", Text()), AuditHeadRow.hash)
        with case_errors(self.name), self._engine.connect() as connection:
            there = connection.execution_options(schema_translate_map={None: schema})
            try:
                return " ".join(there.execute(asked).one_or_none() or ())
            except ProgrammingError:
                return ""

    def drop(self, schema: str) -> None:
        """Remove a case with all that it holds."""
        with case_errors(self.name), self._engine.begin() as connection:
            connection.execute(DropSchema(schema, cascade=True, if_exists=True))
