"""The title index of a million titles: how its cost grows with the book, its size, and the time of queries.

`python -m bench.titles 7000000` measures another number of titles.
Titles are generated: words of syllables, drawn as often as words are in real titles, where the n-th word is about 1/n
as common as the first.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from tests.zim.memory import MemoryArchive

from kiwiresearch.ids import BookId
from kiwiresearch.search.title_index_builder import build_titles
from kiwiresearch.search.titles import TitleIndex, open_titles
from kiwiresearch.zim.archive import Book, TitleEntry

TITLES = 1_000_000
QUERIES = 1_000
REDIRECT_EVERY = 4
"""One title in this many is that of a redirect."""

SYLLABLES = tuple(consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou")


class RepeatableRandom:
    """Numbers that look random and are the same on every run."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def fraction(self) -> float:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) / 2**31


class SyntheticBook(MemoryArchive):
    """A book with titles and nothing else."""

    def __init__(self, size: int) -> None:
        super().__init__({})
        self._size = size
        self._sized_book = replace(super().book, id=BookId(f"made-up-{size}"), entries=size)

    @property
    def book(self) -> Book:
        return self._sized_book

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        rng = RepeatableRandom(20261115)
        for number in range(self._size):
            title = synthetic_title(rng, self._size)
            if number >= start:
                is_redirect = number % REDIRECT_EVERY == 0
                path = f"T{number // 2}" if is_redirect else title.replace(" ", "_")
                yield TitleEntry(number, title, path, is_redirect)


def synthetic_title(rng: RepeatableRandom, size: int) -> str:
    """A title of one to five words, for a book with `size` titles."""
    count = 1 + int(2 * rng.fraction() + 2 * rng.fraction() + 1.5 * rng.fraction())
    vocabulary = math.log(size * 0.3)
    return " ".join(word(int(math.exp(vocabulary * rng.fraction()))) for _ in range(count)).capitalize()


def word(rank: int) -> str:
    """The word with this rank by frequency: rare words are longer."""
    spelling, rest = "", rank + len(SYLLABLES)
    while rest:
        rest, last = divmod(rest, len(SYLLABLES))
        spelling += SYLLABLES[last]
    return spelling


def run(size: int = TITLES) -> list[str]:
    """Measure, and return the lines to print."""
    lines = [f"CPU seconds per 100,000 titles, for a quarter, half and all of {size:,}; generating them is not counted"]
    with tempfile.TemporaryDirectory() as folder:
        costs: dict[int, float] = {}
        for part in (size // 4, size // 2, size):
            book = SyntheticBook(part)
            file = Path(folder) / f"{part}.sqlite"
            generating = _cpu_seconds(partial(deque, book.titles(), 0))
            costs[part] = _cpu_seconds(partial(build_titles, book, file)) - generating
            cost, first_cost = costs[part] / part * 1e5, costs[size // 4] / (size // 4) * 1e5
            title_bytes = file.stat().st_size / part
            lines.append(
                f"{part:>10,} titles {cost:6.2f} s   {cost / first_cost:4.2f}x   {title_bytes:5.0f} bytes per title"
            )
        index = open_titles(file, book.book)
        assert index
        lines += _measure_queries(index, size)
        index.close()
    return lines


def _measure_queries(index: TitleIndex, size: int) -> list[str]:
    rng = RepeatableRandom(7)
    titles = [synthetic_title(rng, size) for _ in range(QUERIES)]
    rare = [[word(int(size * 0.3 * rng.fraction())), word(int(2_000 * rng.fraction()))] for _ in range(QUERIES)]
    common = [[word(1 + int(12 * rng.fraction())) for _ in range(4)] for _ in range(QUERIES)]
    medium = [[word(20 + int(2_000 * rng.fraction())) for _ in range(5)] for _ in range(QUERIES)]
    mistyped = [_mistype(word(1_000 + int(size * 0.2 * rng.fraction())), rng) for _ in range(QUERIES)]
    kinds: dict[str, list[Callable[[], object]]] = {
        "exact title": [partial(index.exact, title) for title in titles],
        "prefix, 4 letters": [partial(index.prefix, title[:4], 10) for title in titles],
        "prefix, 1 letter": [partial(index.prefix, title[:1], 10) for title in titles],
        "2 words, one rare": [partial(index.by_words, words, 20) for words in rare],
        "4 of the 12 most common words": [partial(index.by_words, words, 20) for words in common],
        "5 words of medium frequency": [partial(index.by_words, words, 20) for words in medium],
        "mistyped word": [partial(index.correct, mistake, 5) for mistake in mistyped],
    }
    lines = ["CPU time of a query in ms: p50, p99"]
    for name, queries in kinds.items():
        times = sorted(_cpu_seconds(query) for query in queries)
        lines.append(f"{name:30} {times[QUERIES // 2] * 1e3:8.2f} {times[QUERIES * 99 // 100] * 1e3:8.2f}")
    return lines


def _mistype(correct: str, rng: RepeatableRandom) -> str:
    """The word without one of its letters, or with two of them swapped."""
    at = int(rng.fraction() * (len(correct) - 1))
    if rng.fraction() < 0.5:
        return correct[:at] + correct[at + 1 :]
    return correct[:at] + correct[at + 1] + correct[at] + correct[at + 2 :]


def _cpu_seconds(task: Callable[[], object]) -> float:
    before = time.process_time()
    task()
    return time.process_time() - before


if __name__ == "__main__":
    for line in run(int(sys.argv[1]) if len(sys.argv) > 1 else TITLES):
        print(line)
