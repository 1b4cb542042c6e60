"""Notes as the forms of the desk send them, and what they are about as a run tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from kiwiresearch.claims.claim import Claim
from kiwiresearch.errors import BadUsage, KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.research.note import MOST_WORDS, THE_RUN, Lack, Note, Opinion, Target, TargetKind, Verdict, lack_of
from kiwiresearch.research.notes import read_notes
from kiwiresearch.web.desk.run_frame import RunFrame
from kiwiresearch.zim.entry import EntryRef

PAGE_SCHEME = "zim://"


@dataclass(frozen=True, slots=True)
class NotesTarget:
    """What notes are about, with the words that readers know it by."""

    kind: TargetKind
    id: str
    words: str
    language: str = ""
    url: str = ""
    """Where it is read; empty if that is not on this server."""

    @property
    def target(self) -> Target:
        return Target(self.kind, self.id)

    @property
    def key(self) -> str:
        """A name that no other target of the run has, for what a browser keeps."""
        return f"{self.kind} {self.id}"


@dataclass(frozen=True, slots=True)
class NotesOn:
    """The notes on one target, and those that were taken away."""

    there: tuple[Note, ...]
    gone: tuple[Note, ...]

    def __len__(self) -> int:
        return len(self.there)


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed into the form of a note, valid or not."""

    verdict: str = ""
    reason: str = ""
    correction: str = ""

    @property
    def lack(self) -> Lack:
        return lack_of(self.verdict, self.reason, self.correction)

    def opinion(self) -> Opinion:
        return Opinion(cast("Verdict", self.verdict), self.reason, self.correction)


@dataclass(frozen=True, slots=True)
class Sent:
    """A form of a note: what was typed, on what, where its page is, and whether a script waits for the answer."""

    target: NotesTarget
    typed: Typed
    back: str
    in_place: bool
    note: Note | None = None
    """The note that it changes."""
    seen: str = ""
    """The version of that note which its reader had before them."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a note is not saved, and what to do about it."""

    words: str
    status: int
    language: str = ""
    """Of the words, where it is not the reader's."""


def notes_for(run: RunFrame, target: NotesTarget) -> NotesOn:
    """The notes on a target, for `notes_on.html`."""
    found = read_notes(run.run.path)
    gone = tuple(note for note in found.gone if note.target == target.target)
    return NotesOn(found.on(target.target), gone)


def on_claim(run: RunFrame, claim: Claim) -> NotesTarget:
    language = run.language_of(claim.ref.book)
    return NotesTarget("claim", claim.id, claim.text[:MOST_WORDS], language, run.claim_url(claim.id))


def on_page(run: RunFrame, ref: EntryRef, title: str = "") -> NotesTarget:
    words = (title or _title(run, ref))[:MOST_WORDS]
    return NotesTarget("page", str(ref), words, run.language_of(ref.book), run.page_url(ref))


def on_run(run: RunFrame) -> NotesTarget:
    return NotesTarget(THE_RUN.kind, THE_RUN.id, run.topic[:MOST_WORDS], url=run.url())


def named_target(run: RunFrame, kind: str, target_id: str) -> NotesTarget:
    """What a form says its note is about; an error if the run knows nothing of it."""
    if kind == "claim":
        return on_claim(run, run.claim(target_id))
    if kind == "page":
        return on_page(run, _ref(run, target_id))
    if kind == "run" and not target_id:
        return on_run(run)
    raise BadUsage("A note is about a claim, a page or the run itself.", remedy="Write it on one of these.")


def target_of(run: RunFrame, note: Note) -> NotesTarget:
    """What a note is about; in the words of the note itself where the run no longer knows it."""
    try:
        return named_target(run, note.target.kind, note.target.id)
    except KiwiError:  # the run was changed since, or made again
        return NotesTarget(note.target.kind, note.target.id, note.about or note.target.id)


def _ref(run: RunFrame, name: str) -> EntryRef:
    book, _, path = name.removeprefix(PAGE_SCHEME).partition("/")
    known = next((one.id for one in run.books if one.id == book), "")
    if not known or not path or not name.startswith(PAGE_SCHEME):
        raise BadUsage("That page is of no book of this run.", remedy="Write the note on a page of the run.")
    return EntryRef(BookId(known), path)


def _title(run: RunFrame, ref: EntryRef) -> str:
    for node in run.graph["nodes"]:
        if isinstance(node, dict) and node.get("ref") == str(ref):
            return str(node.get("title") or ref.path)
    return ref.path
