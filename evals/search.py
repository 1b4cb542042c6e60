"""Search on real questions: is the page that answers them first, among the first three, among the first ten?

Ours is measured beside two anchors in the same run: the book's own search
with stop words out, and BM25 over every passage of every page, which needs an
index of the whole book. Neither a title index nor a model is told the answer;
the pages' titles are known from the book alone.
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
from evals.windows import windows_of
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
"""Pages kept at hand while evaluating: all. What is found does not depend on it."""

LARGE_SET = 1_000
EVERY = 10
MIDDLE_SET = 500
EVERY_OTHER = 2
"""Of large sets each tenth question is asked, of middle ones each second; `python -m evals.search` asks them all."""

PASSAGES = 200
"""Best passages of the anchor for one question, which then rank their pages."""


@dataclass(frozen=True, slots=True)
class Row:
    """A question and the pages that answer it."""

    question: str
    gold: frozenset[str]


Ranking = Callable[[Sequence[str]], list[list[str]]]


def measure(every: int = EVERY) -> tuple[str, dict[str, float], dict[str, float]] | None:
    """Shares of questions with their page in the first 1, 3 and 10: ours, and beside them both anchors'."""
    files = [SHARED_DATA / name for name in sorted({file for _, file in SETS.values()})]
    books = [SHARED_DATA / "zims" / name for name in sorted({book for book, _ in SETS.values()})]
    if not all(file.is_file() for file in (*files, *books)):
        return None
    figures: dict[str, float] = {}
    beside: dict[str, float] = {}
    for book in books:
        sets = {name: _some(SHARED_DATA / file, every) for name, (of, file) in SETS.items() if of == book.name}
        questions = [row.question for rows in sets.values() for row in rows]
        full, fast = _in_parallel(book, questions)
        passages, libzim = _passages_anchor(book)(questions), _libzim(book, questions)
        start = 0
        for name, rows in sets.items():
            part = slice(start, start + len(rows))
            start += len(rows)
            figures |= _shares(name, rows, full[part])
            figures |= _shares(f"{name}_fast", rows, fast[part])
            beside |= _shares(f"{name}_passages", rows, passages[part]) | _shares(f"{name}_libzim", rows, libzim[part])
    return digest_of(*files, *books), figures | _leads(figures, beside), beside


def _some(file: Path, every: int) -> list[Row]:
    rows = _rows(file)
    step = every if len(rows) > LARGE_SET else min(every, EVERY_OTHER) if len(rows) > MIDDLE_SET else 1
    return rows[::step]


def questions_of(book: str) -> list[str]:
    """All questions on a book, for whoever measures something else with them."""
    files = [file for of, file in SETS.values() if of == book]
    return [row.question for file in files for row in _rows(SHARED_DATA / file)]


def _rows(file: Path) -> list[Row]:
    rows = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        question = row.get("query") or row.get("question") or row["claim"]
        rows.append(Row(question, frozenset(row.get("paths") or [row["path"]])))
    return rows


def _shares(name: str, rows: Sequence[Row], found: Sequence[Sequence[str]]) -> dict[str, float]:
    return {
        f"{name}_at_{depth}": sum(
            not row.gold.isdisjoint(paths[:depth]) for row, paths in zip(rows, found, strict=True)
        )
        / len(rows)
        for depth in DEPTHS
    }


def _leads(figures: dict[str, float], beside: dict[str, float]) -> dict[str, float]:
    """By how much we are ahead of both anchors at 3, and of the passages at 10, where it is least."""
    at_3 = [
        figures[f"{name}_at_3"] - beside[f"{name}_{other}_at_3"] for name in SETS for other in ("passages", "libzim")
    ]
    at_10 = [figures[f"{name}_at_10"] - beside[f"{name}_passages_at_10"] for name in SETS]
    return {"least_lead_at_3": min(at_3), "least_lead_at_10": min(at_10)}


def _in_parallel(book: Path, questions: Sequence[str]) -> tuple[list[list[str]], list[list[str]]]:
    """In full and fast, the questions in as many parts as there are cores, each in a process of its own."""
    cores = max(1, min(os.cpu_count() or 1, 8))
    with multiprocessing.get_context("spawn").Pool(cores) as pool:
        done = pool.map(partial(_ours, book), [questions[number::cores] for number in range(cores)])
    found: tuple[list[list[str]], list[list[str]]] = ([[] for _ in questions], [[] for _ in questions])
    for number, part in enumerate(done):
        for whole, some in zip(found, part, strict=True):
            whole[number::cores] = some
    return found


def _ours(file: Path, questions: Sequence[str]) -> tuple[list[list[str]], list[list[str]]]:
    with tempfile.TemporaryDirectory() as folder:
        archive = LibzimArchive(file)
        index = titles_file(Path(folder), archive.book)
        build_titles(archive, index)
        book = OpenBook(archive, open_titles(index, archive.book), cached_chars=ALL_PAGES)
        quickly = SearchOptions(limit=max(DEPTHS), fast=True)
        full = [_paths(book, question, SearchOptions(limit=max(DEPTHS))) for question in questions]
        fast = [_paths(book, question, quickly) for question in questions]
        if book.titles:
            book.titles.close()
    return full, fast


def _paths(book: OpenBook, question: str, wish: SearchOptions) -> list[str]:
    return [hit.ref.path for hit in search_books([book], question, wish).hits]


def _libzim(file: Path, questions: Sequence[str]) -> list[list[str]]:
    """What a reader gets who types the question's words without its stop words."""
    archive = LibzimArchive(file)
    queries = (" ".join(term.word for term in parse_query(question).terms) for question in questions)
    return [list(archive.paths_with(query, max(DEPTHS))) for query in queries]


def _passages_anchor(file: Path) -> Ranking:
    """BM25 over every 160 words of every page, stemmed, the title in front; a page ranks by its best passage."""
    windows = windows_of(file)

    def rank(questions: Sequence[str]) -> list[list[str]]:
        found = windows.best(questions, PASSAGES)
        return [list(dict.fromkeys(windows.owners[number] for number in row))[: max(DEPTHS)] for row in found]

    return rank


if __name__ == "__main__":
    for part in (measure(every=1) or ("", {}, {}))[1:]:
        print("\n".join(f"{name:40} {value:.4f}" for name, value in part.items()))
