"""The database of a case: creates and opens it, and changes it in steps that are stored completely or not at all.

The upgrades from older versions of the tables are here as well, since they are steps of the same kind.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from sqlalchemy import Connection, CursorResult, Executable, Row, Table, delete, insert, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from kiwiresearch.errors import CannotWrite, FolderInUse, FolderTaken, KiwiError, RunDamaged, RunNotFound
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.store.locks_and_schemas import CASE_ERRORS, WAIT_REMEDY, create_schema, locked_folder
from kiwiresearch.kin.store.tables import (
    ATTACHED,
    ATTACHMENT,
    AUDIT_HEAD,
    CASE_FORMAT,
    CASE_STATE,
    DECISION,
    EDIT,
    METADATA,
    REMOVABLE,
    RESEARCH_CASE,
    create_trigger,
    create_triggers,
    trigger_name,
)
from kiwiresearch.kin.tree import Tree, row_id
from kiwiresearch.store import FIRST_PREVIOUS_HASH, Address, Database, DatabaseSchema, table_names
from kiwiresearch.system import make_private_folder

WRITER = "writer"
"""The lock that gives a case on a server one writer, as a file has."""
HOLDER = "holder"
"""The lock for working on a case, across any number of steps."""
ALEMBIC_TABLE = "alembic_version"
"""The version table of cases that Alembic created."""


def _drop_unused(connection: Connection) -> None:
    """Drop leases, since a case has one worker; caches, which were never used; and Alembic's version table."""
    for column in ("lease_until", "leased_by"):
        connection.execute(text(f"ALTER TABLE queue_item DROP COLUMN {column}"))
    connection.execute(text("UPDATE queue_item SET status = 'taken' WHERE status = 'leased'"))
    for table in ("http_cache", "robots_cache", ALEMBIC_TABLE):
        connection.execute(text(f"DROP TABLE {table}"))
    CASE_FORMAT.create(connection)
    connection.execute(insert(CASE_FORMAT).values(name="version", value="2"))


def _add_edits(connection: Connection) -> None:
    """Add what people change: edits, decisions and attachments, and which edit made a row."""
    for table in (EDIT, DECISION, ATTACHMENT, ATTACHED):
        table.create(connection)
    _move_overrides(connection)
    on_table = "" if connection.dialect.name == "sqlite" else " ON {table}"
    for name in sorted(REMOVABLE):
        connection.execute(text(f"ALTER TABLE {name} ADD COLUMN edit_id TEXT DEFAULT '' NOT NULL"))
        connection.execute(text(f"DROP TRIGGER {trigger_name(name, 'DELETE')}{on_table.format(table=name)}"))
        create_trigger(connection, name, "DELETE")


def _move_overrides(connection: Connection) -> None:
    """Move what users set about who is living into the decisions."""
    for key, aspect in (("living_overrides", "living"), ("living_reasons", "living_reason")):
        found = connection.execute(select(CASE_STATE.c.value).where(CASE_STATE.c.key == key)).scalar()
        rows = [
            {"entity_id": person, "aspect": aspect, "value": value, "edit_id": ""}
            for person, value in ((found or [{}])[0] or {}).items()
        ]
        if rows:
            connection.execute(insert(DECISION), rows)
        connection.execute(delete(CASE_STATE).where(CASE_STATE.c.key == key))


MIGRATIONS = MappingProxyType({2: _drop_unused, 3: _add_edits})
SCHEMA = DatabaseSchema(METADATA, CASE_FORMAT, 3, MIGRATIONS, create_triggers)

RowChange = list[Any]
"""A changed row of an edit: `["put", table, row]`, `["drop", table, row]`, `["set", table, id, column, old, new]`."""


class CaseDatabase:
    """The one connection of a case, with the state of the open step: people to project again, rows to audit."""

    def __init__(self, address: Address, now: Callable[[], str], busy_s: float) -> None:
        self.name = address.name
        self.now = now
        self.case_id = ""
        self.settings: Mapping[str, Any] = {}
        self.agent = ""
        self.changed_people: set[str] = set()
        self.changed_ties: set[str] = set()
        self.pending_audit: list[dict[str, Any]] = []
        self.edit_id = ""
        """The edit that this step is part of; empty while research changes the case."""
        self.edit_changes: list[RowChange] = []
        # Caches of rows, valid until the step ends or fails.
        self.merged_into: dict[str, str] | None = None
        self.known_people: set[str] = set()
        self.origin_groups: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.trees: dict[bool, tuple[Hashable, Tree]] = {}
        """The trees without and with discarded facts, each with the version of the case that it was read from."""
        self.hooks: list[Callable[[CaseDatabase], None]] = []
        self._inserts: dict[Table, Executable] = {}
        self._transactions = 0
        self._statements = 0
        self._depth = 0
        self._broken = False
        self._locks = ExitStack()
        self._lock = threading.RLock()
        self._connection: Connection | None = None
        self._database = Database(address, CASE_ERRORS, busy_s=busy_s, connections=1)

    @classmethod
    def create(cls, where: Path | str, settings: Mapping[str, Any], now: Callable[[], str], *, busy_s: float) -> Self:
        cls.create_and_fill(where, now, lambda database: database._insert_case(settings), busy_s=busy_s)
        return cls.open(where, now, busy_s=busy_s)

    @classmethod
    def create_and_fill(
        cls, where: Path | str, now: Callable[[], str], fill: Callable[[CaseDatabase], None], *, busy_s: float
    ) -> None:
        """Create the tables where there are none and fill them, completely or not at all."""
        address = Address.parse(where, "case")
        with _temporary_address(address) as unfinished:
            database = cls(unfinished, now, busy_s)
            try:
                with database._write_transaction(), database.errors():
                    if address.path is None:
                        create_schema(database.connection)
                    if table_names(database.connection):
                        raise _taken_error(address)
                    SCHEMA.create(database.connection)
                    fill(database)
            finally:
                database.close()

    @classmethod
    def open(
        cls, where: Path | str, now: Callable[[], str], *, busy_s: float, for_changes: bool = False, wait_s: float = 0.0
    ) -> Self:
        """Open an existing case; with `for_changes`, it is locked, after waiting up to `wait_s` for another process."""
        address = Address.parse(where, "case")
        if address.path is not None and not address.path.is_file():  # opening a missing file would create it
            raise RunNotFound(
                f"No case was found at {address.name!r}.", remedy="Start one with 'kiwiresearch kin start'."
            )
        database = cls(address, now, busy_s)
        try:
            if for_changes:
                database._hold(wait_s)
            database._load()
        except BaseException:
            database.close()
            raise
        return database

    def close(self) -> None:
        with self._locks, self._lock, self.errors():
            self._database.close()

    def _hold(self, timeout_s: float) -> None:
        path = self._database.path
        if path is not None:
            self._locks.enter_context(locked_folder(path.parent, timeout_s=timeout_s))
        elif not self._database.hold(HOLDER, timeout_s=timeout_s):
            raise FolderInUse(f"Another command is working on the case {self.name!r}.", remedy=WAIT_REMEDY)

    def _insert_case(self, settings: Mapping[str, Any]) -> None:
        case_id = row_id("case", canonical_json(settings))
        self.run(insert(RESEARCH_CASE).values(id=case_id, settings=dict(settings), created_at=self.now()))
        self.run(insert(AUDIT_HEAD).values(case_id=case_id, seq=0, hash=FIRST_PREVIOUS_HASH))

    def _load(self) -> None:
        with self._database.reading() as connection:
            version = self._version(connection)
        if self._database.is_file:
            self._database.enable_wal()
        if version != SCHEMA.version:
            with self._database.writing(WRITER) as connection:
                version = self._version(connection)  # another process may have upgraded it in the meantime
                if version != SCHEMA.version:
                    SCHEMA.upgrade(connection, version)
        with self.reading():
            found = self.run(select(RESEARCH_CASE.c.id, RESEARCH_CASE.c.settings))
            with self.errors():
                row = found.one()
            self.case_id, self.settings = row.id, row.settings

    def _version(self, connection: Connection) -> int:
        tables = table_names(connection)
        if RESEARCH_CASE.name not in tables or not tables & {CASE_FORMAT.name, ALEMBIC_TABLE}:
            raise RunDamaged(
                f"{self.name!r} is not a case: it does not have the tables of one.",
                remedy="Enter the file or address of a case.",
            )
        if ALEMBIC_TABLE in tables:
            found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
            return SCHEMA.check_version(found, self._database)
        return SCHEMA.read_version(connection, self._database)

    def errors(self) -> AbstractContextManager[None]:
        """Convert engine errors raised in this context into errors of ours; bugs keep their traceback."""
        return self._database.errors()

    @property
    def connection(self) -> Connection:
        """The connection of the open transaction."""
        assert self._connection is not None
        return self._connection

    @contextmanager
    def step(self, agent: str) -> Iterator[None]:
        """One transaction; a nested step joins the outer one."""
        with self._lock:
            if self._depth:
                with self._nested_step(agent):
                    yield
                return
            with self._write_transaction():
                self._depth, self.agent, self._broken = 1, agent, False
                try:
                    yield
                    self._check_not_broken()
                    self.run_hooks()
                except BaseException:
                    self._clear_caches()
                    raise
                finally:
                    self._depth, self.agent = 0, ""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The open step, or a new one for a single write."""
        with self.step(self.agent or "user"):
            yield

    @contextmanager
    def reading(self, *, run_hooks_first: bool = True) -> Iterator[None]:
        """One view of the case; inside a step it is the step's own."""
        with self._lock:
            if self._depth and run_hooks_first:
                self.run_hooks()
            if self._connection is not None:
                yield
                return
            with self._transaction(is_write=False):
                yield

    def mark_broken(self) -> None:
        """Roll this step back, even if the caller catches the error that follows."""
        self._broken = True

    def _check_not_broken(self) -> None:
        if self._broken:
            raise CannotWrite(
                f"A write to the case {self.name!r} failed, so this step was not saved.", remedy="Run the step again."
            )

    def run_hooks(self) -> None:
        """Run the hooks that bring derived rows and the audit log up to date."""
        for hook in self.hooks:
            hook(self)

    def version(self) -> Hashable:
        """Equal as long as nobody has changed the case since; on a server it differs in each transaction."""
        of_file = self._database.version(self.connection)
        return (self._transactions, self._statements) if of_file is None else of_file

    def run(
        self, statement: Executable, rows: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None
    ) -> CursorResult[Any]:
        if not statement.is_select:
            self._statements += 1
        with self.errors():
            return self.connection.execute(statement, rows)

    def rows(self, statement: Executable, values: Mapping[str, Any] | None = None) -> list[Row[Any]]:
        with self.errors():
            return list(self.connection.execute(statement, values))

    def batches(self, statement: Executable) -> Iterator[Sequence[Row[Any]]]:
        with self.errors():
            yield from self.connection.execute(statement).partitions()

    def insert_new(self, table: Table, row: Mapping[str, Any]) -> bool:
        """Insert a row unless its key is taken; returns whether it was new."""
        if table not in self._inserts:  # building a statement takes longer than running it
            made = self._database.insert(table).on_conflict_do_nothing()
            self._inserts[table] = made.execution_options(preserve_rowcount=True)
        if table.name in REMOVABLE:
            row = {**row, "edit_id": self.edit_id}
        with self.errors():
            is_new = self.run(self._inserts[table], dict(row)).rowcount > 0
        if is_new:
            self.note_changes([["put", table.name, dict(row)]])
        return is_new

    def remove(self, table: Table, row: Mapping[str, Any]) -> None:
        """Delete the row with the key of this one."""
        self.run(delete(table).where(*(column == row[column.name] for column in table.primary_key)))
        self.note_changes([["drop", table.name, dict(row)]])

    def note_changes(self, changes: Iterable[RowChange]) -> None:
        """Remember what the open edit changed; changes by research are not part of an edit."""
        if self.edit_id:
            self.edit_changes += changes

    def upsert(self, table: Table, row: Mapping[str, Any]) -> None:
        """Insert a row, or replace the one with its key."""
        self.run(self._database.upsert(table, row))

    @contextmanager
    def _nested_step(self, agent: str) -> Iterator[None]:
        outer, self.agent, self._depth = self.agent, agent, self._depth + 1
        try:
            yield
        except BaseException as problem:
            # After an error of ours a caller may continue the step; any other may have come in the middle of a write.
            if not isinstance(problem, KiwiError) or isinstance(problem.__cause__, SQLAlchemyError):
                self._broken = True
            raise
        finally:
            self.agent, self._depth = outer, self._depth - 1

    @contextmanager
    def _write_transaction(self) -> Iterator[None]:
        with self._transaction(is_write=True) as connection:
            yield
            with self.errors():
                if not self._database.is_file:
                    # Rewriting the row changes its transaction id, by which other hosts notice the change.
                    connection.execute(update(AUDIT_HEAD).values(seq=AUDIT_HEAD.c.seq))
                # Here, so that an error of the commit is converted too; the end of the context then has nothing to do.
                connection.commit()

    @contextmanager
    def _transaction(self, *, is_write: bool) -> Iterator[Connection]:
        """A transaction; engine errors at its start become errors of the case, errors of its body pass unchanged."""
        self.merged_into = None  # another process may have merged or removed people in the meantime
        self.known_people.clear()
        self._transactions += 1
        with ExitStack() as stack:
            with self.errors():
                begun = self._database.write_transaction(WRITER) if is_write else self._database.read_transaction()
                self._connection = stack.enter_context(begun)
            try:
                yield self._connection
            except BaseException:
                self.trees.clear()  # what was written is undone, but the version does not go back
                raise
            finally:
                self._connection = None

    def _clear_caches(self) -> None:
        self.changed_people.clear()
        self.changed_ties.clear()
        self.pending_audit.clear()
        self.edit_id = ""
        self.edit_changes.clear()
        self.merged_into = None
        self.known_people.clear()
        self.texts.clear()
        self.origin_groups.clear()


class StorePart:
    """A part of `CaseStore` that works on the database of the case."""

    def __init__(self, database: CaseDatabase) -> None:
        self._db = database


@contextmanager
def _temporary_address(address: Address) -> Iterator[Address]:
    """A temporary place next to this one; a finished case is moved from it."""
    if address.path is None:
        yield address
        return
    if address.path.exists():
        raise _taken_error(address)
    part = address.path.with_name(f".{address.path.name}.{secrets.token_hex(4)}")
    try:
        _make_folder(address.path.parent)
        part.touch(mode=0o600, exist_ok=False)  # nobody else may read about the living
        unfinished = Address.of_file(part)
        yield Address(address.name, unfinished.path, unfinished.url)
        if not _move_if_absent(part, address.path):
            raise _taken_error(address)
    except OSError as problem:
        raise CannotWrite(
            f"The case {address.name!r} cannot be written: {problem.strerror}.",
            remedy="Check the folder's permissions and the space on the disk.",
        ) from problem
    finally:
        # After a link, this removes the temporary name; the case stays under its own.
        for left in (part, part.with_name(f"{part.name}-journal")):
            with contextlib.suppress(OSError):
                left.unlink(missing_ok=True)


def _taken_error(address: Address) -> FolderTaken:
    return FolderTaken(
        f"{address.name!r} already exists.", remedy="Open that case, or start the new one in another place."
    )


def _make_folder(folder: Path) -> None:
    try:
        make_private_folder(folder)
    except FileExistsError as problem:
        raise NotADirectoryError(problem.errno, "a file is where its folder should be") from problem


def _move_if_absent(part: Path, target: Path) -> bool:
    """Move a file to an unused path; False if a file has appeared there."""
    try:
        os.link(part, target)  # unlike a rename, a link never replaces a file
    except FileExistsError:
        return False
    except OSError:  # a file system without links
        part.rename(target)
    return True
