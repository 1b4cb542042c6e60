"""DuckDB over the shards of a book: in this process, within bounds, and shut off from everything but its folders."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import CannotWrite, KiwiError, RunDamaged

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_MB = 512
"""What DuckDB may keep in memory; the rest goes to a folder that is gone afterwards."""
MOST_THREADS = 4
LONGEST = 4_000
"""More characters than this of one value are not shown: a page's lead has 500, a quote seldom more than 1,000."""


class Database:
    """A connection that reads some files, writes to one folder, and cannot reach anything else."""

    def __init__(self, connection: DuckDBPyConnection, name: str, tables: Collection[str] = ()) -> None:
        self._connection = connection
        self._name = name
        self._tables = tables

    def has(self, table: str) -> bool:
        """Whether it was opened with this table."""
        return table in self._tables

    def rows(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        """All rows of a query, by the names of its columns."""
        with self._told():
            done = self._connection.execute(query, values)
            names = [column[0] for column in done.description or ()]
            return [dict(zip(names, row, strict=True)) for row in done.fetchall()]

    def stream(self, query: str, values: Sequence[Any] | Mapping[str, Any] = (), size: int = 2_000) -> Iterator[Any]:
        """The rows of a query as they come, some at a time; another query may be asked between two of them."""
        with self._told():
            cursor = self._connection.cursor().execute(query, values)
            while rows := cursor.fetchmany(size):
                yield from rows

    def value(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """The first value of the first row."""
        with self._told():
            found = self._connection.execute(query, values).fetchall()
            return found[0][0] if found else None

    def columns(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> dict[str, Any]:
        """The columns of a query as numpy arrays; none of them may be null."""
        with self._told():
            return dict(self._connection.execute(query, values).fetchnumpy())

    def do(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> None:
        with self._told():
            self._connection.execute(query, values)

    @contextlib.contextmanager
    def seen(self, name: str, columns: Mapping[str, Any]) -> Iterator[None]:
        """Numpy arrays as a table of this name, as long as the context lasts."""
        self._connection.register(name, dict(columns))
        try:
            yield
        finally:
            self._connection.unregister(name)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What DuckDB cannot do, in our words; a query that makes no sense is a slip of ours."""
        import duckdb

        try:
            yield
        except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.PermissionException):
            raise
        except duckdb.OutOfMemoryException as problem:
            raise CannotWrite(
                f"There is not enough room to work on {self._name!r}: {_first_line(problem)}",
                remedy="Free some of the disk that holds temporary files, then try again.",
            ) from problem
        except duckdb.Error as problem:
            if "No space left" in str(problem):
                raise CannotWrite(
                    f"The disk is full: {_first_line(problem)}", remedy="Free some of it, then try again."
                ) from problem
            raise RunDamaged(
                f"A shard of {self._name!r} cannot be read: {_first_line(problem)}",
                remedy="'kiwiresearch bulk --check FOLDER' says which: write that folder again. If all are as written, "
                "delete 'atlas' in the program's cache, which 'kiwiresearch doctor' names.",
            ) from problem


@contextlib.contextmanager
def opened(name: str, tables: Mapping[str, Sequence[Path]], writable: Path | None = None) -> Iterator[Database]:
    """A database with one view for each table; `writable` is the one folder that queries may write to.

    What does not fit in memory goes there as well, and else to where the system keeps temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="kiwiresearch-atlas-", dir=writable, ignore_cleanup_errors=True) as spill:
        connection = _connected(Path(spill))
        try:
            found = Database(connection, name, tables.keys())
            files = [file for shards in tables.values() for file in shards]
            _fence(found, files, [Path(spill), *([writable] if writable else [])])
            for table, shards in tables.items():
                found.do(f"CREATE VIEW {table} AS SELECT * FROM {files_of(shards)}")
            yield found
        finally:
            connection.close()


def files_of(shards: Sequence[Path]) -> str:
    """The files of a table as a query names them."""
    return f"read_parquet([{', '.join(literal(str(one)) for one in shards)}], hive_partitioning = false)"


def save(database: Database, folder: Path, name: str, query: str) -> None:
    """Write what a query finds into a file of this name."""
    target = literal(str(folder / f"{name}.parquet"))
    database.do(f"COPY ({query}) TO {target} (FORMAT parquet, COMPRESSION zstd)")


def literal(text: str) -> str:
    """A text within a query."""
    return "'" + text.replace("'", "''") + "'"


def _connected(spill: Path) -> DuckDBPyConnection:
    try:
        import duckdb
    except ImportError as problem:
        raise KiwiError(
            "The atlas needs DuckDB, which is not installed.",
            remedy="Install it with: pip install 'kiwiresearch[bulk]'",
        ) from problem
    return duckdb.connect(
        ":memory:",
        config={
            "memory_limit": f"{MEMORY_MB}MB",
            "threads": min(os.cpu_count() or 1, MOST_THREADS),
            "temp_directory": str(spill),
            "extension_directory": str(spill),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "allow_unsigned_extensions": "false",
            "preserve_insertion_order": "true",
        },
    )


def _fence(database: Database, files: Sequence[Path], folders: Sequence[Path]) -> None:
    """Nothing but these files and folders from here on, and no way back: a hostile table cannot name others."""
    database.do(f"SET allowed_paths = [{', '.join(literal(str(one)) for one in files)}]")
    database.do(f"SET allowed_directories = [{', '.join(literal(f'{one}/') for one in folders)}]")
    database.do("SET enable_external_access = false")
    database.do("SET lock_configuration = true")


def _first_line(problem: Exception) -> str:
    """What is wrong, without the query that found it."""
    from kiwiresearch.text.plain import printable

    line = str(problem).strip().partition("\n")[0].rpartition("Error: ")[2][:300]
    return printable(line) if line.endswith(".") else f"{printable(line)}."
