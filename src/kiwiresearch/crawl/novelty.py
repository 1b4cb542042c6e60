"""Whether a page brings something new: near-copies, and branches that have enough pages."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kiwiresearch.crawl.meaning import unpacked
from kiwiresearch.crawl.step import Facts
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.fold import fold
from kiwiresearch.text.words import words_in

if TYPE_CHECKING:  # numpy comes with it, which a crawl without vectors does not need
    from kiwiresearch.embed.embedder import Rows

SHINGLE = 4
SKETCHED_WORDS = 160
SKETCH = 32
COPIED = SKETCH // 2
"""Pages that share this many of their smallest shingles say nearly the same at their beginning."""

EDITED = SKETCH // 8
"""Pages of one title in two books that share this many are editions of one article."""

ALIKE = 0.6
"""Pages whose vectors are this near are of one branch, where the book tells no categories."""

MOST_CATEGORIES = 12


def sketch_of(levelled: str) -> tuple[int, ...]:
    """The smallest hashes of runs of words: texts that share many share most of their words."""
    words = words_in(levelled[: 12 * SKETCHED_WORDS])[:SKETCHED_WORDS]
    runs = {" ".join(words[start : start + SHINGLE]) for start in range(len(words) - SHINGLE + 1)}
    return tuple(sorted({zlib.crc32(run.encode("utf-8", "replace")) for run in runs})[:SKETCH])


def paragraphs_of(page: PageDoc, levelled: str) -> str:
    """The first paragraphs of a page: boxes and lists may be the same on many."""
    taken: list[str] = []
    for block in page.blocks:
        if block.kind == "paragraph":
            taken.append(levelled[block.start : block.end])
            if sum(map(len, taken)) > 12 * SKETCHED_WORDS:
                break
    return "\n".join(taken)


class Copies:
    """The sketches of the pages visited so far, and their titles."""

    def __init__(self) -> None:
        self._pages: dict[int, list[str]] = {}
        self._titles: dict[str, str] = {}

    def add(self, title: str, sketch: Sequence[int], book: str = "") -> None:
        self._titles.setdefault(fold(title), book)
        for hashed in sketch:
            self._pages.setdefault(hashed, []).append(title)

    def original(self, sketch: Sequence[int], title: str = "", book: str = "") -> str:
        """The title of a visited page that says nearly the same; empty if there is none.

        Two editions of an article have the same title in two books, and share less.
        """
        shared = Counter(name for hashed in sketch for name in self._pages.get(hashed, ()))
        if title and self._titles.get(fold(title), book) != book and shared[title] >= EDITED:
            return title
        name, count = min(shared.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
        return name if count >= COPIED else ""


class Branches:
    """How many pages were taken of each category, or of each group of like pages."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._trunk: set[str] = set()
        self._names: list[str] = []
        self._vectors: list[Rows] = []
        self._matrix: Rows | None = None

    def add(self, branch: str, facts: Facts, *, is_seed: bool = False) -> bool:
        """Count a page; true if pages that were placed before may now be of another branch, or of the topic itself."""
        is_new = False
        for name in facts.categories or (branch,):
            self._counts[name] += 1
            if is_seed:
                self._trunk.add(name)
                is_new = True
        if facts.vector and not facts.categories and branch not in self._names:
            self._names.append(branch)
            self._vectors.append(unpacked(facts.vector))
            self._matrix = None
            is_new = True
        return is_new

    def of(self, title: str, facts: Facts | None, parent: str) -> str:
        """The branch of a page: its least filled category, the group it is like, or the page that led to it."""
        if facts is None:
            return parent or title
        if facts.categories:
            return min(facts.categories, key=lambda name: (name not in self._trunk, self._counts[name], name))
        if facts.vector:
            return self._nearest(facts.vector) or title
        return parent or title

    def over(self, branch: str, most: int) -> int:
        """How many pages too many a branch would have with one more; what the seeds are of is the topic itself."""
        return 0 if branch in self._trunk else max(0, self._counts[branch] + 1 - most)

    def _nearest(self, vector: str) -> str:
        if not self._vectors:
            return ""
        import numpy as np

        from kiwiresearch.embed.embedder import similarity

        if self._matrix is None:
            self._matrix = np.stack(self._vectors)
        likeness = similarity(unpacked(vector), self._matrix)
        best = int(likeness.argmax())
        return self._names[best] if likeness[best] >= ALIKE else ""
