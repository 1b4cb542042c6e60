"""A whole run against the bare read and parse of its pages; its memory; its cost against the number of pages.

Bare is `open_page` of the same pages in the order visited, from a book just
opened. Beside it stand the words of the same pages as quickly as the parser
gives them. Times are of the processor, since the machine may be shared.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from evals.data import ROOT, SHARED_DATA

from bench.timing import best_of
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.page.html import bare_text
from kiwiresearch.page.parser import open_page
from kiwiresearch.runs.research import Research
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.libzim import CLUSTER_CACHE_BYTES, LibzimArchive, set_cluster_cache

TOPICS = ("Galaxy", "causes of the First World War", "Roman Empire", "Evolution", "rivers of Africa")
PAGES = 80
ROUNDS = 3
SIZES = (20, 40, 80, 160, 320, 640)
GROWTH_TOPICS = TOPICS[:3]
AT_MOST = 8.0


def a_run(file: Path, topic: str, pages: int, out: Path, *, fast: bool = True) -> None:
    """The whole job on one book, with its files written into `out`; `fast` is by rules only, without vectors."""
    desk = open_workspace({"KIWIRESEARCH_HOME": str(out.parent / "home")})
    task = ResearchTask(topic, settings=CrawlSettings(max_pages=pages, fast=fast))
    with shelf_of(desk, [str(file)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        Research(finder, task).run(out)


def visited(file: Path, out: Path) -> list[str]:
    """Paths of the pages of a run, in the order visited."""
    start = f"zim://{LibzimArchive(file).book.id}/"
    rows = (out / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(row)["url"].removeprefix(start) for row in rows]


def run() -> list[str]:
    """The figures, as lines."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    with tempfile.TemporaryDirectory() as folder:
        _into_new(folder, file, TOPICS[0], 5)  # what is loaded once is no cost of a run
        return [*_ratios(file, folder), *_memory(file), *_growth(file, folder)]


def _ratios(file: Path, folder: str) -> list[str]:
    lines = [
        f"{PAGES} pages of {file.name} with all files of the run, rules only; processor seconds, best of {ROUNDS}",
        f"{'':32} {'pages':>5} {'run':>7} {'read':>7} {'words':>7}   run against read",
    ]
    to_read, to_words = [], []
    for topic in TOPICS:
        paths = visited(file, _into_new(folder, file, topic, PAGES))
        times = best_of(
            ROUNDS,
            {
                "run": _cold(partial(_into_new, folder, file, topic, PAGES)),
                "read": _cold(partial(_read, file, paths)),
                "words": _cold(partial(_words, file, paths)),
            },
        )
        to_read.append(times["run"] / times["read"])
        to_words.append(times["run"] / times["words"])
        spent = " ".join(f"{seconds:7.3f}" for seconds in times.values())
        lines.append(f"{topic:32} {len(paths):5} {spent}   {to_read[-1]:.1f}")
    middle = statistics.median(to_read)
    verdict = "within" if middle <= AT_MOST else "ABOVE"
    lines.append(
        f"median: {middle:.1f} times the bare read and parse ({verdict} the {AT_MOST:g} allowed), "
        f"{statistics.median(to_words):.1f} times the bare words"
    )
    return lines


def _memory(file: Path) -> list[str]:
    peaks = {pages: _peak(file, pages) for pages in (PAGES, max(SIZES))}
    told = ", ".join(f"{mib:.0f} MiB for {pages} pages" for pages, mib in peaks.items())
    return [f"peak memory of a process that does one run: {told}"]


def _growth(file: Path, folder: str) -> list[str]:
    lines = [
        f"cost against pages, mean of {len(GROWTH_TOPICS)} topics; behind it, against n log n from the first row on"
    ]
    counts, spent = [], []
    for pages in SIZES:
        outs = {topic: _new(folder) for topic in GROWTH_TOPICS}
        times = best_of(1, {topic: _cold(partial(a_run, file, topic, pages, out)) for topic, out in outs.items()})
        counts.append(statistics.fmean(len(visited(file, out)) for out in outs.values()))
        spent.append(statistics.fmean(times.values()))
    shares = [seconds / (count * math.log2(count)) for count, seconds in zip(counts, spent, strict=True)]
    lines += [
        f"{count:5.0f} pages {seconds:8.3f} s   {share / shares[0]:5.2f}"
        for count, seconds, share in zip(counts, spent, shares, strict=True)
    ]
    return [*lines, f"the cost of a run grows as n^{_power(counts, spent):.2f}"]


def _power(counts: Sequence[float], spent: Sequence[float]) -> float:
    """The slope of the line through the points on logarithmic scales."""
    return statistics.linear_regression([math.log(n) for n in counts], [math.log(s) for s in spent]).slope


def _read(file: Path, paths: Sequence[str]) -> None:
    archive = LibzimArchive(file)
    for path in paths:
        open_page(archive, path)


def _words(file: Path, paths: Sequence[str]) -> None:
    archive = LibzimArchive(file)
    for path in paths:
        bare_text(archive.read(path).content)


def _cold(work: Callable[[], object]) -> Callable[[], object]:
    """The same work with an empty cluster cache, as in a new process."""

    def fresh() -> object:
        set_cluster_cache(0)
        set_cluster_cache(CLUSTER_CACHE_BYTES)
        return work()

    return fresh


def _into_new(folder: str, file: Path, topic: str, pages: int) -> Path:
    out = _new(folder)
    a_run(file, topic, pages, out)
    return out


def _new(folder: str) -> Path:
    return Path(tempfile.mkdtemp(dir=folder)) / "run"


def _peak(file: Path, pages: int) -> float:
    command = [sys.executable, "-m", "bench.research", str(file), TOPICS[0], str(pages)]
    done = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT)
    return float(done.stdout.split()[-1])


def _own_peak_mib() -> float:
    """The most memory this process had; its parent's, which Linux counts in by getrusage, is left out."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 2**10
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as own:
        a_run(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), _new(own))
    print(_own_peak_mib())
