"""Edits: what people change in a case, each with the rows it changed, so that it can be undone and redone."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from sqlalchemy import Row, func, insert, select, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.store import audit
from kiwiresearch.kin.store.database import CaseDatabase, StorePart
from kiwiresearch.kin.store.people_and_sources import follow_merges
from kiwiresearch.kin.store.row_changes import (
    DERIVED,
    OTHER_END,
    StoredRow,
    change_from_json,
    change_to_json,
    key_of,
    replay_change,
    revert_change,
)
from kiwiresearch.kin.store.tables import EDIT, EVIDENCE_CLAIM, METADATA
from kiwiresearch.kin.tree import PersonId, row_id

EditKind = Literal[
    "add_person",
    "remove_person",
    "add_fact",
    "change_fact",
    "remove_fact",
    "accept_fact",
    "prefer_fact",
    "add_name",
    "remove_name",
    "add_tie",
    "remove_tie",
    "merge",
    "unmerge",
    "separate",
    "allow_merge",
    "split",
    "attach",
    "detach",
    "living",
]
EditState = Literal["done", "undone"]


@dataclass(frozen=True, slots=True)
class Edit:
    """A change that a person made to a case."""

    id: str
    seq: int
    kind: EditKind
    people: tuple[PersonId, ...]
    details: Mapping[str, Any]
    """What the person entered. It may name people who may be living, so only the owner may see it."""
    note: str
    author: str
    state: EditState
    made_at: str
    undone_at: str = ""


class Edits(StorePart):
    """The edits of a case, in the order in which they were made."""

    @contextmanager
    def recording(
        self,
        kind: EditKind,
        people: Sequence[PersonId],
        details: Mapping[str, Any] | None = None,
        *,
        note: str = "",
        author: str = "",
    ) -> Iterator[None]:
        """Make everything written inside one edit; inside another edit it is part of that one."""
        db = self._db
        with db.step(author or "user"):
            if db.edit_id:
                yield
                return
            seq = db.run(select(func.coalesce(func.max(EDIT.c.seq), 0) + 1)).scalar_one()
            db.edit_id, db.edit_changes = row_id("edit", str(seq), secrets.token_hex(16)), []
            try:
                yield
                self._store(seq, kind, people, {**(details or {})}, note, author)
            finally:
                db.edit_id, db.edit_changes = "", []

    def _store(
        self, seq: int, kind: EditKind, people: Sequence[PersonId], details: StoredRow, note: str, author: str
    ) -> None:
        db = self._db
        row = {
            "id": db.edit_id,
            "seq": seq,
            "version": _next_version(db),
            "kind": kind,
            "people": list(people),
            "details": details,
            "note": note,
            "author": author,
            "salt": secrets.token_hex(16),  # without it, the hash in the log would reveal what can be guessed
            "changes": [change_to_json(change) for change in db.edit_changes],
            "state": "done",
            "made_at": db.now(),
            "undone_at": "",
        }
        db.run(insert(EDIT).values(row))
        after = {"ids": list(people), "state": kind, "digest": edit_digest(row)}
        audit.record(db, "edit", db.edit_id, is_redacted=False, after=after)

    def all(self) -> tuple[Edit, ...]:
        """All edits, including undone ones, the first made first."""
        columns = [EDIT.c[name] for name in Edit.__dataclass_fields__]
        with self._db.reading():
            rows = self._db.rows(select(*columns).order_by(EDIT.c.seq))
        return tuple(Edit(**row._asdict() | {"people": tuple(row.people)}) for row in rows)

    def notes(self) -> dict[str, str]:
        """The notes of the people who entered something, by the id of the evidence that it is."""
        made = select(EVIDENCE_CLAIM.c.id, EDIT.c.note).join(EDIT, EDIT.c.id == EVIDENCE_CLAIM.c.edit_id)
        with self._db.reading():
            return {row.id: row.note for row in self._db.rows(made.where(EDIT.c.note != ""))}

    def latest_version_for(self, people: Sequence[PersonId]) -> int:
        """The version of the last edit of any of these people that was made, undone or redone: 0 if there is none."""
        return max((version for version, _ in self._versions(people)), default=0)

    def since(self, version: int, people: Sequence[PersonId]) -> tuple[Edit, ...]:
        """The edits of any of these people that were made, undone or redone after that version."""
        newer = {edit for made, edit in self._versions(people) if made > version}
        return tuple(edit for edit in self.all() if edit.id in newer)

    def _versions(self, people: Sequence[PersonId]) -> list[tuple[int, str]]:
        """The versions and ids of the edits of any of these people."""
        db = self._db
        with db.reading():
            wanted = {follow_merges(db, person) for person in people}
            rows = db.rows(select(EDIT.c.version, EDIT.c.id, EDIT.c.people))
            return [
                (row.version, row.id)
                for row in rows
                if not wanted.isdisjoint(follow_merges(db, each) for each in row.people)
            ]

    def undo(self, edit: str, *, cascade: bool = False) -> tuple[str, ...]:
        """Undo an edit, and return what was undone, the latest first.

        If a later edit depends on this one, it is refused; with `cascade`, those are undone first. It is also
        refused, with nothing changed, if a row that it wrote has changed since.
        """
        db = self._db
        with db.writing():
            wanted = _edit_in_state(db, edit, "done", "has already been undone")
            later = _dependent(wanted, db.rows(_edits_after(wanted, "done")))
            if later and not cascade:
                raise BadUsage(
                    "This change cannot be undone on its own: a later change depends on it.",
                    remedy="Undo the later changes first, or undo this one together with all that depend on it.",
                )
            undone = [*reversed(later), wanted]
            for row in undone:
                for change in reversed(row.changes):
                    revert_change(db, *change_from_json(change))
                self._set_state(row, "undone")
            return tuple(row.id for row in undone)

    def redo(self, edit: str) -> None:
        """Make an undone edit again; refused if what it changed has changed since."""
        db = self._db
        with db.writing():
            row = _edit_in_state(db, edit, "undone", "has not been undone")
            for change in row.changes:
                replay_change(db, *change_from_json(change))
            self._set_state(row, "done")

    def _set_state(self, row: Row[Any], state: EditState) -> None:
        db = self._db
        at = db.now() if state == "undone" else ""
        db.run(update(EDIT).where(EDIT.c.id == row.id).values(state=state, undone_at=at, version=_next_version(db)))
        # The edit may have merged or added people, which the caches do not know of.
        db.merged_into = None
        db.known_people.clear()
        db.changed_people |= set(row.people)
        action = "undo_edit" if state == "undone" else "redo_edit"
        audit.record(db, action, row.id, is_redacted=False, after={"ids": row.people, "state": row.kind})


def _next_version(db: CaseDatabase) -> int:
    return int(db.run(select(func.coalesce(func.max(EDIT.c.version), 0) + 1)).scalar_one())


def _edit_in_state(db: CaseDatabase, edit: str, state: EditState, otherwise: str) -> Row[Any]:
    row = db.run(select(EDIT).where(EDIT.c.id == edit)).one_or_none()
    if row is None:
        raise BadUsage(f"The case has no change {edit!r}.", remedy="To list all changes: kiwiresearch kin history")
    if row.state != state:
        raise BadUsage(f"The change {edit!r} {otherwise}.")
    return row


def _edits_after(row: Row[Any], state: EditState) -> Any:
    """The edits that took effect later. An old edit that was redone is later than those made before that."""
    return select(EDIT).where(EDIT.c.version > row.version, EDIT.c.state == state).order_by(EDIT.c.version)


def _dependent(wanted: Row[Any], later: Sequence[Row[Any]]) -> list[Row[Any]]:
    """Later edits that changed the same, or that used a row which this edit or a dependent one made."""
    keys = _changed_keys(wanted)
    made = _created_ids(wanted)
    found = []
    for row in later:
        if keys & _changed_keys(row) or made & _mentioned_ids(row):
            keys |= _changed_keys(row)
            made |= _created_ids(row)
            found.append(row)
    return found


def _changed_keys(row: Row[Any]) -> set[tuple[str, ...]]:
    """What an edit changed: columns of rows, and rows that it added or removed.

    The two ends of a relationship are one key: whether an end can be set back depends on the other.
    """
    found: set[tuple[str, ...]] = set()
    for change in row.changes:
        if change[0] == "set" and change[3] not in DERIVED:
            # Derived columns are left out above: undoing leaves them alone if the rules have changed them since.
            column = "ends" if change[3] in OTHER_END else change[3]
            found.add((change[1], change[2], column))
        elif change[0] != "set":
            found.add((change[1], *key_of(METADATA.tables[change[1]], change[2])))
    return found


def _created_ids(row: Row[Any]) -> set[str]:
    """The ids of rows that an edit made or moved."""
    return {change[2]["id"] for change in row.changes if change[0] == "put" and "id" in change[2]}


def _mentioned_ids(row: Row[Any]) -> set[str]:
    """All ids that the changes of an edit mention."""
    found: set[str] = set()
    for change in row.changes:
        if change[0] == "set" and change[3] in DERIVED:
            continue
        values = change[2].values() if change[0] != "set" else change[2:]
        found |= {value for value in values if isinstance(value, str)}
    return found


def edit_digest(row: Mapping[str, Any]) -> str:
    """The hash of an edit as it was made."""
    made = {key: value for key, value in row.items() if key not in ("state", "undone_at", "version")}
    return sha256(canonical_json(made).encode("utf-8", "surrogatepass")).hexdigest()
