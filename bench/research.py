"""A whole run against the plain read and parse of its pages; its memory; and how its cost grows with the pages.

The plain read and parse is `open_page` of the same pages, in the order in which the run visited them, from a book that
was just opened. The run is also compared with `bare_text`, the fastest way to get the words of these pages.
Times are CPU times, because the machine may be shared.
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
MAX_RATIO = 8.0
"""The target: the time of a run divided by that of the plain read and parse of its pages."""


def research(file: Path, topic: str, pages: int, out: Path, *, fast: bool = True) -> None:
    """Research a topic in one book and write the run's files to `out`; `fast` uses rules only, and no vectors."""
    workspace = open_workspace({"KIWIRESEARCH_HOME": str(out.parent / "home")})
    task = ResearchTask(topic, settings=CrawlSettings(max_pages=pages, fast=fast))
    with shelf_of(workspace, [str(file)]) as shelf, Finder(workspace, shelf, search_every_book=True) as finder:
        Research(finder, task).run(out)


def visited_paths(file: Path, out: Path) -> list[str]:
    """The paths of a run's pages, in the order in which it visited them."""
    book_url = f"zim://{LibzimArchive(file).book.id}/"
    rows = (out / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(row)["url"].removeprefix(book_url) for row in rows]


def run() -> list[str]:
    """Measure, and return the lines to print."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    with tempfile.TemporaryDirectory() as folder:
        _research_in_new_folder(folder, file, TOPICS[0], 5)  # loads what is loaded only once
        return [*_measure_ratios(file, folder), *_measure_memory(file), *_measure_growth(file, folder)]


def _measure_ratios(file: Path, folder: str) -> list[str]:
    lines = [
        f"runs of {PAGES} pages of {file.name} with all their files, rules only; CPU seconds, best of {ROUNDS}",
        f"{'':32} {'pages':>5} {'run':>7} {'read':>7} {'words':>7}   run / read",
    ]
    ratios_to_read, ratios_to_words = [], []
    for topic in TOPICS:
        paths = visited_paths(file, _research_in_new_folder(folder, file, topic, PAGES))
        times = best_of(
            ROUNDS,
            {
                "run": _cold(partial(_research_in_new_folder, folder, file, topic, PAGES)),
                "read": _cold(partial(_read_pages, file, paths)),
                "words": _cold(partial(_read_words, file, paths)),
            },
        )
        ratios_to_read.append(times["run"] / times["read"])
        ratios_to_words.append(times["run"] / times["words"])
        columns = " ".join(f"{seconds:7.3f}" for seconds in times.values())
        lines.append(f"{topic:32} {len(paths):5} {columns}   {ratios_to_read[-1]:.1f}x")
    median = statistics.median(ratios_to_read)
    verdict = "met" if median <= MAX_RATIO else "MISSED"
    lines.append(
        f"p50 {median:.1f}x the plain read and parse, target {MAX_RATIO:g}x: {verdict}; "
        f"p50 {statistics.median(ratios_to_words):.1f}x the words alone"
    )
    return lines


def _measure_memory(file: Path) -> list[str]:
    peaks_mib = {pages: _peak_mib(file, pages) for pages in (PAGES, max(SIZES))}
    peaks = ", ".join(f"{mib:.0f} MiB for {pages} pages" for pages, mib in peaks_mib.items())
    return [f"peak memory of a process that does one run: {peaks}"]


def _measure_growth(file: Path, folder: str) -> list[str]:
    lines = [f"CPU time by pages, mean of {len(GROWTH_TOPICS)} topics; last column: growth relative to n log n"]
    counts, times = [], []
    for pages in SIZES:
        outs = {topic: _new_folder(folder) for topic in GROWTH_TOPICS}
        best = best_of(1, {topic: _cold(partial(research, file, topic, pages, out)) for topic, out in outs.items()})
        counts.append(statistics.fmean(len(visited_paths(file, out)) for out in outs.values()))
        times.append(statistics.fmean(best.values()))
    unit_costs = [seconds / (count * math.log2(count)) for count, seconds in zip(counts, times, strict=True)]
    lines += [
        f"{count:5.0f} pages {seconds:8.3f} s   {unit_cost / unit_costs[0]:5.2f}x"
        for count, seconds, unit_cost in zip(counts, times, unit_costs, strict=True)
    ]
    return [*lines, f"the cost of a run grows as n^{_exponent(counts, times):.2f}"]


def _exponent(counts: Sequence[float], times: Sequence[float]) -> float:
    """The slope of the line through the points on logarithmic scales."""
    return statistics.linear_regression([math.log(n) for n in counts], [math.log(s) for s in times]).slope


def _read_pages(file: Path, paths: Sequence[str]) -> None:
    archive = LibzimArchive(file)
    for path in paths:
        open_page(archive, path)


def _read_words(file: Path, paths: Sequence[str]) -> None:
    archive = LibzimArchive(file)
    for path in paths:
        bare_text(archive.read(path).content)


def _cold(task: Callable[[], object]) -> Callable[[], object]:
    """The same task with an empty cluster cache, as in a new process."""

    def run_cold() -> object:
        set_cluster_cache(0)
        set_cluster_cache(CLUSTER_CACHE_BYTES)
        return task()

    return run_cold


def _research_in_new_folder(folder: str, file: Path, topic: str, pages: int) -> Path:
    out = _new_folder(folder)
    research(file, topic, pages, out)
    return out


def _new_folder(folder: str) -> Path:
    return Path(tempfile.mkdtemp(dir=folder)) / "run"


def _peak_mib(file: Path, pages: int) -> float:
    command = [sys.executable, "-m", "bench.research", str(file), TOPICS[0], str(pages)]
    completed = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT)
    return float(completed.stdout.split()[-1])


def _own_peak_mib() -> float:
    """The peak memory of this process, without that of its parent, which getrusage includes on Linux."""
    status = Path("/proc/self/status")
    if status.is_file():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 2**10
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        research(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), _new_folder(temporary))
    print(_own_peak_mib())
