"""The work of a family job: continuing a case, or importing a family file uploaded to it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from kiwiresearch.cases import Case, case_place, import_gedcom, open_registry, plugins_folder, rewording_errors
from kiwiresearch.errors import BookNotFound, RunNotFound
from kiwiresearch.jobs.job import FamilyRequest
from kiwiresearch.jobs.process import EventListener, JobOrder
from kiwiresearch.runs import RunOutcome
from kiwiresearch.workspace import Finder, Workspace
from kiwiresearch.zim import ListedBook, Shelf

TIMEOUT_S = 30.0
"""How long to wait for the process that worked on the case before: even without its server it finishes its step."""


def work_on_case(order: JobOrder, request: FamilyRequest, report: EventListener) -> RunOutcome:
    """Do the requested work on the case; events never name a person who may be living."""
    workspace = order.open_workspace()
    with closing(open_registry(workspace)) as cases:
        place = cases.place(request.case) if workspace.settings.store.strip() else case_place(order.out)
        with (
            rewording_errors(place.without_names),
            Case.open(place, plugins=plugins_folder(workspace), alone_s=TIMEOUT_S) as case,
            rewording_errors(lambda text: case.mask("public").text(text)),
        ):
            return _do_request(case, workspace, order, request, report)


def _do_request(
    case: Case, workspace: Workspace, order: JobOrder, request: FamilyRequest, report: EventListener
) -> RunOutcome:
    if request.upload:
        return _import_file(case, request.upload, report)
    with (
        Shelf(case_books(case, order.books), workspace.opener) as shelf,
        Finder(workspace, shelf, all_books=True) as finder,
    ):
        case.finder, case.with_model = finder, request.model
        return _take_steps(case, request.steps, report)


def case_books(case: Case, books: Sequence[ListedBook]) -> tuple[ListedBook, ...]:
    """The books that the case was started with; all books if it names none."""
    wanted = set(case.settings.books)
    found = tuple(book for book in books if not wanted or book.id in wanted)
    if not found:
        raise BookNotFound(
            "No book that this case was begun with is on this server.", remedy="Add it to the shelf, or begin again."
        )
    return found


def _take_steps(case: Case, steps: int, report: EventListener) -> RunOutcome:
    story, count = "", 0
    for took in case.steps():
        story = took.sentence
        if took.what != "stop":
            count += 1
        waiting = sum(case.store.queues.sizes().values())
        fields: dict[str, Any] = {"what": took.what, "words": took.sentence, "new": took.new, "reason": took.reason}
        report(event="step", order=count, waiting=waiting, **fields)
        if count == steps:
            break
    return RunOutcome(case.place.folder, "", count, "done", story=story)


def _import_file(case: Case, digest: str, report: EventListener) -> RunOutcome:
    with case.place.stored_file(digest) as file:
        if file is None:
            raise RunNotFound("The family file is no longer there.", remedy="Send it again.")
        report(event="stage", stage="reading")
        with rewording_errors(partial(_unnamed, file)):
            done = import_gedcom(case.store, file)
    report(event="stage", stage="resolving")
    merged = len(case.reevaluate().merged)
    case.place.drop_file(digest)
    story = f"{done.people:,} people, {done.new_people:,} of them new; {done.facts:,} statements, {done.ties:,} ties; "
    story += f"{merged:,} merged; {len(done.notes):,} lines could not be read."
    return RunOutcome(case.place.folder, "", 0, "done", story=story)


def _unnamed(file: Path, text: str) -> str:
    """A message without the name of the file: it may be the name of a living person."""
    return text.replace(repr(str(file)), "The file").replace(repr(file.name), "The file")
