"""Search with real questions: is the page that answers them first, among the first three, among the first ten?

There are two baselines in the same run: the book's own search without stop words, and BM25 over every passage of every
page, which needs an index of the whole book. The title index is made from the book alone and knows no answers.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evals.data import SHARED_DATA, digest_of
from evals.windows import window_index
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse_query
from kiwiresearch.search.shelf_search import SearchOptions, search_books
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.libzim import LibzimArchive

SETS = {
    "cmu": ("schools-2007.zim", "qa/schools/cmu.jsonl"),
    "nq": ("schools-2007.zim", "qa/schools/nq.jsonl"),
    "fever": ("schools-2007.zim", "qa/schools/fever.jsonl"),
    "creak": ("schools-2007.zim", "qa/schools/creak.jsonl"),
    "squad_in_schools": ("schools-2007.zim", "qa/schools/squad.jsonl"),
    "squad_book": ("squad.zim", "qa/squad/questions.jsonl"),
}
DEPTHS = (1, 3, 10)
ALL_PAGES = 2_000_000_000
"""So large a cache keeps all pages while evaluating. It does not change what is found."""

LARGE_SET = 1_000
EVERY = 10
MIDDLE_SET = 500
EVERY_OTHER = 2
"""Every tenth question of large sets and every second one of middle-sized sets is asked, by default.

`python -m evals.search` asks all questions.
"""

PASSAGES = 200
"""The best passages of a question, in whose order the baseline ranks their pages."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question and the pages that answer it."""

    question: str
    gold: frozenset[str]


Ranking = Callable[[Sequence[str]], list[list[str]]]


def measure(every: int = EVERY) -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Shares of questions whose page is among the first 1, 3 and 10; those of the baselines are not pinned."""
    files = [SHARED_DATA / name for name in sorted({file for _, file in SETS.values()})]
    books = [SHARED_DATA / "zims" / name for name in sorted({book for book, _ in SETS.values()})]
    if not all(file.is_file() for file in (*files, *books)):
        return None
    figures: dict[str, float] = {}
    unpinned: dict[str, float] = {}
    for book in books:
        sets = {
            name: _sample(SHARED_DATA / file, every) for name, (set_book, file) in SETS.items() if set_book == book.name
        }
        questions = [row.question for rows in sets.values() for row in rows]
        full, fast = _search_in_parallel(book, questions)
        passages, libzim = _passage_ranking(book)(questions), _search_with_libzim(book, questions)
        start = 0
        for name, rows in sets.items():
            part = slice(start, start + len(rows))
            start += len(rows)
            figures |= _shares(name, rows, full[part])
            figures |= _shares(f"{name}_fast", rows, fast[part])
            unpinned |= _shares(f"{name}_passages", rows, passages[part]) | _shares(
                f"{name}_libzim", rows, libzim[part]
            )
    return digest_of(*files, *books), figures | _leads(figures, unpinned), unpinned


def _sample(file: Path, every: int) -> list[Row]:
    rows = _rows(file)
    step = every if len(rows) > LARGE_SET else min(every, EVERY_OTHER) if len(rows) > MIDDLE_SET else 1
    return rows[::step]


def questions_of(book: str) -> list[str]:
    """All questions about a book, for other measurements."""
    files = [file for set_book, file in SETS.values() if set_book == book]
    return [row.question for file in files for row in _rows(SHARED_DATA / file)]


def _rows(file: Path) -> list[Row]:
    rows = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        question = row.get("query") or row.get("question") or row["claim"]
        rows.append(Row(question, frozenset(row.get("paths") or [row["path"]])))
    return rows


def _shares(name: str, rows: Sequence[Row], paths_by_row: Sequence[Sequence[str]]) -> dict[str, float]:
    return {
        f"{name}_at_{depth}": sum(
            not row.gold.isdisjoint(paths[:depth]) for row, paths in zip(rows, paths_by_row, strict=True)
        )
        / len(rows)
        for depth in DEPTHS
    }


def _leads(figures: dict[str, float], unpinned: dict[str, float]) -> dict[str, float]:
    """How far we are ahead where the lead is smallest: of both baselines at 3, and of the passages at 10."""
    at_3 = [
        figures[f"{name}_at_3"] - unpinned[f"{name}_{baseline}_at_3"]
        for name in SETS
        for baseline in ("passages", "libzim")
    ]
    at_10 = [figures[f"{name}_at_10"] - unpinned[f"{name}_passages_at_10"] for name in SETS]
    return {"least_lead_at_3": min(at_3), "least_lead_at_10": min(at_10)}


def _search_in_parallel(book: Path, questions: Sequence[str]) -> tuple[list[list[str]], list[list[str]]]:
    """Search for all questions, in full and fast, with one process per core."""
    cores = max(1, min(os.cpu_count() or 1, 8))
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        parts = pool.map(
            partial(_search_with_kiwiresearch, book), [questions[number::cores] for number in range(cores)]
        )
    results: tuple[list[list[str]], list[list[str]]] = ([[] for _ in questions], [[] for _ in questions])
    for number, part_results in enumerate(parts):
        for all_paths, part_paths in zip(results, part_results, strict=True):
            all_paths[number::cores] = part_paths
    return results


def _search_with_kiwiresearch(file: Path, questions: Sequence[str]) -> tuple[list[list[str]], list[list[str]]]:
    with tempfile.TemporaryDirectory() as folder:
        archive = LibzimArchive(file)
        index = titles_file(Path(folder), archive.book)
        build_titles(archive, index)
        book = OpenBook(archive, open_titles(index, archive.book), cached_chars=ALL_PAGES)
        fast_options = SearchOptions(limit=max(DEPTHS), fast=True)
        full = [_search(book, question, SearchOptions(limit=max(DEPTHS))) for question in questions]
        fast = [_search(book, question, fast_options) for question in questions]
        if book.titles:
            book.titles.close()
    return full, fast


def _search(book: OpenBook, question: str, options: SearchOptions) -> list[str]:
    return [hit.ref.path for hit in search_books([book], question, options).hits]


def _search_with_libzim(file: Path, questions: Sequence[str]) -> list[list[str]]:
    """What the book's own search finds for the words of a question without its stop words."""
    archive = LibzimArchive(file)
    queries = (" ".join(term.word for term in parse_query(question).terms) for question in questions)
    return [list(archive.paths_with(query, max(DEPTHS))) for query in queries]


def _passage_ranking(file: Path) -> Ranking:
    """BM25 over the passages of a book; a page is ranked by its best passage."""
    index = window_index(file)

    def rank(questions: Sequence[str]) -> list[list[str]]:
        windows = index.best(questions, PASSAGES)
        return [list(dict.fromkeys(index.paths[number] for number in numbers))[: max(DEPTHS)] for numbers in windows]

    return rank


if __name__ == "__main__":
    for part in (measure(every=1) or ("", {}, {}))[1:]:
        print("\n".join(f"{name:40} {value:.4f}" for name, value in part.items()))
