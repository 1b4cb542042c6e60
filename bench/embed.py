"""The default embedder: against its tokenizer alone, which is the limit, and against its cache."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from evals.data import SHARED_DATA

from bench.timing import best_of
from kiwiresearch.embed import static
from kiwiresearch.embed.embedder import CachedEmbedder
from kiwiresearch.embed.static import VOCABULARY, StaticEmbedder, word_pieces
from kiwiresearch.page.parser import read_page
from kiwiresearch.zim.libzim import LibzimArchive

DATA = Path(static.__file__).parent / "data"
TEXTS = 1_000
ROUNDS = 5
START = "import numpy, tokenizers"
LOAD = "from kiwiresearch.embed.static import StaticEmbedder; StaticEmbedder().embed(['first'])"


def run() -> list[str]:
    """The figures, as lines."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    # One core: the tokenizer would take all of them for a batch.
    os.environ["RAYON_NUM_THREADS"] = "1"
    archive = LibzimArchive(file)
    pages = [read_page(archive.read(path)).text for path in list(archive.articles())[:TEXTS]]
    lines = []
    for chars in (200, 1000):
        lines += _speed([page[:chars] for page in pages], chars)
    imports, first = _start(START), _start(LOAD)
    return [
        *lines,
        f"import numpy, tokenizers {imports:6.3f} s   1.0",
        f"first vector {first:18.3f} s   {first / imports:.1f}",
    ]


def _speed(texts: list[str], chars: int) -> list[str]:
    embedder = StaticEmbedder()
    tokenizer = word_pieces((DATA / VOCABULARY).read_text(encoding="utf-8").split("\n"))
    with tempfile.TemporaryDirectory() as folder:
        kept = CachedEmbedder(embedder, Path(folder) / "vectors.sqlite", lru_size=0)
        near = CachedEmbedder(embedder, lru_size=len(texts))
        for warm in (kept, near):
            warm.embed(texts)
        times = best_of(
            ROUNDS,
            {
                "tokenizer alone": lambda: tokenizer.encode_batch_fast(texts),
                "vectors": lambda: embedder.embed(texts),
                "vectors from a file": lambda: kept.embed(texts),
                "vectors from memory": lambda: near.embed(texts),
            },
        )
        kept.close()
    base = times["tokenizer alone"]
    return [f"{len(texts)} texts of {chars} characters"] + [
        f"{name:22} {len(texts) / spent:9.0f} a second   {spent / base:.2f}" for name, spent in times.items()
    ]


def _start(code: str) -> float:
    spent = []
    for _ in range(ROUNDS):
        before = os.times()
        subprocess.run([sys.executable, "-c", code], check=True)
        after = os.times()
        spent.append((after.children_user - before.children_user) + (after.children_system - before.children_system))
    return min(spent)
