"""DuckDB over the tables of a book, sandboxed and limited in memory, and results page by page."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import BadUsage, CannotWrite, KiwiError, RunDamaged

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

MEMORY_MB = 512
"""How much memory DuckDB may use; the rest spills to a temporary folder."""
MAX_THREADS = 4
MAX_VALUE_CHARS = 4_000
"""Longer values are cut off: a page's lead has 500 characters, a quote rarely more than 1,000."""


class AtlasDatabase:
    """A connection that can read some files, write to one folder, and access nothing else."""

    def __init__(self, connection: DuckDBPyConnection, name: str, tables: Collection[str] = ()) -> None:
        self._connection = connection
        self._name = name
        self._tables = tables

    def has(self, table: str) -> bool:
        """Whether the database was opened with this table."""
        return table in self._tables

    def rows(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[Row]:
        """All rows of a query, by the names of its columns."""
        with self._translated_errors():
            done = self._connection.execute(query, values)
            names = [column[0] for column in done.description or ()]
            return [dict(zip(names, row, strict=True)) for row in done.fetchall()]

    def stream(self, query: str, values: Sequence[Any] | Mapping[str, Any] = (), size: int = 2_000) -> Iterator[Any]:
        """The rows of a query, fetched some at a time; other queries may run meanwhile."""
        with self._translated_errors():
            cursor = self._connection.cursor().execute(query, values)
            while rows := cursor.fetchmany(size):
                yield from rows

    def scalar(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """The first value of the first row."""
        with self._translated_errors():
            found = self._connection.execute(query, values).fetchall()
            return found[0][0] if found else None

    def columns(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> dict[str, NDArray[Any]]:
        """The columns of a query as numpy arrays; none of them may be null."""
        with self._translated_errors():
            return dict(self._connection.execute(query, values).fetchnumpy())

    def execute(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> None:
        with self._translated_errors():
            self._connection.execute(query, values)

    @contextlib.contextmanager
    def with_arrays(self, name: str, columns: Mapping[str, Any]) -> Iterator[None]:
        """Make numpy arrays available as a table, for the duration of the block."""
        self._connection.register(name, dict(columns))
        try:
            yield
        finally:
            self._connection.unregister(name)

    @contextlib.contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Turn DuckDB's errors into ours, except those about the query itself, which are bugs."""
        import duckdb

        try:
            yield
        except (duckdb.BinderException, duckdb.CatalogException, duckdb.ParserException, duckdb.PermissionException):
            raise
        except duckdb.OutOfMemoryException as problem:
            raise CannotWrite(
                f"There is not enough memory or disk space to work on {self._name!r}: {_first_line(problem)}",
                remedy="Free up space on the disk that holds temporary files, then try again.",
            ) from problem
        except duckdb.Error as problem:
            if "No space left" in str(problem):
                raise CannotWrite(
                    f"The disk is full: {_first_line(problem)}", remedy="Free up space, then try again."
                ) from problem
            raise RunDamaged(
                f"A file of {self._name!r} cannot be read: {_first_line(problem)}",
                remedy="'kiwiresearch bulk --check FOLDER' shows whether a file is damaged. "
                "If one is, create its folder again. "
                "If not, delete 'atlas' in the cache folder shown by 'kiwiresearch doctor'.",
            ) from problem


@contextlib.contextmanager
def open_database(
    name: str, tables: Mapping[str, Sequence[Path]], writable: Path | None = None
) -> Iterator[AtlasDatabase]:
    """A database with one view per table; `writable` is the only folder that queries may write to.

    What does not fit in memory spills there too, or else to the system's temporary folder.
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
    """The files of a table as an SQL expression."""
    return f"read_parquet([{', '.join(sql_literal(str(path)) for path in shards)}], hive_partitioning = false)"


def save_query(database: AtlasDatabase, folder: Path, name: str, query: str) -> None:
    """Write the result of a query to a Parquet file with this name."""
    target = sql_literal(str(folder / f"{name}.parquet"))
    database.execute(f"COPY ({query}) TO {target} (FORMAT parquet, COMPRESSION zstd)")


def sql_literal(text: str) -> str:
    """A text as an SQL literal."""
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
    """Restrict the database to these files and folders for good, so that a hostile table cannot name others."""
    database.execute(f"SET allowed_paths = [{', '.join(sql_literal(str(path)) for path in files)}]")
    database.execute(f"SET allowed_directories = [{', '.join(sql_literal(f'{path}/') for path in folders)}]")
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")


def _first_line(problem: Exception) -> str:
    """The first line of an error of DuckDB, without the query."""
    from kiwiresearch.text import printable

    line = str(problem).strip().partition("\n")[0].rpartition("Error: ")[2][:300]
    return printable(line) if line.endswith(".") else f"{printable(line)}."


MAX_ROWS = 10_000
"""The most rows that one request may ask for."""
MAX_OFFSET = 10**9
MAX_WORDS = 100
Row = JsonDict
Condition = tuple[str, Sequence[Any]]
"""A part of a WHERE clause, and the values of its question marks."""


@dataclass(frozen=True, slots=True)
class ResultWindow:
    """How many rows are wanted, starting at which."""

    limit: int = 20
    offset: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MAX_ROWS:
            raise BadUsage(f"Cannot show {self.limit} rows.", remedy=f"Use a limit from 1 to {MAX_ROWS:,}.")
        if not 0 <= self.offset <= MAX_OFFSET:
            raise BadUsage(f"{self.offset} is not a valid offset.", remedy="Use an offset of 0 or more.")


@dataclass(frozen=True, slots=True)
class ResultSlice:
    """Some of the rows, and the total number."""

    rows: tuple[Mapping[str, Any], ...]
    total: int
    offset: int = 0
    hidden: int = 0
    """How many of the requested rows are hidden by a policy."""


def select_page(
    database: AtlasDatabase,
    table: str,
    chosen: Sequence[Condition],
    order: str,
    window: ResultWindow,
    columns: Sequence[str] = (),
) -> ResultSlice:
    """The rows of a table that meet all conditions, with all or some columns; `order` must be unambiguous."""
    where = " AND ".join(f"({condition})" for condition, _ in chosen) or "true"
    values = [value for _, several in chosen for value in several]
    total = int(database.scalar(f"SELECT count(*) FROM {table} WHERE {where}", values))
    wanted = ", ".join(f'"{name}"' for name in columns) or "*"
    # Only names and numbers of our own are in the text of a query: what users typed are always values.
    rows = database.rows(
        f"SELECT {wanted} FROM {table} WHERE {where} ORDER BY {order} LIMIT {window.limit} OFFSET {window.offset}",
        values,
    )
    return ResultSlice(tuple(clean_row(row) for row in rows), total, window.offset)


def search_words(text: str) -> list[str]:
    """The words that rows must contain; BadUsage if there are too many to search for."""
    words = text.split()
    if len(words) > MAX_WORDS:
        raise BadUsage(f"Cannot search for {len(words):,} words at once.", remedy=f"Use {MAX_WORDS} or fewer.")
    return words


def sql_title_of_path(path: str) -> str:
    """SQL that turns a column of paths into titles: paths in older books begin with 'A/' or end in '.html'."""
    return rf"regexp_replace(replace({path}, '_', ' '), '^A/|\.html?$', '', 'g')"


def clean_row(row: Mapping[str, Any]) -> Row:
    """A row with its texts cut off at a maximum length, since tables may come from an untrusted source."""
    return {name: value if name == JSON_COLUMN else _clean(value) for name, value in row.items()}


JSON_COLUMN = "record"
"""A column that is parsed as JSON and not displayed."""


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value[:MAX_VALUE_CHARS]
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return value
