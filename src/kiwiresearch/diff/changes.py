"""Changes of pages and claims between two snapshots, and claims that are newly disputed, there or on other pages."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, get_args

from kiwiresearch.brief import MIN_DISPUTE_STRENGTH, compared_sentence, is_clear_conflict, without_article
from kiwiresearch.claims import Claim, ClaimId, ClaimRecord, claim_from_record, claim_record
from kiwiresearch.claims.conflicts import Disagreement, compare_sentences
from kiwiresearch.diff.pairs import row_label
from kiwiresearch.diff.snapshot import Snapshot
from kiwiresearch.errors import BadUsage, CannotWrite
from kiwiresearch.ids import canonical_json
from kiwiresearch.text import DOUBT_KINDS, jaccard, marked_differences, roots_of

ChangeKind = Literal["added", "withdrawn", "changed", "disputed"]
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)


def checked_kinds(wanted: str) -> tuple[ChangeKind, ...]:
    """The kinds in a comma-separated list; all of them if it is empty."""
    names = {name.strip().lower() for name in wanted.split(",") if name.strip()}
    unknown = sorted(names - set(CHANGE_KINDS))
    if unknown:
        raise BadUsage(f"{unknown[0]!r} is not a kind of change.", remedy=f"Choose one of: {', '.join(CHANGE_KINDS)}.")
    return tuple(kind for kind in CHANGE_KINDS if kind in names) or CHANGE_KINDS


PageState = Literal["both", "added", "removed", "unreadable", "leads elsewhere", "contradicted elsewhere"]
"""A page is "contradicted elsewhere" if claims on other pages of the new snapshot contradict its claims."""
MovedBy = Literal["", "title", "redirect", "text"]
RENAMED: tuple[MovedBy, ...] = ("redirect", "text")
"""A page found by its title is not renamed: only its path differs, which readers do not see."""


@dataclass(frozen=True, slots=True)
class ClaimDoubt:
    """Why a claim is newly disputed."""

    how: Literal["contradicted", "hedged", "marked"]
    why: str
    against: Claim | None = None
    """The claim of the new snapshot that contradicts it."""

    def record(self) -> DoubtRecord:
        return DoubtRecord(ClaimRecord.of(self.against) if self.against else None, self.how, self.why)


@dataclass(frozen=True, slots=True)
class DoubtRecord:
    """A doubt as JSON."""

    against: ClaimRecord | None
    how: str
    why: str


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim that was added, withdrawn or changed, or that stayed and is disputed now."""

    kind: ChangeKind
    old: Claim | None
    new: Claim | None
    numbers: bool = False
    """Whether a number, a measure or a date differs."""
    hedging: bool = False
    """Whether it is hedged in other words now, or no longer."""
    similarity: float = 1.0
    """The share of words that both sides have in common, numbers aside."""
    doubts: tuple[ClaimDoubt, ...] = ()

    @property
    def claim(self) -> Claim:
        """The newer of its sides."""
        claim = self.new or self.old
        if claim is None:
            raise ValueError("a change is of a claim")
        return claim

    def is_of(self, kinds: Collection[str]) -> bool:
        """Whether it is of one of these kinds; an added or changed claim may be disputed as well."""
        return self.kind in kinds or (bool(self.doubts) and "disputed" in kinds)

    def record(self, page: PageSides) -> ClaimChangeRecord:
        return ClaimChangeRecord(
            self._differs(),
            tuple(doubt.record() for doubt in self.doubts),
            self.hedging,
            self.kind,
            self.similarity,
            ClaimRecord.of(self.new) if self.new else None,
            self.numbers,
            ClaimRecord.of(self.old) if self.old else None,
            page,
        )

    def _differs(self) -> dict[str, list[str]] | None:
        """The words that only one of the sides has, for each side."""
        if self.kind != "changed" or self.old is None or self.new is None:
            return None
        left, right = marked_differences(self.old.text, self.new.text)
        return {
            "new": [run.text.strip() for run in right if run.differs],
            "old": [run.text.strip() for run in left if run.differs],
        }


@dataclass(frozen=True, slots=True)
class PageLocation:
    """A page of one snapshot."""

    path: str
    title: str


@dataclass(frozen=True, slots=True)
class PageSides:
    """Where a page is in each snapshot."""

    new: PageLocation | None
    old: PageLocation | None


@dataclass(frozen=True, slots=True)
class ClaimChangeRecord:
    """A change of a claim as JSON."""

    differs: dict[str, list[str]] | None
    doubts: tuple[DoubtRecord, ...]
    hedging: bool
    kind: ChangeKind
    likeness: float
    new: ClaimRecord | None
    numbers: bool
    old: ClaimRecord | None
    page: PageSides


@dataclass(frozen=True, slots=True)
class PageChangeRecord:
    """A change of a page itself as JSON."""

    kind: str
    page: PageSides
    leads_to: str
    moved: MovedBy
    problem: str


@dataclass(frozen=True, slots=True)
class PageChange:
    """A page of one or both snapshots, and how its claims changed."""

    state: PageState
    old: PageLocation | None
    new: PageLocation | None
    moved: MovedBy = ""
    """How it was recognized, if its path differs."""
    is_same: bool = False
    """Whether its text is the same, so that its claims need not be read."""
    same: int = 0
    """How many claims are the same, if they were read."""
    changes: tuple[ClaimChange, ...] = ()
    leads_to: str = ""
    """Where the path of a removed page leads now."""
    problem: str = ""
    """Why it cannot be read, and in which snapshot."""
    digest: str = ""
    """Of an added page's text, which may have been under another path before."""

    @property
    def page(self) -> PageLocation:
        page = self.new or self.old
        if page is None:
            raise ValueError("a change is of a page")
        return page

    @property
    def is_renamed(self) -> bool:
        return self.state == "both" and self.moved in RENAMED

    @property
    def sides(self) -> PageSides:
        return PageSides(self.new, self.old)

    def records(self, kinds: Collection[str] = CHANGE_KINDS) -> Iterator[PageChangeRecord | ClaimChangeRecord]:
        """The change of the page itself, if all kinds are wanted; then each change of its claims of these kinds."""
        what = "renamed" if self.is_renamed else self.state
        if frozenset(CHANGE_KINDS) <= frozenset(kinds) and what in ("added", "removed", "renamed", "unreadable"):
            yield PageChangeRecord(f"page {what}", self.sides, self.leads_to, self.moved, self.problem)
        for change in self.changes:
            if change.is_of(kinds):
                yield change.record(self.sides)


MAX_OF_SUBJECT = 60
"""At most this many claims of one subject are compared with each other."""

MARKS = (
    ("disputed", "The page marks it as disputed."),
    ("citation_needed", "The page marks it as needing a citation."),
)

Before = Mapping[ClaimId, Claim]
"""Maps claims of the new snapshot to their old versions, worded the same or differently."""


def _doubting_words(claim: Claim) -> list[str]:
    """The hedges of a claim that express doubt, in order, each once."""
    return list(dict.fromkeys(hedge.cue.casefold() for hedge in claim.hedges if hedge.kind in DOUBT_KINDS))


def new_doubts(old: Claim, new: Claim) -> Iterator[ClaimDoubt]:
    """New doubts about a claim: its own hedges, and marks on the page."""
    cues = _doubting_words(new)
    # Other hedging words than before are a change of wording, not a new doubt.
    if cues and not _doubting_words(old):
        yield ClaimDoubt("hedged", f"It is hedged now: {', '.join(map(repr, cues))}.")
    for name, why in MARKS:
        if getattr(new.signals, name) and not getattr(old.signals, name):
            yield ClaimDoubt("marked", why)


def contradicted_claims(
    touched: Sequence[Claim], all_new: Sequence[Claim], before: Before, language: str
) -> dict[ClaimId, list[ClaimDoubt]]:
    """Added and changed claims that now contradict another of the new snapshot; each pair is reported once."""
    by_subject: dict[str, list[Claim]] = defaultdict(list)
    for claim in all_new:
        if claim.measures or claim.dates:
            by_subject[without_article(claim.subject)].append(claim)
    found: dict[ClaimId, list[ClaimDoubt]] = defaultdict(list)
    reported: set[frozenset[ClaimId]] = set()
    for claim in touched:
        for other in by_subject.get(without_article(claim.subject), ())[:MAX_OF_SUBJECT]:
            pair = frozenset((claim.id, other.id))
            if len(pair) < 2 or pair in reported:
                continue
            how = contradiction(claim, other, language)
            if how and not _was_contradicted(claim, other, before, language):
                reported.add(pair)
                found[claim.id].append(ClaimDoubt("contradicted", how.why, other))
    return found


def contradiction(one: Claim, other: Claim, language: str) -> Disagreement | None:
    """How two claims contradict each other, if it is clear enough for a brief."""
    if not ((one.measures or one.dates) and (other.measures or other.dates)):
        return None
    how = compare_sentences(compared_sentence(one, language), compared_sentence(other, language))
    if how is None or how.kind != "contradiction" or how.strength < MIN_DISPUTE_STRENGTH:
        return None
    alike = jaccard(roots_of(one.text, language), roots_of(other.text, language))
    return how if is_clear_conflict(one, other, alike) else None


def _was_contradicted(one: Claim, other: Claim, before: Before, language: str) -> bool:
    first, second = before.get(one.id), before.get(other.id)
    return first is not None and second is not None and contradiction(first, second, language) is not None


TABLE = """
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
CREATE TABLE touched (id TEXT PRIMARY KEY, subject TEXT, new TEXT, old TEXT, title TEXT, path TEXT, old_title TEXT,
                      old_path TEXT) WITHOUT ROWID;
CREATE INDEX touched_subject ON touched (subject);
CREATE TABLE compared (subject TEXT PRIMARY KEY, pairs INTEGER) WITHOUT ROWID;
"""
OF_SUBJECT = """
SELECT new, old, title, path, old_title, old_path FROM touched WHERE subject = ? AND path <> ? ORDER BY id LIMIT ?
"""
COLLECTED = "SELECT 1 FROM touched WHERE id = ?"
COUNTED = "INSERT INTO compared VALUES (?1, ?2) ON CONFLICT (subject) DO UPDATE SET pairs = pairs + ?2"
MAX_PAIRS = MAX_OF_SUBJECT**2
"""At most this many pairs of one subject are compared; some subjects are on half of all pages."""


class TouchedClaim(NamedTuple):
    """An added or changed claim, what it was before, and its page."""

    new: Claim
    old: Claim | None
    at: PageLocation
    was_at: PageLocation | None


class ChangedClaimIndex:
    """Added and changed claims, collected to be compared with other pages of the new snapshot."""

    def __init__(self) -> None:
        self.left_out = False
        """Whether a subject has more claims than were compared."""
        self._temporary = sqlite3.connect("", isolation_level=None)  # a temporary file, deleted with the connection
        self._temporary.executescript(TABLE)
        self._temporary.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._temporary.close()

    def add(self, page: PageChange, new_side: Snapshot) -> None:
        """Collect the added and changed claims of a page whose subjects other pages may mention too."""
        for change in page.changes:
            new = change.new
            if new is not None and page.new and change.kind != "disputed" and _has_page(new, new_side):
                old = canonical_json(claim_record(change.old)) if change.old else ""
                sides = (page.new.title, page.new.path, *((page.old.title, page.old.path) if page.old else ("", "")))
                row = (new.id, without_article(new.subject), canonical_json(claim_record(new)), old, *sides)
                self._write("INSERT OR IGNORE INTO touched VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _write(self, statement: str, row: tuple[str | int, ...]) -> None:
        try:
            self._temporary.execute(statement, row)
        except sqlite3.Error as problem:
            raise CannotWrite(
                f"The changed claims cannot be saved in a temporary file: {problem}.",
                remedy="Free up space there, or set TMPDIR to another folder.",
            ) from problem

    def contradicted(self, said: Iterable[Claim], language: str) -> Iterator[PageChange]:
        """Compare them with all claims of the new snapshot in one pass; each contradicting pair is reported once."""
        for claim in said:
            if _is_row_of_others(claim):
                continue
            for touched_claim in self._of(claim):
                if touched_claim.new.id > claim.id and self._temporary.execute(COLLECTED, (claim.id,)).fetchone():
                    continue  # the other of the two reports the pair
                how = contradiction(touched_claim.new, claim, language)
                if how and not (touched_claim.old and contradiction(touched_claim.old, claim, language)):
                    doubt = ClaimDoubt("contradicted", how.why, claim)
                    change = ClaimChange("disputed", touched_claim.old, touched_claim.new, doubts=(doubt,))
                    yield PageChange(
                        "contradicted elsewhere", touched_claim.was_at, touched_claim.at, changes=(change,)
                    )

    def _of(self, claim: Claim) -> list[TouchedClaim]:
        """The collected claims of the same subject on other pages, up to the limits."""
        subject = without_article(claim.subject)
        before = self._temporary.execute("SELECT pairs FROM compared WHERE subject = ?", (subject,)).fetchone()
        if before and before[0] >= MAX_PAIRS:
            self.left_out = True
            return []
        rows = self._temporary.execute(OF_SUBJECT, (subject, claim.ref.path, MAX_OF_SUBJECT + 1)).fetchall()
        if rows:
            self.left_out |= len(rows) > MAX_OF_SUBJECT
            self._write(COUNTED, (subject, len(rows)))
        return [
            TouchedClaim(
                claim_from_record(json.loads(new)),
                claim_from_record(json.loads(old)) if old else None,
                PageLocation(path, title),
                PageLocation(old_path, old_title) if old_path else None,
            )
            for new, old, title, path, old_title, old_path in rows[:MAX_OF_SUBJECT]
        ]


def _has_page(claim: Claim, side: Snapshot) -> bool:
    """Whether its subject is the title of a page: 'The album' means a different one on every page."""
    if not (claim.measures or claim.dates) or _is_row_of_others(claim):
        return False
    return any(side.by_title(name) for name in dict.fromkeys((claim.subject, claim.subject.removeprefix("The "))))


def _is_row_of_others(claim: Claim) -> bool:
    """Whether it is a table row that counts something for its page: 'United Kingdom — units sold'."""
    return bool(row_label(claim)) and not claim.page_title.startswith(claim.subject)
