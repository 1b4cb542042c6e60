"""What a finished folder holds, and of which book: the file that is written last."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from kiwiresearch.bulk.page_rows import LONGEST_LEAD
from kiwiresearch.bulk.patience import PAGE_S
from kiwiresearch.bulk.rows import LARGEST_PAGE
from kiwiresearch.bulk.tables import TABLES
from kiwiresearch.ids import BookId, canonical_json
from kiwiresearch.zim.libzim import LibzimArchive

FORMAT = 1
SHA = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Subject:
    """The book that a folder is made of, as it tells of itself."""

    id: BookId
    name: str
    title: str
    date: str
    language: str
    file: str
    """The name of its file, without the folder."""
    checksum: str
    """The MD5 that the file carries; empty where it has none."""


@dataclass(frozen=True, slots=True)
class ShardFile:
    """A file with some rows of a table."""

    file: str
    """Its path below the folder, such as 'pages/000000.parquet'."""
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class TableFiles:
    """All rows of a table."""

    rows: int
    digest: str
    shards: tuple[ShardFile, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What was made of which book, by which version, and what came of it."""

    book: Subject
    version: str
    what: tuple[str, ...]
    fingerprint: str
    entries: int
    """How many articles and redirects were gone through."""
    tables: Mapping[str, TableFiles]

    def record(self) -> dict[str, Any]:
        """What `manifest.json` holds."""
        return {
            "format": FORMAT,
            "book": asdict(self.book),
            "version": self.version,
            "what": list(self.what),
            "fingerprint": self.fingerprint,
            "entries": self.entries,
            "tables": {name: asdict(table) for name, table in self.tables.items()},
        }

    def summary(self) -> dict[str, Any]:
        """The same without the single files."""
        tables = {
            name: {"rows": table.rows, "digest": table.digest, "shards": len(table.shards)}
            for name, table in self.tables.items()
        }
        return {**self.record(), "tables": tables}


def subject_of(archive: LibzimArchive) -> Subject:
    book = archive.book
    return Subject(book.id, book.name, book.title, book.date, book.language, archive.parts[0].name, archive.checksum)


def fingerprint_of(what: tuple[str, ...], version: str) -> str:
    """A hash of all that rows depend on but the book: not of the engine, the batches or the workers."""
    told = {
        "format": FORMAT,
        "version": version,
        "what": what,
        "columns": {name: [(c.name, c.kind, c.optional) for c in TABLES[name]] for name in (*what, "errors")},
        "longest_lead": LONGEST_LEAD,
        "largest_page": LARGEST_PAGE,
        "page_s": PAGE_S,
    }
    return "sha256:" + sha256(canonical_json(told).encode()).hexdigest()


def manifest_of(told: Any) -> Manifest:
    """The manifest that a record was made of; ValueError, KeyError or TypeError if it was none."""
    if told["format"] != FORMAT:
        raise ValueError(f"format {told['format']!r} is not known")
    return Manifest(
        book=subject_in(told["book"]),
        version=_text(told["version"]),
        what=tuple(_text(one) for one in told["what"]),
        fingerprint=_text(told["fingerprint"]),
        entries=_count(told["entries"]),
        tables=_tables(told["tables"]),
    )


def subject_in(told: Any) -> Subject:
    """The book of a record; KeyError or TypeError if it is none."""
    texts = [_text(told[name]) for name in ("name", "title", "date", "language", "file", "checksum")]
    return Subject(BookId(_text(told["id"])), *texts)


def shard_name(table: str, number: int) -> str:
    return f"{table}/{number:06d}.parquet"


def _tables(told: Any) -> dict[str, TableFiles]:
    unknown = sorted(told.keys() - TABLES.keys())
    if unknown:
        raise ValueError(f"no table is called {unknown[0]!r}")
    return {name: _table_files(name, told[name]) for name in TABLES if name in told}


def _table_files(name: str, told: Any) -> TableFiles:
    table = TableFiles(_count(told["rows"]), _sha(told["digest"]), tuple(_shard(name, one) for one in told["shards"]))
    if sum(shard.rows for shard in table.shards) != table.rows:
        raise ValueError(f"the shards of {name!r} have not {table.rows} rows")
    if not table.shards:
        raise ValueError(f"{name!r} has no shard")
    return table


def _shard(table: str, told: Any) -> ShardFile:
    file = _text(told["file"])
    if not re.fullmatch(rf"{table}/[0-9]{{6,}}\.parquet", file):
        raise ValueError(f"{file!r} is no name of a shard of {table!r}")
    return ShardFile(file, _count(told["rows"]), _count(told["bytes"]), _sha(told["sha256"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _sha(value: Any) -> str:
    if not SHA.fullmatch(_text(value)):
        raise ValueError(f"{value!r} is no hash")
    return str(value)


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is no count")
    return value
