"""Notes of readers on a run, its claims and its pages, kept beside the run.

`notes.jsonl` only grows. A line is a note as it was made or changed, or says that a note was removed
or restored; the last line of a note holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from kiwiresearch.errors import BadUsage, NoteChanged, RunNotFound
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs.note_file import appending_notes, note_file_lines
from kiwiresearch.zim.archive import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.store.runs import NoteLines

Verdict = Literal["agree", "doubt", "correct"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
TargetKind = Literal["claim", "page", "run"]
TARGET_KINDS: tuple[TargetKind, ...] = get_args(TargetKind)
MAX_REASON = 2_000
MAX_TARGET = 4_000
MAX_WORDS = 1_000
FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that no text has, and that the formats which notes are exported to forbid."""


@dataclass(frozen=True, slots=True)
class NoteTarget:
    """What a note is about."""

    kind: TargetKind
    id: str = ""
    """The id of a claim, the 'zim://' name of a page; empty for the run itself."""

    def __post_init__(self) -> None:
        is_whole = len(self.id) <= MAX_TARGET and not FORBIDDEN.search(self.id)
        if self.kind not in TARGET_KINDS or not is_whole or bool(self.id) == (self.kind == "run"):
            raise BadUsage("A note is about a claim, a page or the run itself.", remedy="Write it on one of these.")

    @classmethod
    def of_page(cls, ref: EntryRef) -> NoteTarget:
        return cls("page", str(ref))


WHOLE_RUN = NoteTarget("run")


NoteProblem = Literal["", "verdict", "correction", "reason", "length"]
NOTE_PROBLEMS: Mapping[NoteProblem, str] = {
    "verdict": "A note agrees, doubts or corrects.",
    "correction": "A correction says how it should read.",
    "reason": "A note that does not agree gives its reason.",
    "length": f"A note has no more than {MAX_REASON:,} characters.",
}


@dataclass(frozen=True, slots=True)
class NoteOpinion:
    """What a reader says: whoever doubts says why, and whoever corrects says how it should read, and why."""

    verdict: Verdict
    reason: str = ""
    correction: str = ""

    def __post_init__(self) -> None:
        for name in ("reason", "correction"):
            object.__setattr__(self, name, plain_text(getattr(self, name)))
        if self.verdict != "correct":
            object.__setattr__(self, "correction", "")
        if problem := opinion_problem(self.verdict, self.reason, self.correction):
            raise BadUsage(NOTE_PROBLEMS[problem], remedy="Write it so, and save the note again.")


def opinion_problem(verdict: str, reason: str, correction: str) -> NoteProblem:
    """Why this is no opinion; empty if it is one."""
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
"""Who changed a note of somebody else while the desk told nobody apart; no user has this name."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it reads now."""

    id: str
    """A hash of what it said at first: the same note, sent twice in the same second, is one."""
    target: NoteTarget
    opinion: NoteOpinion
    made: str
    changed: str = ""
    """When it was changed last; empty if it never was."""
    about: str = ""
    """The words of the claim, or the title of the page, so that the note can be understood alone."""
    author: str = ""
    """Who wrote it, as they were called then; empty where nobody is told apart."""
    editor: str = ""
    """Who changed it last, if that was somebody else; `NOBODY` where nobody was told apart then."""

    @property
    def verdict(self) -> Verdict:
        return self.opinion.verdict

    @property
    def reason(self) -> str:
        return self.opinion.reason

    @property
    def correction(self) -> str:
        return self.opinion.correction

    @property
    def version(self) -> str:
        """Another one whenever the note says something else."""
        return sha256(canonical_json(self.record()).encode("utf-8", "replace")).hexdigest()[:16]

    def record(self) -> dict[str, Any]:
        """The note as plain data: a line of the file, and what programs get; nobody's name is left out."""
        names = {"author": self.author, "editor": self.editor}
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
    """The note that a record was made of; KeyError, TypeError or BadUsage if it was none."""
    texts = [row[name] for name in ("id", "made", "changed", "about", "reason", "correction")]
    texts += [row["target"]["id"], row.get("author", ""), row.get("editor", "")]
    if not all(isinstance(text, str) for text in texts) or not 0 < len(texts[0]) <= MAX_WORDS:
        raise TypeError("a note is made of texts")
    note_id, made, changed, about, reason, correction, target_id, *names = texts
    target, opinion = NoteTarget(row["target"]["kind"], target_id), NoteOpinion(row["verdict"], reason, correction)
    author, editor = (plain_text(name)[:MAX_WORDS] for name in names)
    return Note(note_id, target, opinion, made, changed, plain_text(about)[:MAX_WORDS], author, editor)


def plain_text(text: str) -> str:
    """A text as it is kept: one kind of line end, and nothing that is no character of a text."""
    return FORBIDDEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


@dataclass(frozen=True, slots=True)
class Notes:
    """All notes beside a run, in the order in which they were made."""

    notes: tuple[Note, ...] = ()
    gone: tuple[Note, ...] = ()
    """Those that were taken away, and can be brought back."""
    damaged: tuple[int, ...] = ()
    """The numbers of lines that are no notes, from 1: somebody edited the file, or a disk was full."""

    def notes_on(self, target: NoteTarget) -> tuple[Note, ...]:
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
    for number, line in enumerate(note_file_lines(run), start=1):
        try:
            _apply_line(json.loads(line.decode("utf-8")), found, gone)
        except (ValueError, KeyError, TypeError, RecursionError, BadUsage):
            damaged.append(number)
    there = [note for note in found.values() if not gone.get(note.id)]
    taken = [note for note in found.values() if gone.get(note.id)]
    return Notes(tuple(there), tuple(taken), tuple(damaged))


def add_note(
    run: Path,
    target: NoteTarget,
    opinion: NoteOpinion,
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
    note = Note(note_id, target, opinion, now, "", plain_text(about)[:MAX_WORDS], author)
    with appending_notes(run, kept) as append:
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
    kept: NoteLines | None = None,
) -> Note:
    """Write another opinion into a note; one that was gone is back then.

    It stays its author's, and says who changed it if that is somebody else. `seen` is the version that
    its writer had before them: if it has another by now, and says something else than the new opinion,
    nothing is written.
    """
    with appending_notes(run, kept) as append:
        there = read_notes(run).get(note_id)
        if seen not in ("", there.version) and there.opinion != opinion:
            raise NoteChanged("The note was changed meanwhile.", remedy="Look at what it says now, then write yours.")
        by = "" if editor == there.author else editor or UNKNOWN_EDITOR
        note = replace(there, opinion=opinion, changed=now, editor=by)
        append(note.record())
    return note


def set_gone(run: Path, note_id: str, *, now: str, gone: bool, kept: NoteLines | None = None) -> Note:
    """Take a note away, or bring it back."""
    with appending_notes(run, kept) as append:
        note = read_notes(run).get(note_id)
        append({"changed": now, "gone": gone, "id": note.id})
    return note


def _apply_line(row: Any, found: dict[str, Note], gone: dict[str, bool]) -> None:
    """What a line says of a note."""
    note_id = row["id"]
    if "gone" in row:
        if note_id not in found:
            raise KeyError(note_id)
        gone[note_id] = row["gone"] is True
        return
    note = note_from_record(row)
    first = found.get(note.id, note)
    found[note.id] = replace(note, made=first.made, author=first.author)
    gone[note.id] = False
