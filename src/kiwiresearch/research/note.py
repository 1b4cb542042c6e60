"""A note of a reader: what it is about, what it says, and how it is written down."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, get_args

from kiwiresearch.errors import BadUsage
from kiwiresearch.ids import canonical_json
from kiwiresearch.zim.entry import EntryRef

Verdict = Literal["agree", "doubt", "correct"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
TargetKind = Literal["claim", "page", "run"]
TARGET_KINDS: tuple[TargetKind, ...] = get_args(TargetKind)
MOST_REASON = 2_000
MOST_TARGET = 4_000
MOST_WORDS = 1_000
NOT_WRITTEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""Characters that no text has, and that the formats which notes are exported to forbid."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a note is about."""

    kind: TargetKind
    id: str = ""
    """The id of a claim, the 'zim://' name of a page; empty for the run itself."""

    def __post_init__(self) -> None:
        is_whole = len(self.id) <= MOST_TARGET and not NOT_WRITTEN.search(self.id)
        if self.kind not in TARGET_KINDS or not is_whole or bool(self.id) == (self.kind == "run"):
            raise BadUsage("A note is about a claim, a page or the run itself.", remedy="Write it on one of these.")

    @classmethod
    def of_page(cls, ref: EntryRef) -> Target:
        return cls("page", str(ref))


THE_RUN = Target("run")


Lack = Literal["", "verdict", "correction", "reason", "length"]
LACKS: Mapping[Lack, str] = {
    "verdict": "A note agrees, doubts or corrects.",
    "correction": "A correction says how it should read.",
    "reason": "A note that does not agree gives its reason.",
    "length": f"A note has no more than {MOST_REASON:,} characters.",
}


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a reader says: whoever doubts says why, and whoever corrects says how it should read, and why."""

    verdict: Verdict
    reason: str = ""
    correction: str = ""

    def __post_init__(self) -> None:
        for name in ("reason", "correction"):
            object.__setattr__(self, name, plain(getattr(self, name)))
        if self.verdict != "correct":
            object.__setattr__(self, "correction", "")
        if problem := lack_of(self.verdict, self.reason, self.correction):
            raise BadUsage(LACKS[problem], remedy="Write it so, and save the note again.")


def lack_of(verdict: str, reason: str, correction: str) -> Lack:
    """Why this is no opinion; empty if it is one."""
    if verdict not in VERDICTS:
        return "verdict"
    if verdict == "correct" and not plain(correction):
        return "correction"
    if verdict != "agree" and not plain(reason):
        return "reason"
    is_long = len(plain(reason)) > MOST_REASON or (verdict == "correct" and len(plain(correction)) > MOST_REASON)
    return "length" if is_long else ""


NOBODY = "?"
"""Who changed a note of somebody else while the desk told nobody apart; no user has this name."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it reads now."""

    id: str
    """A hash of what it said at first: the same note, sent twice in the same second, is one."""
    target: Target
    opinion: Opinion
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


def note_of(row: Mapping[str, Any]) -> Note:
    """The note that a record was made of; KeyError, TypeError or BadUsage if it was none."""
    texts = [row[name] for name in ("id", "made", "changed", "about", "reason", "correction")]
    texts += [row["target"]["id"], row.get("author", ""), row.get("editor", "")]
    if not all(isinstance(text, str) for text in texts) or not 0 < len(texts[0]) <= MOST_WORDS:
        raise TypeError("a note is made of texts")
    note_id, made, changed, about, reason, correction, target_id, *names = texts
    target, opinion = Target(row["target"]["kind"], target_id), Opinion(row["verdict"], reason, correction)
    author, editor = (plain(name)[:MOST_WORDS] for name in names)
    return Note(note_id, target, opinion, made, changed, plain(about)[:MOST_WORDS], author, editor)


def plain(text: str) -> str:
    """A text as it is kept: one kind of line end, and nothing that is no character of a text."""
    return NOT_WRITTEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
