"""Detects pages that add nothing new: copies of visited pages, and pages in full branches of the topic."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.step import PageFacts
from kiwiresearch.page import PageDoc
from kiwiresearch.text import fold, words_in

if TYPE_CHECKING:
    from kiwiresearch.embed import Vectors


def vector_to_text(row: Vectors) -> str:
    """A vector as text; lossless, since vectors have the precision of half floats."""
    return base64.b64encode(row.astype("<f2").tobytes()).decode("ascii")


def vector_from_text(text: str) -> Vectors:
    import numpy as np

    return np.frombuffer(base64.b64decode(text), dtype="<f2").astype(np.float32)


SHINGLE_WORDS = 4
SKETCHED_WORDS = 160
SKETCHED_CHARS = 12 * SKETCHED_WORDS
"""An upper bound for the length of the sketched words."""

SKETCH_SIZE = 32
MIN_SHARED_BY_COPIES = SKETCH_SIZE // 2
"""Pages that share this many hashes of their sketches begin with nearly the same text."""

MIN_SHARED_BY_EDITIONS = SKETCH_SIZE // 8
"""Pages of one title in two books that share this many are editions of one article."""

MIN_BRANCH_SIMILARITY = 0.6
"""Pages whose vectors are this similar belong to one branch, if the book has no categories."""

MAX_CATEGORIES = 12
MIN_BRANCH_LIMIT = 5
"""A branch may always have this many pages, even in a small crawl."""


def sketch_of(page: PageDoc, lowered: str) -> tuple[int, ...]:
    """The smallest hashes of word sequences in the first paragraphs: texts that share many share most of their words.

    Only paragraphs, since many pages have the same boxes and lists.
    """
    paragraphs: list[str] = []
    for block in page.blocks:
        if block.kind == "paragraph":
            paragraphs.append(lowered[block.start : block.end])
            if sum(map(len, paragraphs)) > SKETCHED_CHARS:
                break
    words = words_in("\n".join(paragraphs)[:SKETCHED_CHARS])[:SKETCHED_WORDS]
    shingles = {" ".join(words[start : start + SHINGLE_WORDS]) for start in range(len(words) - SHINGLE_WORDS + 1)}
    # A bottom-k sketch (MinHash with one hash): the share of equal hashes estimates the share of equal shingles. CRC-32
    # is the same on every machine, unlike `hash`.
    return tuple(sorted({zlib.crc32(shingle.encode("utf-8", "replace")) for shingle in shingles})[:SKETCH_SIZE])


class NearDuplicates:
    """The sketches of the pages visited so far, and their titles."""

    def __init__(self) -> None:
        self._pages: dict[int, list[str]] = {}
        self._titles: dict[str, str] = {}

    def add(self, title: str, sketch: Sequence[int], book: str = "") -> None:
        self._titles.setdefault(fold(title), book)
        for hashed in sketch:
            self._pages.setdefault(hashed, []).append(title)

    def duplicate_of(self, sketch: Sequence[int], title: str = "", book: str = "") -> str:
        """The title of a visited page with nearly the same text, or "".

        Two editions of an article, in two books and under the same title, share less.
        """
        shared = Counter(name for hashed in sketch for name in self._pages.get(hashed, ()))
        if title and self._titles.get(fold(title), book) != book and shared[title] >= MIN_SHARED_BY_EDITIONS:
            return title
        # `min` with a negative count: most shared hashes first, and the title decides between equals.
        name, count = min(shared.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
        return name if count >= MIN_SHARED_BY_COPIES else ""


class Branches:
    """How many pages were visited in each branch: a category, or a group of similar pages."""

    def __init__(self, settings: CrawlSettings) -> None:
        self._max_pages = max(MIN_BRANCH_LIMIT, ceil(settings.branch_share * settings.max_pages))
        self._counts: Counter[str] = Counter()
        self._seed_branches: set[str] = set()
        self._names: list[str] = []
        self._vectors: list[Vectors] = []
        self._matrix: Vectors | None = None

    def add(self, branch: str, facts: PageFacts, *, is_seed: bool = False) -> bool:
        """Count a page; true if the branches of pages read before may have changed."""
        has_changed = False
        for name in facts.categories or (branch,):
            self._counts[name] += 1
            if is_seed:
                self._seed_branches.add(name)
                has_changed = True
        if facts.vector and not facts.categories and branch not in self._names:
            self._names.append(branch)
            self._vectors.append(vector_from_text(facts.vector))
            self._matrix = None
            has_changed = True
        return has_changed

    def of(self, title: str, facts: PageFacts | None, root: str) -> str:
        """The branch of a page: its least filled category, the group it resembles, or the page that led to it."""
        if facts is not None and facts.categories:
            # Branches of the seeds have no limit, so a page that is in one of them counts there.
            return min(facts.categories, key=lambda name: (name not in self._seed_branches, self._counts[name], name))
        if facts is not None and facts.vector:
            return self._nearest(facts.vector) or title
        return root or title

    def surplus(self, branch: str) -> int:
        """By how many pages a branch would exceed its limit with one more; those of the seeds have none."""
        return 0 if branch in self._seed_branches else max(0, self._counts[branch] + 1 - self._max_pages)

    def _nearest(self, vector: str) -> str:
        if not self._vectors:
            return ""
        import numpy as np

        from kiwiresearch.embed import similarity

        if self._matrix is None:
            self._matrix = np.stack(self._vectors)
        similarities = similarity(vector_from_text(vector), self._matrix)
        best = int(similarities.argmax())
        return self._names[best] if similarities[best] >= MIN_BRANCH_SIMILARITY else ""
