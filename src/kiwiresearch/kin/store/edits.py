"""Edits: what people change in a case, each with the rows it changed, so that it can be undone and redone.

Undoing is the reverse of making, so both are in one file.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal, get_args

from sqlalchemy import LargeBinary, Row, Table, and_, delete, func, insert, or_, select, true, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.store import audit
from kiwiresearch.kin.store.database import CaseDatabase, Change, StorePart
from kiwiresearch.kin.store.merges import next_merge_seq
from kiwiresearch.kin.store.records import follow_merges
from kiwiresearch.kin.store.tables import (
    ASSERTION,
    EDIT,
    EVENT,
    EVIDENCE_CLAIM,
    MERGE_CLUSTER,
    METADATA,
    PERSON,
    RELATIONSHIP,
    SOURCE_RECORD,
)
from kiwiresearch.kin.tree import PersonId, SourceId, row_id

StoredRow = dict[str, Any]
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
    "import",
]
EDIT_KINDS: tuple[EditKind, ...] = get_args(EditKind)
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
            "changes": [_to_json(change) for change in db.edit_changes],
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

    def latest_for(self, people: Sequence[PersonId]) -> int:
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

        If a later edit depends on this one it is refused, unless `cascade`, which undoes those first.
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
                    _revert(db, *_from_json(change))
                self._set_state(row, "undone")
            return tuple(row.id for row in undone)

    def redo(self, edit: str) -> None:
        """Make an undone edit again; refused if what it changed has changed since."""
        db = self._db
        with db.writing():
            row = _edit_in_state(db, edit, "undone", "has not been undone")
            for change in row.changes:
                _apply(db, *_from_json(change))
            self._set_state(row, "done")

    def _set_state(self, row: Row[Any], state: EditState) -> None:
        db = self._db
        at = db.now() if state == "undone" else ""
        db.run(update(EDIT).where(EDIT.c.id == row.id).values(state=state, undone_at=at, version=_next_version(db)))
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
    return select(EDIT).where(EDIT.c.seq > row.seq, EDIT.c.state == state).order_by(EDIT.c.seq)


def _dependent(wanted: Row[Any], later: Sequence[Row[Any]]) -> list[Row[Any]]:
    """Later edits that changed the same, or that used a row which this edit or a dependent one made."""
    keys = _keys(wanted)
    made = _made(wanted)
    found = []
    for row in later:
        if keys & _keys(row) or made & _mentioned(row):
            keys |= _keys(row)
            made |= _made(row)
            found.append(row)
    return found


DERIVED = frozenset({"status", "confidence", "is_fact", "preferred", "is_living", "living_basis"})
"""Columns that the rules decide; what they decide as a consequence of an edit is undone with it, if it still holds."""


def _keys(row: Row[Any]) -> set[tuple[str, ...]]:
    """What an edit changed: columns of rows, and rows that it added or removed."""
    found: set[tuple[str, ...]] = set()
    for change in row.changes:
        if change[0] == "set" and change[3] not in DERIVED:
            found.add((change[1], change[2], change[3]))
        elif change[0] != "set":
            found.add((change[1], *_key_of(METADATA.tables[change[1]], change[2])))
    return found


def _made(row: Row[Any]) -> set[str]:
    """The ids of rows that an edit made or moved."""
    return {change[2]["id"] for change in row.changes if change[0] == "put" and "id" in change[2]}


def _mentioned(row: Row[Any]) -> set[str]:
    """All ids that the changes of an edit mention."""
    found: set[str] = set()
    for change in row.changes:
        if change[0] == "set" and change[3] in DERIVED:
            continue
        values = change[2].values() if change[0] != "set" else change[2:]
        found |= {value for value in values if isinstance(value, str)}
    return found


def _key_of(table: Table, row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[column.name]) for column in table.primary_key)


def _apply(db: CaseDatabase, kind: str, name: str, *rest: Any) -> None:
    table = METADATA.tables[name]
    match kind:
        case "put":
            _insert(db, table, *rest)
        case "drop":
            _delete(db, table, *rest)
        case _:
            _set(db, table, *rest)


OPPOSITE = {"put": "drop", "drop": "put"}


def _revert(db: CaseDatabase, kind: str, name: str, *rest: Any) -> None:
    if kind == "set":
        row, column, old, new = rest
        rest = (row, column, new, old)
    _apply(db, OPPOSITE.get(kind, kind), name, *rest)


def _changed_since(db: CaseDatabase) -> BadUsage:
    db.mark_broken()
    return BadUsage(
        "This change cannot be undone or redone, because what it changed has changed since.",
        remedy="Nothing was changed. Make the change that you want by hand.",
    )


OTHER_END = {"person1_id": "person2_id", "person2_id": "person1_id"}


def _set(db: CaseDatabase, table: Table, row: str, column: str, before: Any, after: Any) -> None:
    as_left = table.c[column] == before if before is not None else table.c[column].is_(None)
    if column == "merged_into_id" and after is not None and _is_merged(db, after):
        raise _changed_since(db)
    if column == "living_basis":
        as_left = true()  # JSON cannot be compared on every engine, and this only explains `is_living`
    if column in OTHER_END:  # a later merge may have made it the other end: nobody is tied to themselves
        as_left = and_(as_left, table.c[OTHER_END[column]] != after)
    if db.run(update(table).where(table.c.id == row, as_left).values({column: after})).rowcount != 1:
        if column in DERIVED:
            return
        raise _changed_since(db)
    _note_touched(db, table, row, before, after)


def _is_merged(db: CaseDatabase, person: PersonId) -> bool:
    return db.run(select(PERSON.c.merged_into_id).where(PERSON.c.id == person)).scalar() is not None


def _note_touched(db: CaseDatabase, table: Table, row: str, *values: Any) -> None:
    """Mark what depends on a row, so that it is derived again."""
    if table is ASSERTION:
        _note_row(db, table, {"entity_id": row})
    if table is RELATIONSHIP:
        db.changed_ties.add(row)
    if table is PERSON:
        db.changed_people.add(row)
    db.changed_people |= {value for value in values if isinstance(value, str)}


SHARED = frozenset({ASSERTION, EVIDENCE_CLAIM, RELATIONSHIP, SOURCE_RECORD})
"""Tables whose ids come from the content of a row: research may have found the same since."""


def _insert(db: CaseDatabase, table: Table, row: StoredRow) -> None:
    if table is MERGE_CLUSTER:
        row = row | {"seq": next_merge_seq(db)}  # a merge that was made since may have its number
    same = [table.c[column.name] == row[column.name] for column in table.primary_key]
    if db.run(select(*table.primary_key).where(*same)).one_or_none() is None:
        db.run(insert(table).values(row))
    elif table not in SHARED:
        raise _changed_since(db)
    _note_row(db, table, row)


def _delete(db: CaseDatabase, table: Table, row: StoredRow) -> None:
    _note_row(db, table, row)
    if table is ASSERTION and _is_also_read(db, row["id"]):
        db.run(update(ASSERTION).where(ASSERTION.c.id == row["id"]).values(edit_id=""))
        return
    if table is SOURCE_RECORD and _is_quoted(db, row["id"]):
        return  # research has read the same page since
    if table is PERSON and _is_used(db, row["id"]):
        raise BadUsage(
            "This change cannot be undone, because research has found more about the person since.",
            remedy="Remove the person instead.",
        )
    if table is RELATIONSHIP:
        if db.run(select(ASSERTION.c.id).where(ASSERTION.c.entity_id == row["id"]).limit(1)).first() is not None:
            return  # research has found the same relationship since
        db.run(delete(EVENT).where(EVENT.c.owner_id == row["id"]))
    same = [table.c[column.name] == row[column.name] for column in table.primary_key]
    if db.run(delete(table).where(*same)).rowcount != 1:
        raise _changed_since(db)


def _is_also_read(db: CaseDatabase, assertion: str) -> bool:
    """Whether sources give a value, too, that a person entered: the edit's own evidence is removed before it."""
    mine = EVIDENCE_CLAIM.c.assertion_id == assertion
    return db.run(select(EVIDENCE_CLAIM.c.id).where(mine).limit(1)).first() is not None


def _is_quoted(db: CaseDatabase, source: SourceId) -> bool:
    mine = EVIDENCE_CLAIM.c.source_record_id == source
    return db.run(select(EVIDENCE_CLAIM.c.id).where(mine).limit(1)).first() is not None


def _is_used(db: CaseDatabase, person: PersonId) -> bool:
    uses = (
        select(ASSERTION.c.id).where(ASSERTION.c.entity_id == person),
        select(RELATIONSHIP.c.id).where(or_(RELATIONSHIP.c.person1_id == person, RELATIONSHIP.c.person2_id == person)),
        select(PERSON.c.id).where(PERSON.c.merged_into_id == person),
        select(MERGE_CLUSTER.c.id).where(MERGE_CLUSTER.c.canonical_id == person),
    )
    return any(db.run(use.limit(1)).first() is not None for use in uses)


def _note_row(db: CaseDatabase, table: Table, row: StoredRow) -> None:
    ends = [row[name] for name in ("person1_id", "person2_id", "person_id", "canonical_id") if name in row]
    db.changed_people.update(ends)
    entity = row.get("entity_id", "")
    if table is RELATIONSHIP or table is PERSON:
        entity = row["id"]
    if table is EVIDENCE_CLAIM:
        entity = db.run(select(ASSERTION.c.entity_id).where(ASSERTION.c.id == row["assertion_id"])).scalar() or ""
    if not entity:
        return
    about = db.run(select(ASSERTION.c.entity_id).where(ASSERTION.c.id == entity)).scalar()  # a decision about a fact
    for changed in {entity, about} - {None}:
        tie = db.run(
            select(RELATIONSHIP.c.person1_id, RELATIONSHIP.c.person2_id).where(RELATIONSHIP.c.id == changed)
        ).one_or_none()
        if tie is None:
            db.changed_people.add(changed)
        else:
            db.changed_ties.add(changed)
            db.changed_people |= {tie.person1_id, tie.person2_id}


def _bytes_columns(table: Table) -> tuple[str, ...]:
    return tuple(column.name for column in table.c if isinstance(column.type, LargeBinary))


def _to_json(change: Change) -> Change:
    if change[0] == "set":
        return change
    kind, name, row = change
    encoded = {column: base64.b64encode(row[column]).decode() for column in _bytes_columns(METADATA.tables[name])}
    return [kind, name, row | encoded]


def _from_json(change: Change) -> Change:
    if change[0] == "set":
        return change
    kind, name, row = change
    decoded = {column: base64.b64decode(row[column]) for column in _bytes_columns(METADATA.tables[name])}
    return [kind, name, row | decoded]


def edit_digest(row: Mapping[str, Any]) -> str:
    """The hash of an edit as it was made."""
    made = {key: value for key, value in row.items() if key not in ("state", "undone_at", "version")}
    return sha256(canonical_json(made).encode("utf-8", "surrogatepass")).hexdigest()
