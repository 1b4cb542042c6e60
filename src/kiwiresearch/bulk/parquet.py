"""Rows into Parquet and back: with Ray's, the only module that knows pyarrow."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.bulk.tables import TABLES, Kind, Row
from kiwiresearch.errors import KiwiError, RunDamaged

if TYPE_CHECKING:
    import pyarrow as pa

CODEC, LEVEL = "zstd", 6
ROWS_AT_ONCE = 4_096


def arrow() -> Any:
    """The module pyarrow, or what to do without it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as problem:
        raise KiwiError(
            "Whole books are written as Parquet, and pyarrow is not installed.",
            remedy="Install it with: pip install 'kiwiresearch[bulk]'",
        ) from problem
    return pyarrow


@cache
def schema_of(table: str) -> pa.Schema:
    """The columns of a table as Parquet has them."""
    module = arrow()
    kinds: dict[Kind, pa.DataType] = {
        "number": module.int64(),
        "text": module.string(),
        "flag": module.bool_(),
        "decimal": module.float64(),
    }
    return module.schema([module.field(c.name, kinds[c.kind], nullable=c.optional) for c in TABLES[table]])


def packed(table: str, rows: Sequence[Row]) -> bytes:
    """Rows of a table as a Parquet file."""
    module, schema = arrow(), schema_of(table)
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(schema)
    arrays = [module.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
    target = io.BytesIO()
    module.parquet.write_table(
        module.Table.from_arrays(arrays, schema=schema), target, compression=CODEC, compression_level=LEVEL
    )
    return target.getvalue()


def check_schema(table: str, file: Path) -> int:
    """How many rows a shard has; RunDamaged if it is none of this table."""
    with _opened(file) as shard:
        if not shard.schema_arrow.equals(schema_of(table)):
            raise RunDamaged(
                f"The file {str(file)!r} has not the columns of {table!r}.",
                remedy="Remove the folder, and make it again with 'kiwiresearch bulk'.",
            )
        return int(shard.metadata.num_rows)


def unpacked(table: str, file: Path, names: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of a shard, some at a time; with `names`, these columns alone, and no others are read."""
    wanted = list(names) or [column.name for column in TABLES[table]]
    check_schema(table, file)
    with _opened(file) as shard:
        try:
            for batch in shard.iter_batches(batch_size=ROWS_AT_ONCE, columns=wanted):
                yield from zip(*(batch.column(name).to_pylist() for name in wanted), strict=True)
        except _damages() as problem:
            raise _unreadable(file, problem) from problem


def _opened(file: Path) -> Any:
    module = arrow()
    try:
        return module.parquet.ParquetFile(file)
    except _damages() as problem:
        raise _unreadable(file, problem) from problem


def _damages() -> tuple[type[Exception], ...]:
    """What pyarrow raises of a file that is no Parquet, or whose names or texts are no text."""
    return OSError, UnicodeDecodeError, arrow().ArrowException


def _unreadable(file: Path, problem: Exception) -> RunDamaged:
    reason = (str(problem).splitlines() or ["no reason is given"])[0].rstrip(".")
    return RunDamaged(
        f"The file {str(file)!r} cannot be read as Parquet: {reason}.",
        remedy="Remove the folder, and make it again with 'kiwiresearch bulk'.",
    )
