"""The embedder protocol, and a cache of vectors."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import zlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""One vector, or one in each row."""

SIMILARITY_DECIMALS = 6
"""Decimals of a similarity; further digits differ between processors."""


class Embedder(Protocol):
    """Turns texts into rows of length one; a text without words gives a row of zeros."""

    @property
    def id(self) -> str:
        """Name and content hash of the model: vectors of two models never mix."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row for each text; a row does not depend on the other texts. Raises EmbedderError."""


def unit_rows(sums: NDArray[np.floating]) -> Vectors:
    """Rows scaled to length one, with the precision of a half float.

    Further digits would be noise, would differ between processors, and would be lost in the cache.
    """
    wide = np.asarray(sums, dtype=np.float64)
    # Dividing by the largest part first keeps the squares of wild values finite.
    wide = wide / _not_zero(np.abs(wide).max(axis=1, keepdims=True, initial=0.0))
    wide = wide / _not_zero(np.sqrt((wide * wide).sum(axis=1, keepdims=True)))
    return wide.astype(np.float16).astype(np.float32)


def similarity(query: Vectors, rows: Vectors) -> NDArray[np.float64]:
    """The cosine of one vector with each row."""
    cosines = np.asarray(rows, dtype=np.float64) @ np.asarray(query, dtype=np.float64).reshape(-1)
    # Adding zero turns -0.0 into 0.0, so that it prints the same on every machine.
    return np.round(cosines, SIMILARITY_DECIMALS) + 0.0


def _not_zero(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(lengths > 0, lengths, 1.0)


MAX_VECTORS = 50_000
"""About 40 MB with the vectors of the default embedder."""

CACHE_VERSION = 1
BUSY_S = 2.0
SUM_BYTES = 4
SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS by_use ON vectors (used);
"""


Result = TypeVar("Result")


class VectorFile:
    """Vectors as half floats in SQLite; when the file is full, the least recently used are deleted."""

    def __init__(self, file: Path, *, max_vectors: int = MAX_VECTORS) -> None:
        self._path = file
        self._max_vectors = max_vectors
        self._untrimmed = max_vectors  # so that the first write trims a file that is already too large
        self._writable = True
        self._connection: sqlite3.Connection | None = None
        self._connection = self._open()

    def find(self, keys: Sequence[bytes], dimensions: int) -> dict[bytes, Vectors]:
        """The vectors that are stored, intact and of this length."""

        def read(connection: sqlite3.Connection) -> dict[bytes, Vectors]:
            found = {}
            for key in keys:
                row = connection.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
                vector = _unpack(key, row[0]) if row else None
                if vector is not None and len(vector) == dimensions:
                    found[key] = vector
            return found

        def touch(connection: sqlite3.Connection) -> None:
            used = self._next_use(connection)
            connection.executemany("UPDATE vectors SET used = ? WHERE key = ?", [(used, key) for key in found])

        found = self._try(read) or {}
        if found:
            self._write(touch)
        return found

    def add(self, vectors: Mapping[bytes, Vectors]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            used = self._next_use(connection)
            rows = [(key, _pack(key, vector), used) for key, vector in vectors.items()]
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            self._untrimmed += len(rows)
            # Trimmed once per sixteenth of the limit, since counting the rows takes time.
            if self._untrimmed * 16 >= self._max_vectors:
                self._trim(connection)

        self._write(write)

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def _trim(self, connection: sqlite3.Connection) -> None:
        (count,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
        surplus = max(0, count - self._max_vectors)
        connection.execute(
            "DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY used, key LIMIT ?)", (surplus,)
        )
        self._untrimmed = 0

    def _next_use(self, connection: sqlite3.Connection) -> int:
        """The next use number. Uses are counted, not timed: if the clock jumped, the wrong vectors would be deleted."""
        (last,) = connection.execute("SELECT coalesce(max(used), 0) FROM vectors").fetchone()
        return int(last) + 1

    def _write(self, work: Callable[[sqlite3.Connection], None]) -> None:
        def transaction(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                work(connection)

        if self._writable:
            self._try(transaction)

    def _try(self, work: Callable[[sqlite3.Connection], Result]) -> Result | None:
        """The result of the work; None if the file is busy, full, gone or damaged."""
        try:
            return work(self._connection) if self._connection else None
        # Busy, full or gone: it may work the next time. Other errors mean damage, and the file is replaced.
        except sqlite3.OperationalError:
            return None
        except sqlite3.DatabaseError:
            self._replace()
            return None

    def _open(self) -> sqlite3.Connection | None:
        try:
            return self._open_for_writing()
        except (OSError, ValueError, sqlite3.OperationalError):  # ValueError: an impossible file name
            self._writable = False
            return self._open_for_reading()
        except sqlite3.DatabaseError:
            return self._replace()

    def _open_for_writing(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(str(self._path))
        try:
            with contextlib.suppress(sqlite3.OperationalError):  # another process is doing it right now
                connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            _check_version(version)
            # Locked at once, so that two processes that create the file at the same time do not disturb each other.
            connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {CACHE_VERSION}; COMMIT;")
            connection.execute("SELECT key, vector, used FROM vectors LIMIT 1").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_for_reading(self) -> sqlite3.Connection | None:
        """A read-only connection. In a read-only folder SQLite may lack its companion files; `immutable` needs none."""
        for mode in ("mode=ro", "immutable=1"):
            with contextlib.suppress(OSError, ValueError, sqlite3.DatabaseError):
                connection = _connect(f"{self._path.absolute().as_uri()}?{mode}")
                try:
                    connection.execute("SELECT key, vector, used FROM vectors LIMIT 1").fetchone()
                except BaseException:
                    connection.close()
                    raise
                return connection
        return None

    def _replace(self) -> sqlite3.Connection | None:
        """Start a new file: everything in the damaged one can be computed again."""
        self.close()
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            self._connection = self._open_for_writing()
        except (OSError, sqlite3.DatabaseError):
            self._connection = None
        return self._connection


def _connect(address: str) -> sqlite3.Connection:
    return sqlite3.connect(
        address, timeout=BUSY_S, isolation_level=None, check_same_thread=False, uri=address.startswith("file:")
    )


def _check_version(version: int) -> None:
    if version not in (0, CACHE_VERSION):
        raise sqlite3.DatabaseError("a file of another version")


def _pack(key: bytes, vector: Vectors) -> bytes:
    # The checksum includes the key, so a vector stored under a wrong key is noticed too.
    parts = vector.astype("<f2").tobytes()
    return parts + zlib.crc32(key + parts).to_bytes(SUM_BYTES, "little")


def _unpack(key: bytes, blob: object) -> Vectors | None:
    """The vector; None if the checksum is wrong."""
    if not isinstance(blob, bytes):
        return None
    parts, total = blob[:-SUM_BYTES], blob[-SUM_BYTES:]
    if zlib.crc32(key + parts).to_bytes(SUM_BYTES, "little") != total:
        return None
    return np.frombuffer(parts, "<f2").astype(np.float32)


EMBED_LRU_SIZE = 64
"""How many vectors are held in memory, the most recently used."""


class CachedEmbedder:
    """Caches the vectors of an embedder, bit for bit, by its id and the hash of the text.

    Without a file they are cached in memory only; a file that cannot be used is not an error.
    """

    def __init__(
        self,
        embedder: Embedder,
        file: Path | None = None,
        *,
        lru_size: int = EMBED_LRU_SIZE,
        max_vectors: int = MAX_VECTORS,
    ) -> None:
        self._embedder = embedder
        self._file = VectorFile(file, max_vectors=max_vectors) if file else None
        self._lru_size = lru_size
        self._recent: OrderedDict[bytes, Vectors] = OrderedDict()
        self._lock = Lock()

    @property
    def id(self) -> str:
        return self._embedder.id

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Vectors:
        keys = [_key(self.id, text) for text in texts]
        with self._lock:
            known = self._known(dict.fromkeys(keys))
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        # Not under the lock, since a server may be slow; two threads that embed the same text get the same vector.
        rows = self._embedder.embed(list(fresh.values())) if fresh else ()
        # Copied, since a view of one row would hold the entire batch in memory.
        made = {key: row.copy() for key, row in zip(fresh, rows, strict=True)}
        with self._lock:
            if self._file and made:
                self._file.add(made)
            known |= made
            self._remember(keys, known)
        return np.array([known[key] for key in keys], np.float32).reshape(len(keys), self.dimensions)

    def close(self) -> None:
        if self._file:
            self._file.close()

    def _known(self, keys: dict[bytes, None]) -> dict[bytes, Vectors]:
        known = {key: self._recent[key] for key in keys if key in self._recent}
        missing = [key for key in keys if key not in known]
        if self._file and missing:
            known |= self._file.find(missing, self.dimensions)
        return known

    def _remember(self, keys: Sequence[bytes], known: dict[bytes, Vectors]) -> None:
        for key in keys:
            self._recent[key] = known[key]
            self._recent.move_to_end(key)
        while len(self._recent) > self._lru_size:
            self._recent.popitem(last=False)


def _key(embedder: str, text: str) -> bytes:
    # The null character separates the two, so that no other pair gives the same bytes.
    return hashlib.sha256(f"{embedder}\0{text}".encode("utf-8", "surrogatepass")).digest()
