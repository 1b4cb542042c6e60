"""What the process of a job does with an order, by the kind of the job."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kiwiresearch.crawl.step import Ended
from kiwiresearch.errors import FolderInUse, LeaseLost, StoreUnreachable
from kiwiresearch.research.finding import Finder
from kiwiresearch.research.job import AskBatchWish, BulkWish, FamilyWish, JobWish, task_of
from kiwiresearch.research.job_order import Order
from kiwiresearch.research.job_steps import event_of
from kiwiresearch.research.job_stops import Lost, Stopped
from kiwiresearch.research.manifest import MANIFEST, read_manifest
from kiwiresearch.research.run import TIMINGS, Progress, Research
from kiwiresearch.research.work import PARTS, STEPS, FolderLock
from kiwiresearch.research.work_kept import KeptWork
from kiwiresearch.zim.library import Shelf

Tell = Callable[..., None]
"""Hears events by their fields; what it raises ends the work."""

LOCKS = "working"
PATIENCE_S = 20.0
"""How long a job waits for a process of before, which has lost its worker and ends by itself."""


def do(order: Order, tell: Tell, stop: threading.Event) -> dict[str, Any]:
    """Do what an order says, and tell each step; what is to be known of the end."""

    def telling(**event: Any) -> None:
        tell(**event)
        if stop.is_set():
            raise Stopped

    with _alone(order):
        telling(event="stage", stage="opening")
        if not order.wish.model:
            order = replace(order, settings=replace(order.settings, model_url=""))
        match order.wish:
            case JobWish() as wish:
                return _research(order, wish, telling, stop)
            case FamilyWish() as wish:
                return _family(order, wish, telling)
            case AskBatchWish() as wish:
                from kiwiresearch.research.job_ask import answer_all

                return answer_all(order, wish, telling, _kept(order, stop, ("answers",)))
            case BulkWish() as wish:
                from kiwiresearch.research.job_bulk import write_tables

                return write_tables(order, wish, telling)


def _research(order: Order, wish: JobWish, tell: Tell, stop: threading.Event) -> dict[str, Any]:
    kept = _kept(order, stop, (STEPS, *PARTS))
    if kept is not None and kept.bring():
        return {"how": "was finished"}

    def step(progress: Progress) -> None:
        if kept is not None:
            kept.copy()
        tell(**event_of(progress))
        if isinstance(progress.step, Ended):
            tell(event="stage", stage="writing")

    with opened(order, tell) as finder:
        work = Research(finder, replace(task_of(wish, order.settings), missing=order.missing))
        tell(event="stage", stage="gathering")
        made = work.run(order.out, step)
    done: dict[str, Any] = {"pages": made.pages, "how": made.how}
    if made.how != "was finished":
        done |= {"kept": made.kept, "story": made.story}
    if kept is not None:
        tell_store(order, done)
        names = [*read_manifest(order.out)["outputs"], MANIFEST, TIMINGS]
        kept.finish([name for name in names if (order.out / name).is_file()])
    return done


def _family(order: Order, wish: FamilyWish, tell: Tell) -> dict[str, Any]:
    """Go on with a case; steps that an earlier attempt took are not taken once more."""
    from kiwiresearch.research.family_job import work_on

    if wish.steps and order.done >= wish.steps:
        return {"pages": order.done}

    def step(**event: Any) -> None:
        if "order" in event:
            event["order"] += order.done
            tell_store(order, {"pages": event["order"]})
        tell(**event)

    made = work_on(order, replace(wish, steps=wish.steps and wish.steps - order.done), step)
    return {"pages": order.done + made.pages, "kept": order.done, "how": made.how, "story": made.story}


@contextlib.contextmanager
def opened(order: Order, tell: Tell) -> Iterator[Finder]:
    """The books of an order; what is to be known of them is told without the places of this machine."""
    desk = order.desk()
    desk.opener.say = lambda text: tell(event="note", text=order.without_places(text))
    with Shelf(order.books, desk.opener) as shelf, Finder(desk, shelf, all_books=order.all_books) as finder:
        yield finder


def _kept(order: Order, stop: threading.Event, names: Sequence[str]) -> KeptWork | None:
    if not order.keeps_all:
        return None
    from kiwiresearch.research.stores import store_of

    kept = KeptWork(store_of(order.desk()), order.holder, order.job, order.out, names)
    kept.stop = stop
    return kept


def tell_store(order: Order, told: dict[str, Any]) -> None:
    """Write down what must be known if this process is killed in its next moment."""
    from kiwiresearch.research.stores import store_of

    if not order.job:
        return
    try:
        store_of(order.desk()).jobs.tell(order.holder, order.job, told)
    except LeaseLost as problem:
        raise Lost from problem
    except StoreUnreachable:  # it is told again with the next step, and at the end
        pass


@contextlib.contextmanager
def _alone(order: Order) -> Iterator[None]:
    """Nobody else on this machine works on the same job, not even a process that has lost its worker."""
    lock = FolderLock(order.folders.state / LOCKS / f"{order.job}.lock")
    while True:
        if not lock.wait(PATIENCE_S):
            raise FolderInUse(
                f"Another process works on the job {order.job!r}.", remedy="Start it again when it ended."
            )
        if lock.is_current():
            break
        lock.release()  # its last holder has removed it meanwhile
    try:
        yield
    finally:
        _removed(lock.path)
        lock.release()


def _removed(file: Path) -> None:
    with contextlib.suppress(OSError):  # elsewhere a file that is open cannot be removed
        file.unlink(missing_ok=True)
