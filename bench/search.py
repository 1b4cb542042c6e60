"""Searching a real book: milliseconds a query, quick and in full, against the book's own search.

The questions are those of `evals`; every page is met cold once, as no query
comes twice. Times are of the processor, since the machine may be shared.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from evals.data import SHARED_DATA
from evals.search import questions_of

from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse_query
from kiwiresearch.search.shelf_search import SearchOptions, search_books
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.libzim import CLUSTER_CACHE_BYTES, LibzimArchive, set_cluster_cache

EVERY = 15
"""Each so many-th question, from all sets."""


def run() -> list[str]:
    """The figures, as lines."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: the real data is not at {SHARED_DATA}"]
    set_cluster_cache(CLUSTER_CACHE_BYTES)
    questions = questions_of(file.name)[::EVERY]
    lines = [f"{len(questions)} questions on {file.name}, processor time a query in ms: median, 95 of 100 below"]
    with tempfile.TemporaryDirectory() as folder:
        archive = LibzimArchive(file)
        index = titles_file(Path(folder), archive.book)
        build_titles(archive, index)
        book = OpenBook(archive, open_titles(index, archive.book))
        bare = OpenBook(archive)
        works: dict[str, Callable[[str], object]] = {
            "the book's own search": lambda q: archive.paths_with(" ".join(t.word for t in parse_query(q).terms), 10),
            "quick": lambda q: search_books([book], q, SearchOptions(fast=True)),
            "in full": lambda q: search_books([book], q),
            "in full, without a title index": lambda q: search_books([bare], q),
        }
        times = {name: _times(work, questions) for name, work in works.items()}
        if book.titles:
            book.titles.close()
    base = statistics.median(times["the book's own search"])
    for name, spent in times.items():
        median, high = statistics.median(spent), sorted(spent)[int(0.95 * len(spent))]
        lines.append(f"{name:32} {median * 1e3:7.2f} {high * 1e3:7.2f}   {median / base:6.1f} times")
    return lines


def _times(work: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    for question in questions[:20]:
        work(question)  # warm
    spent = []
    for question in questions:
        start = time.process_time()
        work(question)
        spent.append(time.process_time() - start)
    return spent
