"""A folder that bulk has written, opened by whoever wants its rows; it may come from anybody."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from kiwiresearch.bulk.manifest import Manifest, ShardFile, manifest_of
from kiwiresearch.bulk.parquet import check_schema
from kiwiresearch.errors import RunDamaged, RunNotFound

MANIFEST = "manifest.json"
LARGEST_MANIFEST = 2**28
INSIDE = ".kiwiresearch"
"""What is only needed until the tables are finished lies in here."""
PLAN = f"{INSIDE}/plan.json"
MAKE = "Make one with 'kiwiresearch bulk --book BOOK --out FOLDER'."
REMEDY = "Remove the folder, and make it again with 'kiwiresearch bulk --book BOOK --out FOLDER'."


@dataclass(frozen=True, slots=True)
class BulkFolder:
    """A finished folder: its manifest, and where its shards are."""

    folder: Path
    manifest: Manifest

    def has(self, table: str) -> bool:
        return table in self.manifest.tables

    def shards(self, table: str) -> list[Path]:
        """The files of a table, at least one, each with the columns it should have.

        RunNotFound where the folder was made without this table.
        """
        if not self.has(table):
            raise RunNotFound(
                f"The folder {str(self.folder)!r} has no table {table!r}.",
                remedy=f"Make one that has: kiwiresearch bulk --what {','.join((*self.manifest.what, table))} …",
            )
        files = []
        for shard in self.manifest.tables[table].shards:
            file = self.file(shard)
            if check_schema(table, file) != shard.rows:
                raise RunDamaged(f"The file {str(file)!r} has not {shard.rows:,} rows.", remedy=REMEDY)
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
            raise RunDamaged(f"The file {str(file)!r} is missing.", remedy=REMEDY) from problem
        if not is_inside or not file.is_file():
            raise RunDamaged(f"The file {str(file)!r} is not in its folder.", remedy=REMEDY)
        if size != shard.bytes:
            raise RunDamaged(f"The file {str(file)!r} has {size:,} bytes, not {shard.bytes:,}.", remedy=REMEDY)
        return file


def open_folder(folder: Path) -> BulkFolder:
    """Open a finished folder; what it says of itself is checked, its rows are when they are asked for."""
    file = folder / MANIFEST
    try:
        manifest = manifest_of(json.loads(_content(file)))
    except (FileNotFoundError, NotADirectoryError) as problem:
        if _is_begun(folder):
            raise RunNotFound(
                f"The bulk folder {str(folder)!r} is not finished.", remedy="Run the command that began it: it goes on."
            ) from problem
        raise RunNotFound(f"There is no finished bulk folder at {str(folder)!r}.", remedy=MAKE) from problem
    except PermissionError as problem:
        raise _forbidden(file) from problem
    except OSError as problem:
        raise RunDamaged(f"The file {str(file)!r} cannot be read: {problem.strerror}.", remedy=REMEDY) from problem
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        reason = f"it has no {problem}" if isinstance(problem, KeyError) else str(problem) or "it is no JSON"
        raise RunDamaged(
            f"The file {str(file)!r} is not as kiwiresearch wrote it: {reason[:200]}.", remedy=REMEDY
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
        content = stream.read(LARGEST_MANIFEST + 1)
    if len(content) > LARGEST_MANIFEST:
        raise ValueError("it is too large")
    return content
