"""The atlas of a book: its shards, and tables computed from them, cached as long as the shards are the same."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path

from kiwiresearch.atlas.database import AtlasDatabase, open_database
from kiwiresearch.bulk import BookIdentity, BulkFolder, open_folder
from kiwiresearch.errors import CannotWrite, KiwiError
from kiwiresearch.ids import canonical_json
from kiwiresearch.system import FileLock

FORMAT = 3
"""Increased whenever the same shards give different tables, so that cached ones are not used."""
MAGIC = b"PAR1"
"""The first and last bytes of a Parquet file."""
LOCK_TIMEOUT_S = 3_600.0
"""How long a process waits for another one that computes the same table."""
MAX_CACHE_FOLDERS = 3
"""How many cache folders of one book stay, the most recent ones: of its editions, or of other choices of tables."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Computes tables from others: `make` writes the `files` into a folder."""

    name: str
    files: tuple[str, ...]
    needs: tuple[str, ...]
    make: Callable[[AtlasDatabase, Path, BookIdentity], None]
    optional: tuple[str, ...] = ()
    """Tables that are used if the folder has them."""


@dataclass(frozen=True)
class Atlas:
    """The shards of one book, and the cache folder for tables computed from them, which may be deleted at any time."""

    bulk: BulkFolder
    cache_folder: Path

    @property
    def book(self) -> BookIdentity:
        return self.bulk.manifest.book

    @property
    def language(self) -> str:
        return book_language(self.book)

    def has_tables(self, *tables: str) -> bool:
        return all(map(self.bulk.has_table, tables))

    def database(
        self, *tables: str, files: Mapping[str, Sequence[Path]] | None = None
    ) -> contextlib.AbstractContextManager[AtlasDatabase]:
        """A database over some tables of the shards, and over files that were computed."""
        return open_database(str(self.bulk.folder), self._views(tables) | dict(files or {}))

    def _views(self, tables: Sequence[str]) -> dict[str, Sequence[Path]]:
        """The files of some tables, each checked once; RunNotFound if the folder lacks a table."""
        for table in tables:
            if table not in self._shards:
                self._shards[table] = self.bulk.shards(table)
        return {table: self._shards[table] for table in tables}

    @cached_property
    def _shards(self) -> dict[str, Sequence[Path]]:
        return {}

    def has(self, recipe: Recipe) -> bool:
        """Whether the tables of a recipe are cached; a truncated or overwritten file does not count."""
        return all(map(_is_complete, self._files(recipe).values()))

    def files(self, recipe: Recipe) -> Mapping[str, Sequence[Path]]:
        """The tables of a recipe, computed now unless they are cached."""
        files = self._files(recipe)
        if not self.has(recipe):
            self._make(recipe)
        return {name: [file] for name, file in files.items()}

    def _files(self, recipe: Recipe) -> dict[str, Path]:
        return {name: self.cache_folder / f"{name}.parquet" for name in recipe.files}

    def _make(self, recipe: Recipe) -> None:
        try:
            self.cache_folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.cache_folder / f"{recipe.name}.lock")
            if not lock.wait(LOCK_TIMEOUT_S):
                raise KiwiError(
                    f"Another process is still calculating the {recipe.name} of this book.",
                    remedy="Wait until it finishes, then try again.",
                )
            try:
                # Another process may have computed it while this one waited for the lock.
                if not self.has(recipe):
                    self._write(recipe)
                    with contextlib.suppress(OSError):  # another process may be removing them too
                        _remove_old(self.cache_folder)
            finally:
                lock.release()
        except OSError as problem:
            raise CannotWrite(
                f"The atlas cannot save its results in {str(self.cache_folder)!r}: {problem.strerror or problem}.",
                remedy="Free up disk space, or set KIWIRESEARCH_HOME to a folder you can write to.",
            ) from problem

    def _write(self, recipe: Recipe) -> None:
        """Compute the tables in a temporary folder first, so that each appears complete or not at all."""
        for left in self.cache_folder.glob(f".{recipe.name}-*"):  # by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix=f".{recipe.name}-", dir=self.cache_folder))
        try:
            tables = [*recipe.needs, *filter(self.bulk.has_table, recipe.optional)]
            with open_database(str(self.bulk.folder), self._views(tables), writable=work) as database:
                recipe.make(database, work, self.book)
            for name, file in self._files(recipe).items():
                (work / f"{name}.parquet").replace(file)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def open_atlas(folder: Path, cache: Path) -> Atlas:
    """The atlas over a folder that `kiwiresearch bulk` wrote; computed tables are cached below `cache`."""
    bulk = open_folder(folder)
    book = bulk.manifest.book
    shelf = cache / "atlas" / sha256((book.name or book.id).encode("utf-8", "replace")).hexdigest()[:16]
    return Atlas(bulk, shelf / f"{shards_fingerprint(bulk)[:32]}-{FORMAT}")


def book_language(book: BookIdentity) -> str:
    """The first language of a book; English if it names none."""
    return book.language.partition(",")[0] or "eng"


def shards_fingerprint(bulk: BulkFolder) -> str:
    """A hash of the manifest and so, by its digests, of every row."""
    return sha256(canonical_json(bulk.manifest.record()).encode("utf-8", "replace")).hexdigest()


def _is_complete(file: Path) -> bool:
    """Whether a Parquet file exists and has both of its ends."""
    try:
        with file.open("rb") as stream:
            begin = stream.read(len(MAGIC))
            stream.seek(-len(MAGIC), os.SEEK_END)
            return begin == stream.read() == MAGIC
    except OSError:
        return False


def _remove_old(current: Path) -> None:
    """Remove cached tables of older shards of the same book, unless a process is using them."""
    others = [
        (path.stat().st_mtime_ns, path.name) for path in current.parent.iterdir() if path != current and path.is_dir()
    ]
    for _, name in sorted(others, reverse=True)[MAX_CACHE_FOLDERS - 1 :]:
        folder = current.parent / name
        locks = [FileLock(file) for file in folder.glob("*.lock")]
        try:
            if all(lock.acquire() for lock in locks):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            for lock in locks:
                lock.release()
