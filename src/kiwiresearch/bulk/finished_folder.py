"""A finished folder of tables: its manifest, how it is opened, and how it is checked; it may come from anybody."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from itertools import groupby
from pathlib import Path
from typing import Any

from kiwiresearch.bulk.batch import MAX_PAGE_BYTES, PAGE_TIMEOUT_S
from kiwiresearch.bulk.tables import MAX_LEAD_CHARS, TABLES, RowTally, check_schema, from_parquet, page_tally
from kiwiresearch.errors import KiwiError, RunDamaged, RunNotFound
from kiwiresearch.ids import BookId, canonical_json
from kiwiresearch.zim.libzim import LibzimArchive

FORMAT = 1
SHA = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class BookIdentity:
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
class BulkManifest:
    """What was made of which book, by which version, and what came of it."""

    book: BookIdentity
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


def book_identity(archive: LibzimArchive) -> BookIdentity:
    book = archive.book
    return BookIdentity(
        book.id, book.name, book.title, book.date, book.language, archive.parts[0].name, archive.checksum
    )


def rows_fingerprint(what: tuple[str, ...], version: str) -> str:
    """A hash of all that rows depend on but the book: not of the engine, the batches or the workers."""
    told = {
        "format": FORMAT,
        "version": version,
        "what": what,
        "columns": {name: [(c.name, c.kind, c.optional) for c in TABLES[name]] for name in (*what, "errors")},
        "longest_lead": MAX_LEAD_CHARS,
        "largest_page": MAX_PAGE_BYTES,
        "page_s": PAGE_TIMEOUT_S,
    }
    return "sha256:" + sha256(canonical_json(told).encode()).hexdigest()


def manifest_from_record(told: Any) -> BulkManifest:
    """The manifest that a record was made of; ValueError, KeyError or TypeError if it was none."""
    if told["format"] != FORMAT:
        raise ValueError(f"format {told['format']!r} is not known")
    return BulkManifest(
        book=identity_from_record(told["book"]),
        version=_text(told["version"]),
        what=tuple(_text(one) for one in told["what"]),
        fingerprint=_text(told["fingerprint"]),
        entries=_count(told["entries"]),
        tables=_tables(told["tables"]),
    )


def identity_from_record(told: Any) -> BookIdentity:
    """The book of a record; KeyError or TypeError if it is none."""
    texts = [_text(told[name]) for name in ("name", "title", "date", "language", "file", "checksum")]
    return BookIdentity(BookId(_text(told["id"])), *texts)


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


MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 2**28
WORK_FOLDER = ".kiwiresearch"
"""What is only needed until the tables are finished lies in here."""
PLAN = f"{WORK_FOLDER}/plan.json"
MAKE_REMEDY = "Make one with 'kiwiresearch bulk --book BOOK --out FOLDER'."
REMAKE_REMEDY = "Remove the folder, and make it again with 'kiwiresearch bulk --book BOOK --out FOLDER'."


@dataclass(frozen=True, slots=True)
class BulkFolder:
    """A finished folder: its manifest, and where its shards are."""

    folder: Path
    manifest: BulkManifest

    def has_table(self, table: str) -> bool:
        return table in self.manifest.tables

    def shards(self, table: str) -> list[Path]:
        """The files of a table, at least one, each with the columns it should have.

        RunNotFound where the folder was made without this table.
        """
        if not self.has_table(table):
            raise RunNotFound(
                f"The folder {str(self.folder)!r} has no table {table!r}.",
                remedy=f"Make one that has: kiwiresearch bulk --what {','.join((*self.manifest.what, table))} …",
            )
        files = []
        for shard in self.manifest.tables[table].shards:
            file = self.file(shard)
            if check_schema(table, file) != shard.rows:
                raise RunDamaged(f"The file {str(file)!r} has not {shard.rows:,} rows.", remedy=REMAKE_REMEDY)
            files.append(file)
        return files

    def check_files(self) -> None:
        """RunDamaged where a file is missing, or has not the size it should have; what is in them is not looked at."""
        for table in self.manifest.tables.values():
            for shard in table.shards:
                self.file(shard)

    def file(self, shard: ShardFile) -> Path:
        """Where a shard is: an ordinary file below the folder, of the size it should have."""
        file = self.folder / shard.file
        try:
            is_inside = file.resolve(strict=True).is_relative_to(self.folder.resolve(strict=True))
            size = file.stat().st_size
        except PermissionError as problem:
            raise _forbidden(file) from problem
        except OSError as problem:
            raise RunDamaged(f"The file {str(file)!r} is missing.", remedy=REMAKE_REMEDY) from problem
        if not is_inside or not file.is_file():
            raise RunDamaged(f"The file {str(file)!r} is not in its folder.", remedy=REMAKE_REMEDY)
        if size != shard.bytes:
            raise RunDamaged(f"The file {str(file)!r} has {size:,} bytes, not {shard.bytes:,}.", remedy=REMAKE_REMEDY)
        return file


def open_folder(folder: Path) -> BulkFolder:
    """Open a finished folder; what it says of itself is checked, its rows are when they are asked for."""
    file = folder / MANIFEST
    try:
        manifest = manifest_from_record(json.loads(_content(file)))
    except (FileNotFoundError, NotADirectoryError) as problem:
        if _is_begun(folder):
            raise RunNotFound(
                f"The bulk folder {str(folder)!r} is not finished.", remedy="Run the command that began it: it goes on."
            ) from problem
        raise RunNotFound(f"There is no finished bulk folder at {str(folder)!r}.", remedy=MAKE_REMEDY) from problem
    except PermissionError as problem:
        raise _forbidden(file) from problem
    except OSError as problem:
        raise RunDamaged(
            f"The file {str(file)!r} cannot be read: {problem.strerror}.", remedy=REMAKE_REMEDY
        ) from problem
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        reason = f"it has no {problem}" if isinstance(problem, KeyError) else str(problem) or "it is no JSON"
        raise RunDamaged(
            f"The file {str(file)!r} is not as kiwiresearch wrote it: {reason[:200]}.", remedy=REMAKE_REMEDY
        ) from problem
    return BulkFolder(folder, manifest)


def _is_begun(folder: Path) -> bool:
    try:
        return (folder / PLAN).is_file()
    except OSError:  # what nobody may look at is no folder of ours
        return False


def _forbidden(file: Path) -> RunDamaged:
    return RunDamaged(f"The file {str(file)!r} may not be read by you.", remedy="Check who may read the folder.")


def _content(file: Path) -> bytes:
    with file.open("rb") as stream:
        content = stream.read(MAX_MANIFEST_BYTES + 1)
    if len(content) > MAX_MANIFEST_BYTES:
        raise ValueError("it is too large")
    return content


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """What was looked at, and what is wrong with it."""

    folder: BulkFolder
    shards: int
    problems: tuple[str, ...]

    @property
    def is_intact(self) -> bool:
        return not self.problems


def check_folder(folder: Path, on_progress: Callable[[int, int], None] = lambda _done, _all: None) -> FolderCheck:
    """Look at every file of a finished folder; `tell` hears how many were looked at, of how many."""
    opened = open_folder(folder)
    total = sum(len(table.shards) for table in opened.manifest.tables.values())
    problems: list[str] = []
    done = 0
    for name, table in opened.manifest.tables.items():
        tally: RowTally | None = RowTally()
        for shard in table.shards:
            told = _check_shard(opened, name, shard, problems)
            tally = tally + told if tally is not None and told is not None else None
            done += 1
            on_progress(done, total)
        problems += _check_table(name, table, tally)
    return FolderCheck(opened, total, tuple(problems))


def _check_shard(opened: BulkFolder, name: str, shard: ShardFile, problems: list[str]) -> RowTally | None:
    try:
        file = opened.file(shard)
        if file_sha256(file) != shard.sha256:
            problems.append(f"{shard.file} is not as it was written.")
            return None
        tally = RowTally()
        for _, rows in groupby(from_parquet(name, file), key=lambda row: row[0]):
            tally += page_tally(rows)
    except (KiwiError, OSError) as problem:
        problems.append(problem.message if isinstance(problem, KiwiError) else f"{shard.file}: {problem.strerror}.")
        return None
    if tally.rows != shard.rows:
        problems.append(f"{shard.file} has {tally.rows:,} rows, not {shard.rows:,}.")
    return tally


def _check_table(name: str, table: TableFiles, tally: RowTally | None) -> list[str]:
    if tally is None or tally.digest == table.digest:
        return []
    return [f"The rows of {name!r} have not the digest that the manifest tells."]


def file_sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return "sha256:" + file_digest(stream, "sha256").hexdigest()
