"""A batch of entries, and what became of it: shards of tables, ready to be written."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.bulk.digest import Tally, tally_of
from kiwiresearch.bulk.parquet import packed
from kiwiresearch.bulk.rows import Tables
from kiwiresearch.bulk.tables import Row
from kiwiresearch.ids import BookId

if TYPE_CHECKING:
    from kiwiresearch.zim.directory import Numbers


@dataclass(frozen=True, slots=True)
class Shard:
    """Some rows of a table as a Parquet file; without rows there is none, but for the first of a table."""

    table: str
    tally: Tally
    content: bytes


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of a batch."""

    number: int
    shards: tuple[Shard, ...]


Batches = Generator[Finished, None, None]
"""Batches as an engine gets them done; closing it ends the work."""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """Which entries of which book are to be read, in which order, how many at once, and what for."""

    file: Path
    book: BookId
    what: tuple[str, ...]
    entries: Numbers
    size: int

    @property
    def batches(self) -> int:
        """At least one, so that every table has a shard."""
        return max(-(-len(self.entries) // self.size), 1)

    def ids(self, number: int) -> list[int]:
        """The entries of a batch."""
        return [int(entry) for entry in self.entries[number * self.size : (number + 1) * self.size]]

    def count(self, number: int) -> int:
        return max(min(self.size, len(self.entries) - number * self.size), 0)


def finished(number: int, tables: Tables) -> Finished:
    """Pack the rows of a batch."""
    return Finished(number, tuple(_shard(number, table, told) for table, told in tables.items()))


def _shard(number: int, table: str, told: list[Row]) -> Shard:
    content = packed(table, told) if told or not number else b""
    return Shard(table, tally(told), content)


def tally(told: Sequence[Row]) -> Tally:
    """The tally of rows of one table that are sorted by entry."""
    total = Tally()
    for _, of_entry in groupby(told, key=lambda row: row[0]):
        total += tally_of(of_entry)
    return total
