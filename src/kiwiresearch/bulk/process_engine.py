"""Runs batches in processes of this machine; each process opens the book once."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Literal, NamedTuple

from kiwiresearch.bulk.batch import Batches, BulkWork, EntryReader, FinishedBatch, pack_batch
from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.system import available_cores, collect_garbage_less_often


class BatchTask(NamedTuple):
    """A batch to do; after a crash it is repeated with each entry reported before it is read."""

    number: int
    ids: list[int]
    crashed_entries: tuple[int, ...] = ()
    reports_entries: bool = False


class WorkerMessage(NamedTuple):
    """A message of a worker: that it is ready, begins an entry, has done a batch, or why it cannot."""

    what: Literal["ready", "entry", "done", "failed"]
    entry: int = -1
    done: FinishedBatch | None = None
    problem: KiwiError | None = None


def run_worker(pipe: Connection, file: str, book: BookId, tables: tuple[str, ...]) -> None:
    """Do batches until the pipe is closed."""
    collect_garbage_less_often()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of the group; the parent decides
    try:
        pipe.send(WorkerMessage("ready"))
        while True:
            pipe.send(_answer(pipe.recv(), pipe, file, book, tables))
    except (EOFError, OSError):
        return


def _answer(task: BatchTask, pipe: Connection, file: str, book: BookId, tables: tuple[str, ...]) -> WorkerMessage:
    on_entry: Callable[[int], None] | None = (
        (lambda entry: pipe.send(WorkerMessage("entry", entry))) if task.reports_entries else None
    )
    try:
        rows = EntryReader(Path(file), book, tables, on_entry).rows(task.ids, task.crashed_entries)
        return WorkerMessage("done", done=pack_batch(task.number, rows))
    except KiwiError as problem:
        return WorkerMessage("failed", problem=problem)


MAX_CRASHES = 8
"""If a batch crashes more often than this before the deadly entry is found, single pages are not the cause."""

STOP_TIMEOUT_S = 5.0


def by_processes(work: BulkWork, numbers: Sequence[int], workers: int = 0) -> Batches:
    """Do these batches, in any order.

    If a process crashes, its batch is repeated; an entry that crashed two processes
    becomes an error.
    """
    waiting = iter(numbers)
    pool = [_Worker(work) for _ in range(max(min(workers or available_cores(), len(numbers)), 1))]
    try:
        busy = [worker for worker in pool if worker.assign(next(waiting, None))]
        while busy:
            heard = wait([worker.pipe for worker in busy])
            for worker in [worker for worker in busy if worker.pipe in heard]:
                done = worker.receive()
                if done:
                    yield done
                    if not worker.assign(next(waiting, None)):
                        busy.remove(worker)
    finally:
        for worker in pool:
            worker.stop()


@dataclass(slots=True, eq=False)
class _Worker:
    """A process and its current batch; the process is replaced if it crashes."""

    work: BulkWork
    task: BatchTask | None = None
    entry: int = -1
    suspect: int = -1
    crashes: int = 0
    is_ready: bool = False
    pipe: Connection = field(init=False)
    process: BaseProcess = field(init=False)

    def __post_init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        arguments = (other, str(self.work.file), self.work.book, self.work.tables)
        self.process = context.Process(target=run_worker, args=arguments, daemon=True)
        self.process.start()
        other.close()
        self.is_ready, self.entry = False, -1

    def assign(self, number: int | None) -> bool:
        """Start a batch; False if there is none."""
        self.suspect, self.crashes = -1, 0
        self.task = None if number is None else BatchTask(number, self.work.ids(number))
        if self.task:
            self._send(self.task)
        return self.task is not None

    def receive(self) -> FinishedBatch | None:
        """Receive a message of the process; returns the batch if it is done."""
        try:
            message: WorkerMessage = self.pipe.recv()
        except (EOFError, OSError):
            self._restart()
            return None
        if message.problem:
            raise message.problem
        self.is_ready = True
        self.entry = message.entry
        return message.done

    def stop(self) -> None:
        """Stop the process, whatever it is doing."""
        self.pipe.close()
        self.process.terminate()
        self.process.join(STOP_TIMEOUT_S)
        self.process.kill()
        self.process.join(STOP_TIMEOUT_S)

    def _restart(self) -> None:
        """Repeat the batch in a new process, which reports each entry and skips those that crashed two processes."""
        task, entry = self.task, self.entry
        self.stop()
        self.crashes += 1
        if not task or not self.is_ready or self.crashes > MAX_CRASHES:
            raise KiwiError(
                f"A process that was reading {self.work.file.name!r} crashed (exit code {self.process.exitcode}).",
                remedy="The computer may be out of memory. "
                "Run the command again with fewer --workers; it continues where it stopped.",
            )
        # The same entry was being read at two crashes in a row; -1 means that none had been reported.
        is_deadly = 0 <= entry == self.suspect
        if is_deadly:
            self.crashes = 0  # progress was made: one more deadly entry was found
        self.suspect = -1 if is_deadly else entry
        crashed = (*task.crashed_entries, entry) if is_deadly else task.crashed_entries
        self.task = task._replace(crashed_entries=crashed, reports_entries=True)
        self._start()
        self._send(self.task)

    def _send(self, task: BatchTask) -> None:
        with suppress(OSError):  # a crash is noticed in `receive`
            self.pipe.send(task)
