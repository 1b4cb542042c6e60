"""Notes of readers on runs: routes, models, and the changes that a visitor may make."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field

from kiwiresearch.claims import Claim
from kiwiresearch.codec import OMIT_DEFAULT, Record, extend
from kiwiresearch.errors import BadUsage
from kiwiresearch.jobs import JobQueue
from kiwiresearch.runs import (
    MAX_REASON,
    MAX_TARGET,
    MAX_WORDS,
    WHOLE_RUN,
    Note,
    NoteOpinion,
    NoteTarget,
    NoteVerdict,
    TargetKind,
    add_note,
    change_note,
    set_gone,
)
from kiwiresearch.web.bodies import REPLACE_SURROGATES
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import RoleRouter, current_visitor, require_creator_or_owner, requires_role
from kiwiresearch.web.replies import JsonRoute
from kiwiresearch.web.run_view import RunView, run_views
from kiwiresearch.web.runs import RunId
from kiwiresearch.workspace import utc_now
from kiwiresearch.zim import EntryRef

NoteId = Annotated[str, Path(max_length=100, description="The `id` of a note.")]
MAX_VERSION = 100
Text = Annotated[str, Field(max_length=MAX_REASON), REPLACE_SURROGATES]


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
        REPLACE_SURROGATES,
    ] = ""


class OpinionBody(BaseModel):
    """What a reader says."""

    model_config = ConfigDict(extra="forbid")

    verdict: NoteVerdict
    reason: Annotated[Text, Field(description="The reason; required unless the note agrees.")] = ""
    correction: Annotated[Text, Field(description="The corrected text, if the note corrects something.")] = ""

    def opinion(self) -> NoteOpinion:
        return NoteOpinion(self.verdict, self.reason, self.correction)


class ChangeBody(OpinionBody):
    """Another opinion."""

    seen: Annotated[
        str,
        Field(
            max_length=MAX_VERSION,
            description="The `version` that you read: if the note has changed since, nothing is written. "
            "Leave it empty to write in any case.",
        ),
    ] = ""


class NoteBody(OpinionBody):
    """A note to write."""

    target: TargetBody


@dataclass(frozen=True, slots=True)
class NoteReply(Record):
    """The current version of a note."""

    id: str
    target: NoteTarget
    verdict: NoteVerdict
    reason: str
    correction: str
    made: str
    changed: str
    """When it was last changed; empty if never."""
    about: str
    """The text of the claim, or the title of the page or run."""
    version: str
    """Changes whenever the note changes; see `seen`."""
    author: str = field(default="", metadata=OMIT_DEFAULT)
    """Who wrote it; absent without users."""
    editor: str = field(default="", metadata=OMIT_DEFAULT)
    """Who last changed it; absent if that was its author."""


@dataclass(frozen=True, slots=True)
class NotesReply(Record):
    """All notes on a run, oldest first."""

    run: str
    notes: tuple[NoteReply, ...]
    gone: tuple[NoteReply, ...]
    """Deleted notes, which can be restored."""
    damaged: tuple[int, ...]
    """Lines of `notes.jsonl` that cannot be read."""


def router(context: ServerContext, jobs: JobQueue) -> APIRouter:
    """Read, write, change, remove and restore notes."""
    routes = RoleRouter("reader", prefix="/api/runs/{run_id}/notes", tags=["research"], route_class=JsonRoute)
    runs = run_views(context, jobs)

    @routes.get("")
    def notes(run_id: RunId) -> NotesReply:
        """The notes on a run."""
        found = runs.get(run_id).notes
        return NotesReply(
            run_id,
            tuple(extend(NoteReply, note) for note in found.notes),
            tuple(extend(NoteReply, note) for note in found.gone),
            tuple(found.damaged),
        )

    @routes.post("", status_code=201)
    @requires_role("researcher", "note")
    def write(run_id: RunId, body: NoteBody) -> NoteReply:
        """Add a note to a run; the run itself does not change."""
        run = runs.get(run_id)
        target = named_target(run, body.target.kind, body.target.id)
        return extend(NoteReply, write_note(run, target, body.opinion()))

    @routes.put("/{note_id}")
    @requires_role("researcher", "note")
    def change(run_id: RunId, note_id: NoteId, body: ChangeBody) -> NoteReply:
        """Change a note; on a server with users, only its author and owners can."""
        return extend(NoteReply, rewrite_note(runs.get(run_id), note_id, body.opinion(), body.seen))

    @routes.delete("/{note_id}")
    @requires_role("researcher", "note")
    def remove(run_id: RunId, note_id: NoteId) -> NoteReply:
        """Delete a note; it can be restored."""
        return extend(NoteReply, set_removed(runs.get(run_id), note_id, gone=True))

    @routes.post("/{note_id}/restore")
    @requires_role("researcher", "note")
    def restore(run_id: RunId, note_id: NoteId) -> NoteReply:
        """Restore a deleted note."""
        return extend(NoteReply, set_removed(runs.get(run_id), note_id, gone=False))

    return routes


@dataclass(frozen=True, slots=True)
class NotesTarget:
    """The target of notes, with the words by which readers know it."""

    kind: TargetKind
    id: str
    words: str
    language: str = ""
    url: str = ""
    """Where it can be read; empty if that is not on this server."""

    @property
    def target(self) -> NoteTarget:
        return NoteTarget(self.kind, self.id)

    @property
    def key(self) -> str:
        """A key for browser storage that no other target of the run has."""
        return f"{self.kind} {self.id}"


def claim_target(run: RunView, claim: Claim) -> NotesTarget:
    language = run.language_of(claim.ref.book)
    return NotesTarget("claim", claim.id, claim.text[:MAX_WORDS], language, run.claim_url(claim.id))


def page_target(run: RunView, ref: EntryRef, title: str = "") -> NotesTarget:
    words = (title or _title(run, ref))[:MAX_WORDS]
    return NotesTarget("page", str(ref), words, run.language_of(ref.book), run.page_url(ref))


def run_target(run: RunView) -> NotesTarget:
    return NotesTarget(WHOLE_RUN.kind, WHOLE_RUN.id, run.topic[:MAX_WORDS], url=run.url())


def named_target(run: RunView, kind: str, target_id: str) -> NotesTarget:
    """The target that a client names; an error if it is not in the run."""
    if kind == "claim":
        return claim_target(run, run.claim(target_id))
    if kind == "page":
        return page_target(run, _ref(run, target_id))
    if kind == "run" and not target_id:
        return run_target(run)
    raise BadUsage("A note must be about a claim, a page or the whole research.", remedy="Choose one of these.")


def _ref(run: RunView, name: str) -> EntryRef:
    ref = EntryRef.parse(name)
    if ref is None or all(book.id != ref.book for book in run.books):
        raise BadUsage("This page is not in any book of this research.", remedy="Choose a page from the research.")
    return ref


def _title(run: RunView, ref: EntryRef) -> str:
    return next((page.label for page in run.graph.pages if page.ref == str(ref)), ref.path)


def write_note(run: RunView, target: NotesTarget, opinion: NoteOpinion) -> Note:
    """Add a note of the visitor."""
    who, lines = current_visitor().name, run.note_lines
    return add_note(run.path, target.target, opinion, now=utc_now(), about=target.words, author=who, note_lines=lines)


def rewrite_note(run: RunView, note_id: str, opinion: NoteOpinion, known_version: str) -> Note:
    """Change the opinion of a note, unless it was changed since the visitor saw it."""
    _require_own_note(run, note_id)
    who, lines = current_visitor().name, run.note_lines
    return change_note(run.path, note_id, opinion, now=utc_now(), seen=known_version, editor=who, note_lines=lines)


def set_removed(run: RunView, note_id: str, *, gone: bool) -> Note:
    """Remove a note, or restore it."""
    _require_own_note(run, note_id)
    return set_gone(run.path, note_id, now=utc_now(), gone=gone, note_lines=run.note_lines)


def _require_own_note(run: RunView, note_id: str) -> None:
    note = run.notes.get(note_id)
    require_creator_or_owner(note.author, note.made)
