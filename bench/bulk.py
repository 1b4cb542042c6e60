"""Whole books in bulk: pages a second and memory for each table, against the bare read and parse, and as books grow.

`python -m bench.bulk 1000000 titles,pages,links` measures one made-up book of that size alone.
Processor time is that of all processes together, without what an empty book takes; memory is
the most that all of them had at one moment, pages that they share counted for each.
"""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from evals.data import SHARED_DATA
from selectolax.lexbor import LexborHTMLParser

from bench.big_book import REDIRECTS, big_book, part_of
from kiwiresearch.zim.libzim import LibzimArchive

PAGES = 1_000
SIZES = (5_000, 50_000, 1_000_000)
GROWING = "titles,pages,links"
WHATS = ("titles", "pages", "links", "claims", "people", "titles,pages,links,claims,people")
SAMPLE_S = 0.1
BARE = "bare"


class Cost(NamedTuple):
    """What a command took."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def run(sizes: Sequence[int] = SIZES) -> list[str]:
    """The figures, as lines."""
    source = SHARED_DATA / "zims" / "schools-2007.zim"
    lines = tables(part_of(source, PAGES)) if source.is_file() else [f"skipped: {source} is missing"]
    return [*lines, *growth(sizes, GROWING)]


def tables(file: Path) -> Iterator[str]:
    """Speed and memory for each table, by one process and by two, each as soon as it is measured."""
    bare = _measured([sys.executable, "-m", "bench.bulk", BARE, str(file)])
    empty = {workers: _bulk(big_book(0), WHATS[-1], workers) for workers in (1, 2)}
    begun = _measured([sys.executable, "-m", "bench.bulk", BARE, str(big_book(0))])
    base = bare.cpu_s - begun.cpu_s
    yield f"{PAGES} pages of schools-2007.zim; the ratio is of processor time to that of the bare read and parse"
    yield f"{BARE:34} {PAGES / base:7.0f} pages a processor second   1.0 {bare.peak_mb:6.0f} MB"
    for what in WHATS:
        for workers in (1, 2):
            cost = _bulk(file, what, workers)
            spent = max(cost.cpu_s - empty[workers].cpu_s, 0.001)
            passed = max(cost.wall_s - empty[workers].wall_s, 0.001)
            name = f"{'all' if what == WHATS[-1] else what}, {workers} process{'es' if workers > 1 else ''}"
            speed = f"{PAGES / passed:5.0f} a second {PAGES / spent:7.0f} pages a processor second"
            yield f"{name:22} {speed} {spent / base:5.1f} {cost.peak_mb:6.0f} MB"


def growth(sizes: Sequence[int], what: str) -> Iterator[str]:
    """Cost a page and memory of made-up books of these sizes, with one process."""
    yield f"made-up books, {what}, one process: processor milliseconds an entry, and memory of all processes"
    begun = _bulk(big_book(0), what, 1)
    first = 0.0
    for size in sizes:
        cost = _bulk(big_book(size), what, 1)
        each = (cost.cpu_s - begun.cpu_s) / size
        first = first or each
        pages = f"{size:>9,} entries, {size - size // REDIRECTS:>7,} pages"
        yield f"{pages} {each * 1e3:7.3f} ms {each / first:5.2f} {cost.peak_mb:6.0f} MB in {cost.wall_s:7.0f} s"


def _bulk(file: Path, what: str, workers: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        out, home = Path(folder) / "out", Path(folder) / "home"
        command = [sys.executable, "-m", "kiwiresearch", "bulk", "--book", str(file), "--what", what]
        return _measured([*command, "--out", str(out), "--workers", str(workers)], home)


def _measured(command: Sequence[str], home: Path | None = None) -> Cost:
    environment = {"PATH": "/usr/bin:/bin", **({"KIWIRESEARCH_HOME": str(home)} if home else {})}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as process:
        peak = _Peak(process.pid)
        _, problem = process.communicate()
        highest = peak.end()
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}: {problem.decode()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Cost(time.monotonic() - start, spent, highest / 2**20)


class _Peak:
    """Looks again and again how much memory a process and all below it have."""

    def __init__(self, pid: int) -> None:
        self._pid, self._highest, self._over = pid, 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._over.wait(SAMPLE_S):
            self._highest = max(self._highest, _memory(self._pid))

    def end(self) -> int:
        self._over.set()
        self._thread.join()
        return self._highest


def _memory(pid: int) -> int:
    total = 0
    with contextlib.suppress(OSError, IndexError, ValueError):
        total = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                total += _memory(int(child))
    return total


def _bare(file: Path) -> None:
    """Read and parse every page, and nothing else."""
    archive = LibzimArchive(file)
    for number in archive.directory().articles:
        LexborHTMLParser(archive.read_at(int(number)).content)


if __name__ == "__main__":
    if sys.argv[1] == BARE:
        _bare(Path(sys.argv[2]))
    else:
        for line in growth([int(sys.argv[1])], sys.argv[2] if len(sys.argv) > 2 else GROWING):
            print(line, flush=True)
