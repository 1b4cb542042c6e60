"""A file of vectors by key: bounded, shared by several processes, replaced when damaged, never an error."""

from __future__ import annotations

import contextlib
import sqlite3
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from kiwiresearch.embed.embedder import Rows

MAX_VECTORS = 50_000
"""About 40 MB with the vectors of the default embedder."""

VERSION = 1
BUSY_S = 2.0
SUM_BYTES = 4
SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS by_use ON vectors (used);
"""


Result = TypeVar("Result")


class VectorFile:
    """Half floats in SQLite; when the file is full, those not used for the longest time go."""

    def __init__(self, file: Path, *, max_vectors: int = MAX_VECTORS) -> None:
        self._path = file
        self._max_vectors = max_vectors
        self._untrimmed = max_vectors
        self._writable = True
        self._base: sqlite3.Connection | None = None
        self._base = self._open()

    def find(self, keys: Sequence[bytes], dimensions: int) -> dict[bytes, Rows]:
        """Those vectors that are there, whole and of this length."""

        def read(base: sqlite3.Connection) -> dict[bytes, Rows]:
            found = {}
            for key in keys:
                row = base.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
                vector = _unpacked(key, row[0]) if row else None
                if vector is not None and len(vector) == dimensions:
                    found[key] = vector
            return found

        found = self._tried(read) or {}
        if found:
            self._write(lambda base: self._touch(base, list(found)))
        return found

    def add(self, vectors: Mapping[bytes, Rows]) -> None:
        def write(base: sqlite3.Connection) -> None:
            used = self._next_use(base)
            rows = [(key, _packed(key, vector), used) for key, vector in vectors.items()]
            base.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            self._untrimmed += len(rows)
            if self._untrimmed * 16 >= self._max_vectors:
                self._trim(base)

        self._write(write)

    def close(self) -> None:
        if self._base:
            self._base.close()
            self._base = None

    def _trim(self, base: sqlite3.Connection) -> None:
        (count,) = base.execute("SELECT count(*) FROM vectors").fetchone()
        surplus = max(0, count - self._max_vectors)
        base.execute(
            "DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY used, key LIMIT ?)", (surplus,)
        )
        self._untrimmed = 0

    def _touch(self, base: sqlite3.Connection, keys: Sequence[bytes]) -> None:
        used = self._next_use(base)
        base.executemany("UPDATE vectors SET used = ? WHERE key = ?", [(used, key) for key in keys])

    def _next_use(self, base: sqlite3.Connection) -> int:
        """Uses are counted, not timed: a clock that jumps would drop the wrong vectors."""
        (last,) = base.execute("SELECT coalesce(max(used), 0) FROM vectors").fetchone()
        return int(last) + 1

    def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        def transaction(base: sqlite3.Connection) -> None:
            with base:
                base.execute("BEGIN IMMEDIATE")
                work(base)

        if self._writable:
            self._tried(transaction)

    def _tried(self, work: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """The work's result; nothing where the file is busy, full, gone or damaged."""
        try:
            return work(self._base) if self._base else None
        except sqlite3.OperationalError:
            return None
        except sqlite3.DatabaseError:
            self._replace()
            return None

    def _open(self) -> sqlite3.Connection | None:
        try:
            return self._opened_to_write()
        except (OSError, ValueError, sqlite3.OperationalError):  # ValueError: a name that no file can have
            self._writable = False
            return self._opened_to_read()
        except sqlite3.DatabaseError:
            return self._replace()

    def _opened_to_write(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        base = _connected(str(self._path))
        try:
            with contextlib.suppress(sqlite3.OperationalError):  # another process is just doing it
                base.execute("PRAGMA journal_mode = WAL")
            base.execute("PRAGMA synchronous = NORMAL")
            (version,) = base.execute("PRAGMA user_version").fetchone()
            _check(version)
            base.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT;")
            base.execute("SELECT key, vector, used FROM vectors LIMIT 1").fetchone()
        except BaseException:
            base.close()
            raise
        return base

    def _opened_to_read(self) -> sqlite3.Connection | None:
        """In a folder that cannot be written SQLite may lack its companion files: `immutable` does without."""
        for way in ("mode=ro", "immutable=1"):
            with contextlib.suppress(OSError, ValueError, sqlite3.DatabaseError):
                base = _connected(f"{self._path.absolute().as_uri()}?{way}")
                try:
                    base.execute("SELECT key, vector, used FROM vectors LIMIT 1").fetchone()
                except BaseException:
                    base.close()
                    raise
                return base
        return None

    def _replace(self) -> sqlite3.Connection | None:
        """A damaged file holds nothing that cannot be made again."""
        self.close()
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            self._base = self._opened_to_write()
        except (OSError, sqlite3.DatabaseError):
            self._base = None
        return self._base


def _connected(address: str) -> sqlite3.Connection:
    return sqlite3.connect(
        address, timeout=BUSY_S, isolation_level=None, check_same_thread=False, uri=address.startswith("file:")
    )


def _check(version: int) -> None:
    if version not in (0, VERSION):
        raise sqlite3.DatabaseError("a file of another version")


def _packed(key: bytes, vector: Rows) -> bytes:
    parts = vector.astype("<f2").tobytes()
    return parts + zlib.crc32(key + parts).to_bytes(SUM_BYTES, "little")


def _unpacked(key: bytes, blob: object) -> Rows | None:
    """The vector, unless its bytes are not those that were written."""
    if not isinstance(blob, bytes):
        return None
    parts, total = blob[:-SUM_BYTES], blob[-SUM_BYTES:]
    if zlib.crc32(key + parts).to_bytes(SUM_BYTES, "little") != total:
        return None
    return np.frombuffer(parts, "<f2").astype(np.float32)
