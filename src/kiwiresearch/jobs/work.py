"""The work of a job, by its kind: a research run, a batch of questions, tables of a book."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.ask import MODES, AskOptions
from kiwiresearch.crawl import EndStep
from kiwiresearch.errors import FolderInUse, LeaseLost, NotOffered, StoreUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.jobs.job import BulkRequest, FamilyRequest, QuestionsRequest, ResearchRequest, research_task
from kiwiresearch.jobs.process import EventListener, JobOrder
from kiwiresearch.runs import (
    MANIFEST,
    PARTS,
    STEPS,
    TIMINGS,
    WORK_FOLDER,
    FolderLock,
    GrowingFile,
    JobFilesCopy,
    JobLost,
    Research,
    RunProgress,
    WorkStopped,
    read_manifest,
    reporting_write_errors,
    step_event,
)
from kiwiresearch.version import __version__
from kiwiresearch.workspace import ANSWERS, UNFINISHED_ANSWERS, Asker, Finder, answer_row, store_of
from kiwiresearch.zim import Shelf

if TYPE_CHECKING:
    from kiwiresearch.bulk import BulkProgress

LOCKS = "working"
TIMEOUT_S = 20.0
"""How long a job waits for an earlier process that has lost its worker and is about to exit."""


def do_order(order: JobOrder, report: EventListener, stop: threading.Event) -> dict[str, Any]:
    """Carry out an order and report each step; returns the details for the end of the job."""

    def report_unless_stopped(**event: Any) -> None:
        report(**event)
        if stop.is_set():
            raise WorkStopped

    with _exclusively(order):
        report_unless_stopped(event="stage", stage="opening")
        if not order.request.model:
            order = replace(order, settings=replace(order.settings, model_url=""))
        match order.request:
            case ResearchRequest() as request:
                return _research(order, request, report_unless_stopped, stop)
            case FamilyRequest() as request:
                return _family(order, request, report_unless_stopped)
            case QuestionsRequest() as request:
                return answer_all(order, request, report_unless_stopped, _stored_work(order, stop, ("answers",)))
            case BulkRequest() as request:
                return write_tables(order, request, report_unless_stopped)


def _research(
    order: JobOrder, request: ResearchRequest, report: EventListener, stop: threading.Event
) -> dict[str, Any]:
    stored_work = _stored_work(order, stop, (STEPS, *PARTS))
    if stored_work is not None and stored_work.restore():
        return {"how": "was finished"}

    def step(progress: RunProgress) -> None:
        if stored_work is not None:
            stored_work.copy()
        report(**step_event(progress))
        if isinstance(progress.step, EndStep):
            report(event="stage", stage="writing")

    with open_finder(order, report) as finder:
        work = Research(finder, replace(research_task(request, order.settings), missing=order.missing))
        report(event="stage", stage="gathering")
        made = work.run(order.out, step)
    done: dict[str, Any] = {"pages": made.pages, "how": made.how}
    if made.how != "was finished":
        done |= {"kept": made.resumed_pages, "story": made.story}
    if stored_work is not None:
        store_progress(order, done)
        names = [*read_manifest(order.out).outputs, MANIFEST, TIMINGS]
        stored_work.finish([name for name in names if (order.out / name).is_file()])
    return done


def _family(order: JobOrder, request: FamilyRequest, report: EventListener) -> dict[str, Any]:
    """Continue a case; steps that an earlier attempt took are not taken again."""
    from kiwiresearch.jobs.family_work import work_on_case

    if request.steps and order.done >= request.steps:
        return {"pages": order.done}

    def step(**event: Any) -> None:
        if "order" in event:
            event["order"] += order.done
            store_progress(order, {"pages": event["order"]})
        report(**event)

    made = work_on_case(order, replace(request, steps=request.steps and request.steps - order.done), step)
    return {"pages": order.done + made.pages, "kept": order.done, "how": made.how, "story": made.story}


@contextlib.contextmanager
def open_finder(order: JobOrder, report: EventListener) -> Iterator[Finder]:
    """A finder over the books of an order; messages about them are reported without local paths."""
    workspace = order.open_workspace()
    workspace.opener.say = lambda text: report(event="note", text=order.without_paths(text))
    with (
        Shelf(order.books, workspace.opener) as shelf,
        Finder(workspace, shelf, all_books=order.search_in_full) as finder,
    ):
        yield finder


def _stored_work(order: JobOrder, stop: threading.Event, names: Sequence[str]) -> JobFilesCopy | None:
    if not order.is_copied_to_store:
        return None
    stored_work = JobFilesCopy(store_of(order.open_workspace()), order.holder, order.job, order.out, names)
    stored_work.stop = stop
    return stored_work


def store_progress(order: JobOrder, progress: dict[str, Any]) -> None:
    """Store progress that must not be lost even if this process is killed right after."""
    if not order.job:
        return
    try:
        store_of(order.open_workspace()).jobs.report_progress(order.holder, order.job, progress)
    except LeaseLost as problem:
        raise JobLost from problem
    except StoreUnreachable:  # stored again with the next step, and at the end
        pass


@contextlib.contextmanager
def _exclusively(order: JobOrder) -> Iterator[None]:
    """Keep other processes of this machine off the same job, even one that has lost its worker."""
    lock = FolderLock(order.folders.state / LOCKS / f"{order.job}.lock")
    while True:
        if not lock.wait(TIMEOUT_S):
            raise FolderInUse(
                f"Another process works on the job {order.job!r}.", remedy="Start it again when it ended."
            )
        if lock.is_current():
            break
        lock.release()  # the previous holder removed the file: others would lock a new one
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows cannot remove an open file
            lock.path.unlink(missing_ok=True)
        lock.release()


def answer_all(
    order: JobOrder, request: QuestionsRequest, report: EventListener, stored_work: JobFilesCopy | None
) -> dict[str, Any]:
    """Answer the remaining questions into a file with one JSON line each, as `ask --batch` writes them."""
    is_in_store = stored_work is not None and stored_work.restore()
    if (order.out / ANSWERS).is_file():
        if stored_work is not None:
            _hand_in(order, stored_work, is_in_store=is_in_store)  # it was killed just before or after this
        return {"pages": sum(1 for row in request.rows if row.strip())}
    hidden = order.out / WORK_FOLDER
    with reporting_write_errors(order.out):
        hidden.mkdir(parents=True, exist_ok=True)
    part = GrowingFile(hidden / UNFINISHED_ANSWERS)
    try:
        before = _whole_lines(part)
        with open_finder(order, report) as finder:
            asker = Asker(finder, order.settings.ask)
            mode = next(mode for mode in MODES if mode == request.mode)
            ask = AskOptions(mode, request.passages, with_model=request.model)
            report(event="stage", stage="answering")
            rows = [(number, row) for number, row in enumerate(request.rows, start=1) if row.strip()]
            for count, (number, row) in enumerate(rows[before:], start=before + 1):
                answer = answer_row(row, number, asker, finder.citation_url, ask).record
                part.append((canonical_json(answer) + "\n").encode("utf-8", "replace"))
                if stored_work is not None:
                    stored_work.copy()
                report(event="answer", order=count, question=answer["question"], grounded=answer["grounded"])
        part.sync()
    finally:
        part.close()
    with reporting_write_errors(order.out):
        (hidden / UNFINISHED_ANSWERS).replace(order.out / ANSWERS)
        hidden.rmdir()
    story = _story(order.out / ANSWERS, len(rows))
    if stored_work is not None:
        _hand_in(order, stored_work, is_in_store=False)
    return {"pages": len(rows), "kept": before, "story": story}


def _hand_in(order: JobOrder, stored_work: JobFilesCopy, *, is_in_store: bool) -> None:
    """Move the answers into the store, where they are read."""
    if not is_in_store:
        stored_work.finish([ANSWERS])
    shutil.rmtree(order.out, ignore_errors=True)


def _story(answers: Path, rows: int) -> str:
    """A sentence with the number of answered questions, and of lines with an error."""
    failed = answers.read_bytes().count(b'"error":')  # inside a JSON string the quotation marks would be escaped
    if failed:
        return f"{rows - failed:,} of {rows:,} questions were answered; 'error' says what is wrong with the others."
    return f"{rows:,} questions were answered." if rows != 1 else "1 question was answered."


def _whole_lines(part: GrowingFile) -> int:
    """How many answers an earlier attempt wrote; an incomplete last line is cut off."""
    text = Path(part.path).read_bytes()
    part.truncate(text.rfind(b"\n") + 1)
    return text.count(b"\n")


PROCESSES = 1
"""One job has one process; a worker runs several jobs at once."""


def write_tables(order: JobOrder, request: BulkRequest, report: EventListener) -> dict[str, Any]:
    """Write the tables of a book into the folder of the job, or those still missing."""
    from kiwiresearch.bulk import write_book

    book = order.books[0]
    if book.source.is_served:
        raise NotOffered(
            f"The book {book.title or book.name!r} is on a server, which does not list its articles.",
            remedy="Put the ZIM file itself on the shelf of a worker.",
        )
    order.open_workspace().opener.open(book.source).close()
    resumed = 0

    def step(progress: BulkProgress) -> None:
        nonlocal resumed
        resumed = progress.resumed
        store_progress(order, {"pages": progress.done})  # raises if the worker has lost the job
        report(event="batch", order=progress.done, of=progress.total, errors=progress.errors)

    report(event="stage", stage="writing")
    written = write_book(book.source.path, request.what, order.out, version=__version__, workers=PROCESSES, tell=step)
    rows = ", ".join(f"{table.rows:,} {name}" for name, table in sorted(written.manifest.tables.items()))
    return {"kept": resumed, "story": f"{book.title or book.name}: {rows}."}
