"""The command that works on jobs without a server."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwiresearch.cli.options import Wanted, open_books, say, the_desk
from kiwiresearch.errors import BadSettings, BadUsage

if TYPE_CHECKING:
    from kiwiresearch.research.desk import Desk

INTERRUPTED = 130
LOOK_S = 0.5

StoreUrl = Annotated[str, typer.Option("--store", help="The store, instead of the one in the settings.", metavar="URL")]


def worker(
    *,
    at_once: Annotated[int, typer.Option("--at-once", help="How many jobs to work on at once.", metavar="N")] = 2,
    kinds: Annotated[
        str, typer.Option("--kinds", help="Only these kinds: research, ask, bulk, kin.", metavar="KINDS")
    ] = "",
    store: StoreUrl = "",
    book: Wanted = None,
    once: Annotated[bool, typer.Option("--once", help="End when there is nothing left to do.")] = False,
) -> None:
    """Work on the jobs of the store, beside the servers and workers that do: here, or on another machine."""
    from kiwiresearch.research.jobs import Jobs, Limits
    from kiwiresearch.research.stores import store_of

    if at_once < 1:
        raise BadUsage(f"{at_once} jobs cannot be worked on at once.", remedy="Give 1 or more.")
    chosen = _chosen_kinds(kinds)
    desk = with_store(the_desk(), store)
    store_of(desk)  # if it cannot be used, that is said once, and not of the shelf as well
    with open_books(desk, book or []) as shelf, Signs() as sign:
        say(f"Working on jobs of {store_of(desk).url_name} (Ctrl-C ends it).")
        jobs = Jobs(
            desk,
            shelf.books_now,
            now=now,
            all_books=bool(book),
            limits=Limits(running=at_once),
            kinds=chosen,
            say=say,
        )
        try:
            while not sign.came.wait(LOOK_S):
                if once and jobs.is_idle and not jobs.has_work():
                    break
        finally:
            sign.let_through()  # who cannot wait for steps under way asks a second time
            jobs.close()
    if sign.number == signal.SIGINT:
        raise typer.Exit(INTERRUPTED)


class Signs:
    """Ctrl-C and SIGTERM, noted until somebody looks."""

    def __init__(self) -> None:
        self.came = threading.Event()
        self.number = 0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Signs:
        self._before = {one: signal.signal(one, self._note) for one in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        self.let_through()

    def _note(self, number: int, _: FrameType | None) -> None:
        self.number = number
        self.came.set()

    def let_through(self) -> None:
        """Leave the next ones to whoever had them before."""
        for one, before in self._before.items():
            signal.signal(one, before)
        self._before = {}


def with_store(desk: Desk, url: str) -> Desk:
    """The desk with another store, if one was named."""
    from dataclasses import replace

    from kiwiresearch.research.settings import with_values

    if not url.strip():
        return desk
    try:
        return replace(desk, settings=with_values(desk.settings, {"store": ("--store", url.strip())}))
    except BadSettings as problem:
        raise BadUsage(problem.message, remedy=problem.remedy) from problem


def now() -> str:
    """When a job was asked for or ended: it stands in its row, and in no run."""
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251


def _chosen_kinds(text: str) -> tuple[str, ...]:
    from kiwiresearch.research.job import KINDS

    named = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    for name in named:
        if name not in KINDS:
            raise BadUsage(f"There is no kind of job {name!r}.", remedy=f"Choose from: {', '.join(KINDS)}.")
    return named or KINDS
