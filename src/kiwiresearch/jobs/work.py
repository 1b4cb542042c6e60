"""The work of a job, by its kind: a research run, a batch of questions, tables of a book."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.ask.settings import MODES, AskOptions
from kiwiresearch.crawl.step import EndStep
from kiwiresearch.errors import FolderInUse, LeaseLost, NotOffered, StoreUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.jobs.job import BulkRequest, FamilyRequest, QuestionsRequest, ResearchRequest, research_task
from kiwiresearch.jobs.process import JobOrder
from kiwiresearch.runs.folder import MANIFEST, PARTS, STEPS, TIMINGS, WORK_FOLDER, FolderLock, read_manifest
from kiwiresearch.runs.journal import GrowingFile, reporting_write_errors
from kiwiresearch.runs.progress import step_event
from kiwiresearch.runs.research import Research, RunProgress
from kiwiresearch.runs.store_copy import JobLost, StoredWork, WorkStopped
from kiwiresearch.version import __version__
from kiwiresearch.workspace.asker import Asker, answer_row
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.places import ANSWERS, UNFINISHED_ANSWERS
from kiwiresearch.zim.library import Shelf

if TYPE_CHECKING:
    from kiwiresearch.bulk.run import BulkProgress
    from kiwiresearch.jobs.process import JobOrder
    from kiwiresearch.runs.store_copy import StoredWork

EventListener = Callable[..., None]
"""Hears events by their fields; what it raises ends the work."""

LOCKS = "working"
TIMEOUT_S = 20.0
"""How long a job waits for a process of before, which has lost its worker and ends by itself."""


def do_order(order: JobOrder, tell: EventListener, stop: threading.Event) -> dict[str, Any]:
    """Do what an order says, and tell each step; what is to be known of the end."""

    def telling(**event: Any) -> None:
        tell(**event)
        if stop.is_set():
            raise WorkStopped

    with _exclusively(order):
        telling(event="stage", stage="opening")
        if not order.wish.model:
            order = replace(order, settings=replace(order.settings, model_url=""))
        match order.wish:
            case ResearchRequest() as wish:
                return _research(order, wish, telling, stop)
            case FamilyRequest() as wish:
                return _family(order, wish, telling)
            case QuestionsRequest() as wish:
                return answer_all(order, wish, telling, _stored_work(order, stop, ("answers",)))
            case BulkRequest() as wish:
                return write_tables(order, wish, telling)


def _research(order: JobOrder, wish: ResearchRequest, tell: EventListener, stop: threading.Event) -> dict[str, Any]:
    kept = _stored_work(order, stop, (STEPS, *PARTS))
    if kept is not None and kept.restore():
        return {"how": "was finished"}

    def step(progress: RunProgress) -> None:
        if kept is not None:
            kept.copy()
        tell(**step_event(progress))
        if isinstance(progress.step, EndStep):
            tell(event="stage", stage="writing")

    with open_finder(order, tell) as finder:
        work = Research(finder, replace(research_task(wish, order.settings), missing=order.missing))
        tell(event="stage", stage="gathering")
        made = work.run(order.out, step)
    done: dict[str, Any] = {"pages": made.pages, "how": made.how}
    if made.how != "was finished":
        done |= {"kept": made.kept, "story": made.story}
    if kept is not None:
        store_progress(order, done)
        names = [*read_manifest(order.out)["outputs"], MANIFEST, TIMINGS]
        kept.finish([name for name in names if (order.out / name).is_file()])
    return done


def _family(order: JobOrder, wish: FamilyRequest, tell: EventListener) -> dict[str, Any]:
    """Go on with a case; steps that an earlier attempt took are not taken once more."""
    from kiwiresearch.jobs.family_work import work_on_case

    if wish.steps and order.done >= wish.steps:
        return {"pages": order.done}

    def step(**event: Any) -> None:
        if "order" in event:
            event["order"] += order.done
            store_progress(order, {"pages": event["order"]})
        tell(**event)

    made = work_on_case(order, replace(wish, steps=wish.steps and wish.steps - order.done), step)
    return {"pages": order.done + made.pages, "kept": order.done, "how": made.how, "story": made.story}


@contextlib.contextmanager
def open_finder(order: JobOrder, tell: EventListener) -> Iterator[Finder]:
    """The books of an order; what is to be known of them is told without the places of this machine."""
    desk = order.open_workspace()
    desk.opener.say = lambda text: tell(event="note", text=order.without_paths(text))
    with Shelf(order.books, desk.opener) as shelf, Finder(desk, shelf, all_books=order.all_books) as finder:
        yield finder


def _stored_work(order: JobOrder, stop: threading.Event, names: Sequence[str]) -> StoredWork | None:
    if not order.keeps_all:
        return None
    from kiwiresearch.workspace.workspace import store_of

    kept = StoredWork(store_of(order.open_workspace()), order.holder, order.job, order.out, names)
    kept.stop = stop
    return kept


def store_progress(order: JobOrder, told: dict[str, Any]) -> None:
    """Write down what must be known if this process is killed in its next moment."""
    from kiwiresearch.workspace.workspace import store_of

    if not order.job:
        return
    try:
        store_of(order.open_workspace()).jobs.report_progress(order.holder, order.job, told)
    except LeaseLost as problem:
        raise JobLost from problem
    except StoreUnreachable:  # it is told again with the next step, and at the end
        pass


@contextlib.contextmanager
def _exclusively(order: JobOrder) -> Iterator[None]:
    """Nobody else on this machine works on the same job, not even a process that has lost its worker."""
    lock = FolderLock(order.folders.state / LOCKS / f"{order.job}.lock")
    while True:
        if not lock.wait(TIMEOUT_S):
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


def answer_all(order: JobOrder, wish: QuestionsRequest, tell: EventListener, kept: StoredWork | None) -> dict[str, Any]:
    """Answer what is not answered yet, into a file with one line for each question, as `ask --batch` writes them."""
    is_in_store = kept is not None and kept.restore()
    if (order.out / ANSWERS).is_file():
        if kept is not None:
            _hand_in(order, kept, is_in_store=is_in_store)  # killed just before or after it was
        return {"pages": _count(wish)}
    hidden = order.out / WORK_FOLDER
    with reporting_write_errors(order.out):
        hidden.mkdir(parents=True, exist_ok=True)
    part = GrowingFile(hidden / UNFINISHED_ANSWERS)
    try:
        before = _whole_lines(part)
        with open_finder(order, tell) as finder:
            asker = Asker(finder, order.settings.ask)
            mode = next(mode for mode in MODES if mode == wish.mode)
            ask = AskOptions(mode, wish.passages, with_model=wish.model)
            tell(event="stage", stage="answering")
            rows = [(number, row) for number, row in enumerate(wish.rows, start=1) if row.strip()]
            for count, (number, row) in enumerate(rows[before:], start=before + 1):
                told = answer_row(row, number, asker, finder.citation_url, ask).record
                part.append((canonical_json(told) + "\n").encode("utf-8", "replace"))
                if kept is not None:
                    kept.copy()
                tell(event="answer", order=count, question=told["question"], grounded=told["grounded"])
        part.sync()
    finally:
        part.close()
    with reporting_write_errors(order.out):
        (hidden / UNFINISHED_ANSWERS).replace(order.out / ANSWERS)
        hidden.rmdir()
    story = _story(order.out / ANSWERS, len(rows))
    if kept is not None:
        _hand_in(order, kept, is_in_store=False)
    return {"pages": len(rows), "kept": before, "story": story}


def _hand_in(order: JobOrder, kept: StoredWork, *, is_in_store: bool) -> None:
    """Have the answers in the store alone: there they are read."""
    if not is_in_store:
        kept.finish([ANSWERS])
    shutil.rmtree(order.out, ignore_errors=True)


def _story(answers: Path, rows: int) -> str:
    """How many questions there were, and how many lines were none."""
    failed = answers.read_bytes().count(b'"error":')  # within a text the quotation marks would be escaped
    if failed:
        return f"{rows - failed:,} of {rows:,} questions were answered; 'error' says what is wrong with the others."
    return f"{rows:,} questions were answered." if rows != 1 else "1 question was answered."


def _count(wish: QuestionsRequest) -> int:
    return sum(1 for row in wish.rows if row.strip())


def _whole_lines(part: GrowingFile) -> int:
    """How many answers there are from before; half a line, of which a kill made an end, is cut off."""
    text = Path(part.path).read_bytes()
    part.truncate(text.rfind(b"\n") + 1)
    return text.count(b"\n")


PROCESSES = 1
"""A job has the share of a machine that one job has; a worker does several at once."""


def write_tables(order: JobOrder, wish: BulkRequest, tell: EventListener) -> dict[str, Any]:
    """Fill the folder of the job, or what is left to fill of it."""
    from kiwiresearch.bulk.run import write_book

    book = order.books[0]
    if book.source.is_served:
        raise NotOffered(
            f"The book {book.title or book.name!r} is on a server, which does not list its articles.",
            remedy="Put the ZIM file itself on the shelf of a worker.",
        )
    order.open_workspace().opener.open(book.source).close()
    kept = 0

    def step(progress: BulkProgress) -> None:
        nonlocal kept
        kept = progress.resumed
        store_progress(order, {"pages": progress.done})  # who has lost the job writes no more of it
        tell(event="batch", order=progress.done, of=progress.total, errors=progress.errors)

    tell(event="stage", stage="writing")
    written = write_book(book.source.path, wish.what, order.out, version=__version__, workers=PROCESSES, tell=step)
    rows = ", ".join(f"{table.rows:,} {name}" for name, table in sorted(written.manifest.tables.items()))
    return {"kept": kept, "story": f"{book.title or book.name}: {rows}."}
