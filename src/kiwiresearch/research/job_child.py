"""The process of jobs: `python -m kiwiresearch.research.job_child`, orders on its input, events on its output.

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

from kiwiresearch.errors import FolderInUse, HostAway, KiwiError, LeaseLost, StoreUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.research.family_cases import wordless
from kiwiresearch.research.job import FamilyWish
from kiwiresearch.research.job_order import STOP, Order, order_of
from kiwiresearch.research.job_stops import Lost, Stopped
from kiwiresearch.research.job_work import do

ALONE_S = 10.0
"""How long a step may still take when nobody waits for it any more: its lease lapses later than that."""

INPUT = 0

AWAY = (HostAway, StoreUnreachable, FolderInUse)
"""What passes by itself: the job goes back into the line and is tried again, by us or by others."""


class Voice:
    """Events as lines of JSON on what was standard output; what else prints there goes to standard error."""

    def __init__(self) -> None:
        self._output = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)

    def tell(self, **event: Any) -> None:
        try:
            self._output.write(canonical_json(event).encode("utf-8", "replace") + b"\n")
        except OSError as problem:  # nobody listens any more
            raise Stopped from problem


def main() -> None:
    """Do orders as they come, and say of each how it ended."""
    voice = Voice()
    # Who stops a whole group of processes means the worker, which then tells its children what to do.
    signal.signal(signal.SIGTERM, lambda *_: None)
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)
    orders: queue.SimpleQueue[tuple[Order, threading.Event] | None] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(orders,), daemon=True).start()
    while (given := orders.get()) is not None:
        with contextlib.suppress(Stopped):  # nobody hears the last word
            _end(*given, voice)


def _end(order: Order, stop: threading.Event, voice: Voice) -> None:
    try:
        done = do(order, voice.tell, stop)
    except Stopped:
        voice.tell(event="stopped")
    except (LeaseLost, Lost):
        voice.tell(event="lost")
    except AWAY as problem:
        voice.tell(event="away", problem=order.without_places(problem.message))
    except KiwiError as problem:
        words, remedy = map(order.without_places, (problem.message, problem.remedy))
        voice.tell(event="failed", problem=words, remedy=remedy)
    except Exception as problem:
        if isinstance(order.wish, FamilyWish):
            print(wordless(problem), file=sys.stderr)
        else:
            traceback.print_exc(file=sys.stderr)
        voice.tell(
            event="failed",
            problem=f"The program has a fault: {type(problem).__name__}.",
            remedy="What was done is kept. The server's own output says where it happened.",
        )
    else:
        voice.tell(event="done", **done)


def _read(orders: queue.SimpleQueue[tuple[Order, threading.Event] | None]) -> None:
    """Hand on orders, and the word to stop the last of them."""
    stop = threading.Event()
    for line in _lines():
        if line == STOP:
            stop.set()
        else:
            stop = threading.Event()
            orders.put((order_of(line), stop))
    stop.set()
    orders.put(None)
    threading.Event().wait(ALONE_S)
    os._exit(1)  # what was done is kept, and what hangs here would hang on alone


def _lines() -> Iterator[bytes]:
    """The lines of the input, read past Python's buffers: a thread waits there until the very end."""
    rest = b""
    while part := os.read(INPUT, 65_536):
        *lines, rest = (rest + part).split(b"\n")
        yield from (line + b"\n" for line in lines)


if __name__ == "__main__":
    main()
