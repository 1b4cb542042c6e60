"""What an embedder is: texts in, vectors of length one out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]

DECIMALS = 6
"""Of a similarity; what lies behind differs between processors."""


class Embedder(Protocol):
    """Turns texts into rows of length one; a text without words gives a row of zeros."""

    @property
    def id(self) -> str:
        """Name and content hash of the model: vectors of two models never mix."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Rows:
        """One row for each text; a row does not depend on the other texts. Raises EmbedderError."""


def unit_rows(sums: NDArray[np.floating]) -> Rows:
    """Rows scaled to length one, with the precision of half a float.

    More digits would say nothing, would differ between processors, and would
    be lost in a cache.
    """
    wide = np.asarray(sums, dtype=np.float64)
    # Dividing by the largest part first keeps the squares of wild values finite.
    wide = wide / _not_zero(np.abs(wide).max(axis=1, keepdims=True, initial=0.0))
    wide = wide / _not_zero(np.sqrt((wide * wide).sum(axis=1, keepdims=True)))
    return wide.astype(np.float16).astype(np.float32)


def similarity(query: Rows, rows: Rows) -> NDArray[np.float64]:
    """The cosine of one vector with each row: 1 for the same direction, 0 for nothing in common."""
    cosines = np.asarray(rows, dtype=np.float64) @ np.asarray(query, dtype=np.float64).reshape(-1)
    # Adding zero turns -0.0 into 0.0, which prints alike on every machine.
    return np.round(cosines, DECIMALS) + 0.0


def plain(text: str) -> str:
    """Text that has bytes: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _not_zero(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(lengths > 0, lengths, 1.0)
