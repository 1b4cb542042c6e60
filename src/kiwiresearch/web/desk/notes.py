"""Notes of a reader on a run: their page, and the forms that write, change, take away and bring back.

Other pages show the notes on a claim or a page by including `notes_on.html`, with the values
`run`, `notes_target` (from `on_claim` or `on_page`) and `notes` (from `notes_for`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from kiwiresearch.errors import CannotWrite, NoteChanged
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.research.note import MOST_REASON, MOST_TARGET, VERDICTS
from kiwiresearch.research.notes import read_notes
from kiwiresearch.web.desk.note_forms import (
    NotesTarget,
    Sent,
    Trouble,
    Typed,
    named_target,
    notes_for,
    on_claim,
    on_page,
    on_run,
    target_of,
)
from kiwiresearch.web.desk.note_writing import put_away, rewritten, written
from kiwiresearch.web.desk.pages import HEADERS, Pages, go_to, own_place
from kiwiresearch.web.desk.run_frame import RunFrame, frames_of
from kiwiresearch.web.desk.words import words_for
from kiwiresearch.web.room import Room

__all__ = ["NotesTarget", "notes_for", "on_claim", "on_page", "on_run", "router"]

ON_A_PAGE = 50
MOST_PAGES = 100_000
PLACE = "#notes"

RunId = Annotated[str, Path(max_length=255)]
NoteId = Annotated[str, Path(max_length=100)]
# Longer than a note may be: what is too long comes back to whoever typed it, and is not refused unseen.
Text = Annotated[str, Form(max_length=10 * MOST_REASON)]
Word = Annotated[str, Form(max_length=20)]
TargetId = Annotated[str, Form(max_length=MOST_TARGET)]
Back = Annotated[str, Form(max_length=MOST_TARGET)]
InPlace = Annotated[bool, Form()]


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:
    """The page of all notes on a run, and what the forms do."""
    routes = APIRouter(include_in_schema=False)
    runs = frames_of(room, jobs)

    @routes.get("/runs/{run_id}/notes")
    def all_notes(
        request: Request,
        run_id: RunId,
        verdict: Annotated[str, Query(max_length=20)] = "",
        page: Annotated[int, Query(ge=1, le=MOST_PAGES)] = 1,
    ) -> Response:
        return _list(pages, request, runs.get(run_id), verdict if verdict in VERDICTS else "", page)

    @routes.post("/runs/{run_id}/notes")
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
        sent = Sent(named_target(run, kind, target), Typed(verdict, reason, correction), back, in_place)
        return _saved(pages, request, run, sent)

    @routes.post("/runs/{run_id}/notes/{note_id}")
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
        note = read_notes(run.run.path).get(note_id)
        sent = Sent(target_of(run, note), Typed(verdict, reason, correction), back, in_place, note, seen)
        return _saved(pages, request, run, sent)

    _add_going(routes, room, jobs, pages)
    return routes


def _add_going(routes: APIRouter, room: Room, jobs: Jobs, pages: Pages) -> None:
    runs = frames_of(room, jobs)

    def step(request: Request, run_id: str, note_id: str, back: str, *, in_place: bool, gone: bool) -> Response:
        run = runs.get(run_id)
        note = put_away(run, note_id, gone=gone)
        return _done(pages, request, run, Sent(target_of(run, note), Typed(), back, in_place))

    @routes.post("/runs/{run_id}/notes/{note_id}/remove")
    def remove(
        request: Request, run_id: RunId, note_id: NoteId, back: Back = "", *, in_place: InPlace = False
    ) -> Response:
        return step(request, run_id, note_id, back, in_place=in_place, gone=True)

    @routes.post("/runs/{run_id}/notes/{note_id}/restore")
    def restore(
        request: Request, run_id: RunId, note_id: NoteId, back: Back = "", *, in_place: InPlace = False
    ) -> Response:
        return step(request, run_id, note_id, back, in_place=in_place, gone=False)


def _list(pages: Pages, request: Request, run: RunFrame, verdict: str, number: int) -> Response:
    found = read_notes(run.run.path)
    fitting = [note for note in reversed(found.notes) if not verdict or note.verdict == verdict]
    last = max(1, -(-len(fitting) // ON_A_PAGE))
    number = min(number, last)
    start = (number - 1) * ON_A_PAGE
    shown = fitting[start : start + ON_A_PAGE]
    return pages.show(
        request,
        "notes.html",
        run=run,
        tab="notes",
        found=found,
        rows=[(note, target_of(run, note)) for note in shown],
        gone=[(note, target_of(run, note)) for note in reversed(found.gone)][:ON_A_PAGE],
        counts=Counter(note.verdict for note in found.notes),
        verdict=verdict,
        verdicts=VERDICTS,
        number=number,
        last=last,
        total=len(fitting),
        notes_target=on_run(run),
        typed=Typed(),
    )


def _saved(pages: Pages, request: Request, run: RunFrame, sent: Sent) -> Response:
    """Keep a note, or give it back to whoever typed it with what it lacks, or why it cannot be kept."""
    if sent.typed.lack:
        problem = words_for(request)(f"notes.lacks.{sent.typed.lack}", most=MOST_REASON)
        return _given_back(pages, request, run, sent, Trouble(problem, 400))
    opinion = sent.typed.opinion()
    try:
        if sent.note:
            rewritten(run, sent.note.id, opinion, sent.seen)
        else:
            written(run, sent.target, opinion)
    except NoteChanged:
        sent = replace(sent, note=sent.note and read_notes(run.run.path).get(sent.note.id))
        return _given_back(pages, request, run, sent, Trouble(words_for(request)("notes.late"), 409))
    except CannotWrite as problem:
        return _given_back(pages, request, run, sent, Trouble(str(problem), 503, "en"))
    return _done(pages, request, run, sent)


def _given_back(pages: Pages, request: Request, run: RunFrame, sent: Sent, trouble: Trouble) -> Response:
    if sent.in_place:
        return PlainTextResponse(trouble.words, trouble.status, HEADERS)
    return pages.show(
        request,
        "notes_again.html",
        status=trouble.status,
        run=run,
        tab="notes",
        trouble=trouble,
        note=sent.note,
        typed=sent.typed,
        notes_target=sent.target,
        notes_back=own_place(sent.back) if sent.back else run.url("notes"),
    )


def _done(pages: Pages, request: Request, run: RunFrame, sent: Sent) -> Response:
    back = own_place(sent.back) if sent.back else run.url("notes")
    if not sent.in_place:
        return go_to(back + PLACE)
    notes = notes_for(run, sent.target)
    part = pages.drawn(request, "notes_list.html", run=run, notes_target=sent.target, notes=notes, notes_back=back)
    return HTMLResponse(part, headers=HEADERS)
