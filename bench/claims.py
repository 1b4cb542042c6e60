"""Claims found by rules: pages per second on one core, the most expensive functions, and their share of a run.

Pages are read in advance. Each run has 80 pages and writes all its files; it is compared with the plain read and parse
of its pages. Times are CPU times, because the machine may be shared.
"""

from __future__ import annotations

import cProfile
import hashlib
import pstats
import statistics
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from types import CodeType

from evals.data import SHARED_DATA

from bench.research import research, visited_paths
from bench.timing import best_of
from kiwiresearch.brief.composition import compose
from kiwiresearch.brief.report_html import report_page
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.crawl.walker import Walker
from kiwiresearch.document.markdown import markdown
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.libzim import CLUSTER_CACHE_BYTES, LibzimArchive, set_cluster_cache

PAGES = 300
ROUNDS = 3
MIN_PAGES_PER_S = 60.0
TOPICS = ("Galaxy", "causes of the First World War", "rivers of Africa")
RUN_PAGES = 80
MAX_RATIO = 8.0
"""The target for a run: its time divided by that of the plain read and parse of its pages."""
LISTED_FUNCTIONS = 5
PROJECT = "kiwiresearch"
STAGES: tuple[tuple[str, CodeType], ...] = (
    ("the crawl", Walker.next.__code__),
    ("claims", claims_of.__code__),
    ("the brief", compose.__code__),
    ("report.md", markdown.__code__),
    ("report.html", report_page.__code__),
)
"""The stages of a run, and the code of the function that does each."""

Function = tuple[str, int, str]
"""A function as the profiler names it: file, line and name."""
FunctionStats = tuple[int, int, float, float, object]
"""Its calls that are not recursive, all calls, own time, time with everything it calls, and its callers."""


def run() -> list[str]:
    """Measure, and return the lines to print."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    archive = LibzimArchive(file)
    paths = sample(archive.articles())
    pages = [open_page(archive, path) for path in paths]
    with tempfile.TemporaryDirectory() as folder:
        return [*_measure_speed(pages, file, paths), *_profile_functions(pages), *_measure_runs(file, Path(folder))]


def sample(paths: Iterable[str]) -> list[str]:
    """The articles that come first by the hash of their paths."""
    return sorted(paths, key=lambda path: hashlib.sha256(path.encode()).digest())[:PAGES]


def _measure_speed(pages: Sequence[PageDoc], file: Path, paths: Sequence[str]) -> list[str]:
    claims = _count_claims(pages)  # also loads what is loaded only once
    times = best_of(ROUNDS, {"claims": partial(_count_claims, pages), "read": partial(_read, file, paths)})
    spent = times["claims"]
    speed = len(pages) / spent
    return [
        f"{len(pages)} pages, {claims / len(pages):.1f} claims per page: {speed:.0f} pages per second "
        f"(target {MIN_PAGES_PER_S:g}: {'met' if speed >= MIN_PAGES_PER_S else 'MISSED'}), "
        f"{spent / len(pages) * 1e3:.1f} ms per page, {spent / max(claims, 1) * 1e6:.0f} µs per claim, "
        f"{spent / times['read']:.1f}x the plain read and parse"
    ]


def _count_claims(pages: Sequence[PageDoc]) -> int:
    return sum(len(claims_of(page)) for page in pages)


def _profile_functions(pages: Sequence[PageDoc]) -> list[str]:
    """The most expensive functions: their own time with that of library calls, and their total time."""
    stats, total = _profile(lambda: _count_claims(pages))
    lines = ["most expensive functions under a profiler: own time with library calls, and total time"]
    own_times = {function: _own_time(function, stats) for function in stats if PROJECT in function[0]}
    listed = sorted(own_times, key=lambda function: (-own_times[function], function))[:LISTED_FUNCTIONS]
    return lines + [
        f"{_label(function):52} {own_times[function] / total:6.1%} {stats[function][3] / total:6.1%} "
        f"{stats[function][1]:9,} calls"
        for function in listed
    ]


def _own_time(function: Function, stats: dict[Function, FunctionStats]) -> float:
    """A function's own time, with that of regular expressions and other library calls made from it."""
    own_time = stats[function][2]
    for callee, callee_stats in stats.items():
        callers = callee_stats[4]
        if PROJECT not in callee[0] and isinstance(callers, dict) and function in callers:
            own_time += callers[function][3]
    return own_time


def _label(function: Function) -> str:
    return f"{function[0].rpartition(f'{PROJECT}/')[2]}:{function[2]}"


def _profile(task: Callable[[], object]) -> tuple[dict[Function, FunctionStats], float]:
    """The profile of a task by function, and its total time."""
    profiler = cProfile.Profile()
    profiler.runcall(task)
    stats = pstats.Stats(profiler)
    return stats.stats, stats.total_tt  # type: ignore[attr-defined]


def _measure_runs(file: Path, folder: Path) -> list[str]:
    lines = [f"runs of {RUN_PAGES} pages up to report.html, rules only; CPU seconds, best of {ROUNDS}"]
    ratios = []
    for topic in TOPICS:
        out = _new_folder(folder)
        stats, total = _profile(partial(research, file, topic, RUN_PAGES, out))
        paths = visited_paths(file, out)
        times = best_of(
            ROUNDS, {"run": partial(_research_cold, file, topic, folder), "read": partial(_read, file, paths)}
        )
        ratios.append(times["run"] / times["read"])
        lines.append(
            f"{topic:32} {len(paths):3} pages: run {times['run']:6.2f} read {times['read']:5.2f}   {ratios[-1]:4.1f}x; "
            + _stage_shares(stats, total)
        )
    median = statistics.median(ratios)
    verdict = "met" if median <= MAX_RATIO else "MISSED"
    return [*lines, f"p50 {median:.1f}x the plain read and parse, target {MAX_RATIO:g}x: {verdict}"]


def _stage_shares(stats: dict[Function, FunctionStats], total: float) -> str:
    """The share of each stage in the time of a run, under a profiler."""
    shares = []
    for stage, code in STAGES:
        spent = stats[code.co_filename, code.co_firstlineno, code.co_name][3]
        shares.append(f"{stage} {spent / total:.0%}")
    return ", ".join(shares)


def _research_cold(file: Path, topic: str, folder: Path) -> None:
    _clear_cluster_cache()
    research(file, topic, RUN_PAGES, _new_folder(folder))


def _new_folder(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder)) / "run"


def _read(file: Path, paths: Sequence[str]) -> None:
    _clear_cluster_cache()
    archive = LibzimArchive(file)
    for path in paths:
        open_page(archive, path)


def _clear_cluster_cache() -> None:
    """Make reads as slow as in a new process, where nothing of a book is decompressed."""
    set_cluster_cache(0)
    set_cluster_cache(CLUSTER_CACHE_BYTES)
