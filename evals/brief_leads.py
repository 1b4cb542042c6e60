"""Briefs on topics that are one article: how much of its newer introduction do their first words say?

Fifty articles of the 2007 Schools selection are also in a selection of 2022 that holds introductions only. The first
150 words of the brief are held against these newer introductions, beside the first 150 words of the article of 2007:
which share of the newer text's words (R1) and pairs of words (R2) do they have?

python -m evals.brief_leads          all topics, one line each
"""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from evals.briefs import desk_with, ran
from evals.data import SHARED_DATA, digest_of
from kiwiresearch.brief.brief import Brief
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.libzim import LibzimArchive

BOOK = SHARED_DATA / "zims" / "schools-2007.zim"
NEWER = SHARED_DATA / "zims" / "real" / "wikipedia_en_100_mini_2022-10.zim"
WORDS = 150
PAGES = 12
WORD = re.compile(r"[^\W_]+")


class Both(NamedTuple):
    """R1 and R2 of the brief, and of the article's own beginning."""

    topic: str
    ours: tuple[float, float]
    lead: tuple[float, float]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    if not BOOK.is_file() or not NEWER.is_file():
        return None
    found = compared()
    return digest_of(BOOK, NEWER), *figures(found)


def figures(found: Sequence[Both]) -> tuple[dict[str, float], dict[str, float]]:
    """How far the briefs are ahead of the articles' own introductions; beside it, both."""

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    ours = [mean([one.ours[n] for one in found]) for n in (0, 1)]
    lead = [mean([one.lead[n] for one in found]) for n in (0, 1)]
    ahead = {f"ahead_in_r{n + 1}": 1 + ours[n] - lead[n] for n in (0, 1)}
    beside = {f"{name}_r{n + 1}": values[n] for name, values in (("brief", ours), ("lead", lead)) for n in (0, 1)}
    return ahead, beside


def topics() -> list[tuple[str, str, str]]:
    """Title, path in the book of 2007, path in the newer one."""
    book, newer = LibzimArchive(BOOK), LibzimArchive(NEWER)
    known = {book.title(path): path for path in book.articles()}
    rows = [(newer.title(path), path) for path in newer.articles()]
    return sorted((title, known[title], path) for title, path in rows if title in known)


def compared() -> list[Both]:
    cores = max(1, min(os.cpu_count() or 1, 8))
    rows = topics()
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        found = pool.map(partial(_some, BOOK), [rows[number::cores] for number in range(cores)])
    return sorted(one for some in found for one in some)


def _some(file: Path, rows: Sequence[tuple[str, str, str]]) -> list[Both]:
    book, newer = LibzimArchive(file), LibzimArchive(NEWER)
    found = []
    with desk_with(file) as (finder, folder):
        for number, (title, path, newer_path) in enumerate(rows):
            brief = ran(finder, title, folder / str(number), pages=PAGES).brief
            wanted = words_of(open_page(newer, newer_path).lead)
            own = words_of(open_page(book, path).lead or open_page(book, path).text)
            found.append(Both(title, overlap(words_of(first_words(brief)), wanted), overlap(own, wanted)))
    return found


def first_words(brief: Brief) -> str:
    """The beginning of the brief, as it is read."""
    body = [one for group in brief.body for one in group.statements]
    return " ".join(one.text for one in (*brief.summary, *body))


def words_of(text: str) -> list[str]:
    return WORD.findall(text.casefold())


def overlap(words: Sequence[str], wanted: Sequence[str]) -> tuple[float, float]:
    """Which share of the wanted words, and of their pairs, the first words have, each as often as it is there."""

    def share(size: int) -> float:
        mine, theirs = (
            Counter(zip(*(one[start:] for start in range(size)), strict=False)) for one in (words[:WORDS], wanted)
        )
        return sum((mine & theirs).values()) / max(1, sum(theirs.values()))

    return share(1), share(2)


def main() -> int:
    found = compared()
    for one in found:
        print(f"{one.ours[0]:.3f} {one.ours[1]:.3f}  lead {one.lead[0]:.3f} {one.lead[1]:.3f}  {one.topic}")
    for name, value in {**figures(found)[0], **figures(found)[1]}.items():
        print(f"{name} {value:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
