"""The connection of a case: its transactions, the work a step defers, and the version of its tables."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, CursorResult, Executable, insert, inspect, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from kiwiresearch.errors import CannotWrite, KiwiError, RunDamaged, StoreUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.store import location
from kiwiresearch.kin.store.folder_lock import locked_folder
from kiwiresearch.kin.store.location import CaseLocation, case_errors
from kiwiresearch.kin.store.tables import AuditHeadRow, ResearchCaseRow, TableBase, table
from kiwiresearch.kin.store.values import AUDIT_START
from kiwiresearch.kin.tree import row_id
from kiwiresearch.store.engine import BACKUP

VERSIONS = ("0001",)
"""All versions of the tables, in order; each has a module in `migrations/versions`."""
FOLDER = Path(__file__).parent / "migrations"
ALEMBIC_LOCK = threading.Lock()
"""Alembic keeps the migration that runs in a global."""


def table_version(connection: Connection, name: str) -> str:
    """The version of a case that is there; anything else is refused."""
    tables = set(inspect(connection).get_table_names())
    if not {"alembic_version", "research_case"} <= tables:
        raise RunDamaged(
            f"{name!r} is no case: the tables of one are not in it.", remedy="Name the file or address of a case."
        )
    version = str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")
    if not version.isdecimal():
        raise RunDamaged(f"The case {name!r} is damaged: nothing says of which version it is.", remedy=BACKUP)
    if version not in VERSIONS:
        raise RunDamaged(
            f"The case {name!r} was made by a newer kiwiresearch: its tables are of version {version!r},"
            f" and this one knows {VERSIONS[-1]!r} at most.",
            remedy="Update kiwiresearch; the case was not touched.",
        )
    return version


def has_no_tables(connection: Connection) -> bool:
    return not inspect(connection).get_table_names()


def upgrade_tables(connection: Connection) -> None:
    """Run all migrations that the database has not seen, inside the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    with ALEMBIC_LOCK:
        command.upgrade(config, "head")


class CaseDatabase:
    """The connection of a case. What hangs on a step is kept here: people to project anew, rows to audit."""

    def __init__(self, place: CaseLocation, now: Callable[[], str], busy_s: float) -> None:
        self.place = place
        self.now = now
        self.case_id = ""
        self.settings: Mapping[str, Any] = {}
        self.agent = ""
        self.changed_people: set[str] = set()
        self.changed_ties: set[str] = set()
        self.pending_audit: list[dict[str, Any]] = []
        self.merged_into: dict[str, str] | None = None
        self.known_people: set[str] = set()
        self.origin_groups: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.deferred: list[Callable[[CaseDatabase], None]] = []
        self._inserts: dict[type[TableBase], Executable] = {}
        self._begin = "BEGIN"
        self._depth = 0
        self._broken = False
        self._backend = 0
        """The server's number for the connection that nobody else may change the case beside; 0 if others may."""
        self._locks = ExitStack()
        self._lock = threading.RLock()
        self._engine = place.engine(busy_s, lambda: self._begin)
        with case_errors(place.name):
            self.connection: Connection = self._engine.connect()

    @classmethod
    def create(cls, where: Path | str, settings: Mapping[str, Any], now: Callable[[], str], *, busy_s: float) -> Self:
        cls.make(where, now, lambda database: database._insert_case(settings), busy_s=busy_s)
        return cls.open(where, now, busy_s=busy_s)

    @classmethod
    def make(
        cls, where: Path | str, now: Callable[[], str], fill: Callable[[CaseDatabase], None], *, busy_s: float
    ) -> None:
        """Make the tables where none are and have them filled: all of it is there in the end, or nothing."""
        place = CaseLocation.of(where)
        with place.building() as beside:
            database = cls(beside, now, busy_s)
            try:
                with case_errors(place.name), database._write_transaction():
                    if not database.is_file:
                        location.create_schema(database.connection)
                    if not has_no_tables(database.connection):
                        raise place.taken_error()
                    upgrade_tables(database.connection)
                    fill(database)
            finally:
                database.close()

    @classmethod
    def open(cls, where: Path | str, now: Callable[[], str], *, busy_s: float, alone_s: float | None = None) -> Self:
        """The case that is there; where `alone_s` is a number, nobody else may change it, and so long is waited."""
        place = CaseLocation.of(where)
        place.check_exists()
        database = cls(place, now, busy_s)
        try:
            if alone_s is not None:
                database._lock_case(alone_s)
            database._load()
        except BaseException:
            database.close()
            raise
        return database

    @property
    def is_file(self) -> bool:
        return self.place.path is not None

    def close(self) -> None:
        with self._locks, self._lock, case_errors(self.place.name):
            if self._backend:
                location.release_case(self.connection)
            self.connection.close()
            self._engine.dispose()

    def _lock_case(self, patience_s: float) -> None:
        if self.place.path is not None:
            self._locks.enter_context(locked_folder(self.place.path.parent, timeout_s=patience_s))
            return
        with case_errors(self.place.name):
            self._backend = location.hold_case(self.connection, self.place.name, patience_s=patience_s)

    def _insert_case(self, settings: Mapping[str, Any]) -> None:
        identity = row_id("case", canonical_json(settings))
        self.run(insert(table(ResearchCaseRow)).values(id=identity, settings=dict(settings), created_at=self.now()))
        self.run(insert(table(AuditHeadRow)).values(case_id=identity, seq=0, hash=AUDIT_START))

    def _load(self) -> None:
        with case_errors(self.place.name):
            if self.is_file:
                self.connection.exec_driver_sql("PRAGMA query_only=ON")
                self.connection.rollback()
            with self._read_transaction():
                version = table_version(self.connection, self.place.name)
            if self.is_file:
                self._set_up_file()
            if version != VERSIONS[-1]:
                with self._write_transaction():
                    upgrade_tables(self.connection)
            with self._read_transaction():
                found = self.run(select(ResearchCaseRow.id, ResearchCaseRow.settings)).one()
                self.case_id, self.settings = found.id, found.settings

    def _set_up_file(self) -> None:
        raw = self.connection.connection.dbapi_connection
        assert raw is not None
        cursor = raw.cursor()
        for pragma in ("query_only=OFF", "journal_mode=WAL", "synchronous=NORMAL"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @contextmanager
    def step(self, agent: str) -> Iterator[None]:
        """One transaction; a step inside a step joins it."""
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
                    self.run_deferred()
                except BaseException:
                    self._clear_caches()
                    raise
                finally:
                    self._depth, self.agent = 0, ""

    @contextmanager
    def writing(self) -> Iterator[None]:
        """The step that is open, or one of its own for a single write."""
        with self.step(self.agent or "user"):
            yield

    @contextmanager
    def reading(self, *, settled: bool = True) -> Iterator[None]:
        """One view of the case; inside a step it is the step's own, with what was put off done first if `settled`."""
        with self._lock:
            if self._depth:
                if settled:
                    self.run_deferred()
                yield
                return
            with self._read_transaction():
                yield

    @contextmanager
    def short_write(self) -> Iterator[None]:
        """A short write that needs no order among writers: on PostgreSQL it waits for none."""
        with self._lock:
            if self._depth or self.is_file:
                with self.writing():
                    yield
                return
            try:
                yield
                self._commit()
            except BaseException:
                self.connection.rollback()
                raise

    def mark_broken(self) -> None:
        """Keep nothing of this step, whoever catches the error that follows."""
        self._broken = True

    def _check_not_broken(self) -> None:
        if self._broken:
            raise CannotWrite(
                f"A write to the case {self.place.name!r} failed in this step, so nothing of it was kept.",
                remedy="Do the step again.",
            )

    def run_deferred(self) -> None:
        """Do what a step has put off: each thing once, however often it was called for."""
        for settler in self.deferred:
            settler(self)

    def run(self, statement: Executable, rows: Sequence[Mapping[str, Any]] | None = None) -> CursorResult[Any]:
        with case_errors(self.place.name):
            return self.connection.execute(statement, rows)

    def rows(self, statement: Executable) -> list[dict[str, Any]]:
        """All rows, by the names of their columns."""
        with case_errors(self.place.name):
            found = self.run(statement)
            names = list(map(str, found.keys()))
            return [dict(zip(names, row, strict=True)) for row in found.all()]

    def insert_new(self, row: type[TableBase], values: Mapping[str, Any]) -> bool:
        """Insert a row unless its key is taken; whether it was new."""
        if row not in self._inserts:  # making a statement takes longer than running it
            make = sqlite.insert if self.is_file else postgresql.insert
            self._inserts[row] = make(table(row)).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
        with case_errors(self.place.name):
            return self.connection.execute(self._inserts[row], dict(values)).rowcount > 0

    def put(self, row: type[TableBase], values: Mapping[str, Any]) -> None:
        """Insert a row, or take the place of the one with its key."""
        make = sqlite.insert if self.is_file else postgresql.insert
        keys = [column.name for column in table(row).primary_key]
        rest = {name: value for name, value in values.items() if name not in keys}
        self.run(make(table(row)).values(dict(values)).on_conflict_do_update(index_elements=keys, set_=rest))

    @contextmanager
    def _nested_step(self, agent: str) -> Iterator[None]:
        outer, self.agent, self._depth = self.agent, agent, self._depth + 1
        try:
            yield
        except BaseException as problem:
            if not isinstance(problem, KiwiError) or isinstance(problem.__cause__, SQLAlchemyError):
                self._broken = True
            raise
        finally:
            self.agent, self._depth = outer, self._depth - 1

    @contextmanager
    def _write_transaction(self) -> Iterator[None]:
        self._begin = "BEGIN IMMEDIATE"
        self.merged_into = None  # another process may have merged people since
        try:
            if self.is_file:
                with case_errors(self.place.name):
                    self.connection.begin()
            else:
                with case_errors(self.place.name):
                    location.begin_write(self.connection, self.place.name, self._backend)
            yield
            if not self.is_file:
                with case_errors(self.place.name):
                    location.touch_revision(self.connection)
            self._commit()
        except BaseException:
            self.connection.rollback()
            raise

    def _commit(self) -> None:
        with case_errors(self.place.name):
            self.connection.commit()

    @contextmanager
    def _read_transaction(self) -> Iterator[None]:
        self._begin = "BEGIN"
        self.merged_into = None
        if not self.is_file:
            self._begin_read()
        try:
            yield
        finally:
            self.connection.rollback()

    def _begin_read(self) -> None:
        """A line that was cut meanwhile, as by a server that was restarted, is made anew: nothing hung on it."""
        asked = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        try:
            self.run(asked)
        except StoreUnreachable:
            self.connection.rollback()
            self.run(asked)

    def _clear_caches(self) -> None:
        self.changed_people.clear()
        self.changed_ties.clear()
        self.pending_audit.clear()
        self.merged_into = None
        self.known_people.clear()
        self.texts.clear()
        self.origin_groups.clear()
