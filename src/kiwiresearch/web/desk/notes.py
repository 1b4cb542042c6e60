"""Notes of readers on a run: their targets, their page, and the forms that write, change, remove and restore them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Annotated, cast

from fastapi import APIRouter, Form, Path, Query, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from kiwiresearch.errors import CannotWrite, KiwiError, NoteChanged
from kiwiresearch.jobs import JobQueue
from kiwiresearch.runs import (
    MAX_REASON,
    MAX_TARGET,
    VERDICTS,
    Note,
    NoteOpinion,
    NoteProblem,
    NoteVerdict,
    opinion_problem,
)
from kiwiresearch.web.addresses import safe_return_address
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.pages import HEADERS, ListPlace, PageRenderer, list_page, redirect
from kiwiresearch.web.guard import RoleRouter, requires_role
from kiwiresearch.web.notes import NotesTarget, named_target, rewrite_note, run_target, set_removed, write_note
from kiwiresearch.web.run_view import RunView, run_views


@dataclass(frozen=True, slots=True)
class TargetNotes:
    """The notes on one target, and those that were removed."""

    there: tuple[Note, ...]
    gone: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.there)


@dataclass(frozen=True, slots=True)
class NoteForm:
    """The typed values of a note's form, valid or not."""

    verdict: str = ""
    reason: str = ""
    correction: str = ""

    @property
    def lack(self) -> NoteProblem:
        return opinion_problem(self.verdict, self.reason, self.correction)

    def opinion(self) -> NoteOpinion:
        return NoteOpinion(cast("NoteVerdict", self.verdict), self.reason, self.correction)


@dataclass(frozen=True, slots=True)
class NoteSubmission:
    """A submitted form: its text, its target, its page, and whether a script sent it."""

    target: NotesTarget
    typed: NoteForm
    back: str
    in_place: bool
    note: Note | None = None
    """The note that it changes, if it is not a new one."""
    seen: str = ""
    """The version of that note that was shown for editing."""


@dataclass(frozen=True, slots=True)
class NoteFailure:
    """Why a note was not saved, and the remedy."""

    words: str
    status: int
    language: str = ""
    """The language of the words, if it is not the reader's."""


def notes_for(run: RunView, target: NotesTarget) -> TargetNotes:
    """The notes on a target, for `notes_section.html`."""
    found = run.notes
    gone = tuple(note for note in found.gone if note.target == target.target)
    return TargetNotes(found.notes_on(target.target), gone)


def target_of(run: RunView, note: Note) -> NotesTarget:
    """The target of a note; in the words of the note itself if the run no longer has it."""
    try:
        return named_target(run, note.target.kind, note.target.id)
    except KiwiError:  # the run has been changed or made again
        return NotesTarget(note.target.kind, note.target.id, note.about or note.target.id)


NOTES_PER_PAGE = 50
MAX_PAGES = 100_000
ANCHOR = "#notes"

RunId = Annotated[str, Path(max_length=255)]
NoteId = Annotated[str, Path(max_length=100)]
# Longer than a note may be, so that a text that is too long is shown again instead of just being refused.
Text = Annotated[str, Form(max_length=10 * MAX_REASON)]
Word = Annotated[str, Form(max_length=20)]
TargetId = Annotated[str, Form(max_length=MAX_TARGET)]
Back = Annotated[str, Form(max_length=MAX_TARGET)]
InPlace = Annotated[bool, Form()]


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The page of all notes on a run, and the routes of the forms."""
    routes = RoleRouter("reader", include_in_schema=False)
    runs = run_views(context, jobs)

    @routes.get("/runs/{run_id}/notes")
    def all_notes(
        request: Request,
        run_id: RunId,
        verdict: Annotated[str, Query(max_length=20)] = "",
        page: Annotated[int, Query(ge=1, le=MAX_PAGES)] = 1,
    ) -> Response:
        return _list(pages, request, runs.get(run_id), verdict if verdict in VERDICTS else "", page)

    @routes.post("/runs/{run_id}/notes")
    @requires_role("researcher", "note")
    def write(
        request: Request,
        run_id: RunId,
        kind: Word = "",
        target: TargetId = "",
        verdict: Word = "",
        reason: Text = "",
        correction: Text = "",
        back: Back = "",
        *,
        in_place: InPlace = False,
    ) -> Response:
        run = runs.get(run_id)
        sent = NoteSubmission(named_target(run, kind, target), NoteForm(verdict, reason, correction), back, in_place)
        return _save(pages, request, run, sent)

    @routes.post("/runs/{run_id}/notes/{note_id}")
    @requires_role("researcher", "note")
    def change(
        request: Request,
        run_id: RunId,
        note_id: NoteId,
        verdict: Word = "",
        reason: Text = "",
        correction: Text = "",
        back: Back = "",
        seen: Word = "",
        *,
        in_place: InPlace = False,
    ) -> Response:
        run = runs.get(run_id)
        note = run.notes.get(note_id)
        sent = NoteSubmission(target_of(run, note), NoteForm(verdict, reason, correction), back, in_place, note, seen)
        return _save(pages, request, run, sent)

    _add_removal(routes, context, jobs, pages)
    return routes


def _add_removal(routes: APIRouter, context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> None:
    runs = run_views(context, jobs)

    def step(request: Request, run_id: str, note_id: str, back: str, *, in_place: bool, gone: bool) -> Response:
        run = runs.get(run_id)
        note = set_removed(run, note_id, gone=gone)
        return _done(pages, request, run, NoteSubmission(target_of(run, note), NoteForm(), back, in_place))

    @routes.post("/runs/{run_id}/notes/{note_id}/remove")
    @requires_role("researcher", "note")
    def remove(
        request: Request, run_id: RunId, note_id: NoteId, back: Back = "", *, in_place: InPlace = False
    ) -> Response:
        return step(request, run_id, note_id, back, in_place=in_place, gone=True)

    @routes.post("/runs/{run_id}/notes/{note_id}/restore")
    @requires_role("researcher", "note")
    def restore(
        request: Request, run_id: RunId, note_id: NoteId, back: Back = "", *, in_place: InPlace = False
    ) -> Response:
        return step(request, run_id, note_id, back, in_place=in_place, gone=False)


def _list(pages: PageRenderer, request: Request, run: RunView, verdict: str, number: int) -> Response:
    found = run.notes
    fitting = [note for note in reversed(found.notes) if not verdict or note.verdict == verdict]
    shown = list_page(fitting, number, ListPlace(run.url("notes"), {"verdict": verdict}, "page"), NOTES_PER_PAGE)
    return pages.show(
        request,
        "notes.html",
        run=run,
        tab="notes",
        found=found,
        shown=shown,
        rows=[(note, target_of(run, note)) for note in shown.rows],
        gone=[(note, target_of(run, note)) for note in reversed(found.gone)][:NOTES_PER_PAGE],
        counts=Counter(note.verdict for note in found.notes),
        verdict=verdict,
        verdicts=VERDICTS,
        notes_target=run_target(run),
        typed=NoteForm(),
    )


def _save(pages: PageRenderer, request: Request, run: RunView, sent: NoteSubmission) -> Response:
    """Save a note, or show the form again with the fault."""
    if sent.typed.lack:
        problem = catalogue_for(request)(f"notes.lacks.{sent.typed.lack}", most=MAX_REASON)
        return _returned_form(pages, request, run, sent, NoteFailure(problem, 400))
    opinion = sent.typed.opinion()
    try:
        if sent.note:
            rewrite_note(run, sent.note.id, opinion, sent.seen)
        else:
            write_note(run, sent.target, opinion)
    except NoteChanged:
        sent = replace(sent, note=sent.note and run.notes.get(sent.note.id))
        return _returned_form(pages, request, run, sent, NoteFailure(catalogue_for(request)("notes.late"), 409))
    except CannotWrite as problem:
        return _returned_form(pages, request, run, sent, NoteFailure(str(problem), 503, "en"))
    return _done(pages, request, run, sent)


def _returned_form(
    pages: PageRenderer, request: Request, run: RunView, sent: NoteSubmission, trouble: NoteFailure
) -> Response:
    if sent.in_place:
        return PlainTextResponse(trouble.words, trouble.status, HEADERS)
    return pages.show(
        request,
        "notes_form.html",
        status=trouble.status,
        run=run,
        tab="notes",
        trouble=trouble,
        note=sent.note,
        typed=sent.typed,
        notes_target=sent.target,
        notes_back=safe_return_address(sent.back) if sent.back else run.url("notes"),
    )


def _done(pages: PageRenderer, request: Request, run: RunView, sent: NoteSubmission) -> Response:
    back = safe_return_address(sent.back) if sent.back else run.url("notes")
    if not sent.in_place:
        return redirect(back + ANCHOR)
    notes = notes_for(run, sent.target)
    part = pages.render(request, "notes_list.html", run=run, notes_target=sent.target, notes=notes, notes_back=back)
    return HTMLResponse(part, headers=HEADERS)
