"""Notes of a reader on a run, its claims and its pages: kept beside the run, of which they are no part.

`notes.jsonl` only grows. A line is a note as it was made or changed, or says that a note
is gone or back; the last line of a note holds. So nothing that was written is ever lost,
and what was taken away can be brought back.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.errors import BadUsage, NoteChanged, RunNotFound
from kiwiresearch.ids import canonical_json
from kiwiresearch.research.note import MOST_WORDS, NOBODY, Note, Opinion, Target, note_of, plain
from kiwiresearch.research.note_file import NOTES, appending, lines_of

if TYPE_CHECKING:
    from kiwiresearch.store.notes import NoteLines

__all__ = ["NOTES", "Note", "Notes", "Opinion", "Target", "add_note", "change_note", "read_notes", "set_gone"]


@dataclass(frozen=True, slots=True)
class Notes:
    """All notes beside a run, in the order in which they were made."""

    notes: tuple[Note, ...] = ()
    gone: tuple[Note, ...] = ()
    """Those that were taken away, and can be brought back."""
    damaged: tuple[int, ...] = ()
    """The numbers of lines that are no notes, from 1: somebody edited the file, or a disk was full."""

    def on(self, target: Target) -> tuple[Note, ...]:
        return tuple(note for note in self.notes if note.target == target)

    def get(self, note_id: str) -> Note:
        for note in (*self.notes, *self.gone):
            if note.id == note_id:
                return note
        raise RunNotFound(f"There is no note {note_id[:80]!r} on this run.", remedy="Load the page of its notes again.")


def read_notes(run: Path) -> Notes:
    """The notes beside a run; none if nobody wrote any."""
    found: dict[str, Note] = {}
    gone: dict[str, bool] = {}
    damaged = []
    for number, line in enumerate(lines_of(run), start=1):
        try:
            _take(json.loads(line.decode("utf-8")), found, gone)
        except (ValueError, KeyError, TypeError, RecursionError, BadUsage):
            damaged.append(number)
    there = [note for note in found.values() if not gone.get(note.id)]
    taken = [note for note in found.values() if gone.get(note.id)]
    return Notes(tuple(there), tuple(taken), tuple(damaged))


def add_note(
    run: Path,
    target: Target,
    opinion: Opinion,
    *,
    now: str,
    about: str = "",
    author: str = "",
    kept: NoteLines | None = None,
) -> Note:
    """Write a note beside a run, and into the store if it is `kept` there; `about` are the words that it is about.

    Two authors who say the same at once have a note each.
    """
    told = [target.kind, target.id, opinion.verdict, opinion.reason, opinion.correction, now, *filter(None, [author])]
    note_id = "note-" + sha256(canonical_json(told).encode("utf-8", "replace")).hexdigest()[:24]
    note = Note(note_id, target, opinion, now, "", plain(about)[:MOST_WORDS], author)
    with appending(run, kept) as append:
        append(note.record())
    return note


def change_note(
    run: Path,
    note_id: str,
    opinion: Opinion,
    *,
    now: str,
    seen: str = "",
    editor: str = "",
    kept: NoteLines | None = None,
) -> Note:
    """Write another opinion into a note; one that was gone is back then.

    It stays its author's, and says who changed it if that is somebody else. `seen` is the version that
    its writer had before them: if it has another by now, and says something else than the new opinion,
    nothing is written.
    """
    with appending(run, kept) as append:
        there = read_notes(run).get(note_id)
        if seen not in ("", there.version) and there.opinion != opinion:
            raise NoteChanged("The note was changed meanwhile.", remedy="Look at what it says now, then write yours.")
        by = "" if editor == there.author else editor or NOBODY
        note = replace(there, opinion=opinion, changed=now, editor=by)
        append(note.record())
    return note


def set_gone(run: Path, note_id: str, *, now: str, gone: bool, kept: NoteLines | None = None) -> Note:
    """Take a note away, or bring it back."""
    with appending(run, kept) as append:
        note = read_notes(run).get(note_id)
        append({"changed": now, "gone": gone, "id": note.id})
    return note


def _take(row: Any, found: dict[str, Note], gone: dict[str, bool]) -> None:
    """What a line says of a note."""
    note_id = row["id"]
    if "gone" in row:
        if note_id not in found:
            raise KeyError(note_id)
        gone[note_id] = row["gone"] is True
        return
    note = note_of(row)
    first = found.get(note.id, note)
    found[note.id] = replace(note, made=first.made, author=first.author)
    gone[note.id] = False
