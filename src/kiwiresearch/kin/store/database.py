"""One connection to a case, its transactions, and what a step still has to do before it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, CursorResult, Executable, insert, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from kiwiresearch.errors import CannotWrite, KiwiError, StoreUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.store import migrate, server
from kiwiresearch.kin.store.alone import alone_in
from kiwiresearch.kin.store.chain import AUDIT_START
from kiwiresearch.kin.store.ledger import AuditHeadRow
from kiwiresearch.kin.store.place import Place
from kiwiresearch.kin.store.problems import told
from kiwiresearch.kin.store.schema import CaseRow
from kiwiresearch.kin.store.tables import Rows, table


class Database:
    """The connection of a case. What hangs on a step is kept here: people to project anew, rows to audit."""

    def __init__(self, place: Place, now: Callable[[], str], busy_s: float) -> None:
        self.place = place
        self.now = now
        self.case_id = ""
        self.settings: Mapping[str, Any] = {}
        self.agent = ""
        self.changed_people: set[str] = set()
        self.changed_ties: set[str] = set()
        self.unwritten_audit: list[dict[str, Any]] = []
        self.merged: dict[str, str] | None = None
        self.known_people: set[str] = set()
        self.groups: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.settlers: list[Callable[[Database], None]] = []
        self._inserts: dict[type[Rows], Executable] = {}
        self._begin = "BEGIN"
        self._depth = 0
        self._broken = False
        self._backend = 0
        """The server's number for the connection that nobody else may change the case beside; 0 if others may."""
        self._held = ExitStack()
        self._lock = threading.RLock()
        self._engine = place.engine(busy_s, lambda: self._begin)
        with told(place.name):
            self.connection: Connection = self._engine.connect()

    @classmethod
    def create(cls, where: Path | str, settings: Mapping[str, Any], now: Callable[[], str], *, busy_s: float) -> Self:
        cls.make(where, now, lambda database: database._found(settings), busy_s=busy_s)
        return cls.open(where, now, busy_s=busy_s)

    @classmethod
    def make(
        cls, where: Path | str, now: Callable[[], str], fill: Callable[[Database], None], *, busy_s: float
    ) -> None:
        """Make the tables where none are and have them filled: all of it is there in the end, or nothing."""
        place = Place.of(where)
        with place.made() as beside:
            database = cls(beside, now, busy_s)
            try:
                with told(place.name), database._written():
                    if not database.is_file:
                        server.make_schema(database.connection)
                    if not migrate.is_empty(database.connection):
                        raise place.taken()
                    migrate.upgrade(database.connection)
                    fill(database)
            finally:
                database.close()

    @classmethod
    def open(cls, where: Path | str, now: Callable[[], str], *, busy_s: float, alone_s: float | None = None) -> Self:
        """The case that is there; where `alone_s` is a number, nobody else may change it, and so long is waited."""
        place = Place.of(where)
        place.check_there()
        database = cls(place, now, busy_s)
        try:
            if alone_s is not None:
                database._hold(alone_s)
            database._take_up()
        except BaseException:
            database.close()
            raise
        return database

    @property
    def is_file(self) -> bool:
        return self.place.path is not None

    def close(self) -> None:
        with self._held, self._lock, told(self.place.name):
            if self._backend:
                server.let_go(self.connection)
            self.connection.close()
            self._engine.dispose()

    def _hold(self, patience_s: float) -> None:
        if self.place.path is not None:
            self._held.enter_context(alone_in(self.place.path.parent, patience_s=patience_s))
            return
        with told(self.place.name):
            self._backend = server.hold(self.connection, self.place.name, patience_s=patience_s)

    def _found(self, settings: Mapping[str, Any]) -> None:
        identity = id_of("case", canonical_json(settings))
        self.run(insert(table(CaseRow)).values(id=identity, settings=dict(settings), created_at=self.now()))
        self.run(insert(table(AuditHeadRow)).values(case_id=identity, seq=0, hash=AUDIT_START))

    def _take_up(self) -> None:
        with told(self.place.name):
            if self.is_file:
                self.connection.exec_driver_sql("PRAGMA query_only=ON")
                self.connection.rollback()
            with self._read():
                version = migrate.version_of(self.connection, self.place.name)
            if self.is_file:
                self._set_up_file()
            if version != migrate.VERSIONS[-1]:
                with self._written():
                    migrate.upgrade(self.connection)
            with self._read():
                found = self.run(select(CaseRow.id, CaseRow.settings)).one()
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
                with self._joined(agent):
                    yield
                return
            with self._written():
                self._depth, self.agent, self._broken = 1, agent, False
                try:
                    yield
                    self._check_whole()
                    self.settle()
                except BaseException:
                    self._forget()
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
                    self.settle()
                yield
                return
            with self._read():
                yield

    @contextmanager
    def beside(self) -> Iterator[None]:
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

    def spoil(self) -> None:
        """Keep nothing of this step, whoever catches the error that follows."""
        self._broken = True

    def _check_whole(self) -> None:
        if self._broken:
            raise CannotWrite(
                f"A write to the case {self.place.name!r} failed in this step, so nothing of it was kept.",
                remedy="Do the step again.",
            )

    def settle(self) -> None:
        """Do what a step has put off: each thing once, however often it was called for."""
        for settler in self.settlers:
            settler(self)

    def run(self, statement: Executable, rows: Sequence[Mapping[str, Any]] | None = None) -> CursorResult[Any]:
        with told(self.place.name):
            return self.connection.execute(statement, rows)

    def rows(self, statement: Executable) -> list[dict[str, Any]]:
        """All rows, by the names of their columns."""
        with told(self.place.name):
            found = self.run(statement)
            names = list(map(str, found.keys()))
            return [dict(zip(names, row, strict=True)) for row in found.all()]

    def insert_new(self, row: type[Rows], values: Mapping[str, Any]) -> bool:
        """Insert a row unless its key is taken; whether it was new."""
        if row not in self._inserts:  # making a statement takes longer than running it
            make = sqlite.insert if self.is_file else postgresql.insert
            self._inserts[row] = make(table(row)).on_conflict_do_nothing().execution_options(preserve_rowcount=True)
        with told(self.place.name):
            return self.connection.execute(self._inserts[row], dict(values)).rowcount > 0

    def put(self, row: type[Rows], values: Mapping[str, Any]) -> None:
        """Insert a row, or take the place of the one with its key."""
        make = sqlite.insert if self.is_file else postgresql.insert
        keys = [column.name for column in table(row).primary_key]
        rest = {name: value for name, value in values.items() if name not in keys}
        self.run(make(table(row)).values(dict(values)).on_conflict_do_update(index_elements=keys, set_=rest))

    @contextmanager
    def _joined(self, agent: str) -> Iterator[None]:
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
    def _written(self) -> Iterator[None]:
        self._begin = "BEGIN IMMEDIATE"
        self.merged = None  # another process may have merged people since
        try:
            if self.is_file:
                with told(self.place.name):
                    self.connection.begin()
            else:
                with told(self.place.name):
                    server.begin_write(self.connection, self.place.name, self._backend)
            yield
            if not self.is_file:
                with told(self.place.name):
                    server.mark(self.connection)
            self._commit()
        except BaseException:
            self.connection.rollback()
            raise

    def _commit(self) -> None:
        with told(self.place.name):
            self.connection.commit()

    @contextmanager
    def _read(self) -> Iterator[None]:
        self._begin = "BEGIN"
        self.merged = None
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

    def _forget(self) -> None:
        self.changed_people.clear()
        self.changed_ties.clear()
        self.unwritten_audit.clear()
        self.merged = None
        self.known_people.clear()
        self.texts.clear()
        self.groups.clear()
