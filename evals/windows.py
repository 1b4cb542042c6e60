"""The anchor of `evals.ask`: BM25 over every 160 words of a whole book, which shows its best six windows."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import bm25s
import Stemmer

from evals.golds import Row, holds
from kiwiresearch.page.html import bare_text
from kiwiresearch.zim.libzim import LibzimArchive

WINDOW = 160
SHOWN = 6
RANKED = 200
"""Windows that are ranked for the order of their pages."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the anchor shows for a question."""

    held: bool
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Windows:
    """Every window of a book, indexed."""

    index: bm25s.BM25
    texts: tuple[str, ...]
    owners: tuple[str, ...]

    def best(self, questions: Sequence[str], most: int) -> list[list[int]]:
        """The numbers of the best windows for each question."""
        ranked, _ = self.index.retrieve(_stems(questions), k=min(most, len(self.texts)), show_progress=False)
        return [[int(number) for number in row] for row in ranked]


@functools.cache
def windows_of(file: Path) -> Windows:
    """The windows of a book's pages, each with its page's title in front."""
    archive = LibzimArchive(file)
    texts, owners = [], []
    for path in archive.articles():
        words = bare_text(archive.read(path).content).text.split()
        title = archive.title(path)
        for start in range(0, max(1, len(words)), WINDOW):
            texts.append(f"{title} {' '.join(words[start : start + WINDOW])}")
            owners.append(path)
    index = bm25s.BM25()
    index.index(_stems(texts), show_progress=False)
    return Windows(index, tuple(texts), tuple(owners))


def shown_by_windows(file: Path, rows: Sequence[Row]) -> list[Shown]:
    """For each question, whether the best six windows hold a gold answer, and which pages come first."""
    windows = windows_of(file)
    return [
        Shown(
            any(holds(windows.texts[number], row.answers) for number in numbers[:SHOWN]),
            tuple(dict.fromkeys(windows.owners[number] for number in numbers))[:3],
        )
        for row, numbers in zip(rows, windows.best([row.question for row in rows], RANKED), strict=True)
    ]


def _stems(texts: Sequence[str]) -> object:
    stemmer = Stemmer.Stemmer("english")
    return bm25s.tokenize(list(texts), stopwords="en", stemmer=stemmer, show_progress=False)
