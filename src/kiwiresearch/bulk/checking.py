"""Proves a finished folder again: every shard against its sum, every table against its digest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import file_digest
from itertools import groupby
from pathlib import Path

from kiwiresearch.bulk.digest import Tally, tally_of
from kiwiresearch.bulk.manifest import ShardFile, TableFiles
from kiwiresearch.bulk.parquet import unpacked
from kiwiresearch.bulk.reading import BulkFolder, open_folder
from kiwiresearch.errors import KiwiError


@dataclass(frozen=True, slots=True)
class Proof:
    """What was looked at, and what is wrong with it."""

    opened: BulkFolder
    shards: int
    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.problems


def check_folder(folder: Path, tell: Callable[[int, int], None] = lambda _done, _all: None) -> Proof:
    """Look at every file of a finished folder; `tell` hears how many were looked at, of how many."""
    opened = open_folder(folder)
    total = sum(len(table.shards) for table in opened.manifest.tables.values())
    problems: list[str] = []
    done = 0
    for name, table in opened.manifest.tables.items():
        tally: Tally | None = Tally()
        for shard in table.shards:
            told = _shard(opened, name, shard, problems)
            tally = tally + told if tally is not None and told is not None else None
            done += 1
            tell(done, total)
        problems += _table(name, table, tally)
    return Proof(opened, total, tuple(problems))


def _shard(opened: BulkFolder, name: str, shard: ShardFile, problems: list[str]) -> Tally | None:
    try:
        file = opened.file(shard)
        if sha_of(file) != shard.sha256:
            problems.append(f"{shard.file} is not as it was written.")
            return None
        tally = Tally()
        for _, rows in groupby(unpacked(name, file), key=lambda row: row[0]):
            tally += tally_of(rows)
    except (KiwiError, OSError) as problem:
        problems.append(problem.message if isinstance(problem, KiwiError) else f"{shard.file}: {problem.strerror}.")
        return None
    if tally.rows != shard.rows:
        problems.append(f"{shard.file} has {tally.rows:,} rows, not {shard.rows:,}.")
    return tally


def _table(name: str, table: TableFiles, tally: Tally | None) -> list[str]:
    if tally is None or tally.digest == table.digest:
        return []
    return [f"The rows of {name!r} have not the digest that the manifest tells."]


def sha_of(file: Path) -> str:
    with file.open("rb") as stream:
        return "sha256:" + file_digest(stream, "sha256").hexdigest()
