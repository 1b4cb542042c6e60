"""The baseline of `evals.ask` and `evals.search`: BM25 over windows of 160 words of a whole book."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import bm25s
import Stemmer

from evals.golds import Row, has_answer
from kiwiresearch.page.html import bare_text
from kiwiresearch.zim.libzim import LibzimArchive

WINDOW_WORDS = 160
SHOWN_WINDOWS = 6
RANKED_WINDOWS = 200
"""The best windows, in whose order their pages are ranked."""


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """What the baseline finds for a question."""

    gold_in_passages: bool
    """Whether the best six windows have a gold answer."""
    top_pages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WindowIndex:
    """An index of all windows of a book."""

    index: bm25s.BM25
    texts: tuple[str, ...]
    paths: tuple[str, ...]

    def best(self, questions: Sequence[str], limit: int) -> list[list[int]]:
        """The numbers of the best windows for each question, best first."""
        ranked, _ = self.index.retrieve(_stems(questions), k=min(limit, len(self.texts)), show_progress=False)
        return [[int(number) for number in row] for row in ranked]


@functools.cache
def window_index(file: Path) -> WindowIndex:
    """The index of a book's pages; each window starts with the title of its page."""
    archive = LibzimArchive(file)
    texts, paths = [], []
    for path in archive.articles():
        words = bare_text(archive.read(path).content).text.split()
        title = archive.title(path)
        for start in range(0, max(1, len(words)), WINDOW_WORDS):
            texts.append(f"{title} {' '.join(words[start : start + WINDOW_WORDS])}")
            paths.append(path)
    index = bm25s.BM25()
    index.index(_stems(texts), show_progress=False)
    return WindowIndex(index, tuple(texts), tuple(paths))


def search_windows(file: Path, rows: Sequence[Row]) -> list[BaselineResult]:
    """The baseline's result for each question."""
    index = window_index(file)
    return [
        BaselineResult(
            any(has_answer(index.texts[number], row.answers) for number in numbers[:SHOWN_WINDOWS]),
            tuple(dict.fromkeys(index.paths[number] for number in numbers))[:3],
        )
        for row, numbers in zip(rows, index.best([row.question for row in rows], RANKED_WINDOWS), strict=True)
    ]


def _stems(texts: Sequence[str]) -> object:
    stemmer = Stemmer.Stemmer("english")
    return bm25s.tokenize(list(texts), stopwords="en", stemmer=stemmer, show_progress=False)
