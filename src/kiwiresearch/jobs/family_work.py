"""The work of a family job: continuing a case, or importing a family file uploaded to it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kiwiresearch.cases import (
    Case,
    import_gedcom,
    is_imported,
    keep_media,
    location_of,
    open_registry,
    plugins_folder,
    proposed_merges,
    rewording_errors,
)
from kiwiresearch.errors import BadUsage, BookNotFound, RunNotFound
from kiwiresearch.jobs.job import FamilyRequest
from kiwiresearch.jobs.process import EventListener, JobSpec
from kiwiresearch.workspace import Finder, Workspace
from kiwiresearch.zim import ListedBook, Shelf

CASE_TIMEOUT_S = 30.0
"""How long to wait for the process that worked on the case before: even without its server it finishes its step."""


@dataclass(frozen=True, slots=True)
class FamilyOutcome:
    """How many steps were taken, and what came of them in a sentence."""

    steps: int
    story: str


def work_on_case(spec: JobSpec, request: FamilyRequest, on_event: EventListener) -> FamilyOutcome:
    """Do the requested work on the case; events never name a person who may be living."""
    workspace = spec.open_workspace()
    with closing(open_registry(workspace)) as cases:
        location = cases.location(request.case) if workspace.settings.is_shared_store else location_of(spec.folder)
        with (
            rewording_errors(location.without_names),
            Case.open(location, plugins=plugins_folder(workspace), for_changes=True, wait_s=CASE_TIMEOUT_S) as case,
            rewording_errors(lambda text: case.mask("public").text(text)),
        ):
            return _do_request(case, workspace, spec, request, on_event)


def _do_request(
    case: Case, workspace: Workspace, spec: JobSpec, request: FamilyRequest, on_event: EventListener
) -> FamilyOutcome:
    if request.upload:
        return _import_file(case, request.upload, on_event)
    with (
        Shelf(case_books(case, spec.books), workspace.opener) as shelf,
        Finder(workspace, shelf, search_every_book=True) as finder,
    ):
        case.finder, case.with_model = finder, request.model
        return _take_steps(case, request.steps, on_event)


def case_books(case: Case, books: Sequence[ListedBook]) -> tuple[ListedBook, ...]:
    """The books that the case was started with; all books if it names none."""
    wanted = set(case.settings.books)
    found = tuple(book for book in books if not wanted or book.id in wanted)
    if not found:
        raise BookNotFound(
            "None of this family's books are on this server.",
            remedy="Add the books to the library, or start the research again.",
        )
    return found


def _take_steps(case: Case, steps: int, on_event: EventListener) -> FamilyOutcome:
    story, count = "", 0
    for result in case.steps():
        story = result.sentence
        if result.what != "stop":
            count += 1
        waiting = sum(case.store.queues.sizes().values())
        fields: dict[str, Any] = {
            "what": result.what,
            "words": result.sentence,
            "new": result.new,
            "reason": result.reason,
        }
        on_event(event="step", order=count, waiting=waiting, **fields)
        if count == steps:
            break
    return FamilyOutcome(count, story)


def _import_file(case: Case, digest: str, on_event: EventListener) -> FamilyOutcome:
    with case.location.opened_upload(digest) as file:
        # The same file was uploaded twice, or this is a second try of a job whose process was killed at its end.
        if file is None and is_imported(case.store, digest):
            return FamilyOutcome(0, "The file was imported before.")
        if file is None:
            raise RunNotFound("The family file was not found.", remedy="Upload it again.")
        on_event(event="stage", stage="reading")
        with rewording_errors(partial(_without_file_name, file)):
            try:
                done = import_gedcom(case.store, file)
            except BadUsage:  # reading it again would not help
                case.location.drop_upload(digest)
                raise
            keep_media(case.location, done.media)
    on_event(event="stage", stage="resolving")
    case.reevaluate()
    case.location.drop_upload(digest)
    story = f"{done.people:,} people, {done.new_people:,} of them new; {done.facts:,} facts, "
    story += f"{done.ties:,} relationships; {done.kept:,} other lines kept; "
    story += f"{len(proposed_merges(case)):,} possible duplicates to review; {len(done.notes):,} notes."
    return FamilyOutcome(0, story)


def _without_file_name(file: Path, text: str) -> str:
    """A message without the name of the file: it may be the name of a living person."""
    return text.replace(repr(str(file)), "The file").replace(repr(file.name), "The file")
