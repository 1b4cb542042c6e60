"""The process of jobs: `python -m kiwiresearch.jobs.child`, orders on its input, events on its output.

It does one order after the other. It stops between two steps when it reads a stop line, and when its input ends: then
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

from kiwiresearch.cases import traceback_without_message
from kiwiresearch.errors import FolderInUse, HostAway, KiwiError, LeaseLost, StoreUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.jobs.job import FamilyRequest
from kiwiresearch.jobs.process import STOP, JobOrder, order_from_line
from kiwiresearch.jobs.work import do_order
from kiwiresearch.messages import message_fields
from kiwiresearch.runs import JobLost, WorkStopped

ORPHAN_S = 10.0
"""How long a step may take once the worker is gone; shorter than its lease."""

INPUT = 0

RETRYABLE = (HostAway, StoreUnreachable, FolderInUse)
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
    """Do orders as they arrive, and report how each ended."""
    writer = EventWriter()
    # A signal to the process group is meant for the worker, which then stops its children.
    signal.signal(signal.SIGTERM, lambda *_: None)
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)
    orders: queue.SimpleQueue[tuple[JobOrder, threading.Event] | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(orders,), daemon=True).start()
    while (given := orders.get()) is not None:
        with contextlib.suppress(WorkStopped):  # nothing reads the last event anymore
            _end(*given, writer)


def _end(order: JobOrder, stop: threading.Event, writer: EventWriter) -> None:
    try:
        done = do_order(order, writer.send, stop)
    except WorkStopped:
        writer.send(event="stopped")
    except (LeaseLost, JobLost):
        writer.send(event="lost")
    except RETRYABLE as problem:
        writer.send(event="away", **message_fields("problem", order.without_paths(problem.message)))
    except KiwiError as problem:
        words, remedy = map(order.without_paths, (problem.message, problem.remedy))
        writer.send(event="failed", **message_fields("problem", words), **message_fields("remedy", remedy))
    except Exception as problem:
        if isinstance(order.request, FamilyRequest):
            print(traceback_without_message(problem), file=sys.stderr)
        else:
            traceback.print_exc(file=sys.stderr)
        writer.send(
            event="failed",
            problem=f"The program has a fault: {type(problem).__name__}.",
            remedy="What was done is kept. The server's own output says where it happened.",
        )
    else:
        writer.send(event="done", **done)


def _read(orders: queue.SimpleQueue[tuple[JobOrder, threading.Event] | None]) -> None:
    """Queue orders, and set the stop event of the last one when a stop line arrives or the input ends."""
    stop = threading.Event()
    for line in _lines():
        if line == STOP:
            stop.set()
        else:
            stop = threading.Event()
            orders.put((order_from_line(line), stop))
    stop.set()
    orders.put(None)
    threading.Event().wait(ORPHAN_S)
    os._exit(1)  # finished steps are stored, and a step that hangs would hang forever


def _lines() -> Iterator[bytes]:
    """The lines of the input, unbuffered: a thread blocked in Python's own buffer would block the exit."""
    rest = b""
    while part := os.read(INPUT, 65_536):
        *lines, rest = (rest + part).split(b"\n")
        yield from (line + b"\n" for line in lines)


if __name__ == "__main__":
    main()
