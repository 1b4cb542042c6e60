"""How like pages are to the topic in meaning, by their vectors."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kiwiresearch.search.meaning import what_it_is

if TYPE_CHECKING:  # numpy comes with it, which a crawl without vectors does not need
    from kiwiresearch.embed.embedder import Embedder, Rows


class Meanings:
    """Compares pages with the topic; an embedder that fails on the way is an error, not another kind of run."""

    def __init__(self, embedder: Embedder, topic: str) -> None:
        self._embedder = embedder
        self._topic = topic
        self._row: Rows | None = None

    def likeness(self, pages: Sequence[tuple[str, str]]) -> list[float]:
        """For each title and text, how like its beginning is to the topic."""
        return [meaning for meaning, _ in self._compared(pages)]

    def of(self, title: str, text: str) -> tuple[float, str]:
        """The same for one page, and its vector as text."""
        return self._compared([(title, text)])[0]

    def _compared(self, pages: Sequence[tuple[str, str]]) -> list[tuple[float, str]]:
        from kiwiresearch.embed.embedder import similarity

        if not pages:
            return []
        if self._row is None:
            self._row = self._embedder.embed([self._topic])[0]
        rows = self._embedder.embed([what_it_is(title, text) for title, text in pages])
        likeness = similarity(self._row, rows)
        return [(round(float(like), 4), packed(row)) for like, row in zip(likeness, rows, strict=True)]


def packed(row: Rows) -> str:
    """A vector as text; nothing is lost, since vectors have the precision of half floats."""
    return base64.b64encode(row.astype("<f2").tobytes()).decode("ascii")


def unpacked(text: str) -> Rows:
    import numpy as np

    return np.frombuffer(base64.b64decode(text), dtype="<f2").astype(np.float32)
