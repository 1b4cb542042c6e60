"""Routes of the notes on runs, with their models."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.runs.notes import MAX_REASON, MAX_TARGET, Note, NoteOpinion, TargetKind, Verdict
from kiwiresearch.web.bodies import encodable
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.notes import named_target, rewrite_note, set_removed, write_note
from kiwiresearch.web.desk.run_view import run_views
from kiwiresearch.web.replies import Json
from kiwiresearch.web.runs import RunId

NoteId = Annotated[str, Path(max_length=100, description="The `id` of a note.")]
MAX_VERSION = 100
Text = Annotated[str, Field(max_length=MAX_REASON), BeforeValidator(encodable)]


class TargetBody(BaseModel):
    """What a note is about."""

    model_config = ConfigDict(extra="forbid")

    kind: TargetKind
    id: Annotated[
        str,
        Field(
            max_length=MAX_TARGET,
            description="The `claim_id` of a claim, or a page as `zim://BOOK/PATH`; empty for the run itself.",
        ),
        BeforeValidator(encodable),
    ] = ""


class OpinionBody(BaseModel):
    """What a reader says."""

    model_config = ConfigDict(extra="forbid")

    verdict: Verdict
    reason: Annotated[Text, Field(description="Why; needed unless the note agrees.")] = ""
    correction: Annotated[Text, Field(description="How it should read, where the note corrects.")] = ""

    def opinion(self) -> NoteOpinion:
        return NoteOpinion(self.verdict, self.reason, self.correction)


class ChangeBody(OpinionBody):
    """Another opinion."""

    seen: Annotated[
        str,
        Field(
            max_length=MAX_VERSION,
            description="The `version` that was read: if the note has another by now, it stays as it is. "
            "Empty to write in any case.",
        ),
    ] = ""


class NoteBody(OpinionBody):
    """A note to write."""

    target: TargetBody


class TargetReply(BaseModel):
    """What a note is about."""

    kind: TargetKind
    id: str


class NoteReply(BaseModel):
    """A note as it reads now."""

    id: str
    target: TargetReply
    verdict: Verdict
    reason: str
    correction: str
    made: str
    changed: str = Field(description="When it was changed last; empty if it never was.")
    about: str = Field(description="The words of the claim, or the title of the page or run.")
    version: str = Field(description="Another one whenever the note says something else; see `seen`.")
    author: str = Field("", description="Who wrote it; left out where nobody is told apart.")
    editor: str = Field("", description="Who changed it last; left out where that was its author.")


class NotesReply(BaseModel):
    """All notes on a run, in the order in which they were made."""

    run: str
    notes: list[NoteReply]
    gone: list[NoteReply] = Field(description="Those that were taken away, and can be brought back.")
    damaged: list[int] = Field(description="Lines of `notes.jsonl` that cannot be read.")


NOTE_RESPONSE: dict[int | str, dict[str, Any]] = {200: {"model": NoteReply}}


def router(room: ServerContext, jobs: JobQueue) -> APIRouter:
    """Notes are read, written, changed, taken away and brought back."""
    routes = APIRouter(prefix="/api/runs/{run_id}/notes", tags=["research"])
    runs = run_views(room, jobs)

    @routes.get("", response_class=Json, responses={200: {"model": NotesReply}})
    def notes(run_id: RunId) -> Response:
        """The notes on a run."""
        found = runs.get(run_id).notes
        rows = {"notes": _records(found.notes), "gone": _records(found.gone)}
        return Json({"run": run_id, "damaged": list(found.damaged)} | rows)

    @routes.post("", status_code=201, response_class=Json, responses={201: {"model": NoteReply}})
    def write(run_id: RunId, body: NoteBody) -> Response:
        """Write a note beside a run, which stays as it is."""
        run = runs.get(run_id)
        target = named_target(run, body.target.kind, body.target.id)
        return Json(_record(write_note(run, target, body.opinion())), 201)

    @routes.put("/{note_id}", response_class=Json, responses=NOTE_RESPONSE)
    def change(run_id: RunId, note_id: NoteId, body: ChangeBody) -> Response:
        """Write another opinion into a note; where there are users, one's own, and an owner into anybody's."""
        return Json(_record(rewrite_note(runs.get(run_id), note_id, body.opinion(), body.seen)))

    @routes.delete("/{note_id}", response_class=Json, responses=NOTE_RESPONSE)
    def remove(run_id: RunId, note_id: NoteId) -> Response:
        """Take a note away; it can be brought back."""
        return Json(_record(set_removed(runs.get(run_id), note_id, gone=True)))

    @routes.post("/{note_id}/restore", response_class=Json, responses=NOTE_RESPONSE)
    def restore(run_id: RunId, note_id: NoteId) -> Response:
        """Bring back a note that was taken away."""
        return Json(_record(set_removed(runs.get(run_id), note_id, gone=False)))

    return routes


def _records(notes: tuple[Note, ...]) -> list[dict[str, Any]]:
    return [_record(note) for note in notes]


def _record(note: Note) -> dict[str, Any]:
    return note.record() | {"version": note.version}
