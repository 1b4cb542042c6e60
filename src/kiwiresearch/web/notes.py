"""Routes of the notes on runs, with their models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.runs.notes import MAX_REASON, MAX_TARGET, Note, NoteOpinion, NoteTarget, TargetKind, Verdict
from kiwiresearch.web.bodies import encodable
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.notes import named_target, rewrite_note, set_removed, write_note
from kiwiresearch.web.desk.run_view import run_views
from kiwiresearch.web.guard.roles import RoleRouter, allow
from kiwiresearch.web.replies import JsonRoute
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


@dataclass(frozen=True, slots=True)
class NoteReply(Record):
    """A note as it reads now."""

    id: str
    target: NoteTarget
    verdict: Verdict
    reason: str
    correction: str
    made: str
    changed: str
    """When it was changed last; empty if it never was."""
    about: str
    """The words of the claim, or the title of the page or run."""
    version: str
    """Another one whenever the note says something else; see `seen`."""
    author: str = field(default="", metadata=OMIT_DEFAULT)
    """Who wrote it; left out where nobody is told apart."""
    editor: str = field(default="", metadata=OMIT_DEFAULT)
    """Who changed it last; left out where that was its author."""


@dataclass(frozen=True, slots=True)
class NotesReply(Record):
    """All notes on a run, in the order in which they were made."""

    run: str
    notes: tuple[NoteReply, ...]
    gone: tuple[NoteReply, ...]
    """Those that were taken away, and can be brought back."""
    damaged: tuple[int, ...]
    """Lines of `notes.jsonl` that cannot be read."""


def router(room: ServerContext, jobs: JobQueue) -> APIRouter:
    """Notes are read, written, changed, taken away and brought back."""
    routes = RoleRouter("reader", prefix="/api/runs/{run_id}/notes", tags=["research"], route_class=JsonRoute)
    runs = run_views(room, jobs)

    @routes.get("")
    def notes(run_id: RunId) -> NotesReply:
        """The notes on a run."""
        found = runs.get(run_id).notes
        return NotesReply(
            run_id,
            tuple(_note_reply(one) for one in found.notes),
            tuple(_note_reply(one) for one in found.gone),
            tuple(found.damaged),
        )

    @routes.post("", status_code=201)
    @allow("researcher", "note")
    def write(run_id: RunId, body: NoteBody) -> NoteReply:
        """Write a note beside a run, which stays as it is."""
        run = runs.get(run_id)
        target = named_target(run, body.target.kind, body.target.id)
        return _note_reply(write_note(run, target, body.opinion()))

    @routes.put("/{note_id}")
    @allow("researcher", "note")
    def change(run_id: RunId, note_id: NoteId, body: ChangeBody) -> NoteReply:
        """Write another opinion into a note; where there are users, one's own, and an owner into anybody's."""
        return _note_reply(rewrite_note(runs.get(run_id), note_id, body.opinion(), body.seen))

    @routes.delete("/{note_id}")
    @allow("researcher", "note")
    def remove(run_id: RunId, note_id: NoteId) -> NoteReply:
        """Take a note away; it can be brought back."""
        return _note_reply(set_removed(runs.get(run_id), note_id, gone=True))

    @routes.post("/{note_id}/restore")
    @allow("researcher", "note")
    def restore(run_id: RunId, note_id: NoteId) -> NoteReply:
        """Bring back a note that was taken away."""
        return _note_reply(set_removed(runs.get(run_id), note_id, gone=False))

    return routes


def _note_reply(note: Note) -> NoteReply:
    return NoteReply(
        note.id,
        note.target,
        note.verdict,
        note.reason,
        note.correction,
        note.made,
        note.changed,
        note.about,
        note.version,
        author=note.author,
        editor=note.editor,
    )
