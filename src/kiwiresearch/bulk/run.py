"""A whole book into a folder of Parquet: the way into this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from kiwiresearch.bulk.batch import Batches, Work
from kiwiresearch.bulk.folder import OutFolder, filled
from kiwiresearch.bulk.manifest import Manifest, Subject, subject_of
from kiwiresearch.bulk.parquet import arrow
from kiwiresearch.bulk.plan import plan_of
from kiwiresearch.bulk.processes import by_processes
from kiwiresearch.bulk.tables import checked_what
from kiwiresearch.errors import BadUsage
from kiwiresearch.zim.libzim import LibzimArchive

Engine = Literal["processes", "ray"]
BATCH = 500
"""Entries in a batch: enough that a shard is worth a file, few enough that their rows fit in memory."""

MOST_AT_ONCE = 100_000
MOST_WORKERS = 1_024


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the work is: entries done of all, those done before it went on, and errors so far."""

    done: int
    total: int
    kept: int
    errors: int


@dataclass(frozen=True, slots=True)
class Written:
    """A folder that is finished, and whether it was before."""

    folder: Path
    manifest: Manifest
    was_finished: bool = False


def write_book(
    file: Path,
    what: Sequence[str],
    out: Path,
    *,
    version: str,
    engine: Engine = "processes",
    workers: int = 0,
    batch: int = 0,
    address: str = "",
    tell: Callable[[Progress], None] = lambda _: None,
) -> Written:
    """Write what `what` names of every article of a book into a folder; a folder that was begun is gone on with.

    `tell` hears of each batch that is kept, and may raise to stop there. The rows
    depend on the book, on `what` and on `version`, which is that of kiwiresearch:
    they are the same whatever `engine`, `workers` and `batch` are.
    """
    _check(engine, workers, batch, address)
    arrow()
    names = checked_what(what)
    work, book = _work(file.absolute(), names, batch or BATCH)
    with filled(out.absolute(), plan_of(work, book, version)) as folder:
        if isinstance(folder, Manifest):
            return Written(out, folder, was_finished=True)
        work = Work(work.file, work.book, work.what, work.entries, folder.plan.batch)
        _fill(folder, work, engine, workers, address, tell)
        return Written(out, folder.finish())


def _check(engine: str, workers: int, batch: int, address: str) -> None:
    if engine not in get_args(Engine):
        raise BadUsage(f"There is no engine {engine!r}.", remedy=f"The engines are: {', '.join(get_args(Engine))}.")
    if address and engine != "ray":
        raise BadUsage("Only Ray has an address.", remedy="Add --engine ray, or leave --address out.")
    if not 0 <= workers <= MOST_WORKERS:
        remedy = f"Give a number from 1 to {MOST_WORKERS:,}, or 0 for one a core."
        raise BadUsage(f"{workers} workers cannot work.", remedy=remedy)
    if not 0 <= batch <= MOST_AT_ONCE:
        raise BadUsage(f"{batch} entries are no batch.", remedy=f"Give a number from 1 to {MOST_AT_ONCE:,}.")


def _work(file: Path, what: tuple[str, ...], batch: int) -> tuple[Work, Subject]:
    """What is to be done, from the directory of the book alone."""
    archive = LibzimArchive(file)
    try:
        found = archive.directory()
        entries = np.concatenate((found.articles, found.redirects)) if "titles" in what else found.articles
        return Work(file, archive.book.id, what, entries, batch), subject_of(archive)
    finally:
        archive.close()


def _fill(
    folder: OutFolder, work: Work, engine: Engine, workers: int, address: str, tell: Callable[[Progress], None]
) -> None:
    kept = done = sum(work.count(number) for number in folder.done)
    pending = [number for number in range(work.batches) if number not in folder.done]
    if kept:
        tell(Progress(done, len(work.entries), kept, folder.errors))
    if not pending:
        return
    with closing(_engine(engine, work, pending, workers, address)) as batches:  # else processes outlive an error
        for finished in batches:
            folder.keep(finished)
            done += work.count(finished.number)
            tell(Progress(done, len(work.entries), kept, folder.errors))


def _engine(engine: Engine, work: Work, pending: Sequence[int], workers: int, address: str) -> Batches:
    if engine == "ray":
        from kiwiresearch.bulk.on_ray import by_ray

        return by_ray(work, pending, workers, address)
    return by_processes(work, pending, workers)
