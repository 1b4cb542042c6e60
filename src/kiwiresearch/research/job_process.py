"""The process of a job, as seen by the server that started it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from kiwiresearch import background
from kiwiresearch.research.job import JobState
from kiwiresearch.research.job_order import Order

GO_ON = "Resume it: it goes on where it stopped."
CLOSED = "The server was stopped while the run went on."
STOPPED = "The process of the run was told to stop."
ENDED = "The server ended while the run went on."

FROM_OUTSIDE = (-signal.SIGTERM, -signal.SIGINT, *([-signal.SIGKILL] if hasattr(signal, "SIGKILL") else []))
"""Exit codes of a process that others ended, and that has no fault of its own."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What becomes of a job, and what is to be known of it."""

    state: JobState
    told: Mapping[str, Any] = field(default_factory=dict)


class JobProcess:
    """A child that researches; it ends when it is told to, and with this process."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._last: Mapping[str, Any] = {}
        self._killer: threading.Timer | None = None
        self._child = subprocess.Popen(  # noqa: S603
            background.command("kiwiresearch.research.job_child"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=os.name == "posix",  # Ctrl-C is for the server, which then tells its children
        )

    @property
    def pid(self) -> int:
        return self._child.pid

    def events(self) -> Iterator[dict[str, Any]]:
        """What it tells until it has ended; its last word is kept back for the ending."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with contextlib.suppress(OSError):  # it ended at once; how, is seen when it is waited for
            self._child.stdin.write(self._order.line())
            self._child.stdin.flush()
        for line in self._child.stdout:
            with contextlib.suppress(ValueError):  # it was killed in the middle of a line
                event = json.loads(line)
                if event["event"] in ("done", "failed", "stopped"):
                    self._last = event
                else:
                    yield event

    def stop(self, grace_s: float) -> None:
        """Have it stop between two steps, or at once when the grace is over."""
        if self._killer is not None:
            return
        self._child.terminate()
        self._killer = threading.Timer(grace_s, self._child.kill)
        self._killer.daemon = True
        self._killer.start()

    def ending(self, wanted: JobState | None) -> Ending:
        """Wait for the end; `wanted` is what becomes of a run that was stopped on our wish."""
        code = self._child.wait()
        last = self._last
        if last.get("event") == "done":
            return Ending("done", {name: last[name] for name in ("pages", "kept", "story")})
        if last.get("event") == "failed":
            return Ending("failed", {"problem": last["problem"], "remedy": last["remedy"]})
        if wanted is not None:
            return Ending(wanted, {} if wanted == "cancelled" else {"problem": CLOSED, "remedy": GO_ON})
        if last:
            return Ending("interrupted", {"problem": STOPPED, "remedy": GO_ON})
        words = f"The process of the run ended {_code_words(code)}."
        return Ending("interrupted" if code in FROM_OUTSIDE else "failed", {"problem": words, "remedy": GO_ON})

    def __enter__(self) -> JobProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        if self._child.poll() is None:
            self._child.kill()
            self._child.wait()
        if self._killer is not None:
            self._killer.cancel()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _code_words(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"by {signal.Signals(-code).name}"
    return f"with code {code}"
