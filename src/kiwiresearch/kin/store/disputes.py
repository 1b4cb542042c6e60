"""Conflicts: facts that compete, and what was made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.store import audit
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.ledger import ConflictTableRow
from kiwiresearch.kin.store.people import living_of, root_of
from kiwiresearch.kin.store.rows import ConflictRow
from kiwiresearch.kin.store.schema import AssertionRow, RelationshipRow
from kiwiresearch.kin.store.tables import table


def put_conflict(db: Database, conflict: ConflictRow) -> str:
    with db.writing():
        root = root_of(db, conflict.entity_id)
        known = {
            found
            for row in (AssertionRow, RelationshipRow)  # two fathers compete as ties
            for found in db.run(select(row.id).where(row.id.in_(conflict.assertion_ids))).scalars()
        }
        missing = sorted({*conflict.assertion_ids, conflict.recommended_assertion_id} - known - {""})
        if missing:
            raise BadUsage(f"A conflict about {conflict.field!r} names a fact that the case has not: {missing[0]!r}.")
        identity = conflict.id or id_of("conflict", root, conflict.field)
        row = {
            "id": identity,
            "entity_id": root,
            "field_name": conflict.field,
            "assertion_ids": list(conflict.assertion_ids),
            "ranking": [dict(rank) for rank in conflict.ranking],
            "recommended_assertion_id": conflict.recommended_assertion_id,
            "confidence": conflict.confidence,
            "method": conflict.method,
            "resolution_status": conflict.resolution_status,
            "rationale": conflict.rationale,
            "next_actions": list(conflict.next_actions),
        }
        before = db.rows(select(table(ConflictTableRow)).where(ConflictTableRow.id == identity))
        if before != [row]:
            db.put(ConflictTableRow, row)
            shown, was = _shown(row), _shown(before[0]) if before else None
            audit.note(db, "conflict", identity, living=living_of(db, root), before=was, after=shown)
        return identity


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    told = {"field_name": row["field_name"], "entity_id": row["entity_id"], "ids": row["assertion_ids"]}
    return told | {"status": row["resolution_status"], "recommended": row["recommended_assertion_id"]}


def drop_conflict(db: Database, conflict: str) -> None:
    with db.writing():
        gone = db.run(delete(table(ConflictTableRow)).where(ConflictTableRow.id == conflict)).rowcount
        if gone:
            audit.note(db, "drop_conflict", conflict, living="unknown")


def conflicts(db: Database) -> tuple[ConflictRow, ...]:
    with db.reading():
        rows = db.rows(select(table(ConflictTableRow)).order_by(ConflictTableRow.id))
        roots = [root_of(db, row["entity_id"]) for row in rows]
    return tuple(
        ConflictRow(
            row["id"],
            root,
            row["field_name"],
            tuple(row["assertion_ids"]),
            tuple(row["ranking"]),
            row["recommended_assertion_id"],
            row["confidence"],
            row["method"],
            row["resolution_status"],
            row["rationale"],
            tuple(row["next_actions"]),
        )
        for row, root in zip(rows, roots, strict=True)
    )
