"""DuckDB over the tables of a book, sandboxed and within bounds, and results page by page."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import BadUsage, CannotWrite, KiwiError, RunDamaged

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY_MB = 512
"""What DuckDB may keep in memory; the rest goes to a folder that is gone afterwards."""
MAX_THREADS = 4
MAX_VALUE_CHARS = 4_000
"""More characters than this of one value are not shown: a page's lead has 500, a quote seldom more than 1,000."""


class AtlasDatabase:
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
        with self._translated_errors():
            done = self._connection.execute(query, values)
            names = [column[0] for column in done.description or ()]
            return [dict(zip(names, row, strict=True)) for row in done.fetchall()]

    def stream(self, query: str, values: Sequence[Any] | Mapping[str, Any] = (), size: int = 2_000) -> Iterator[Any]:
        """The rows of a query as they come, some at a time; another query may be asked between two of them."""
        with self._translated_errors():
            cursor = self._connection.cursor().execute(query, values)
            while rows := cursor.fetchmany(size):
                yield from rows

    def scalar(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """The first value of the first row."""
        with self._translated_errors():
            found = self._connection.execute(query, values).fetchall()
            return found[0][0] if found else None

    def columns(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> dict[str, Any]:
        """The columns of a query as numpy arrays; none of them may be null."""
        with self._translated_errors():
            return dict(self._connection.execute(query, values).fetchnumpy())

    def execute(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> None:
        with self._translated_errors():
            self._connection.execute(query, values)

    @contextlib.contextmanager
    def with_arrays(self, name: str, columns: Mapping[str, Any]) -> Iterator[None]:
        """Numpy arrays as a table of this name, as long as the context lasts."""
        self._connection.register(name, dict(columns))
        try:
            yield
        finally:
            self._connection.unregister(name)

    @contextlib.contextmanager
    def _translated_errors(self) -> Iterator[None]:
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
def open_database(
    name: str, tables: Mapping[str, Sequence[Path]], writable: Path | None = None
) -> Iterator[AtlasDatabase]:
    """A database with one view for each table; `writable` is the one folder that queries may write to.

    What does not fit in memory goes there as well, and else to where the system keeps temporary files.
    """
    with tempfile.TemporaryDirectory(prefix="kiwiresearch-atlas-", dir=writable, ignore_cleanup_errors=True) as spill:
        connection = _connected(Path(spill))
        try:
            found = AtlasDatabase(connection, name, tables.keys())
            files = [file for shards in tables.values() for file in shards]
            _fence(found, files, [Path(spill), *([writable] if writable else [])])
            for table, shards in tables.items():
                found.execute(f"CREATE VIEW {table} AS SELECT * FROM {parquet_source(shards)}")
            yield found
        finally:
            connection.close()


def parquet_source(shards: Sequence[Path]) -> str:
    """The files of a table as a query names them."""
    return f"read_parquet([{', '.join(sql_literal(str(one)) for one in shards)}], hive_partitioning = false)"


def save_query(database: AtlasDatabase, folder: Path, name: str, query: str) -> None:
    """Write what a query finds into a file of this name."""
    target = sql_literal(str(folder / f"{name}.parquet"))
    database.execute(f"COPY ({query}) TO {target} (FORMAT parquet, COMPRESSION zstd)")


def sql_literal(text: str) -> str:
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
            "threads": min(os.cpu_count() or 1, MAX_THREADS),
            "temp_directory": str(spill),
            "extension_directory": str(spill),
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "allow_unsigned_extensions": "false",
            "preserve_insertion_order": "true",
        },
    )


def _fence(database: AtlasDatabase, files: Sequence[Path], folders: Sequence[Path]) -> None:
    """Nothing but these files and folders from here on, and no way back: a hostile table cannot name others."""
    database.execute(f"SET allowed_paths = [{', '.join(sql_literal(str(one)) for one in files)}]")
    database.execute(f"SET allowed_directories = [{', '.join(sql_literal(f'{one}/') for one in folders)}]")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")


def _first_line(problem: Exception) -> str:
    """What is wrong, without the query that found it."""
    from kiwiresearch.text.display import printable

    line = str(problem).strip().partition("\n")[0].rpartition("Error: ")[2][:300]
    return printable(line) if line.endswith(".") else f"{printable(line)}."


MAX_ROWS = 10_000
"""Rows that one question may ask for."""
MAX_OFFSET = 10**9
MAX_WORDS = 100
Row = dict[str, Any]
Condition = tuple[str, Sequence[Any]]
"""A part of a query, and what stands for its question marks."""


@dataclass(frozen=True, slots=True)
class ResultWindow:
    """How many rows are wanted, and from which on."""

    limit: int = 20
    offset: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MAX_ROWS:
            raise BadUsage(f"{self.limit} rows cannot be shown.", remedy=f"Give a limit from 1 to {MAX_ROWS:,}.")
        if not 0 <= self.offset <= MAX_OFFSET:
            raise BadUsage(f"There is no row {self.offset}.", remedy="Give an offset from 0 on.")


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Some of the rows, and how many there are in all."""

    rows: tuple[Row, ...]
    total: int
    offset: int = 0
    hidden: int = 0
    """How many of the rows asked for a policy hides."""

    def record(self) -> dict[str, Any]:
        return {"total": self.total, "offset": self.offset, "hidden": self.hidden, "rows": list(self.rows)}


def select_page(
    database: AtlasDatabase,
    table: str,
    chosen: Sequence[Condition],
    order: str,
    window: ResultWindow,
    columns: Sequence[str] = (),
) -> ResultPage:
    """The rows of a table that fit all conditions, in an order that leaves nothing open; all columns, or some."""
    where = " AND ".join(f"({condition})" for condition, _ in chosen) or "true"
    values = [value for _, several in chosen for value in several]
    total = int(database.scalar(f"SELECT count(*) FROM {table} WHERE {where}", values))
    wanted = ", ".join(f'"{name}"' for name in columns) or "*"
    rows = database.rows(
        f"SELECT {wanted} FROM {table} WHERE {where} ORDER BY {order} LIMIT {window.limit} OFFSET {window.offset}",
        values,
    )
    return ResultPage(tuple(clean_row(row) for row in rows), total, window.offset)


def search_words(text: str) -> list[str]:
    """The words that rows must hold; BadUsage where there are so many that looking for them takes for ever."""
    words = text.split()
    if len(words) > MAX_WORDS:
        raise BadUsage(f"{len(words):,} words are too many to look for.", remedy=f"Give at most {MAX_WORDS}.")
    return words


def sql_title_of_path(path: str) -> str:
    """A column of paths as titles, within a query: older books have 'A/' before a path, and '.html' behind it."""
    return rf"regexp_replace(replace({path}, '_', ' '), '^A/|\.html?$', '', 'g')"


def clean_row(row: Mapping[str, Any]) -> Row:
    """A row that may be shown: texts of a table from elsewhere may hold anything, and be of any length."""
    return {name: value if name == JSON_COLUMN else _clean(value) for name, value in row.items()}


JSON_COLUMN = "record"
"""A column that is read as JSON and not shown."""


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_VALUE_CHARS]
    if isinstance(value, list):
        return [_clean(one) for one in value]
    return value
