"""Asking a real book: how soon the first citation is there, in a program and over HTTP with many clients at once.

In a program it is set against the book's own search and the reading of one page, which no answer can do without.
Cold means that books and indexes are opened anew for each question and nothing of them is kept decompressed;
warm means that they are open, and no question comes twice.
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

from bench.crowd import crowd
from kiwiresearch.ask.answer import EvidenceFound, Preview
from kiwiresearch.ask.settings import AskOptions
from kiwiresearch.search.query import parse_query
from kiwiresearch.workspace.asker import Asker
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace, open_workspace
from kiwiresearch.zim.libzim import CLUSTER_CACHE_BYTES, LibzimArchive, set_cluster_cache

WARM = 200
COLD = 40
LOOKED = 10
"""How many pages the book's own search lists."""

GOAL_MS = 150
"""When the first citation should be there, warm."""

WHOLE_MS = 900
"""When the whole answer should be there, warm, passages read by meaning."""

PLAIN = AskOptions(with_model=False)
FAST = AskOptions(with_model=False, fast=True)


@dataclass(frozen=True, slots=True)
class Times:
    """Milliseconds of each question, by the clock and of the processor."""

    clock: tuple[float, ...]
    processor: tuple[float, ...]


def run() -> list[str]:
    """The figures, as lines."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: the real data is not at {SHARED_DATA}"]
    questions = spread(questions_of(file.name), WARM)
    with tempfile.TemporaryDirectory() as home:
        return [*alone(file, Path(home), questions), *asyncio.run(crowd(file, Path(home), questions))]


def spread(questions: Sequence[str], count: int) -> list[str]:
    """So many of them, from all sets."""
    return list(questions[:: max(1, len(questions) // count)][:count])


def alone(file: Path, home: Path, questions: Sequence[str]) -> list[str]:
    """One question after the other: how long the first citation takes, beside what no answer can do without."""
    desk = open_workspace(environment={"KIWIRESEARCH_HOME": str(home)})
    set_cluster_cache(CLUSTER_CACHE_BYTES)
    _asked_anew(desk, file, questions[0])  # builds the title index, and loads what is loaded once
    few = spread(questions, COLD)
    archive = LibzimArchive(file)
    rows = {
        "cold: search and one page": _times(lambda question: _bare(LibzimArchive(file), question), few, _forget),
        "cold: first citation": _times(lambda question: _asked_anew(desk, file, question), few, _forget),
        "warm: search and one page": _times(lambda question: _bare(archive, question), questions),
    }
    with Finder(desk, shelf_of(desk, [str(file)])) as finder:
        asker = Asker(finder, desk.settings.ask)
        for question in few[::4]:
            _first(asker, question)
        rows["warm: first citation"] = _times(lambda question: _first(asker, question), questions)
        asker.ask(few[0], PLAIN)  # loads the reading model
        rows["warm: whole answer"] = _times(lambda question: asker.ask(question, PLAIN), few)
        rows["warm: whole answer, fast"] = _times(lambda question: asker.ask(question, FAST), few)
    return _told(rows, file, len(questions), len(few))


def _told(rows: dict[str, Times], file: Path, warm: int, cold: int) -> list[str]:
    lines = [
        f"{warm} questions warm and {cold} cold on {file.name}; ms by the clock and of the processor: "
        "median, 95 of 100 below",
    ]
    for name, times in rows.items():
        base = rows[f"{name.partition(':')[0]}: search and one page"].processor
        ratio = statistics.median(times.processor) / statistics.median(base)
        both = "   ".join(
            f"{statistics.median(some):7.1f} {high(some):7.1f}" for some in (times.clock, times.processor)
        )
        lines.append(f"{name:28} {both}   {ratio:6.1f} times")
    middle = statistics.median(rows["warm: first citation"].clock)
    verdict = "within" if middle <= GOAL_MS else "ABOVE"
    whole = statistics.median(rows["warm: whole answer"].clock)
    read = "within" if whole <= WHOLE_MS else "ABOVE"
    return [
        *lines,
        f"first citation, warm: {middle:.0f} ms, {verdict} the {GOAL_MS} wanted; "
        f"whole answer: {whole:.0f} ms, {read} the {WHOLE_MS} wanted",
    ]


def high(values: Sequence[float]) -> float:
    """The value that 95 of 100 do not pass."""
    return sorted(values)[int(0.95 * len(values))]


def _times(work: Callable[[str], object], questions: Sequence[str], before: Callable[[], None] | None = None) -> Times:
    clock, processor = [], []
    for question in questions:
        if before:
            before()
        began, spent = time.perf_counter(), time.process_time()
        work(question)
        processor.append((time.process_time() - spent) * 1e3)
        clock.append((time.perf_counter() - began) * 1e3)
    return Times(tuple(clock), tuple(processor))


def _forget() -> None:
    """As in a new process, nothing of a book is kept decompressed."""
    set_cluster_cache(0)
    set_cluster_cache(CLUSTER_CACHE_BYTES)


def _bare(archive: LibzimArchive, question: str) -> object:
    """What no answer can do without: the book's own search, and the first page it lists.

    It lists pages that hold all words; where there is none, the last word is left out, as a reader would do.
    """
    words = [term.word for term in parse_query(question).terms]
    while words:
        found = archive.paths_with(" ".join(words), LOOKED)
        if found:
            return archive.read(found[0]).content
        words.pop()
    return None


def _asked_anew(desk: Workspace, file: Path, question: str) -> None:
    with shelf_of(desk, [str(file)]) as shelf, Finder(desk, shelf) as finder:
        _first(Asker(finder, desk.settings.ask), question)


def _first(asker: Asker, question: str) -> Preview | EvidenceFound:
    """The first event, which brings the citations; what comes behind it is not waited for."""
    first = next(asker.events(question, PLAIN))
    assert isinstance(first, Preview | EvidenceFound)
    return first
