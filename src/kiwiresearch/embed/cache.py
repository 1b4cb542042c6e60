"""Vectors that were made once: a few in memory, many in a file that can be thrown away."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import numpy as np

from kiwiresearch.embed.embedder import Embedder, Rows
from kiwiresearch.embed.vectors import MAX_VECTORS, VectorFile

EMBED_LRU_SIZE = 64
"""Vectors kept in memory, those used last."""


class CachedEmbedder:
    """Gives what its embedder gives, bit for bit, and remembers it.

    Vectors are kept by the embedder's id and the hash of the text. Without a
    file they are kept in memory only; a file that cannot be used is no error.
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
        self._recent: OrderedDict[bytes, Rows] = OrderedDict()
        self._lock = Lock()

    @property
    def id(self) -> str:
        return self._embedder.id

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def embed(self, texts: Sequence[str]) -> Rows:
        keys = [_key(self.id, text) for text in texts]
        with self._lock:
            known = self._known(dict.fromkeys(keys))
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        # Not under the lock: a server may take its time, and two threads that ask for one text get one vector.
        rows = self._embedder.embed(list(fresh.values())) if fresh else ()
        # Copies: a row that is kept would keep the whole batch in memory.
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

    def _known(self, keys: dict[bytes, None]) -> dict[bytes, Rows]:
        known = {key: self._recent[key] for key in keys if key in self._recent}
        missing = [key for key in keys if key not in known]
        if self._file and missing:
            known |= self._file.find(missing, self.dimensions)
        return known

    def _remember(self, keys: Sequence[bytes], known: dict[bytes, Rows]) -> None:
        for key in keys:
            self._recent[key] = known[key]
            self._recent.move_to_end(key)
        while len(self._recent) > self._lru_size:
            self._recent.popitem(last=False)


def _key(embedder: str, text: str) -> bytes:
    return hashlib.sha256(f"{embedder}\0{text}".encode("utf-8", "surrogatepass")).digest()
