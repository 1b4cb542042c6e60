"""Writes a complete book into a folder of Parquet: the entry point of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from kiwiresearch.bulk.batch import Batches, BulkWork
from kiwiresearch.bulk.finished_folder import BookIdentity, BulkManifest, book_identity
from kiwiresearch.bulk.output_folder import JOURNAL, OutputFolder, locked_output, plan_of, read_plan
from kiwiresearch.bulk.process_engine import by_processes
from kiwiresearch.bulk.tables import checked_tables, pyarrow_module
from kiwiresearch.errors import BadUsage, KiwiError
from kiwiresearch.zim import LibzimArchive

Engine = Literal["processes", "ray"]
ENTRIES_PER_BATCH = 500
"""Entries per batch: enough to make a shard worth a file, few enough for their rows to fit in memory."""

MAX_BATCH = 100_000
MAX_WORKERS = 1_024


@dataclass(frozen=True, slots=True)
class BulkProgress:
    """The number of entries done, of all entries, of those done before it was resumed, and of errors so far."""

    done: int
    total: int
    resumed: int
    errors: int


@dataclass(frozen=True, slots=True)
class WrittenFolder:
    """A finished folder, and whether it had been finished before."""

    folder: Path
    manifest: BulkManifest
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
    tell: Callable[[BulkProgress], None] = lambda _: None,
) -> WrittenFolder:
    """Write the tables `what` of every article of a book into a folder; an unfinished folder is resumed.

    `tell` is called after each batch that was written, and may raise to stop there. The
    rows depend on the book, on `what` and on `version`, which is that of kiwiresearch,
    but not on `engine`, `workers` and `batch`.
    """
    _check(engine, workers, batch, address)
    pyarrow_module()
    names = checked_tables(what)
    work, book = _work(file.absolute(), names, batch or ENTRIES_PER_BATCH)
    with locked_output(out.absolute(), plan_of(work, book, version)) as folder:
        if isinstance(folder, BulkManifest):
            return WrittenFolder(out, folder, was_finished=True)
        # A folder that is resumed keeps the batch size that it was started with.
        work = BulkWork(work.file, work.book, work.tables, work.entries, folder.plan.batch)
        _fill(folder, work, engine, workers, address, tell)
        return WrittenFolder(out, folder.finish())


def unfinished_progress(folder: Path) -> BulkProgress | None:
    """How far an unfinished folder is, by its plan and its journal; None if there is no such folder."""
    try:
        plan = read_plan(folder)
        batches = (folder / JOURNAL).read_bytes().count(b"\n")
    except FileNotFoundError:  # not even one batch is done
        batches = 0
    except (KiwiError, OSError):
        return None
    done = min(batches * plan.batch, plan.entries) if plan else 0
    return BulkProgress(done, plan.entries, done, 0) if plan else None


def _check(engine: str, workers: int, batch: int, address: str) -> None:
    if engine not in get_args(Engine):
        raise BadUsage(f"Unknown engine {engine!r}.", remedy=f"Choose one of: {', '.join(get_args(Engine))}.")
    if address and engine != "ray":
        raise BadUsage("--address works only with --engine ray.", remedy="Add --engine ray, or remove --address.")
    if not 0 <= workers <= MAX_WORKERS:
        remedy = f"Use a number from 1 to {MAX_WORKERS:,}, or 0 for one per core."
        raise BadUsage(f"--workers cannot be {workers}.", remedy=remedy)
    if not 0 <= batch <= MAX_BATCH:
        raise BadUsage(f"--batch cannot be {batch}.", remedy=f"Use a number from 1 to {MAX_BATCH:,}.")


def _work(file: Path, tables: tuple[str, ...], batch: int) -> tuple[BulkWork, BookIdentity]:
    """The work to do, according to the directory of the book."""
    archive = LibzimArchive(file)
    try:
        found = archive.directory()
        entries = np.concatenate((found.articles, found.redirects)) if "titles" in tables else found.articles
        return BulkWork(file, archive.book.id, tables, entries, batch), book_identity(archive)
    finally:
        archive.close()


def _fill(
    folder: OutputFolder,
    work: BulkWork,
    engine: Engine,
    workers: int,
    address: str,
    tell: Callable[[BulkProgress], None],
) -> None:
    resumed = done = sum(work.count(index) for index in folder.done)
    pending = [index for index in range(work.batch_count) if index not in folder.done]
    if resumed:
        tell(BulkProgress(done, len(work.entries), resumed, folder.errors))
    if not pending:
        return
    with closing(_engine(engine, work, pending, workers, address)) as batches:  # else processes outlive an error
        for finished in batches:
            folder.add_batch(finished)
            done += work.count(finished.number)
            tell(BulkProgress(done, len(work.entries), resumed, folder.errors))


def _engine(engine: Engine, work: BulkWork, pending: Sequence[int], workers: int, address: str) -> Batches:
    if engine == "ray":
        from kiwiresearch.bulk.ray_engine import by_ray

        return by_ray(work, pending, workers, address)
    return by_processes(work, pending, workers)
