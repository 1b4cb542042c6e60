"""Notes written and changed by whoever asks: under their name, and nobody changes those of others but an owner."""

from __future__ import annotations

from datetime import UTC, datetime

from kiwiresearch.research.note import Note, Opinion
from kiwiresearch.research.notes import add_note, change_note, read_notes, set_gone
from kiwiresearch.web.desk.note_forms import NotesTarget
from kiwiresearch.web.desk.run_frame import RunFrame
from kiwiresearch.web.guard.visitor import need_own, visitor


def written(run: RunFrame, target: NotesTarget, opinion: Opinion) -> Note:
    """A new note of the visitor."""
    who, kept = visitor().name, run.run.notes
    return add_note(run.run.path, target.target, opinion, now=_now(), about=target.words, author=who, kept=kept)


def rewritten(run: RunFrame, note_id: str, opinion: Opinion, seen: str) -> Note:
    """A note with another opinion, unless it has another version than the one that was `seen`."""
    _need_own(run, note_id)
    who, kept = visitor().name, run.run.notes
    return change_note(run.run.path, note_id, opinion, now=_now(), seen=seen, editor=who, kept=kept)


def put_away(run: RunFrame, note_id: str, *, gone: bool) -> Note:
    """A note that is taken away, or brought back."""
    _need_own(run, note_id)
    return set_gone(run.run.path, note_id, now=_now(), gone=gone, kept=run.run.notes)


def _need_own(run: RunFrame, note_id: str) -> None:
    note = read_notes(run.run.path).get(note_id)
    need_own(note.author, note.made)


def _now() -> str:
    """When a note is written: it stands in the file of notes, and in no run."""
    return datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251
