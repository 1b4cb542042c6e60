"""Batches done by processes of this machine, each of which opens the book once."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from kiwiresearch.bulk import child
from kiwiresearch.bulk.batch import Batches, Finished, Work
from kiwiresearch.bulk.child import Task, Told
from kiwiresearch.errors import KiwiError

MOST_DEATHS = 8
"""If more processes die of a batch before the entry is found that they die of, it is no matter of single pages."""

PATIENCE_S = 5.0


def by_processes(work: Work, numbers: Sequence[int], workers: int = 0) -> Batches:
    """Do these batches, in whatever order they get done.

    A process that dies has its batch done again; an entry that two of them died of
    becomes an error.
    """
    waiting = iter(numbers)
    pool = [_Worker(work) for _ in range(max(min(workers or cores(), len(numbers)), 1))]
    try:
        busy = [one for one in pool if one.take(next(waiting, None))]
        while busy:
            heard = wait([one.pipe for one in busy])
            for one in [one for one in busy if one.pipe in heard]:
                done = one.hear()
                if done:
                    yield done
                    if not one.take(next(waiting, None)):
                        busy.remove(one)
    finally:
        for one in pool:
            one.end()


def cores() -> int:
    """How many processes this one may keep busy."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@dataclass(slots=True, eq=False)
class _Worker:
    """A process and the batch it has; a new process takes its place when it dies."""

    work: Work
    task: Task | None = None
    entry: int = -1
    suspect: int = -1
    deaths: int = 0
    is_ready: bool = False
    pipe: Connection = field(init=False)
    process: BaseProcess = field(init=False)

    def __post_init__(self) -> None:
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        arguments = (other, str(self.work.file), self.work.book, self.work.what)
        self.process = context.Process(target=child.main, args=arguments, daemon=True)
        self.process.start()
        other.close()
        self.is_ready, self.entry = False, -1

    def take(self, number: int | None) -> bool:
        """Begin a batch; False if there is none."""
        self.suspect, self.deaths = -1, 0
        self.task = None if number is None else Task(number, self.work.ids(number))
        if self.task:
            self._send(self.task)
        return self.task is not None

    def hear(self) -> Finished | None:
        """What the process has to say: a batch, if one is done."""
        try:
            told: Told = self.pipe.recv()
        except (EOFError, OSError):
            self._begin_again()
            return None
        if told.problem:
            raise told.problem
        self.is_ready = True
        self.entry = told.entry
        return told.done

    def end(self) -> None:
        """Stop the process, whatever it does."""
        self.pipe.close()
        self.process.terminate()
        self.process.join(PATIENCE_S)
        self.process.kill()
        self.process.join(PATIENCE_S)

    def _begin_again(self) -> None:
        """Another process for the same batch, which says where it is, and leaves out what two have died of."""
        task, entry = self.task, self.entry
        self.end()
        self.deaths += 1
        if not task or not self.is_ready or self.deaths > MOST_DEATHS:
            raise KiwiError(
                f"A process that reads {self.work.file.name!r} died (exit code {self.process.exitcode}).",
                remedy="There may be too little memory: start it again with fewer --workers; it goes on where it was.",
            )
        is_deadly = 0 <= entry == self.suspect
        if is_deadly:
            self.deaths = 0  # the batch has come nearer to its end
        self.suspect = -1 if is_deadly else entry
        self.task = task._replace(lost=(*task.lost, entry) if is_deadly else task.lost, careful=True)
        self._start()
        self._send(self.task)

    def _send(self, task: Task) -> None:
        with suppress(OSError):  # one that died already is found out when it is listened to
            self.pipe.send(task)
