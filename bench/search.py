"""Searching a real book: CPU time per query, fast and in full, against the book's own search.

The questions are those of `evals`. No query comes twice, so each page is read for the first time.
Times are CPU times, because the machine may be shared.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from evals.data import SHARED_DATA
from evals.search import questions_of

from bench.timing import p95
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse_query
from kiwiresearch.search.shelf_search import SearchOptions, search_books
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.libzim import CLUSTER_CACHE_BYTES, LibzimArchive, set_cluster_cache

SAMPLE_EVERY = 15
"""Every n-th question is asked, so that they come from all sets."""
WARM_UP_QUERIES = 20
BASELINE = "the book's own search"


def run() -> list[str]:
    """Measure, and return the lines to print."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: the real data is not at {SHARED_DATA}"]
    set_cluster_cache(CLUSTER_CACHE_BYTES)
    questions = questions_of(file.name)[::SAMPLE_EVERY]
    lines = [f"{len(questions)} questions on {file.name}; CPU time per query in ms (p50, p95)"]
    with tempfile.TemporaryDirectory() as folder:
        archive = LibzimArchive(file)
        index = titles_file(Path(folder), archive.book)
        build_titles(archive, index)
        book = OpenBook(archive, open_titles(index, archive.book))
        unindexed_book = OpenBook(archive)
        searches: dict[str, Callable[[str], object]] = {
            BASELINE: lambda q: archive.paths_with(" ".join(t.word for t in parse_query(q).terms), 10),
            "fast": lambda q: search_books([book], q, SearchOptions(fast=True)),
            "in full": lambda q: search_books([book], q),
            "in full, without a title index": lambda q: search_books([unindexed_book], q),
        }
        times = {name: _time_each(search, questions) for name, search in searches.items()}
        if book.titles:
            book.titles.close()
    baseline = statistics.median(times[BASELINE])
    for name, seconds in times.items():
        p50 = statistics.median(seconds)
        lines.append(f"{name:32} {p50 * 1e3:7.2f} {p95(seconds) * 1e3:7.2f}   {p50 / baseline:6.1f}x")
    return lines


def _time_each(search: Callable[[str], object], questions: Sequence[str]) -> list[float]:
    for question in questions[:WARM_UP_QUERIES]:
        search(question)
    times = []
    for question in questions:
        start = time.process_time()
        search(question)
        times.append(time.process_time() - start)
    return times
