"""Claims that came or changed, against all that other pages of the new snapshot say of the same subject.

They wait in a file until the whole snapshot has been gone through once; nothing is kept in memory.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Self

from kiwiresearch.brief.wording import without_article
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.record import claim_of
from kiwiresearch.claims.record import record_of as claim_record
from kiwiresearch.errors import CannotWrite
from kiwiresearch.ids import canonical_json
from kiwiresearch.research.claim_pairs import label_of
from kiwiresearch.research.snapshots_change import Change, Doubt, PageAt, PageChange
from kiwiresearch.research.snapshots_doubts import MOST_OF_SUBJECT, contradiction
from kiwiresearch.research.snapshots_sides import Side

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
COUNTED = "INSERT INTO compared VALUES (?1, ?2) ON CONFLICT (subject) DO UPDATE SET pairs = pairs + ?2"
MOST_PAIRS = MOST_OF_SUBJECT**2
"""So many pairs of claims of one subject are compared; there are pages that half a book speaks of."""


class Touched(NamedTuple):
    """A claim that came or changed, with what it was, and its page."""

    new: Claim
    old: Claim | None
    at: PageAt
    was_at: PageAt | None


class Across:
    """The claims that wait."""

    def __init__(self) -> None:
        self.left_out = False
        """Whether a subject has more claims than were compared."""
        self._store = sqlite3.connect("", isolation_level=None)  # a file without a name, which goes with us
        self._store.executescript(TABLE)
        self._store.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def keep(self, page: PageChange, new_side: Side) -> None:
        """Remember the claims of a page that came or changed, if other pages can be known to speak of the same."""
        for change in page.changes:
            new = change.new
            if new is not None and page.new and change.kind != "disputed" and _is_known(new, new_side):
                old = canonical_json(claim_record(change.old)) if change.old else ""
                sides = (page.new.title, page.new.path, *((page.old.title, page.old.path) if page.old else ("", "")))
                row = (new.id, without_article(new.subject), canonical_json(claim_record(new)), old, *sides)
                self._write("INSERT OR IGNORE INTO touched VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

    def _write(self, statement: str, row: tuple[str | int, ...]) -> None:
        try:
            self._store.execute(statement, row)
        except sqlite3.Error as problem:
            raise CannotWrite(
                f"The claims that changed cannot be kept in a file for the time being: {problem}.",
                remedy="Make room there, or name another place for such files in TMPDIR.",
            ) from problem

    def contradicted(self, said: Iterable[Claim], language: str) -> Iterator[PageChange]:
        """Go through all that the new snapshot says once; each pair that contradicts is told once."""
        for claim in said:
            if _is_row_of_others(claim):
                continue
            for one in self._of(claim):
                if one.new.id > claim.id and self._is_kept(claim):
                    continue  # the other of the two tells it
                how = contradiction(one.new, claim, language)
                if how and not (one.old and contradiction(one.old, claim, language)):
                    doubt = Doubt("contradicted", how.why, claim)
                    change = Change("disputed", one.old, one.new, doubts=(doubt,))
                    yield PageChange("told again", one.was_at, one.at, changes=(change,))

    def _of(self, claim: Claim) -> list[Touched]:
        """What waits of the same subject on other pages, as far as it is compared."""
        subject = without_article(claim.subject)
        before = self._store.execute("SELECT pairs FROM compared WHERE subject = ?", (subject,)).fetchone()
        if before and before[0] >= MOST_PAIRS:
            self.left_out = True
            return []
        rows = self._store.execute(OF_SUBJECT, (subject, claim.ref.path, MOST_OF_SUBJECT + 1)).fetchall()
        if rows:
            self.left_out |= len(rows) > MOST_OF_SUBJECT
            self._write(COUNTED, (subject, len(rows)))
        return [
            Touched(
                claim_of(json.loads(new)),
                claim_of(json.loads(old)) if old else None,
                PageAt(path, title),
                PageAt(old_path, old_title) if old_path else None,
            )
            for new, old, title, path, old_title, old_path in rows[:MOST_OF_SUBJECT]
        ]

    def _is_kept(self, claim: Claim) -> bool:
        return self._store.execute("SELECT 1 FROM touched WHERE id = ?", (claim.id,)).fetchone() is not None


def _is_known(claim: Claim, side: Side) -> bool:
    """Whether its subject has a page, by just this name: 'The album' is another one on every page."""
    if not (claim.measures or claim.dates) or _is_row_of_others(claim):
        return False
    return any(side.by_title(name) for name in dict.fromkeys((claim.subject, claim.subject.removeprefix("The "))))


def _is_row_of_others(claim: Claim) -> bool:
    """Whether it is a row of a table, which counts something for its page: 'United Kingdom — units sold'."""
    return bool(label_of(claim)) and not claim.page_title.startswith(claim.subject)
