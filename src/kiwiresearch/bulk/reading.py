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
REMEDY = "Make it again with 'kiwiresearch bulk --book BOOK --out FOLDER'."


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

    def file(self, shard: ShardFile) -> Path:
        """Where a shard is: an ordinary file below the folder, of the size it should have."""
        file = self.folder / shard.file
        try:
            is_inside = file.resolve(strict=True).is_relative_to(self.folder.resolve(strict=True))
            size = file.stat().st_size
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
        raise RunNotFound(f"There is no finished bulk folder at {str(folder)!r}.", remedy=REMEDY) from problem
    except OSError as problem:
        raise RunDamaged(f"The file {str(file)!r} cannot be read: {problem.strerror}.", remedy=REMEDY) from problem
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        reason = f"it has no {problem}" if isinstance(problem, KeyError) else str(problem) or "it is no JSON"
        raise RunDamaged(
            f"The file {str(file)!r} is not as kiwiresearch wrote it: {reason[:200]}.", remedy=REMEDY
        ) from problem
    return BulkFolder(folder, manifest)


def _content(file: Path) -> bytes:
    with file.open("rb") as stream:
        content = stream.read(LARGEST_MANIFEST + 1)
    if len(content) > LARGEST_MANIFEST:
        raise ValueError("it is too large")
    return content
