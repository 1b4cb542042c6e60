"""Claims by rule: pages a second on one core, what they cost most, and what they cost a whole run.

The pages are read before. A run is one of 80 pages, with all its files, against the bare read and parse of them.
Times are of the processor, since the machine may be shared.
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

from evals.data import SHARED_DATA

from bench.research import a_run, visited
from bench.timing import best_of
from kiwiresearch.claims.by_rule import claims_of
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.libzim import CLUSTER_CACHE_BYTES, LibzimArchive, set_cluster_cache

PAGES = 300
ROUNDS = 3
AT_LEAST = 60.0
"""Pages a second."""
TOPICS = ("Galaxy", "causes of the First World War", "rivers of Africa")
RUN_PAGES = 80
AT_MOST = 8.0
"""Times the bare read and parse."""
MAX_COSTLY = 5
OWN = "kiwiresearch"
STAGES = (
    ("the crawl", "walk.py", "next"),
    ("claims", "by_rule.py", "claims_of"),
    ("the brief", "compose.py", "compose"),
    ("report.md", "report.py", "report"),
    ("report.html", "report_html.py", "page"),
)
"""What a run consists of: the function that does it, and its file."""

Row = tuple[int, int, float, float, object]
"""What the profiler tells of a function: calls, calls that are not recursive, own time, time with all it calls."""
Key = tuple[str, int, str]


def run() -> list[str]:
    """The figures, as lines."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    archive = LibzimArchive(file)
    paths = drawn(archive.articles())
    pages = [open_page(archive, path) for path in paths]
    with tempfile.TemporaryDirectory() as folder:
        return [*_speed(pages, file, paths), *_costs(pages), *_runs(file, Path(folder))]


def drawn(paths: Iterable[str]) -> list[str]:
    """The articles that come first by the hash of their paths."""
    return sorted(paths, key=lambda path: hashlib.sha256(path.encode()).digest())[:PAGES]


def _speed(pages: Sequence[PageDoc], file: Path, paths: Sequence[str]) -> list[str]:
    found = _claims(pages)  # what is loaded once is no cost of a page
    times = best_of(ROUNDS, {"claims": partial(_claims, pages), "read": partial(_read, file, paths)})
    spent = times["claims"]
    speed = len(pages) / spent
    return [
        f"{len(pages)} pages, {found / len(pages):.1f} claims a page: {speed:.0f} pages a second, "
        f"{spent / len(pages) * 1e3:.1f} ms a page, {spent / max(found, 1) * 1e6:.0f} µs a claim, "
        f"{spent / times['read']:.1f} times their bare read and parse "
        f"({'at least' if speed >= AT_LEAST else 'BELOW'} the {AT_LEAST:g} pages a second wanted)"
    ]


def _claims(pages: Sequence[PageDoc]) -> int:
    return sum(len(claims_of(page)) for page in pages)


def _costs(pages: Sequence[PageDoc]) -> list[str]:
    """The functions that cost most: their own time, and their time with what they call outside the project."""
    rows, total = _profile(lambda: _claims(pages))
    lines = ["most costly functions under a profiler: own time with the library calls in it, and with all they call"]
    spent = {key: _own(key, rows) for key in rows if OWN in key[0]}
    most = sorted(spent, key=lambda key: (-spent[key], key))[:MAX_COSTLY]
    return lines + [
        f"{_name(key):52} {spent[key] / total:6.1%} {rows[key][3] / total:6.1%} {rows[key][1]:9,} calls" for key in most
    ]


def _own(key: Key, rows: dict[Key, Row]) -> float:
    """A function's own time, with that of regular expressions and other library calls made from it."""
    own = rows[key][2]
    for callee, row in rows.items():
        callers = row[4]
        if OWN not in callee[0] and isinstance(callers, dict) and key in callers:
            own += callers[key][3]
    return own


def _name(key: Key) -> str:
    return f"{key[0].rpartition(f'{OWN}/')[2]}:{key[2]}"


def _profile(work: Callable[[], object]) -> tuple[dict[Key, Row], float]:
    profiler = cProfile.Profile()
    profiler.runcall(work)
    stats = pstats.Stats(profiler)
    return stats.stats, stats.total_tt  # type: ignore[attr-defined]


def _runs(file: Path, folder: Path) -> list[str]:
    lines = [f"{RUN_PAGES} pages to report.html, rules only; processor seconds, best of {ROUNDS}"]
    ratios = []
    for topic in TOPICS:
        first = _new(folder)
        rows, total = _profile(partial(a_run, file, topic, RUN_PAGES, first))
        paths = visited(file, first)
        times = best_of(ROUNDS, {"run": partial(_run, file, topic, folder), "read": partial(_read, file, paths)})
        ratios.append(times["run"] / times["read"])
        lines.append(
            f"{topic:32} {len(paths):3} run {times['run']:6.2f} read {times['read']:5.2f}   {ratios[-1]:4.1f} times; "
            + _shares(rows, total)
        )
    middle = statistics.median(ratios)
    verdict = "within" if middle <= AT_MOST else "ABOVE"
    return [*lines, f"median: {middle:.1f} times the bare read and parse ({verdict} the {AT_MOST:g} allowed)"]


def _shares(rows: dict[Key, Row], total: float) -> str:
    """What each stage of a run takes of it, under a profiler."""
    told = []
    for stage, file, function in STAGES:
        spent = sum(row[3] for key, row in rows.items() if key[2] == function and key[0].endswith(f"/{file}"))
        told.append(f"{stage} {spent / total:.0%}")
    return ", ".join(told)


def _run(file: Path, topic: str, folder: Path) -> None:
    _forget()
    a_run(file, topic, RUN_PAGES, _new(folder))


def _new(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder)) / "run"


def _read(file: Path, paths: Sequence[str]) -> None:
    _forget()
    archive = LibzimArchive(file)
    for path in paths:
        open_page(archive, path)


def _forget() -> None:
    """Empty the cluster cache, as in a new process."""
    set_cluster_cache(0)
    set_cluster_cache(CLUSTER_CACHE_BYTES)
