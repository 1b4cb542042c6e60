"""The process of jobs: `python -m kiwiresearch.jobs.child`, jobs on its input, events on its output.

It runs jobs one after another. It stops between two steps when it reads a stop line, and when its input ends: then
the worker that started it is gone, and nothing waits for its work.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

from kiwiresearch.codec import plain
from kiwiresearch.errors import FolderInUse, HostUnreachable, KiwiError, LeaseLost, StoreUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.jobs.job import FamilyRequest
from kiwiresearch.jobs.process import STOP, JobSpec, spec_from_line
from kiwiresearch.jobs.work import run_job
from kiwiresearch.messages import message_fields
from kiwiresearch.runs import JobLost, WorkStopped
from kiwiresearch.system import collect_garbage_less_often

ORPHAN_S = 10.0
"""How long a step may take once the worker is gone; shorter than its lease."""

STDIN_FD = 0
RETRYABLE = (HostUnreachable, StoreUnreachable, FolderInUse)
"""Problems that pass: the job is queued again and tried later, here or elsewhere."""


class EventWriter:
    """Writes events as JSON lines to the former standard output; anything else printed there goes to standard error."""

    def __init__(self) -> None:
        self._output = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)

    def send(self, **event: Any) -> None:
        try:
            self._output.write(canonical_json(event).encode("utf-8", "replace") + b"\n")
        except OSError as problem:  # nothing reads it anymore
            raise WorkStopped from problem


def main() -> None:
    """Do jobs as they arrive, and report how each ended."""
    collect_garbage_less_often()
    writer = EventWriter()
    # A signal to the process group is meant for the worker, which then stops its children.
    signal.signal(signal.SIGTERM, lambda *_: None)
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)
    specs: queue.SimpleQueue[tuple[JobSpec, threading.Event] | None] = queue.SimpleQueue()
    threading.Thread(target=_read_jobs, args=(specs,), daemon=True).start()
    while (given := specs.get()) is not None:
        with contextlib.suppress(WorkStopped):  # nothing reads the last event anymore
            _run_and_report(*given, writer)


def _run_and_report(spec: JobSpec, stop: threading.Event, writer: EventWriter) -> None:
    try:
        done = run_job(spec, writer.send, stop)
    except WorkStopped:
        writer.send(event="stopped")
    except (LeaseLost, JobLost):
        writer.send(event="lost")
    except RETRYABLE as problem:
        writer.send(event="unavailable", **message_fields("problem", spec.without_paths(problem.message)))
    except KiwiError as problem:
        words, remedy = map(spec.without_paths, (problem.message, problem.remedy))
        writer.send(event="failed", **message_fields("problem", words), **message_fields("remedy", remedy))
    except Exception as problem:
        if isinstance(spec.request, FamilyRequest):
            from kiwiresearch.cases import traceback_without_message  # loads the database, which other jobs do not need

            print(traceback_without_message(problem), file=sys.stderr)
        else:
            traceback.print_exc(file=sys.stderr)
        writer.send(
            event="failed",
            problem=f"kiwiresearch failed unexpectedly: {type(problem).__name__}.",
            remedy="Your progress is saved. See the server log for details.",
        )
    else:
        writer.send(event="done", **plain(done))


def _read_jobs(specs: queue.SimpleQueue[tuple[JobSpec, threading.Event] | None]) -> None:
    """Queue jobs, and set the stop event of the last one when a stop line arrives or the input ends."""
    stop = threading.Event()
    for line in _lines():
        if line == STOP:
            stop.set()
        else:
            stop = threading.Event()
            specs.put((spec_from_line(line), stop))
    stop.set()
    specs.put(None)
    threading.Event().wait(ORPHAN_S)
    os._exit(1)  # finished steps are stored, and a step that hangs would hang forever


def _lines() -> Iterator[bytes]:
    """The lines of the input, unbuffered: a thread blocked in Python's own buffer would block the exit."""
    rest = b""
    while part := os.read(STDIN_FD, 65_536):
        *lines, rest = (rest + part).split(b"\n")
        yield from (line + b"\n" for line in lines)


if __name__ == "__main__":
    main()
