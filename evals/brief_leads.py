"""Briefs on topics with an article of their own: how much of its newer introduction is in their first words?

Fifty articles of the 2007 Schools selection are also in a selection of 2022 that has only introductions. The first 150
words of the brief, and those of the article of 2007 as a baseline, are compared with the newer introduction: which
share of its words (R1) and of its pairs of words (R2) do they have?

python -m evals.brief_leads          one line for each topic
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

from evals.briefs import finder_for, run_research
from evals.data import SHARED_DATA, digest_of
from kiwiresearch.brief.brief import Brief
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.libzim import LibzimArchive

BOOK = SHARED_DATA / "zims" / "schools-2007.zim"
NEWER = SHARED_DATA / "zims" / "real" / "wikipedia_en_100_mini_2022-10.zim"
FIRST_WORDS = 150
PAGES = 12
WORD = re.compile(r"[^\W_]+")


class Comparison(NamedTuple):
    """R1 and R2 of a brief, and of the beginning of the article of 2007."""

    topic: str
    brief: tuple[float, float]
    lead: tuple[float, float]


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    if not BOOK.is_file() or not NEWER.is_file():
        return None
    comparisons = compare_briefs()
    return digest_of(BOOK, NEWER), *figures(comparisons)


def figures(comparisons: Sequence[Comparison]) -> tuple[dict[str, float], dict[str, float]]:
    """How far the briefs are ahead of the articles' own introductions; the figures of both are not pinned."""

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    brief = [mean([row.brief[n] for row in comparisons]) for n in (0, 1)]
    lead = [mean([row.lead[n] for row in comparisons]) for n in (0, 1)]
    ahead = {f"ahead_in_r{n + 1}": 1 + brief[n] - lead[n] for n in (0, 1)}
    unpinned = {f"{name}_r{n + 1}": values[n] for name, values in (("brief", brief), ("lead", lead)) for n in (0, 1)}
    return ahead, unpinned


def topics() -> list[tuple[str, str, str]]:
    """Of each topic, the title, the path in the book of 2007 and the path in the newer one."""
    book, newer = LibzimArchive(BOOK), LibzimArchive(NEWER)
    path_by_title = {book.title(path): path for path in book.articles()}
    newer_articles = [(newer.title(path), path) for path in newer.articles()]
    return sorted((title, path_by_title[title], path) for title, path in newer_articles if title in path_by_title)


def compare_briefs() -> list[Comparison]:
    cores = max(1, min(os.cpu_count() or 1, 8))
    all_topics = topics()
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        parts = pool.map(partial(_compare_part, BOOK), [all_topics[number::cores] for number in range(cores)])
    return sorted(comparison for part in parts for comparison in part)


def _compare_part(file: Path, rows: Sequence[tuple[str, str, str]]) -> list[Comparison]:
    book, newer = LibzimArchive(file), LibzimArchive(NEWER)
    comparisons = []
    with finder_for(file) as (finder, folder):
        for number, (title, path, newer_path) in enumerate(rows):
            brief = run_research(finder, title, folder / str(number), pages=PAGES).brief
            newer_words = words_of(open_page(newer, newer_path).lead)
            article_words = words_of(open_page(book, path).lead or open_page(book, path).text)
            comparisons.append(
                Comparison(
                    title, overlap(words_of(brief_text(brief)), newer_words), overlap(article_words, newer_words)
                )
            )
    return comparisons


def brief_text(brief: Brief) -> str:
    """The text of a brief from its beginning."""
    body = [statement for group in brief.body for statement in group.statements]
    return " ".join(statement.text for statement in (*brief.summary, *body))


def words_of(text: str) -> list[str]:
    return WORD.findall(text.casefold())


def overlap(words: Sequence[str], wanted: Sequence[str]) -> tuple[float, float]:
    """The shares of the wanted words and of their pairs that are in the first words; repetitions count."""

    def share(size: int) -> float:
        first_counts, wanted_counts = (
            Counter(zip(*(word_list[start:] for start in range(size)), strict=False))
            for word_list in (words[:FIRST_WORDS], wanted)
        )
        return sum((first_counts & wanted_counts).values()) / max(1, sum(wanted_counts.values()))

    return share(1), share(2)


def main() -> int:
    comparisons = compare_briefs()
    for row in comparisons:
        print(f"{row.brief[0]:.3f} {row.brief[1]:.3f}  lead {row.lead[0]:.3f} {row.lead[1]:.3f}  {row.topic}")
    for name, value in {**figures(comparisons)[0], **figures(comparisons)[1]}.items():
        print(f"{name} {value:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
