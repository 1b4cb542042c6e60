"""The title index at a million titles: cost a title as the book grows, bytes a title, and times of queries.

`python -m bench.titles 7000000` does the same for another number of titles.
The titles are made up by rule: words of syllables, drawn as often as words
are in real titles, where the n-th word is about 1/n as common as the first.
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
ALIASES = 4
"""One title in so many is a redirect's."""

SYLLABLES = tuple(consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou")


class Drawn:
    """Numbers that look drawn and are the same each time."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def share(self) -> float:
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) / 2**31


class MadeUpBook(MemoryArchive):
    """A book of titles and nothing else."""

    def __init__(self, size: int) -> None:
        super().__init__({})
        self._size = size
        self._sheet = replace(super().book, id=BookId(f"made-up-{size}"), entries=size)

    @property
    def book(self) -> Book:
        return self._sheet

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        drawn = Drawn(20261115)
        for number in range(self._size):
            title = made_up(drawn, self._size)
            if number >= start:
                alias = number % ALIASES == 0
                yield TitleEntry(number, title, f"T{number // 2}" if alias else title.replace(" ", "_"), alias)


def made_up(drawn: Drawn, size: int) -> str:
    """A title of one to five words."""
    count = 1 + int(2 * drawn.share() + 2 * drawn.share() + 1.5 * drawn.share())
    vocabulary = math.log(size * 0.3)
    return " ".join(word(int(math.exp(vocabulary * drawn.share()))) for _ in range(count)).capitalize()


def word(rank: int) -> str:
    """The word of a rank: rare ones are longer."""
    spelled, rest = "", rank + len(SYLLABLES)
    while rest:
        rest, last = divmod(rest, len(SYLLABLES))
        spelled += SYLLABLES[last]
    return spelled


def run(size: int = TITLES) -> list[str]:
    """The figures, as lines."""
    lines = [f"processor seconds for 100,000 titles, a quarter, half and all of {size:,}, making them up left out"]
    with tempfile.TemporaryDirectory() as folder:
        costs: dict[int, float] = {}
        for part in (size // 4, size // 2, size):
            book = MadeUpBook(part)
            file = Path(folder) / f"{part}.sqlite"
            made = _seconds(partial(deque, book.titles(), 0))
            costs[part] = _seconds(partial(build_titles, book, file)) - made
            each, first = costs[part] / part * 1e5, costs[size // 4] / (size // 4) * 1e5
            of_file = file.stat().st_size / part
            lines.append(f"{part:>10,} titles {each:6.2f} s   {each / first:4.2f}   {of_file:5.0f} bytes a title")
        index = open_titles(file, book.book)
        assert index
        lines += _queries(index, size)
        index.close()
    return lines


def _queries(index: TitleIndex, size: int) -> list[str]:
    drawn = Drawn(7)
    known = [made_up(drawn, size) for _ in range(QUERIES)]
    rare = [[word(int(size * 0.3 * drawn.share())), word(int(2_000 * drawn.share()))] for _ in range(QUERIES)]
    common = [[word(1 + int(12 * drawn.share())) for _ in range(4)] for _ in range(QUERIES)]
    middling = [[word(20 + int(2_000 * drawn.share())) for _ in range(5)] for _ in range(QUERIES)]
    mistyped = [_slip(word(1_000 + int(size * 0.2 * drawn.share())), drawn) for _ in range(QUERIES)]
    kinds: dict[str, list[Callable[[], object]]] = {
        "exact title": [partial(index.exact, title) for title in known],
        "beginning, 4 letters": [partial(index.prefix, title[:4], 10) for title in known],
        "beginning, 1 letter": [partial(index.prefix, title[:1], 10) for title in known],
        "2 words, one rare": [partial(index.by_words, words, 20) for words in rare],
        "4 of the 12 commonest": [partial(index.by_words, words, 20) for words in common],
        "5 middling words": [partial(index.by_words, words, 20) for words in middling],
        "mistyped word": [partial(index.correct, slip, 5) for slip in mistyped],
    }
    lines = ["milliseconds of processor time a query, in the middle and for the slowest of a hundred"]
    for name, works in kinds.items():
        spent = sorted(_seconds(work) for work in works)
        lines.append(f"{name:22} {spent[QUERIES // 2] * 1e3:8.2f} {spent[QUERIES * 99 // 100] * 1e3:8.2f}")
    return lines


def _slip(right: str, drawn: Drawn) -> str:
    """The word with one letter left out or two changed over."""
    at = int(drawn.share() * (len(right) - 1))
    if drawn.share() < 0.5:
        return right[:at] + right[at + 1 :]
    return right[:at] + right[at + 1] + right[at] + right[at + 2 :]


def _seconds(work: Callable[[], object]) -> float:
    before = time.process_time()
    work()
    return time.process_time() - before


if __name__ == "__main__":
    for line in run(int(sys.argv[1]) if len(sys.argv) > 1 else TITLES):
        print(line)
