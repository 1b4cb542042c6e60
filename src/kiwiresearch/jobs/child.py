"""The process of jobs: `python -m kiwiresearch.jobs.child`, orders on its input, events on its output.

It does one order after the other. It stops between two steps when a line tells it to, and when
its input ends: then whoever started it is gone, and nobody waits for its work.
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

from kiwiresearch.cases.registry import traceback_without_message
from kiwiresearch.errors import FolderInUse, HostAway, KiwiError, LeaseLost, StoreUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.jobs.job import FamilyRequest
from kiwiresearch.jobs.process import STOP, JobOrder, order_from_line
from kiwiresearch.jobs.work import do_order
from kiwiresearch.messages.message import message_fields
from kiwiresearch.runs.store_copy import JobLost, WorkStopped

ORPHAN_S = 10.0
"""How long a step may still take when nobody waits for it any more: its lease lapses later than that."""

INPUT = 0

RETRYABLE = (HostAway, StoreUnreachable, FolderInUse)
"""What passes by itself: the job goes back into the line and is tried again, by us or by others."""


class EventWriter:
    """Events as lines of JSON on what was standard output; what else prints there goes to standard error."""

    def __init__(self) -> None:
        self._output = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)

    def send(self, **event: Any) -> None:
        try:
            self._output.write(canonical_json(event).encode("utf-8", "replace") + b"\n")
        except OSError as problem:  # nobody listens any more
            raise WorkStopped from problem


def main() -> None:
    """Do orders as they come, and say of each how it ended."""
    voice = EventWriter()
    # Who stops a whole group of processes means the worker, which then tells its children what to do.
    signal.signal(signal.SIGTERM, lambda *_: None)
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)
    orders: queue.SimpleQueue[tuple[JobOrder, threading.Event] | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(orders,), daemon=True).start()
    while (given := orders.get()) is not None:
        with contextlib.suppress(WorkStopped):  # nobody hears the last word
            _end(*given, voice)


def _end(order: JobOrder, stop: threading.Event, voice: EventWriter) -> None:
    try:
        done = do_order(order, voice.send, stop)
    except WorkStopped:
        voice.send(event="stopped")
    except (LeaseLost, JobLost):
        voice.send(event="lost")
    except RETRYABLE as problem:
        voice.send(event="away", **message_fields("problem", order.without_paths(problem.message)))
    except KiwiError as problem:
        words, remedy = map(order.without_paths, (problem.message, problem.remedy))
        voice.send(event="failed", **message_fields("problem", words), **message_fields("remedy", remedy))
    except Exception as problem:
        if isinstance(order.wish, FamilyRequest):
            print(traceback_without_message(problem), file=sys.stderr)
        else:
            traceback.print_exc(file=sys.stderr)
        voice.send(
            event="failed",
            problem=f"The program has a fault: {type(problem).__name__}.",
            remedy="What was done is kept. The server's own output says where it happened.",
        )
    else:
        voice.send(event="done", **done)


def _read(orders: queue.SimpleQueue[tuple[JobOrder, threading.Event] | None]) -> None:
    """Hand on orders, and the word to stop the last of them."""
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
    os._exit(1)  # what was done is kept, and what hangs here would hang on alone


def _lines() -> Iterator[bytes]:
    """The lines of the input, read past Python's buffers: a thread waits there until the very end."""
    rest = b""
    while part := os.read(INPUT, 65_536):
        *lines, rest = (rest + part).split(b"\n")
        yield from (line + b"\n" for line in lines)


if __name__ == "__main__":
    main()
