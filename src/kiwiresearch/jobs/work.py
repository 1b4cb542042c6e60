"""The work of a job, by its kind: a research run, a batch of questions, tables of a book."""

from __future__ import annotations

import contextlib
import shutil
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.codec import OMIT_DEFAULT, JsonDict, plain
from kiwiresearch.crawl import EndStep
from kiwiresearch.errors import FolderInUse, LeaseLost, NotOffered, StoreUnreachable
from kiwiresearch.ids import canonical_json
from kiwiresearch.jobs.job import BulkRequest, FamilyRequest, QuestionsRequest, ResearchRequest, research_task
from kiwiresearch.jobs.process import EventListener, JobSpec
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
    RunEnding,
    RunProgress,
    WorkStopped,
    read_manifest,
    reporting_write_errors,
    step_event,
)
from kiwiresearch.version import __version__
from kiwiresearch.workspace import ANSWERS, UNFINISHED_ANSWERS, Finder, store_of
from kiwiresearch.zim import Shelf

if TYPE_CHECKING:
    from kiwiresearch.bulk import BulkProgress

LOCKS = "working"
LOCK_TIMEOUT_S = 20.0
"""How long a job waits for an earlier process that has lost its worker and is about to exit."""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The details for the end of a job; only those that are known are stored."""

    pages: int | None = field(default=None, metadata=OMIT_DEFAULT)
    kept: int | None = field(default=None, metadata=OMIT_DEFAULT)
    """How many of the pages or answers existed before it was resumed."""
    story: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """A summary in a sentence."""
    how: RunEnding | None = field(default=None, metadata=OMIT_DEFAULT)


def run_job(spec: JobSpec, on_event: EventListener, stop: threading.Event) -> JobResult:
    """Do a job and report each step."""

    def on_event_or_stop(**event: Any) -> None:
        on_event(**event)
        if stop.is_set():
            raise WorkStopped

    with _exclusively(spec):
        on_event_or_stop(event="stage", stage="opening")
        if not spec.request.model:
            spec = replace(spec, settings=replace(spec.settings, model_url=""))
        match spec.request:
            case ResearchRequest() as request:
                return _research(spec, request, on_event_or_stop, stop)
            case FamilyRequest() as request:
                return _family(spec, request, on_event_or_stop)
            case QuestionsRequest() as request:
                return answer_all(spec, request, on_event_or_stop, _stored_work(spec, stop, ("answers",)))
            case BulkRequest() as request:
                return write_tables(spec, request, on_event_or_stop)


def _research(spec: JobSpec, request: ResearchRequest, on_event: EventListener, stop: threading.Event) -> JobResult:
    stored_work = _stored_work(spec, stop, (STEPS, *PARTS))
    if stored_work is not None and stored_work.restore():
        return JobResult(how="was finished")

    def step(progress: RunProgress) -> None:
        if stored_work is not None:
            stored_work.copy()
        on_event(**step_event(progress))
        if isinstance(progress.step, EndStep):
            on_event(event="stage", stage="writing")

    with open_finder(spec, on_event) as finder:
        work = Research(finder, replace(research_task(request, spec.settings), missing=spec.missing))
        on_event(event="stage", stage="writing" if request.read_no_more else "gathering")
        outcome = work.run(spec.folder, step, read_no_more=request.read_no_more)
    result = JobResult(outcome.pages, how=outcome.how)
    if outcome.how != "was finished":
        result = replace(result, kept=outcome.resumed_pages, story=outcome.story)
    if stored_work is not None:
        store_progress(spec, plain(result))
        names = [*read_manifest(spec.folder).outputs, MANIFEST, TIMINGS]
        stored_work.finish([name for name in names if (spec.folder / name).is_file()])
    return result


def _family(spec: JobSpec, request: FamilyRequest, on_event: EventListener) -> JobResult:
    """Continue a case; steps that an earlier attempt took are not taken again."""
    from kiwiresearch.jobs.family_work import work_on_case

    if request.steps and spec.steps_done >= request.steps:
        return JobResult(spec.steps_done)

    def step(**event: Any) -> None:
        if "order" in event:
            event["order"] += spec.steps_done
            store_progress(spec, {"pages": event["order"]})
        on_event(**event)

    # 0 steps stay 0, which means no limit.
    outcome = work_on_case(spec, replace(request, steps=request.steps and request.steps - spec.steps_done), step)
    return JobResult(spec.steps_done + outcome.steps, spec.steps_done, outcome.story, "done")


@contextlib.contextmanager
def open_finder(spec: JobSpec, on_event: EventListener) -> Iterator[Finder]:
    """A finder over the books of a job; messages about them are reported without local paths."""
    workspace = spec.open_workspace()
    workspace.opener.say = lambda text: on_event(event="note", text=spec.without_paths(text))
    with (
        Shelf(spec.books, workspace.opener) as shelf,
        Finder(workspace, shelf, search_every_book=spec.search_every_book) as finder,
    ):
        yield finder


def _stored_work(spec: JobSpec, stop: threading.Event, names: Sequence[str]) -> JobFilesCopy | None:
    if not spec.settings.is_shared_store:
        return None
    stored_work = JobFilesCopy(store_of(spec.open_workspace()), spec.holder, spec.job, spec.folder, names)
    stored_work.stop = stop
    return stored_work


def store_progress(spec: JobSpec, progress: JsonDict) -> None:
    """Store progress that must not be lost even if this process is killed right after."""
    if not spec.job:
        return
    try:
        store_of(spec.open_workspace()).jobs.report_progress(spec.holder, spec.job, progress)
    except LeaseLost as problem:
        raise JobLost from problem
    except StoreUnreachable:  # stored again with the next step, and at the end
        pass


@contextlib.contextmanager
def _exclusively(spec: JobSpec) -> Iterator[None]:
    """Keep other processes of this machine off the same job, even one that has lost its worker."""
    lock = FolderLock(spec.folders.state / LOCKS / f"{spec.job}.lock")
    while True:
        if not lock.wait(LOCK_TIMEOUT_S):
            raise FolderInUse(
                f"Another process is working on the job {spec.job!r}.",
                remedy="Resume the job when that process has ended.",
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
    spec: JobSpec, request: QuestionsRequest, on_event: EventListener, stored_work: JobFilesCopy | None
) -> JobResult:
    """Answer the remaining questions into a file with one JSON line each, as `ask --batch` writes them."""
    # Loads all rules for answers, which other jobs do not need.
    from kiwiresearch.ask import ASK_MODES, AskOptions
    from kiwiresearch.workspace import Asker, answer_row

    is_in_store = stored_work is not None and stored_work.restore()
    if (spec.folder / ANSWERS).is_file():
        if stored_work is not None:
            _store_answers(spec, stored_work, is_in_store=is_in_store)  # it was killed just before or after this
        return JobResult(sum(1 for row in request.rows if row.strip()))
    hidden = spec.folder / WORK_FOLDER
    with reporting_write_errors(spec.folder):
        hidden.mkdir(parents=True, exist_ok=True)
        (hidden / UNFINISHED_ANSWERS).touch(mode=0o600)  # nobody else may read what a user asked
    part = GrowingFile(hidden / UNFINISHED_ANSWERS)
    try:
        before = _cut_incomplete_line(part)
        with open_finder(spec, on_event) as finder:
            asker = Asker(finder, spec.settings.ask)
            mode = next(mode for mode in ASK_MODES if mode == request.mode)
            ask = AskOptions(mode, request.passages, with_model=request.model)
            on_event(event="stage", stage="answering")
            rows = [(number, row) for number, row in enumerate(request.rows, start=1) if row.strip()]
            for count, (number, row) in enumerate(rows[before:], start=before + 1):
                answer = answer_row(row, number, asker, finder.citation_url, ask).record
                part.append((canonical_json(answer) + "\n").encode("utf-8", "replace"))
                if stored_work is not None:
                    stored_work.copy()
                on_event(event="answer", order=count, question=answer["question"], grounded=answer["grounded"])
        part.sync()
    finally:
        part.close()
    with reporting_write_errors(spec.folder):
        # Only once all answers are on the disk: the file of this name is taken for complete.
        (hidden / UNFINISHED_ANSWERS).replace(spec.folder / ANSWERS)
        hidden.rmdir()
    story = _story(spec.folder / ANSWERS, len(rows))
    if stored_work is not None:
        _store_answers(spec, stored_work, is_in_store=False)
    return JobResult(len(rows), before, story)


def _store_answers(spec: JobSpec, stored_work: JobFilesCopy, *, is_in_store: bool) -> None:
    """Move the answers into the store, where they are read."""
    if not is_in_store:
        stored_work.finish([ANSWERS])
    shutil.rmtree(spec.folder, ignore_errors=True)


def _story(answers: Path, rows: int) -> str:
    """A sentence with the number of answered questions, and of lines with an error."""
    failed = answers.read_bytes().count(b'"error":')  # inside a JSON string the quotation marks would be escaped
    if failed:
        return f"{rows - failed:,} of {rows:,} questions were answered. For the others, see 'error'."
    return f"{rows:,} questions were answered." if rows != 1 else "1 question was answered."


def _cut_incomplete_line(part: GrowingFile) -> int:
    """How many answers an earlier attempt wrote; an incomplete last line is cut off."""
    text = Path(part.path).read_bytes()
    part.truncate(text.rfind(b"\n") + 1)
    return text.count(b"\n")


BULK_WORKERS = 1
"""One job has one process; a worker runs several jobs at once."""


def write_tables(spec: JobSpec, request: BulkRequest, on_event: EventListener) -> JobResult:
    """Write the tables of a book into the folder of the job, or those still missing."""
    from kiwiresearch.bulk import write_book

    book = spec.books[0]
    if book.source.is_served:
        raise NotOffered(
            f"The book {book.title or book.name!r} is on a server, which cannot list its pages.",
            remedy="Add the ZIM file itself to the library on a worker.",
        )
    spec.open_workspace().opener.open(book.source).close()
    resumed = 0

    def step(progress: BulkProgress) -> None:
        nonlocal resumed
        resumed = progress.resumed
        store_progress(spec, {"pages": progress.done})  # raises if the worker has lost the job
        on_event(event="batch", order=progress.done, of=progress.total, errors=progress.errors)

    on_event(event="stage", stage="writing")
    written = write_book(
        book.source.path, request.what, spec.folder, version=__version__, workers=BULK_WORKERS, tell=step
    )
    rows = ", ".join(f"{table.rows:,} {name}" for name, table in sorted(written.manifest.tables.items()))
    return JobResult(kept=resumed, story=f"{book.title or book.name}: {rows}.")
