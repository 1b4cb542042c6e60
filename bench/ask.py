"""The time from a question about a real book to its first citation, in one process and over HTTP with many clients.

In one process it is compared with the least that any answer needs: one search of the book and one page.
A cold question opens the book and its indexes again and finds nothing decompressed. A warm one finds them open.
No question is asked twice.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.data import SHARED_DATA
from evals.search import questions_of

from bench.crowd import measure_clients
from bench.timing import p95
from kiwiresearch.ask.answer import EvidenceFound, Preview
from kiwiresearch.ask.settings import AskOptions
from kiwiresearch.search.query import parse_query
from kiwiresearch.workspace.asker import Asker
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace, open_workspace
from kiwiresearch.zim.libzim import CLUSTER_CACHE_BYTES, LibzimArchive, set_cluster_cache

WARM_QUESTIONS = 200
COLD_QUESTIONS = 40
SEARCH_HITS = 10
"""How many pages the baseline asks the book's own search for."""

FIRST_CITATION_TARGET_MS = 150
"""For a warm question, at the median."""

WHOLE_ANSWER_TARGET_MS = 900
"""For a warm question whose passages the reading model reads, at the median."""

WITHOUT_MODEL = AskOptions(with_model=False)
FAST = AskOptions(with_model=False, fast=True)


@dataclass(frozen=True, slots=True)
class Timings:
    """The time of each question in milliseconds: by the clock, and of the CPU."""

    wall_ms: tuple[float, ...]
    cpu_ms: tuple[float, ...]


def run() -> list[str]:
    """Measure, and return the lines to print."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: the real data is not at {SHARED_DATA}"]
    questions = sample(questions_of(file.name), WARM_QUESTIONS)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        return [
            *measure_questions(file, home, questions),
            *asyncio.run(measure_clients(file, home, questions)),
        ]


def sample(questions: Sequence[str], count: int) -> list[str]:
    """At most this many questions, at equal distances, so that they come from all sets."""
    return list(questions[:: max(1, len(questions) // count)][:count])


def measure_questions(file: Path, home: Path, questions: Sequence[str]) -> list[str]:
    """Time questions that are asked one after another, and the baseline in the same run."""
    workspace = open_workspace(environment={"KIWIRESEARCH_HOME": str(home)})
    set_cluster_cache(CLUSTER_CACHE_BYTES)
    _ask_cold(workspace, file, questions[0])  # builds the title index, and loads what is loaded only once
    few_questions = sample(questions, COLD_QUESTIONS)
    archive = LibzimArchive(file)
    timings = {
        "cold: search and one page": _time_each(
            lambda question: _search_and_read(LibzimArchive(file), question), few_questions, _clear_cluster_cache
        ),
        "cold: first citation": _time_each(
            lambda question: _ask_cold(workspace, file, question), few_questions, _clear_cluster_cache
        ),
        "warm: search and one page": _time_each(lambda question: _search_and_read(archive, question), questions),
    }
    with Finder(workspace, shelf_of(workspace, [str(file)])) as finder:
        asker = Asker(finder, workspace.settings.ask)
        for question in few_questions[::4]:
            _first_citations(asker, question)
        timings["warm: first citation"] = _time_each(lambda question: _first_citations(asker, question), questions)
        asker.ask(few_questions[0], WITHOUT_MODEL)  # loads the reading model
        timings["warm: whole answer"] = _time_each(lambda question: asker.ask(question, WITHOUT_MODEL), few_questions)
        timings["warm: whole answer, fast"] = _time_each(lambda question: asker.ask(question, FAST), few_questions)
    return _format(timings, file, len(questions), len(few_questions))


def _format(timings: dict[str, Timings], file: Path, warm: int, cold: int) -> list[str]:
    lines = [
        f"{warm} warm and {cold} cold questions about {file.name}; ms of wall-clock time (p50, p95) "
        "and of CPU time (p50, p95); CPU time against the search and one page",
    ]
    for name, measured in timings.items():
        baseline = timings[f"{name.partition(':')[0]}: search and one page"].cpu_ms
        ratio = statistics.median(measured.cpu_ms) / statistics.median(baseline)
        columns = "   ".join(
            f"{statistics.median(times):7.1f} {p95(times):7.1f}" for times in (measured.wall_ms, measured.cpu_ms)
        )
        lines.append(f"{name:28} {columns}   {ratio:6.1f}x")
    return [
        *lines,
        _compare_with_target("warm: first citation", timings, FIRST_CITATION_TARGET_MS),
        _compare_with_target("warm: whole answer", timings, WHOLE_ANSWER_TARGET_MS),
    ]


def _compare_with_target(name: str, timings: dict[str, Timings], target_ms: int) -> str:
    p50 = statistics.median(timings[name].wall_ms)
    return f"{name}: p50 {p50:.0f} ms, target {target_ms} ms: {'met' if p50 <= target_ms else 'MISSED'}"


def _time_each(
    task: Callable[[str], object], questions: Sequence[str], before_each: Callable[[], None] | None = None
) -> Timings:
    wall_ms, cpu_ms = [], []
    for question in questions:
        if before_each:
            before_each()
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        task(question)
        cpu_ms.append((time.process_time() - cpu_start) * 1e3)
        wall_ms.append((time.perf_counter() - wall_start) * 1e3)
    return Timings(tuple(wall_ms), tuple(cpu_ms))


def _clear_cluster_cache() -> None:
    """Make reads as slow as in a new process, where nothing of a book is decompressed."""
    set_cluster_cache(0)
    set_cluster_cache(CLUSTER_CACHE_BYTES)


def _search_and_read(archive: LibzimArchive, question: str) -> object:
    """The baseline: search the book with its own index, and read the first page.

    That search lists pages with all of the words. If there are none, try again without the last word, as a reader
    would.
    """
    words = [term.word for term in parse_query(question).terms]
    while words:
        paths = archive.paths_with(" ".join(words), SEARCH_HITS)
        if paths:
            return archive.read(paths[0]).content
        words.pop()
    return None


def _ask_cold(workspace: Workspace, file: Path, question: str) -> None:
    with shelf_of(workspace, [str(file)]) as shelf, Finder(workspace, shelf) as finder:
        _first_citations(Asker(finder, workspace.settings.ask), question)


def _first_citations(asker: Asker, question: str) -> Preview | EvidenceFound:
    """Ask, and stop at the first event, which has the citations."""
    event = next(asker.events(question, WITHOUT_MODEL))
    assert isinstance(event, Preview | EvidenceFound)
    return event
