"""Readers' notes on a run, its claims and its pages, stored in its folder.

`notes.jsonl` is append-only. A line is a new or changed note, or says that a note was removed
or restored; the last line about a note wins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from kiwiresearch.codec import JsonDict, Record
from kiwiresearch.errors import BadUsage, NoteChanged, RunNotFound
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs.note_file import appending_notes, note_file_lines
from kiwiresearch.zim import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.store import NoteLines

NoteVerdict = Literal["agree", "doubt", "correct"]
VERDICTS: tuple[NoteVerdict, ...] = get_args(NoteVerdict)
TargetKind = Literal["claim", "page", "run"]
TARGET_KINDS: tuple[TargetKind, ...] = get_args(TargetKind)
MAX_REASON = 2_000
MAX_TARGET = 4_000
MAX_WORDS = 1_000
NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that are not text, and that some export formats forbid."""


@dataclass(frozen=True, slots=True)
class NoteTarget(Record):
    """The run, claim or page that a note is about."""

    kind: TargetKind
    id: str = ""
    """The ID of a claim, or the 'zim://' name of a page; empty for the run itself."""

    def __post_init__(self) -> None:
        is_whole = len(self.id) <= MAX_TARGET and not NOT_TEXT.search(self.id)
        if self.kind not in TARGET_KINDS or not is_whole or bool(self.id) == (self.kind == "run"):
            raise BadUsage("A note must be about a claim, a page or the whole run.", remedy="Choose one of these.")

    @classmethod
    def of_page(cls, ref: EntryRef) -> NoteTarget:
        return cls("page", str(ref))


WHOLE_RUN = NoteTarget("run")


NoteProblem = Literal["", "verdict", "correction", "reason", "length"]
NOTE_PROBLEMS: Mapping[NoteProblem, str] = {
    "verdict": "A note needs a verdict: agree, doubt or correct.",
    "correction": "A correction needs the correct wording.",
    "reason": "A note that does not agree needs a reason.",
    "length": f"A note can have up to {MAX_REASON:,} characters in each field.",
}


@dataclass(frozen=True, slots=True)
class NoteOpinion:
    """A reader's verdict. A doubt needs a reason; a correction needs a reason and the corrected text."""

    verdict: NoteVerdict
    reason: str = ""
    correction: str = ""

    def __post_init__(self) -> None:
        for name in ("reason", "correction"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))
        if self.verdict != "correct":
            object.__setattr__(self, "correction", "")
        if problem := opinion_problem(self.verdict, self.reason, self.correction):
            raise BadUsage(NOTE_PROBLEMS[problem], remedy="Correct the note, then save it again.")


def opinion_problem(verdict: str, reason: str, correction: str) -> NoteProblem:
    """Why this is not a valid opinion; empty if it is."""
    if verdict not in VERDICTS:
        return "verdict"
    if verdict == "correct" and not plain_text(correction):
        return "correction"
    if verdict != "agree" and not plain_text(reason):
        return "reason"
    is_long = len(plain_text(reason)) > MAX_REASON or (
        verdict == "correct" and len(plain_text(correction)) > MAX_REASON
    )
    return "length" if is_long else ""


UNKNOWN_EDITOR = "?"
"""Recorded as editor if someone else's note is changed on a desk without users; no user can have this name."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note in its current version."""

    id: str
    """A hash of its first version: the same note sent twice within a second is one note."""
    target: NoteTarget
    opinion: NoteOpinion
    made: str
    changed: str = ""
    """When it was last changed; empty if it never was."""
    about: str = ""
    """The text of the claim or the title of the page, so that the note can be understood alone."""
    author: str = ""
    """The name of its author at that time; empty on a desk without users."""
    editor: str = ""
    """Who last changed it, if not its author; `UNKNOWN_EDITOR` on a desk without users."""

    @property
    def verdict(self) -> NoteVerdict:
        return self.opinion.verdict

    @property
    def reason(self) -> str:
        return self.opinion.reason

    @property
    def correction(self) -> str:
        return self.opinion.correction

    @property
    def version(self) -> str:
        """Changes whenever the note does."""
        return sha256(canonical_json(self.record()).encode("utf-8", "replace")).hexdigest()[:16]

    def record(self) -> JsonDict:
        """The note as JSON, in the file and in the API; names are left out if they are empty."""
        names: JsonDict = {"author": self.author, "editor": self.editor}
        return {name: value for name, value in names.items() if value} | {
            "about": self.about,
            "changed": self.changed,
            "correction": self.correction,
            "id": self.id,
            "made": self.made,
            "reason": self.reason,
            "target": {"id": self.target.id, "kind": self.target.kind},
            "verdict": self.verdict,
        }


def note_from_record(row: Mapping[str, Any]) -> Note:
    """The note of a record; KeyError, TypeError or BadUsage if it is not one."""
    texts = [row[name] for name in ("id", "made", "changed", "about", "reason", "correction")]
    texts += [row["target"]["id"], row.get("author", ""), row.get("editor", "")]
    if not all(isinstance(text, str) for text in texts) or not 0 < len(texts[0]) <= MAX_WORDS:
        raise TypeError("a note is made of texts")
    note_id, made, changed, about, reason, correction, target_id, *names = texts
    target, opinion = NoteTarget(row["target"]["kind"], target_id), NoteOpinion(row["verdict"], reason, correction)
    author, editor = (plain_text(name)[:MAX_WORDS] for name in names)
    return Note(note_id, target, opinion, made, changed, plain_text(about)[:MAX_WORDS], author, editor)


def plain_text(text: str) -> str:
    """A text as it is stored: one kind of line end, and no forbidden characters."""
    return NOT_TEXT.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


@dataclass(frozen=True, slots=True)
class Notes:
    """All notes on a run, oldest first."""

    notes: tuple[Note, ...] = ()
    gone: tuple[Note, ...] = ()
    """Removed notes, which can be restored."""
    damaged: tuple[int, ...] = ()
    """1-based numbers of lines that are not notes: the file was edited, or a disk was full."""

    def notes_on(self, target: NoteTarget) -> tuple[Note, ...]:
        return tuple(note for note in self.notes if note.target == target)

    def get(self, note_id: str) -> Note:
        for note in (*self.notes, *self.gone):
            if note.id == note_id:
                return note
        raise RunNotFound(f"The note {note_id[:80]!r} was not found.", remedy="Reload the notes of this run.")


def read_notes(run: Path) -> Notes:
    found: dict[str, Note] = {}
    gone: dict[str, bool] = {}
    damaged = []
    for number, line in enumerate(note_file_lines(run), start=1):
        try:
            _apply_line(json.loads(line.decode("utf-8")), found, gone)
        except (ValueError, KeyError, TypeError, RecursionError, BadUsage):
            damaged.append(number)
    current = [note for note in found.values() if not gone.get(note.id)]
    taken = [note for note in found.values() if gone.get(note.id)]
    return Notes(tuple(current), tuple(taken), tuple(damaged))


def add_note(
    run: Path,
    target: NoteTarget,
    opinion: NoteOpinion,
    *,
    now: str,
    about: str = "",
    author: str = "",
    note_lines: NoteLines | None = None,
) -> Note:
    """Write a note on a run, and into the store if the run is stored there; `about` quotes what it is about.

    Two authors who write the same at the same time have a note each.
    """
    content = [
        target.kind,
        target.id,
        opinion.verdict,
        opinion.reason,
        opinion.correction,
        now,
        *filter(None, [author]),
    ]
    note_id = "note-" + sha256(canonical_json(content).encode("utf-8", "replace")).hexdigest()[:24]
    note = Note(note_id, target, opinion, now, "", plain_text(about)[:MAX_WORDS], author)
    with appending_notes(run, note_lines) as append:
        append(note.record())
    return note


def change_note(
    run: Path,
    note_id: str,
    opinion: NoteOpinion,
    *,
    now: str,
    seen: str = "",
    editor: str = "",
    note_lines: NoteLines | None = None,
) -> Note:
    """Change the opinion of a note, and restore it if it was removed.

    It remains its author's note and says who changed it. `seen` is the version that the editor saw: if the note has
    another one by now, and does not say the same as the new opinion, NoteChanged is raised and nothing is written.
    """
    with appending_notes(run, note_lines) as append:
        current = read_notes(run).get(note_id)
        if seen not in ("", current.version) and current.opinion != opinion:
            raise NoteChanged(
                "This note was changed while you were editing it.",
                remedy="Check what it says now, then save yours again.",
            )
        by = "" if editor == current.author else editor or UNKNOWN_EDITOR
        note = replace(current, opinion=opinion, changed=now, editor=by)
        append(note.record())
    return note


def set_gone(run: Path, note_id: str, *, now: str, gone: bool, note_lines: NoteLines | None = None) -> Note:
    """Remove a note, or restore it."""
    with appending_notes(run, note_lines) as append:
        note = read_notes(run).get(note_id)
        append({"changed": now, "gone": gone, "id": note.id})
    return note


def _apply_line(row: Any, found: dict[str, Note], gone: dict[str, bool]) -> None:
    """Apply a line of the file to the notes read so far."""
    note_id = row["id"]
    if "gone" in row:
        if note_id not in found:
            raise KeyError(note_id)
        gone[note_id] = row["gone"] is True
        return
    note = note_from_record(row)
    first = found.get(note.id, note)
    # Whatever a later line says, a note keeps its author and the time of its first line.
    found[note.id] = replace(note, made=first.made, author=first.author)
    # A note that is changed after it was removed is there again.
    gone[note.id] = False
