"""Tables of whole books: pages per second and memory for each table, and how the cost grows with the book.

The CPU time of a table is compared with that of reading and parsing the pages and doing nothing else.
`python -m bench.bulk 1000000 titles,pages,links` measures one synthetic book of that size.
CPU time is that of all processes, minus what an empty book takes. Memory is the most that all processes had at one
moment, with shared pages counted for each of them.
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

from bench.big_book import REDIRECT_EVERY, big_book, first_pages_of
from kiwiresearch.zim.libzim import LibzimArchive

PAGES = 1_000
SIZES = (5_000, 50_000, 1_000_000)
GROWTH_TABLES = "titles,pages,links"
ALL_TABLES = "titles,pages,links,claims,people"
TABLES = ("titles", "pages", "links", "claims", "people", ALL_TABLES)
SAMPLE_S = 0.1
"""How often the memory is measured."""
BASELINE = "baseline"
"""The argument with which this module, as a process of its own, runs the baseline."""


class Cost(NamedTuple):
    """The time and memory of a command."""

    wall_s: float
    cpu_s: float
    peak_mb: float


def run(sizes: Sequence[int] = SIZES) -> list[str]:
    """Measure, and return the lines to print."""
    source = SHARED_DATA / "zims" / "schools-2007.zim"
    lines = measure_tables(first_pages_of(source, PAGES)) if source.is_file() else [f"skipped: {source} is missing"]
    return [*lines, *measure_growth(sizes, GROWTH_TABLES)]


def measure_tables(file: Path) -> Iterator[str]:
    """The cost of each table with one process and with two; each line comes as soon as it is measured."""
    baseline = _measure([sys.executable, "-m", "bench.bulk", BASELINE, str(file)])
    empty_book = {workers: _measure_bulk(big_book(0), ALL_TABLES, workers) for workers in (1, 2)}
    startup = _measure([sys.executable, "-m", "bench.bulk", BASELINE, str(big_book(0))])
    baseline_s = baseline.cpu_s - startup.cpu_s
    yield f"{PAGES} pages of schools-2007.zim; CPU time against that of the plain read and parse"
    speed = f"{PAGES / baseline_s:7.0f} pages per CPU second"
    yield f"{'plain read and parse':34} {speed}   1.0x {baseline.peak_mb:6.0f} MB"
    for tables in TABLES:
        for workers in (1, 2):
            cost = _measure_bulk(file, tables, workers)
            cpu_s = max(cost.cpu_s - empty_book[workers].cpu_s, 0.001)
            wall_s = max(cost.wall_s - empty_book[workers].wall_s, 0.001)
            name = f"{'all' if tables == ALL_TABLES else tables}, {workers} process{'es' if workers > 1 else ''}"
            speed = f"{PAGES / wall_s:5.0f} per second {PAGES / cpu_s:7.0f} pages per CPU second"
            yield f"{name:22} {speed} {cpu_s / baseline_s:5.1f}x {cost.peak_mb:6.0f} MB"


def measure_growth(sizes: Sequence[int], tables: str) -> Iterator[str]:
    """The cost per entry and the memory for synthetic books of these sizes, with one process."""
    yield f"synthetic books, {tables}, one process: CPU time per entry, and memory of all processes"
    startup = _measure_bulk(big_book(0), tables, 1)
    first_entry_s = 0.0
    for size in sizes:
        cost = _measure_bulk(big_book(size), tables, 1)
        entry_s = (cost.cpu_s - startup.cpu_s) / size
        first_entry_s = first_entry_s or entry_s
        book = f"{size:>9,} entries, {size - size // REDIRECT_EVERY:>7,} pages"
        speed = f"{entry_s * 1e3:7.3f} ms {entry_s / first_entry_s:5.2f}x"
        yield f"{book} {speed} {cost.peak_mb:6.0f} MB in {cost.wall_s:7.0f} s"


def _measure_bulk(file: Path, tables: str, workers: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        out, home = Path(folder) / "out", Path(folder) / "home"
        command = [sys.executable, "-m", "kiwiresearch", "bulk", "--book", str(file), "--what", tables]
        return _measure([*command, "--out", str(out), "--workers", str(workers)], home)


def _measure(command: Sequence[str], home: Path | None = None) -> Cost:
    environment = {"PATH": "/usr/bin:/bin", **({"KIWIRESEARCH_HOME": str(home)} if home else {})}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as process:
        sampler = _MemorySampler(process.pid)
        _, problem = process.communicate()
        peak = sampler.stop()
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}: {problem.decode()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return Cost(time.monotonic() - start, cpu_s, peak / 2**20)


class _MemorySampler:
    """Measures the memory of a process and all its descendants at short intervals, and keeps the highest value."""

    def __init__(self, pid: int) -> None:
        self._pid, self._peak, self._stopped = pid, 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stopped.wait(SAMPLE_S):
            self._peak = max(self._peak, _memory_bytes(self._pid))

    def stop(self) -> int:
        """Stop measuring, and return the highest value in bytes."""
        self._stopped.set()
        self._thread.join()
        return self._peak


def _memory_bytes(pid: int) -> int:
    total = 0
    with contextlib.suppress(OSError, IndexError, ValueError):
        total = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                total += _memory_bytes(int(child))
    return total


def _read_and_parse(file: Path) -> None:
    """The baseline: read and parse every page, and nothing else."""
    archive = LibzimArchive(file)
    for number in archive.directory().articles:
        LexborHTMLParser(archive.read_at(int(number)).content)


if __name__ == "__main__":
    if sys.argv[1] == BASELINE:
        _read_and_parse(Path(sys.argv[2]))
    else:
        for line in measure_growth([int(sys.argv[1])], sys.argv[2] if len(sys.argv) > 2 else GROWTH_TABLES):
            print(line, flush=True)
