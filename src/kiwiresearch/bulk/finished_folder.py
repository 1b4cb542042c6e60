"""A finished folder of tables: its manifest, opening it, and checking it, since its source may be untrusted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from kiwiresearch.bulk.batch import MAX_ACCEPTED_PAGE_BYTES, PAGE_TIMEOUT_S, rows_tally
from kiwiresearch.bulk.tables import MAX_LEAD_CHARS, TABLES, RowTally, check_schema, from_parquet
from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import KiwiError, RunDamaged, RunNotFound
from kiwiresearch.ids import BookId, canonical_json
from kiwiresearch.zim import LibzimArchive

FORMAT = 1
SHA = re.compile(r"sha256:[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class BookIdentity:
    """The book that a folder was made from, by its own metadata."""

    id: BookId
    name: str
    title: str
    date: str
    language: str
    file: str
    """The name of its file, without the folder."""
    checksum: str
    """The MD5 stored in the file; empty if there is none."""


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
    """Which tables were made from which book by which version, and their files."""

    book: BookIdentity
    version: str
    what: tuple[str, ...]
    fingerprint: str
    entries: int
    """How many articles and redirects were read."""
    tables: Mapping[str, TableFiles]

    def record(self) -> JsonDict:
        """The content of `manifest.json`."""
        return {
            "format": FORMAT,
            "book": asdict(self.book),
            "version": self.version,
            "what": list(self.what),
            "fingerprint": self.fingerprint,
            "entries": self.entries,
            "tables": {name: asdict(table) for name, table in self.tables.items()},
        }

    def summary(self) -> JsonDict:
        """A summary of the manifest, with the number of shards instead of their list."""
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
    """A hash of everything that rows depend on except the book: not of engine, batches or workers."""
    parts = {
        "format": FORMAT,
        "version": version,
        "what": what,
        "columns": {name: [(c.name, c.kind, c.optional) for c in TABLES[name]] for name in (*what, "errors")},
        "longest_lead": MAX_LEAD_CHARS,
        "largest_page": MAX_ACCEPTED_PAGE_BYTES,
        "page_s": PAGE_TIMEOUT_S,
    }
    return "sha256:" + sha256(canonical_json(parts).encode()).hexdigest()


def manifest_from_record(record: Any) -> BulkManifest:
    """The manifest of a record; ValueError, KeyError or TypeError if it is invalid."""
    if record["format"] != FORMAT:
        raise ValueError(f"format {record['format']!r} is not known")
    return BulkManifest(
        book=identity_from_record(record["book"]),
        version=_text(record["version"]),
        what=tuple(_text(item) for item in record["what"]),
        fingerprint=_text(record["fingerprint"]),
        entries=_count(record["entries"]),
        tables=_tables(record["tables"]),
    )


def identity_from_record(record: Any) -> BookIdentity:
    """The book of a record; KeyError or TypeError if it is invalid."""
    texts = [_text(record[name]) for name in ("name", "title", "date", "language", "file", "checksum")]
    return BookIdentity(BookId(_text(record["id"])), *texts)


def shard_name(table: str, number: int) -> str:
    return f"{table}/{number:06d}.parquet"


def _tables(record: Any) -> dict[str, TableFiles]:
    unknown = sorted(record.keys() - TABLES.keys())
    if unknown:
        raise ValueError(f"no table is called {unknown[0]!r}")
    return {name: _table_files(name, record[name]) for name in TABLES if name in record}


def _table_files(name: str, record: Any) -> TableFiles:
    table = TableFiles(
        _count(record["rows"]), _sha(record["digest"]), tuple(_shard(name, item) for item in record["shards"])
    )
    if sum(shard.rows for shard in table.shards) != table.rows:
        raise ValueError(f"the shards of {name!r} do not have {table.rows} rows")
    if not table.shards:
        raise ValueError(f"{name!r} has no shard")
    return table


def _shard(table: str, record: Any) -> ShardFile:
    file = _text(record["file"])
    if not re.fullmatch(rf"{table}/[0-9]{{6,}}\.parquet", file):
        raise ValueError(f"{file!r} is not the name of a shard of {table!r}")
    return ShardFile(file, _count(record["rows"]), _count(record["bytes"]), _sha(record["sha256"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value


def _sha(value: Any) -> str:
    if not SHA.fullmatch(_text(value)):
        raise ValueError(f"{value!r} is not a hash")
    return str(value)


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r} is not a count")
    return value


MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 2**28
WORK_FOLDER = ".kiwiresearch"
"""The subfolder for files that are needed only until the tables are finished."""
PLAN = f"{WORK_FOLDER}/plan.json"
MAKE_REMEDY = "Create one with 'kiwiresearch bulk --book BOOK --out FOLDER'."
REMAKE_REMEDY = "Delete the folder, then create it again with 'kiwiresearch bulk --book BOOK --out FOLDER'."


@dataclass(frozen=True, slots=True)
class BulkFolder:
    """A finished folder and its manifest."""

    folder: Path
    manifest: BulkManifest

    def has_table(self, table: str) -> bool:
        return table in self.manifest.tables

    def shards(self, table: str) -> list[Path]:
        """The files of a table, at least one, each with the right columns and number of rows.

        RunNotFound if the folder was made without this table.
        """
        if not self.has_table(table):
            raise RunNotFound(
                f"The folder {str(self.folder)!r} has no table {table!r}.",
                remedy=f"Create one that has it: kiwiresearch bulk --what {','.join((*self.manifest.what, table))} …",
            )
        files = []
        for shard in self.manifest.tables[table].shards:
            file = self.file(shard)
            if check_schema(table, file) != shard.rows:
                raise RunDamaged(f"The file {str(file)!r} does not have {shard.rows:,} rows.", remedy=REMAKE_REMEDY)
            files.append(file)
        return files

    def check_files(self) -> None:
        """Raise RunDamaged if a file is missing or has the wrong size; contents are not checked."""
        for table in self.manifest.tables.values():
            for shard in table.shards:
                self.file(shard)

    def file(self, shard: ShardFile) -> Path:
        """The file of a shard: a regular file below the folder, of the right size; else RunDamaged."""
        file = self.folder / shard.file
        try:
            # A folder from elsewhere may have links that lead out of it.
            is_inside = file.resolve(strict=True).is_relative_to(self.folder.resolve(strict=True))
            size = file.stat().st_size
        except PermissionError as problem:
            raise _forbidden(file) from problem
        except OSError as problem:
            raise RunDamaged(f"The file {str(file)!r} is missing.", remedy=REMAKE_REMEDY) from problem
        if not is_inside or not file.is_file():
            raise RunDamaged(f"{str(file)!r} is not a regular file inside the bulk folder.", remedy=REMAKE_REMEDY)
        if size != shard.bytes:
            raise RunDamaged(f"The file {str(file)!r} has {size:,} bytes, not {shard.bytes:,}.", remedy=REMAKE_REMEDY)
        return file


def open_folder(folder: Path) -> BulkFolder:
    """Open a finished folder; its manifest is checked now, its rows when they are read."""
    file = folder / MANIFEST
    try:
        manifest = manifest_from_record(json.loads(_content(file)))
    except (FileNotFoundError, NotADirectoryError) as problem:
        if _is_begun(folder):
            raise RunNotFound(
                f"The bulk folder {str(folder)!r} is not finished.", remedy="Run the same command again to continue."
            ) from problem
        raise RunNotFound(f"No finished bulk folder at {str(folder)!r}.", remedy=MAKE_REMEDY) from problem
    except PermissionError as problem:
        raise _forbidden(file) from problem
    except OSError as problem:
        raise RunDamaged(
            f"Could not read the file {str(file)!r}: {problem.strerror}.", remedy=REMAKE_REMEDY
        ) from problem
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        reason = f"it has no {problem}" if isinstance(problem, KeyError) else str(problem) or "it is not JSON"
        raise RunDamaged(f"The file {str(file)!r} is damaged: {reason[:200]}.", remedy=REMAKE_REMEDY) from problem
    return BulkFolder(folder, manifest)


def _is_begun(folder: Path) -> bool:
    try:
        return (folder / PLAN).is_file()
    except OSError:  # an unreadable folder is not one of ours
        return False


def _forbidden(file: Path) -> RunDamaged:
    return RunDamaged(
        f"You do not have permission to read the file {str(file)!r}.", remedy="Check the permissions of the folder."
    )


def _content(file: Path) -> bytes:
    with file.open("rb") as stream:
        content = stream.read(MAX_MANIFEST_BYTES + 1)
    if len(content) > MAX_MANIFEST_BYTES:
        raise ValueError("it is too large")
    return content


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """The result of checking a folder."""

    folder: BulkFolder
    shards: int
    problems: tuple[str, ...]

    @property
    def is_intact(self) -> bool:
        return not self.problems


def check_folder(folder: Path, on_progress: Callable[[int, int], None] = lambda _done, _all: None) -> FolderCheck:
    """Check every file of a finished folder; `on_progress` is called with the number checked and the total."""
    opened = open_folder(folder)
    total = sum(len(table.shards) for table in opened.manifest.tables.values())
    problems: list[str] = []
    done = 0
    for name, table in opened.manifest.tables.items():
        tally: RowTally | None = RowTally()
        for shard in table.shards:
            found = _check_shard(opened, name, shard, problems)
            tally = tally + found if tally is not None and found is not None else None
            done += 1
            on_progress(done, total)
        if tally is not None and tally.digest != table.digest:
            problems.append(f"The rows of {name!r} do not match the digest in the manifest.")
    return FolderCheck(opened, total, tuple(problems))


def _check_shard(opened: BulkFolder, name: str, shard: ShardFile, problems: list[str]) -> RowTally | None:
    try:
        file = opened.file(shard)
        if file_sha256(file) != shard.sha256:
            problems.append(f"{shard.file} was changed.")
            return None
        tally = rows_tally(from_parquet(name, file))
    except (KiwiError, OSError) as problem:
        problems.append(problem.message if isinstance(problem, KiwiError) else f"{shard.file}: {problem.strerror}.")
        return None
    if tally.rows != shard.rows:
        problems.append(f"{shard.file} has {tally.rows:,} rows, not {shard.rows:,}.")
    return tally


def file_sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return "sha256:" + file_digest(stream, "sha256").hexdigest()
