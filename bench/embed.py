"""The default embedder against its tokenizer alone, which it cannot be faster than, and against its caches."""

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
IMPORTS = "import numpy, tokenizers"
FIRST_VECTOR = "from kiwiresearch.embed.static import StaticEmbedder; StaticEmbedder().embed(['first'])"
BASELINE = "tokenizer alone"


def run() -> list[str]:
    """Measure, and return the lines to print."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    # One core: for a batch, the tokenizer would use all of them.
    os.environ["RAYON_NUM_THREADS"] = "1"
    archive = LibzimArchive(file)
    texts = [read_page(archive.read(path)).text for path in list(archive.articles())[:TEXTS]]
    lines = []
    for length in (200, 1000):
        lines += _measure_speed([text[:length] for text in texts], length)
    imports_s, first_vector_s = _startup_seconds(IMPORTS), _startup_seconds(FIRST_VECTOR)
    return [
        *lines,
        f"import numpy, tokenizers {imports_s:6.3f} s   1.0x",
        f"first vector {first_vector_s:18.3f} s   {first_vector_s / imports_s:.1f}x",
    ]


def _measure_speed(texts: list[str], length: int) -> list[str]:
    embedder = StaticEmbedder()
    tokenizer = word_pieces((DATA / VOCABULARY).read_text(encoding="utf-8").split("\n"))
    with tempfile.TemporaryDirectory() as folder:
        file_cache = CachedEmbedder(embedder, Path(folder) / "vectors.sqlite", lru_size=0)
        memory_cache = CachedEmbedder(embedder, lru_size=len(texts))
        for cache in (file_cache, memory_cache):
            cache.embed(texts)
        times = best_of(
            ROUNDS,
            {
                BASELINE: lambda: tokenizer.encode_batch_fast(texts),
                "vectors": lambda: embedder.embed(texts),
                "vectors from a file": lambda: file_cache.embed(texts),
                "vectors from memory": lambda: memory_cache.embed(texts),
            },
        )
        file_cache.close()
    return [f"{len(texts)} texts of {length} characters"] + [
        f"{name:22} {len(texts) / seconds:9.0f} per second   {seconds / times[BASELINE]:.2f}x"
        for name, seconds in times.items()
    ]


def _startup_seconds(code: str) -> float:
    """The least CPU time of a process that runs this code."""
    times = []
    for _ in range(ROUNDS):
        before = os.times()
        subprocess.run([sys.executable, "-c", code], check=True)
        after = os.times()
        times.append((after.children_user - before.children_user) + (after.children_system - before.children_system))
    return min(times)
