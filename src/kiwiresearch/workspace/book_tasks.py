"""Work on books that takes a while, done in the background: title indexes, integrity checks and atlases."""

from __future__ import annotations

import contextlib
import logging
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from kiwiresearch.errors import KiwiError, NotOffered
from kiwiresearch.ids import BookId
from kiwiresearch.system import module_command
from kiwiresearch.workspace import atlas_build
from kiwiresearch.workspace.library import book_key
from kiwiresearch.workspace.workspace import Workspace
from kiwiresearch.zim import ListedBook

log = logging.getLogger("kiwiresearch.books")
BUILDER = "kiwiresearch.search.title_index_builder"
"""Builds a title index in a process of its own, so that the server stays quick."""

TaskKind = Literal["index", "check", "atlas"]
TaskState = Literal["waiting", "running", "paused", "done", "failed"]


@dataclass(frozen=True, slots=True)
class BookTask:
    """The state of one piece of work."""

    kind: TaskKind
    state: TaskState = "waiting"
    done: int = 0
    total: int = 0
    """How much there is to do; 0 if that is not known."""
    problem: str = ""
    unreadable: int = 0
    """How many pages could not be read, and were skipped."""
    is_analysing: bool = False
    """Whether all pages are read, and what only the whole book shows is being calculated."""
    remaining_s: float = 0.0
    """How long it will take at the speed so far; 0 if that is not known."""

    @property
    def is_open(self) -> bool:
        return self.state in ("waiting", "running")

    @property
    def share(self) -> float:
        return min(self.done / self.total, 1.0) if self.total else 0.0


class BookTasks:
    """The tasks of a server; the latest of each kind is remembered for each book.

    Atlases have a thread of their own, since one may take hours while indexes and checks take minutes.
    """

    def __init__(self, workspace: Workspace, on_indexed: Callable[[BookId], None]) -> None:
        self._workspace = workspace
        self._on_indexed = on_indexed
        self._tasks: dict[tuple[str, TaskKind], BookTask] = {}
        self._lock = threading.Lock()
        self._threads = {"quick": _TaskThread(self._do), "slow": _TaskThread(self._do)}
        self.folders = atlas_build.AtlasFolders(workspace)

    def start(self, kind: TaskKind, book: ListedBook) -> None:
        """Queue a task, unless it is queued or running already; one that was stopped resumes where it was."""
        if not book.source.is_local:
            raise NotOffered(f"{book.title!r} is on another server, which manages its own files.")
        key = (book_key(book), kind)
        if kind == "atlas":
            self.folders.set_wanted(book.id, wanted=True)
        with self._lock:
            if key in self._tasks and self._tasks[key].is_open:
                return
            self._tasks[key] = BookTask(kind)
        self._thread_for(kind).put(book, kind)

    def resume(self, books: Iterable[ListedBook]) -> None:
        """Continue the atlases that were unfinished when the server ended."""
        for book in books:
            if book.source.is_local and self.folders.is_wanted(book.id):
                with contextlib.suppress(KiwiError):  # the page of books offers to resume it
                    self.start("atlas", book)

    def stop(self, book: ListedBook) -> bool:
        """Stop the atlas of a book; pages that were read stay read. True if it was running."""
        self.folders.set_wanted(book.id, wanted=False)
        key: tuple[str, TaskKind] = (book_key(book), "atlas")
        with self._lock:
            task = self._tasks.get(key)
            was_running = task is not None and task.state == "running"
            if task is not None and task.is_open:
                self._tasks[key] = replace(task, state="paused", remaining_s=0.0)
        if was_running:
            self._thread_for("atlas").end_child()
        return was_running

    def forget(self, book: ListedBook) -> None:
        """Stop the atlas of a book, and delete what there is of it."""
        self.stop(book)
        # Also if it was stopped before: its process may still be writing.
        self._thread_for("atlas").wait_for(book)
        with self._lock:
            self._tasks.pop((book_key(book), "atlas"), None)
        self.folders.delete(book.id)

    def of(self, book: ListedBook) -> tuple[BookTask, ...]:
        """The latest tasks of a book; an atlas that an earlier server left unfinished is paused."""
        key = book_key(book)
        with self._lock:
            found = tuple(task for (item, _), task in self._tasks.items() if item == key)
        if not any(task.kind == "atlas" for task in found) and (left := self.folders.progress(book.id)):
            found += (BookTask("atlas", "paused", left.done, left.total),)
        return found

    def close(self) -> None:
        """End running tasks; an index or an atlas that is half done continues there the next time."""
        for thread in self._threads.values():
            thread.close()

    def _thread_for(self, kind: TaskKind) -> _TaskThread:
        return self._threads["slow" if kind == "atlas" else "quick"]

    def _do(self, thread: _TaskThread, book: ListedBook, kind: TaskKind) -> None:
        with self._lock:
            key = (book_key(book), kind)
            task = self._tasks.get(key)
            if task is None or task.state != "waiting":  # stopped, and perhaps deleted, meanwhile
                return
            self._tasks[key] = replace(task, state="running")
        works = {"index": self._build, "check": self._check, "atlas": self._make_atlas}
        try:
            problem = works[kind](thread, book)
        except (KiwiError, OSError) as error:
            problem = str(error)
        with self._lock:
            task = self._tasks.get(key)
            # `stop` may have paused it meanwhile, and then ended its process: that is not a failure.
            if task is not None and task.state == "running":
                self._tasks[key] = replace(task, state="failed" if problem else "done", problem=problem)

    def _build(self, thread: _TaskThread, book: ListedBook) -> str:
        """Build the title index of a book; returns what went wrong, or nothing."""

        def heard(line: str) -> None:
            done, total = map(int, line.split())
            self._set(book, "index", done=done, total=total)

        folder = self._workspace.folders.cache / "titles"
        problem = thread.run(module_command(BUILDER, book.source.location, str(folder), "report"), heard)
        if not problem:
            self._on_indexed(book.id)
        return problem

    def _make_atlas(self, thread: _TaskThread, book: ListedBook) -> str:
        """Create the atlas of a book, or continue it; returns what went wrong, or nothing."""
        first: tuple[float, int] | None = None

        def heard(line: str) -> None:
            nonlocal first
            if not self._is_running(book, "atlas"):  # stopped before the process had begun
                thread.end_child()
            elif line.startswith("analysing"):
                self._set(book, "atlas", is_analysing=True, remaining_s=0.0)
            else:
                done, total, unreadable = map(int, line.split())
                now = time.monotonic()
                first = first or (now, done)
                began, before = first
                remaining_s = (total - done) * (now - began) / (done - before) if done > before else 0.0
                self._set(book, "atlas", done=done, total=total, unreadable=unreadable, remaining_s=remaining_s)

        folder, cache = self.folders.of(book.id), self._workspace.folders.cache
        problem = thread.run(module_command(atlas_build.MODULE, book.source.location, str(folder), str(cache)), heard)
        if not problem:
            self.folders.set_wanted(book.id, wanted=False)
        return problem

    def _check(self, _thread: _TaskThread, book: ListedBook) -> str:
        state, reason = self._workspace.check(book)
        return reason or state if state in ("damaged", "unopenable") else ""

    def _is_running(self, book: ListedBook, kind: TaskKind) -> bool:
        with self._lock:
            task = self._tasks.get((book_key(book), kind))
            return task is not None and task.state == "running"

    def _set(self, book: ListedBook, kind: TaskKind, **values: object) -> None:
        key = (book_key(book), kind)
        with self._lock:
            if key in self._tasks:
                self._tasks[key] = replace(self._tasks[key], **values)  # type: ignore[arg-type]


class _TaskThread:
    """A thread that does one piece of work after the other, some of them in a process of their own."""

    def __init__(self, do: Callable[[_TaskThread, ListedBook, TaskKind], None]) -> None:
        self._do = do
        self._waiting: queue.Queue[tuple[ListedBook, TaskKind] | None] = queue.Queue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._child: subprocess.Popen[str] | None = None
        self._book: ListedBook | None = None
        """The book that is worked on."""
        self._is_closed = False

    def put(self, book: ListedBook, kind: TaskKind) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="books", daemon=True)
                self._thread.start()
        self._waiting.put((book, kind))

    def run(self, command: list[str], heard: Callable[[str], None]) -> str:
        """Run a program and pass on what it prints, line by line; returns what went wrong, or nothing."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            with subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace"
            ) as child:
                self._child = child
                # `close` may have come before there was a process to end.
                if self._is_closed:
                    child.terminate()
                assert child.stdout is not None
                for line in child.stdout:
                    with contextlib.suppress(ValueError):  # not ours: libraries print, too
                        heard(line)
            self._child = None
            errors.seek(0)
            said = errors.read().strip()
        if not child.returncode:
            return ""
        return said.splitlines()[-1] if said else f"The process ended with code {child.returncode}."

    def end_child(self) -> None:
        if (child := self._child) is not None:
            with contextlib.suppress(OSError):
                child.terminate()

    def wait_for(self, book: ListedBook, timeout_s: float = 15.0) -> None:
        """Wait until the process that works on a book is gone, if there is one."""
        if (child := self._child) is not None and self._book == book:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(timeout_s)

    def close(self) -> None:
        self._is_closed = True
        self._waiting.put(None)
        self.end_child()

    def _work(self) -> None:
        while not self._is_closed and (next_task := self._waiting.get()) is not None:
            self._book = next_task[0]
            try:
                self._do(self, *next_task)
            except Exception:  # the tasks behind it must not wait for ever
                log.exception("A task on a book failed.")
            self._book = None
