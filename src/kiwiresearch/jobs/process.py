"""The child processes of jobs: the job that each receives, and how a worker communicates with it."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kiwiresearch import system
from kiwiresearch.codec import JsonDict, plain
from kiwiresearch.ids import BookId
from kiwiresearch.jobs.job import JobRequest, JobState, request_from_record
from kiwiresearch.messages import Message, message_fields, message_in, rewritten
from kiwiresearch.workspace import (
    Folders,
    Settings,
    Workspace,
    connect_hosts,
    defaults,
    make_workspace,
    setting_value,
    with_values,
)
from kiwiresearch.zim import BookLocation, ListedBook, MissingBooks, missing_from_record

EventListener = Callable[..., None]
"""Called with the fields of an event; an exception it raises stops the job."""
STOP = b"stop\n"
"""The line that stops a process between two steps; all other lines are jobs to do."""


@dataclass(frozen=True, slots=True)
class JobSpec:
    """What a process has to know for one job: its settings, books, request and folder."""

    folders: Folders
    settings: Settings
    books: tuple[ListedBook, ...]
    search_every_book: bool
    """Whether each book is searched in full, as if the user had named them."""
    request: JobRequest
    folder: Path
    """Where the job writes; with a shared store, only a working copy of what is stored there."""
    job: str = ""
    """The id of the job."""
    holder: str = ""
    """The name under which the store records the job's holder."""
    steps_done: int = 0
    """How many steps earlier attempts took, as far as they were reported."""
    missing: tuple[MissingBooks, ...] = ()
    """Books that were unavailable when the job was requested."""

    def to_line(self) -> bytes:
        """As a JSON line; names that are not valid Unicode pass unchanged."""
        record = {
            "folders": [str(self.folders.config), str(self.folders.cache), str(self.folders.state)],
            "settings": {key: setting_value(self.settings, key) for key in defaults()},
            "books": [[b.id, b.name, b.title, asdict(b.source)] for b in self.books],
            "search_every_book": self.search_every_book,
            "request": plain(self.request),
            "folder": str(self.folder),
            "job": self.job,
            "holder": self.holder,
            "steps_done": self.steps_done,
            "missing": plain(self.missing),
        }
        return json.dumps(record).encode() + b"\n"

    def open_workspace(self) -> Workspace:
        """The workspace of the worker that gave the job; messages it already printed about books are not repeated."""
        workspace = make_workspace(self.folders, self.settings)
        if self.settings.is_shared_store:
            connect_hosts(workspace)  # books of other hosts are named by their UUIDs
        return workspace

    def without_paths(self, text: str) -> str:
        """A text without local paths: books and folders are shown by their names."""
        names = {book.source.location: book.name for book in self.books if not book.source.is_served}
        names |= {str(self.folder.parent): "runs", str(self.folders.cache): "cache"}
        names |= {str(self.folders.config): "config", str(self.folders.state): "state"}
        places = sorted((place for place in names if len(place) > 1), key=len, reverse=True)

        def named(words: str) -> str:
            for place in places:
                words = words.replace(place, names[place])
            return words

        return rewritten(text, named)


def spec_from_line(line: bytes) -> JobSpec:
    row: Mapping[str, Any] = json.loads(line)
    config, cache, state = map(Path, row["folders"])
    return JobSpec(
        folders=Folders(config, cache, state),
        settings=with_values(Settings(), {key: (key, value) for key, value in row["settings"].items()}),
        books=tuple(
            ListedBook(BookId(book), name, title, BookLocation(**source)) for book, name, title, source in row["books"]
        ),
        search_every_book=row["search_every_book"],
        request=request_from_record(row["request"]),
        folder=Path(row["folder"]),
        job=row["job"],
        holder=row["holder"],
        steps_done=row["steps_done"],
        missing=missing_from_record(row["missing"]),
    )


RESUME_HINT = Message("Resume it to continue where it stopped.", "remedy.resume")

MAX_JOBS_PER_PROCESS = 25
"""After this many jobs a process is replaced, so that memory they leaked does not pile up."""
EXIT_TIMEOUT_S = 2.0
"""How long a process may take to exit once its input is closed."""
IDLE_S = 10.0
"""How long an idle process waits for another job."""

KILLED_CODES = (-signal.SIGTERM, -signal.SIGINT, *([-signal.SIGKILL] if hasattr(signal, "SIGKILL") else []))
"""Exit codes of a process that was killed from outside."""

FINAL_EVENTS = ("done", "failed", "stopped", "lost", "unavailable")
"""How a job may end: `lost` means that its lease is gone, and `unavailable` that something it needs is, so that it is
queued again without a failure."""


@dataclass(frozen=True, slots=True)
class JobEnding:
    """The final state of a job, and its details."""

    state: JobState
    details: Mapping[str, Any] = field(default_factory=dict)


def failed(problem: str, remedy: str, state: JobState = "failed") -> JobEnding:
    """The ending of a job that did not finish."""
    return JobEnding(state, message_fields("problem", problem) | message_fields("remedy", remedy))


class JobProcess:
    """A child process that runs jobs; it exits on request, or when this process does."""

    def __init__(self) -> None:
        self.last: Mapping[str, Any] = {}
        """The final event of its job; empty if it ended without one."""
        self.jobs_run = 0
        self.idle_since = 0.0
        self._environment = _environment()
        self._killer: threading.Timer | None = None
        self._write_lock = threading.Lock()
        self._child = subprocess.Popen(  # noqa: S603
            system.module_command("kiwiresearch.jobs.child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=os.name == "posix",  # Ctrl-C is for the worker, which then stops its children
        )

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_usable(self) -> bool:
        """Whether it can do another job."""
        is_sound = bool(self.last) and self._killer is None and self.jobs_run < MAX_JOBS_PER_PROCESS
        return is_sound and self._environment == _environment() and self._child.poll() is None

    def events(self, spec: JobSpec) -> Iterator[JsonDict]:
        """The events of a job until it ends; the final one is left in `last`."""
        assert self._child.stdout is not None
        self.last, self.jobs_run = {}, self.jobs_run + 1
        self._write(spec.to_line())
        if self._killer is not None:  # stopped before it got the job
            self._write(STOP)
        for line in self._child.stdout:
            with contextlib.suppress(ValueError):  # killed in the middle of a line
                event = json.loads(line)
                if event["event"] in FINAL_EVENTS:
                    self.last = event
                    return
                yield event

    def stop(self, grace_s: float) -> None:
        """Stop it between two steps, or kill it after the grace period."""
        if self._killer is not None:
            return
        self._killer = threading.Timer(grace_s, self._child.kill)
        self._killer.daemon = True
        self._killer.start()
        self._write(STOP)

    def kill(self) -> None:
        """Kill it at once; the files of complete steps stay."""
        self._child.kill()

    def ending(self, *, is_cancelled: bool) -> JobEnding | None:
        """How the job ended; None if we stopped it and it is to be resumed later."""
        last = self.last
        # First, because a job that ended before a stop reached it keeps its result.
        if last.get("event") == "done":
            return JobEnding("done", {name: last[name] for name in ("pages", "kept", "story") if name in last})
        if last.get("event") == "failed":
            return failed(message_in(last, "problem"), message_in(last, "remedy"))
        if is_cancelled:
            return JobEnding("cancelled")
        if last or self._killer is not None:
            return None
        code = self._child.wait()
        name = _signal_name(code)
        words = f"The process stopped unexpectedly ({name or f'code {code}'})."
        problem = Message(words, "job.process_ended", code=name or str(code))
        return failed(problem, RESUME_HINT, "interrupted" if code in KILLED_CODES else "failed")

    def close(self) -> None:
        """Close its input, at which it exits; if it does not, it is killed soon."""
        if self._killer is not None:
            self._killer.cancel()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._child.wait(EXIT_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def _write(self, line: bytes) -> None:
        assert self._child.stdin is not None
        with self._write_lock, contextlib.suppress(OSError, ValueError):  # it has exited; wait() will show how
            self._child.stdin.write(line)
            self._child.stdin.flush()


class ProcessPool:
    """Keeps idle processes for another job: starting one takes longer than many jobs."""

    def __init__(self) -> None:
        self.idle_s = IDLE_S
        self._idle: list[JobProcess] = []
        self._lock = threading.Lock()

    def acquire(self) -> JobProcess:
        """An idle process or a new one; raises OSError if none can be started."""
        with self._lock:
            waiting, self._idle = self._idle, []
            usable = [process for process in waiting if process.is_usable]
            chosen = usable.pop() if usable else None
            self._idle = usable
        # Outside the lock, because `close` waits for the process.
        for process in set(waiting) - {*usable, chosen}:
            process.close()
        return chosen or JobProcess()

    def release(self, process: JobProcess) -> None:
        """Return a process to the pool, or close it if it cannot be reused."""
        if not process.is_usable:
            process.close()
            return
        process.idle_since = time.monotonic()
        with self._lock:
            self._idle.append(process)

    def close_idle(self, idle_s: float | None = None) -> None:
        """Close the processes that have been idle this long."""
        until = time.monotonic() - (self.idle_s if idle_s is None else idle_s)
        with self._lock:
            old = [process for process in self._idle if process.idle_since <= until]
            self._idle = [process for process in self._idle if process not in old]
        for process in old:
            process.close()


PROCESS_POOL = ProcessPool()
"""Shared by all workers in this process, one after the other or at once."""
atexit.register(PROCESS_POOL.close_idle, idle_s=0.0)


def _environment() -> dict[str, str]:
    """The variables that a job process reads itself: keys of sources. All others are in the settings it is given."""
    return {name: value for name, value in os.environ.items() if name.startswith("KIWIRESEARCH_KEY_")}


def _signal_name(code: int) -> str:
    """The signal that ended a process; empty if it exited by itself."""
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return ""
