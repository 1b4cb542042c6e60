"""Some rows of a long answer: which are wanted, and how many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kiwiresearch.atlas.database import LONGEST, Database
from kiwiresearch.errors import BadUsage

MOST = 10_000
"""Rows that one question may ask for."""
FURTHEST = 10**9
MOST_WORDS = 100
Row = dict[str, Any]
Condition = tuple[str, Sequence[Any]]
"""A part of a query, and what stands for its question marks."""


@dataclass(frozen=True, slots=True)
class Window:
    """How many rows are wanted, and from which on."""

    limit: int = 20
    offset: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MOST:
            raise BadUsage(f"{self.limit} rows cannot be shown.", remedy=f"Give a limit from 1 to {MOST:,}.")
        if not 0 <= self.offset <= FURTHEST:
            raise BadUsage(f"There is no row {self.offset}.", remedy="Give an offset from 0 on.")


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the rows, and how many there are in all."""

    rows: tuple[Row, ...]
    total: int
    offset: int = 0
    hidden: int = 0
    """How many of the rows asked for a policy hides."""

    def record(self) -> dict[str, Any]:
        return {"total": self.total, "offset": self.offset, "hidden": self.hidden, "rows": list(self.rows)}


def part(
    database: Database,
    table: str,
    chosen: Sequence[Condition],
    order: str,
    window: Window,
    columns: Sequence[str] = (),
) -> Part:
    """The rows of a table that fit all conditions, in an order that leaves nothing open; all columns, or some."""
    where = " AND ".join(f"({condition})" for condition, _ in chosen) or "true"
    values = [value for _, several in chosen for value in several]
    total = int(database.value(f"SELECT count(*) FROM {table} WHERE {where}", values))
    wanted = ", ".join(f'"{name}"' for name in columns) or "*"
    rows = database.rows(
        f"SELECT {wanted} FROM {table} WHERE {where} ORDER BY {order} LIMIT {window.limit} OFFSET {window.offset}",
        values,
    )
    return Part(tuple(clean(row) for row in rows), total, window.offset)


def words_of(text: str) -> list[str]:
    """The words that rows must hold; BadUsage where there are so many that looking for them takes for ever."""
    words = text.split()
    if len(words) > MOST_WORDS:
        raise BadUsage(f"{len(words):,} words are too many to look for.", remedy=f"Give at most {MOST_WORDS}.")
    return words


def bare(path: str) -> str:
    """A column of paths as titles, within a query: older books have 'A/' before a path, and '.html' behind it."""
    return rf"regexp_replace(replace({path}, '_', ' '), '^A/|\.html?$', '', 'g')"


def clean(row: Mapping[str, Any]) -> Row:
    """A row that may be shown: texts of a table from elsewhere may hold anything, and be of any length."""
    return {name: value if name == WHOLE else _clean(value) for name, value in row.items()}


WHOLE = "record"
"""A column that is read as JSON and not shown."""


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return value[:LONGEST]
    if isinstance(value, list):
        return [_clean(one) for one in value]
    return value
