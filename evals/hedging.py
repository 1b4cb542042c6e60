"""Hedges: are sentences found that leave open who says something, how many there are or how certain it is?

The share of sentences of real articles that are flagged is not pinned. It should be small: if every second sentence
were flagged, that would tell readers nothing.
"""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from evals.data import SHARED_DATA, digest_of
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import read_page
from kiwiresearch.text.hedges import hedges_in
from kiwiresearch.zim.libzim import LibzimArchive

LABELLED = "claims/hedge-conll2010.jsonl"
BOOK = "zims/schools-2007.zim"
ARTICLES = 200


def measure() -> tuple[str, dict[str, float], dict[str, float]] | None:
    """How well hedged sentences are found; how many sentences of a book are flagged is not pinned."""
    labelled, book = SHARED_DATA / LABELLED, SHARED_DATA / BOOK
    if not (labelled.is_file() and book.is_file()):
        return None
    return digest_of(labelled), scores_of(labelled), {"sentences_flagged": share_flagged(book)}


def scores_of(labels_file: Path) -> dict[str, float]:
    """Precision, recall and F1 of the hedged sentences of a file."""
    rows = [json.loads(line) for line in labels_file.read_text(encoding="utf-8").splitlines() if line.strip()]
    pairs = [(bool(hedges_in(row["text"])), bool(row["hedged"])) for row in rows]
    found_and_wanted = sum(found and wanted for found, wanted in pairs)
    found = sum(found for found, _ in pairs)
    wanted = sum(wanted for _, wanted in pairs)
    return {
        "hedge_f1": 2 * found_and_wanted / max(found + wanted, 1),
        "hedge_precision": found_and_wanted / max(found, 1),
        "hedge_recall": found_and_wanted / max(wanted, 1),
    }


def share_flagged(book: Path) -> float:
    """The share of sentences with a hedge in articles at equal distances in a book."""
    archive = LibzimArchive(book)
    paths = sorted(archive.articles())
    step = max(len(paths) // ARTICLES, 1)
    hedged = sentences = 0
    for path in paths[::step][:ARTICLES]:
        page = read_page(archive.read(path), language="eng")
        hedged += len(_hedged_sentences(page))
        sentences += len(page.sentences)
    archive.close()
    return hedged / max(sentences, 1)


def _hedged_sentences(page: PageDoc) -> set[int]:
    starts = [hedge.start for hedge in hedges_in(page.text)]
    spans = pairwise([*page.sentences, len(page.text)])
    return {start for start, end in spans if any(start <= hedge_start < end for hedge_start in starts)}
