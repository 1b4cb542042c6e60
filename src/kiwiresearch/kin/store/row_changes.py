"""Replaying, reverting and serialising the row changes of an edit.

Undoing is the reverse of making, so both are in one file.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from sqlalchemy import LargeBinary, Table, and_, delete, insert, or_, select, true, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store.database import CaseDatabase, RowChange
from kiwiresearch.kin.store.merges import next_merge_seq
from kiwiresearch.kin.store.tables import (
    ASSERTION,
    EVENT,
    EVIDENCE_CLAIM,
    MERGE_CLUSTER,
    METADATA,
    PERSON,
    RELATIONSHIP,
    SOURCE_RECORD,
)
from kiwiresearch.kin.tree import PersonId, SourceId

StoredRow = dict[str, Any]
DERIVED = frozenset({"status", "confidence", "is_fact", "preferred", "is_living", "living_basis"})
"""Columns that the rules compute. Undoing restores them only if nothing has computed them again since."""


def key_of(table: Table, row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(row[column.name]) for column in table.primary_key)


def replay_change(db: CaseDatabase, kind: str, name: str, *rest: Any) -> None:
    table = METADATA.tables[name]
    match kind:
        case "put":
            _insert(db, table, *rest)
        case "drop":
            _delete(db, table, *rest)
        case _:
            _set(db, table, *rest)


OPPOSITE = {"put": "drop", "drop": "put"}


def revert_change(db: CaseDatabase, kind: str, name: str, *rest: Any) -> None:
    if kind == "set":
        row, column, old, new = rest
        rest = (row, column, new, old)
    replay_change(db, OPPOSITE.get(kind, kind), name, *rest)


def _changed_since(db: CaseDatabase) -> BadUsage:
    db.mark_broken()
    return BadUsage(
        "This change cannot be undone or redone, because what it changed has changed since.",
        remedy="Nothing was changed. Make the change that you want by hand.",
    )


OTHER_END = {"person1_id": "person2_id", "person2_id": "person1_id"}


def _set(db: CaseDatabase, table: Table, row: str, column: str, before: Any, after: Any) -> None:
    unchanged_since = table.c[column] == before if before is not None else table.c[column].is_(None)
    if column == "merged_into_id" and after is not None and _is_merged(db, after):
        raise _changed_since(db)
    if column == "living_basis":
        unchanged_since = true()  # JSON cannot be compared on every engine, and this only explains `is_living`
    if column in OTHER_END:  # a later merge may have made it the other end: nobody is tied to themselves
        unchanged_since = and_(unchanged_since, table.c[OTHER_END[column]] != after)
    if db.run(update(table).where(table.c.id == row, unchanged_since).values({column: after})).rowcount != 1:
        if column in DERIVED:
            return
        raise _changed_since(db)
    _mark_updated(db, table, row, before, after)


def _is_merged(db: CaseDatabase, person: PersonId) -> bool:
    return db.run(select(PERSON.c.merged_into_id).where(PERSON.c.id == person)).scalar() is not None


def _mark_updated(db: CaseDatabase, table: Table, row: str, *values: Any) -> None:
    """Mark what depends on a row, so that it is derived again."""
    if table is ASSERTION:
        _mark_people_affected(db, table, {"entity_id": row})
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
    _mark_people_affected(db, table, row)


def _delete(db: CaseDatabase, table: Table, row: StoredRow) -> None:
    # Before the row is deleted: afterwards it is unknown whom it was about.
    _mark_people_affected(db, table, row)
    if table is ASSERTION and _is_also_read(db, row["id"]):
        db.run(update(ASSERTION).where(ASSERTION.c.id == row["id"]).values(edit_id=""))
        return
    if table is SOURCE_RECORD and _is_quoted(db, row["id"]):
        return  # research has read the same page since
    if table is PERSON and _is_used(db, row["id"]):
        raise BadUsage(
            "This change cannot be undone or redone, because research has found more about the person since.",
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
    """Whether any source also gives this value. The edit's own evidence has already been removed."""
    criteria = EVIDENCE_CLAIM.c.assertion_id == assertion
    return db.run(select(EVIDENCE_CLAIM.c.id).where(criteria).limit(1)).first() is not None


def _is_quoted(db: CaseDatabase, source: SourceId) -> bool:
    criteria = EVIDENCE_CLAIM.c.source_record_id == source
    return db.run(select(EVIDENCE_CLAIM.c.id).where(criteria).limit(1)).first() is not None


def _is_used(db: CaseDatabase, person: PersonId) -> bool:
    uses = (
        select(ASSERTION.c.id).where(ASSERTION.c.entity_id == person),
        select(RELATIONSHIP.c.id).where(or_(RELATIONSHIP.c.person1_id == person, RELATIONSHIP.c.person2_id == person)),
        select(PERSON.c.id).where(PERSON.c.merged_into_id == person),
        select(MERGE_CLUSTER.c.id).where(MERGE_CLUSTER.c.canonical_id == person),
    )
    return any(db.run(use.limit(1)).first() is not None for use in uses)


def _mark_people_affected(db: CaseDatabase, table: Table, row: StoredRow) -> None:
    """Mark the people and ties that a row is about, so that their rows are derived again."""
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


def change_to_json(change: RowChange) -> RowChange:
    if change[0] == "set":
        return change
    kind, name, row = change
    encoded = {column: base64.b64encode(row[column]).decode() for column in _bytes_columns(METADATA.tables[name])}
    return [kind, name, row | encoded]


def change_from_json(change: RowChange) -> RowChange:
    if change[0] == "set":
        return change
    kind, name, row = change
    decoded = {column: base64.b64decode(row[column]) for column in _bytes_columns(METADATA.tables[name])}
    return [kind, name, row | decoded]
