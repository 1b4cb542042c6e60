"""The tables of a database: created, migrated to the current version, and compared by a digest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Column, Connection, Dialect, MetaData, Table, insert, inspect, select, update
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement

from kiwiresearch.ids import canonical_json
from kiwiresearch.store.database import Database
from kiwiresearch.store.engine import BACKUP_REMEDY

ROWS_PER_READ = 50
"""How many rows are in memory at a time: one may have a mebibyte."""
Migration = Callable[[Connection], None]


@dataclass(frozen=True, slots=True)
class DatabaseSchema:
    """The tables of a database and their migrations."""

    metadata: MetaData
    properties: Table
    """A table of names and values; one of them is the version."""
    version: int
    migrations: Mapping[int, Migration]
    """For each version but the first, the migration from the version before."""
    add_triggers: Migration | None = None

    def create(self, connection: Connection) -> None:
        """Create the tables, in the caller's transaction."""
        new = self.metadata.sorted_tables
        # The properties of a case are not among the tables that are copied and compared, so they are declared apart.
        if self.properties.metadata is not self.metadata:
            new = [*new, self.properties]
        for table in new:
            for statement in _creating_statements(table, connection.dialect):
                connection.exec_driver_sql(statement)
        connection.execute(insert(self.properties).values(name="version", value=str(self.version)))
        if self.add_triggers is not None:
            self.add_triggers(connection)

    def read_version(self, connection: Connection, db: Database) -> int:
        """The version of the tables; 0 if there are none."""
        if self.properties.name not in table_names(connection):
            return 0
        is_version = self.properties.c.name == "version"
        found = connection.execute(select(self.properties.c.value).where(is_version)).scalar()
        return self.check_version(found, db)

    def check_version(self, found: str | None, db: Database) -> int:
        """The stored version as a number; an unknown one is refused."""
        noun = db.kinds.noun
        if found is None or not found.isdecimal():
            raise db.kinds.damaged(f"The {noun} {db.name!r} is damaged: its version is missing.", remedy=BACKUP_REMEDY)
        if int(found) > self.version:
            raise db.kinds.damaged(
                f"The {noun} {db.name!r} was created by a newer kiwiresearch: its tables have version {found},"
                f" but this one supports only up to {self.version}.",
                remedy=f"Update kiwiresearch. The {noun} was not changed.",
            )
        return int(found)

    def upgrade(self, connection: Connection, version: int) -> None:
        """Run the migrations from `version` on in one transaction, so that no database is between two versions."""
        for number in range(version + 1, self.version + 1):
            self.migrations[number](connection)
        is_version = self.properties.c.name == "version"
        connection.execute(update(self.properties).where(is_version).values(value=str(self.version)))


_CREATE_STATEMENTS: dict[tuple[Table, str], tuple[str, ...]] = {}
"""Cached CREATE statements by table and dialect: compiling them is slower than running them."""


def _creating_statements(table: Table, dialect: Dialect) -> tuple[str, ...]:
    known = _CREATE_STATEMENTS.get((table, dialect.name))
    if known is None:
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        new: list[DDLElement] = [CreateTable(table), *map(CreateIndex, indexes)]
        known = _CREATE_STATEMENTS[table, dialect.name] = tuple(
            str(element.compile(dialect=dialect)) for element in new
        )
    return known


def table_names(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names())


def digest(connection: Connection, tables: Iterable[Table], left_out: Collection[Column[Any]] = ()) -> str:
    """A hash of all rows: the same for the same content on every engine, in whatever order it was written."""
    hashed = sha256()
    for table in sorted(tables, key=lambda table: table.name):
        columns = [column for column in table.c if column not in left_out]
        hashed.update(f"{table.name}\n".encode())
        rows = connection.execute(select(*columns).execution_options(yield_per=ROWS_PER_READ))
        # Sorted by hash, because engines sort texts differently.
        for line in sorted(_row_hash(row._mapping) for row in rows):
            hashed.update(line)
    return "sha256:" + hashed.hexdigest()


def _row_hash(row: Mapping[Any, Any]) -> bytes:
    """A row as a hash, so that large rows need little memory."""
    values = {str(name): value.hex() if isinstance(value, bytes) else value for name, value in row.items()}
    return sha256(canonical_json(values).encode("utf-8", "surrogatepass")).digest()
