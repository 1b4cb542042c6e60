"""The process of a job: `python -m kiwiresearch.research.job_child`, an order on its input, events on its output.

It stops between two steps when it is told to by SIGTERM, and when its input
ends: then whoever started it is gone, and nobody waits for its work.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
from dataclasses import replace
from typing import Any

from kiwiresearch.crawl.step import Ended
from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import canonical_json
from kiwiresearch.research.family_cases import wordless
from kiwiresearch.research.finding import Finder
from kiwiresearch.research.job import FamilyWish, JobWish, task_of
from kiwiresearch.research.job_order import Order, order_of
from kiwiresearch.research.job_steps import event_of
from kiwiresearch.research.run import Outcome, Progress, Research
from kiwiresearch.zim.library import Shelf

ALONE_S = 10.0
"""How long a step may still take when nobody waits for it any more."""

INPUT = 0


class Stopped(Exception):
    """The run was told to stop, and did so between two steps."""


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


def research(order: Order, wish: JobWish, voice: Voice, stop: threading.Event) -> Outcome:
    """Do what the order says, and tell each step."""

    def tell(progress: Progress) -> None:
        voice.tell(**event_of(progress))
        if stop.is_set():
            raise Stopped
        if isinstance(progress.step, Ended):
            voice.tell(event="stage", stage="writing")

    voice.tell(event="stage", stage="opening")
    if not wish.model:
        order = replace(order, settings=replace(order.settings, model_url=""))
    desk = order.desk()
    desk.opener.say = lambda text: voice.tell(event="note", text=order.without_places(text))
    with Shelf(order.books, desk.opener) as shelf, Finder(desk, shelf, all_books=order.all_books) as finder:
        work = Research(finder, task_of(wish, order.settings))
        if stop.is_set():
            raise Stopped
        voice.tell(event="stage", stage="gathering")
        return work.run(order.out, tell)


def family(order: Order, wish: FamilyWish, voice: Voice, stop: threading.Event) -> Outcome:
    """Go on with a case, and tell each step; between two of them it can be stopped."""
    from kiwiresearch.research.family_job import work_on

    def tell(**event: Any) -> None:
        voice.tell(**event)
        if stop.is_set():
            raise Stopped

    tell(event="stage", stage="opening")
    return work_on(order, wish, tell)


def main() -> None:
    """Read an order, do it, and say how it ended."""
    voice, stop = Voice(), threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)
    order = order_of(_line())
    threading.Thread(target=_watch, args=(stop,), daemon=True).start()
    with contextlib.suppress(Stopped):  # nobody hears the last word
        _end(order, voice, stop)


def _end(order: Order, voice: Voice, stop: threading.Event) -> None:
    try:
        wish = order.wish
        done = family(order, wish, voice, stop) if isinstance(wish, FamilyWish) else research(order, wish, voice, stop)
    except Stopped:
        voice.tell(event="stopped")
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
        voice.tell(event="done", pages=done.pages, kept=done.kept, how=done.how, story=done.story)


def _line() -> bytes:
    """The first line of the input, read past Python's buffers: a thread waits on the rest until the very end."""
    read = b""
    while not read.endswith(b"\n"):
        part = os.read(INPUT, 65_536)
        if not part:
            sys.exit("The input ended before there was an order.")
        read += part
    return read


def _watch(stop: threading.Event) -> None:
    while os.read(INPUT, 65_536):
        pass
    stop.set()
    threading.Event().wait(ALONE_S)
    os._exit(1)  # what was done is kept, and what hangs here would hang on alone


if __name__ == "__main__":
    main()
