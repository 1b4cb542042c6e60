"""A process that takes batches from a pipe and gives back what became of them, until the pipe ends."""

from __future__ import annotations

import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal, NamedTuple

from kiwiresearch.bulk.batch import Finished, finished
from kiwiresearch.bulk.rows import Reader
from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import BookId


class Task(NamedTuple):
    """A batch to be done; a careful one tells each entry before it is touched, since a process died of one."""

    number: int
    ids: list[int]
    lost: tuple[int, ...] = ()
    careful: bool = False


class Told(NamedTuple):
    """What a process says: that it begins an entry, that a batch is done, or why it cannot be."""

    what: Literal["ready", "entry", "done", "failed"]
    entry: int = -1
    done: Finished | None = None
    problem: KiwiError | None = None


def main(pipe: Connection, file: str, book: BookId, what: tuple[str, ...]) -> None:
    """Work until nobody is at the other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    try:
        pipe.send(Told("ready"))
        while True:
            pipe.send(_answer(pipe.recv(), pipe, file, book, what))
    except (EOFError, OSError):
        return


def _answer(task: Task, pipe: Connection, file: str, book: BookId, what: tuple[str, ...]) -> Told:
    at: Callable[[int], None] | None = (lambda entry: pipe.send(Told("entry", entry))) if task.careful else None
    try:
        tables = Reader(Path(file), book, what, at).rows(task.ids, task.lost)
        return Told("done", done=finished(task.number, tables))
    except KiwiError as problem:
        return Told("failed", problem=problem)
