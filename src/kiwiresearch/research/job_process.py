"""The processes of jobs, as seen by the worker that starts them: each does one job after the other."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kiwiresearch import background
from kiwiresearch.research.job import JobState
from kiwiresearch.research.job_order import STOP, Order

GO_ON = "Resume it: it goes on where it stopped."

MOST_ORDERS = 25
"""After so many jobs a process is replaced: what one of them left behind in memory does not stay for ever."""
END_S = 2.0
IDLE_S = 10.0
"""How long a process waits for another job before it is let go."""

FROM_OUTSIDE = (-signal.SIGTERM, -signal.SIGINT, *([-signal.SIGKILL] if hasattr(signal, "SIGKILL") else []))
"""Exit codes of a process that others ended, and that has no fault of its own."""

LAST_WORDS = ("done", "failed", "stopped", "lost", "away")


@dataclass(frozen=True, slots=True)
class Ending:
    """What becomes of a job, and what is to be known of it."""

    state: JobState
    told: Mapping[str, Any] = field(default_factory=dict)


class JobProcess:
    """A child that works; it ends when it is told to, and with this process."""

    def __init__(self) -> None:
        self.last: Mapping[str, Any] = {}
        """The last word on the job it worked on; empty if it ended without one."""
        self.orders = 0
        self.idle_since = 0.0
        self._killer: threading.Timer | None = None
        self._writing = threading.Lock()
        self._child = subprocess.Popen(  # noqa: S603
            background.command("kiwiresearch.research.job_child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=os.name == "posix",  # Ctrl-C is for the worker, which then tells its children
        )

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_usable(self) -> bool:
        """Whether it can be given another job."""
        return bool(self.last) and self._killer is None and self.orders < MOST_ORDERS and self._child.poll() is None

    def events(self, order: Order) -> Iterator[dict[str, Any]]:
        """What it tells of a job until that has ended; its last word is kept back for the ending."""
        assert self._child.stdout is not None
        self.last, self.orders = {}, self.orders + 1
        self._write(order.line())
        if self._killer is not None:  # it was to stop before it had the order
            self._write(STOP)
        for line in self._child.stdout:
            with contextlib.suppress(ValueError):  # it was killed in the middle of a line
                event = json.loads(line)
                if event["event"] in LAST_WORDS:
                    self.last = event
                    return
                yield event

    def stop(self, grace_s: float) -> None:
        """Have it stop between two steps, or at once when the grace is over."""
        if self._killer is not None:
            return
        self._killer = threading.Timer(grace_s, self._child.kill)
        self._killer.daemon = True
        self._killer.start()
        self._write(STOP)

    def kill(self) -> None:
        """End it at once; what it wrote of whole steps stays."""
        self._child.kill()

    def ending(self, *, is_cancelled: bool) -> Ending | None:
        """What becomes of the job; None if it was stopped on our wish, and is to go on another time."""
        last = self.last
        if last.get("event") == "done":
            return Ending("done", {name: last[name] for name in ("pages", "kept", "story") if name in last})
        if last.get("event") == "failed":
            return Ending("failed", {"problem": last["problem"], "remedy": last["remedy"]})
        if is_cancelled:
            return Ending("cancelled")
        if last or self._killer is not None:
            return None
        code = self._child.wait()
        words = f"The process of the run ended {_code_words(code)}."
        return Ending("interrupted" if code in FROM_OUTSIDE else "failed", {"problem": words, "remedy": GO_ON})

    def close(self) -> None:
        """Let it go: it ends in order when its input does, and in any case soon."""
        if self._killer is not None:
            self._killer.cancel()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        try:
            self._child.wait(END_S)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def _write(self, line: bytes) -> None:
        assert self._child.stdin is not None
        with self._writing, contextlib.suppress(OSError, ValueError):  # it ended: how, is seen when it is waited for
            self._child.stdin.write(line)
            self._child.stdin.flush()


class JobProcesses:
    """Processes that have done a job and wait for another: starting one takes longer than many jobs."""

    def __init__(self) -> None:
        self._idle: list[JobProcess] = []
        self._changing = threading.Lock()

    def take(self) -> JobProcess:
        """One that waits, else a new one; OSError where the system refuses it."""
        with self._changing:
            waiting, self._idle = self._idle, []
            usable = [one for one in waiting if one.is_usable]
            chosen = usable.pop() if usable else None
            self._idle = usable
        for one in set(waiting) - {*usable, chosen}:
            one.close()
        return chosen or JobProcess()

    def give(self, process: JobProcess) -> None:
        """Whoever took one gives it back, whatever became of it."""
        if not process.is_usable:
            process.close()
            return
        process.idle_since = time.monotonic()
        with self._changing:
            self._idle.append(process)

    def let_go(self, idle_s: float = IDLE_S) -> None:
        """End those that have waited for so long."""
        until = time.monotonic() - idle_s
        with self._changing:
            old = [one for one in self._idle if one.idle_since <= until]
            self._idle = [one for one in self._idle if one not in old]
        for one in old:
            one.close()


def _code_words(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"by {signal.Signals(-code).name}"
    return f"with code {code}"
