"""The conflicts of a case: facts that compete, and which of them the rules recommend."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import delete, select

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store import audit
from kiwiresearch.kin.store.database import StorePart
from kiwiresearch.kin.store.people_and_sources import canonical_id, may_be_living
from kiwiresearch.kin.store.tables import ASSERTION, CONFLICT, RELATIONSHIP
from kiwiresearch.kin.store.values import ConflictRow
from kiwiresearch.kin.tree import row_id


class ConflictStore(StorePart):
    """The conflicts between facts."""

    def put_conflict(self, conflict: ConflictRow) -> str:
        """Store the outcome of competing facts, replacing the earlier one; an empty id is filled in."""
        with self._db.writing():
            root = canonical_id(self._db, conflict.entity_id)
            known = {
                found
                for table in (ASSERTION, RELATIONSHIP)  # two fathers compete as ties
                for found in self._db.run(select(table.c.id).where(table.c.id.in_(conflict.assertion_ids))).scalars()
            }
            missing = sorted({*conflict.assertion_ids, conflict.recommended_assertion_id} - known - {""})
            if missing:
                raise BadUsage(
                    f"A conflict about {conflict.field!r} refers to a fact that is not in the case: {missing[0]!r}."
                )
            conflict_id = conflict.id or row_id("conflict", root, conflict.field)
            row = {
                "id": conflict_id,
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
            before = [item._asdict() for item in self._db.rows(select(CONFLICT).where(CONFLICT.c.id == conflict_id))]
            if before != [row]:
                self._db.upsert(CONFLICT, row)
                shown, was = _audit_state(row), _audit_state(before[0]) if before else None
                audit.record(
                    self._db,
                    "conflict",
                    conflict_id,
                    is_redacted=may_be_living(self._db, root),
                    before=was,
                    after=shown,
                )
            return conflict_id

    def drop_conflict(self, conflict: str) -> None:
        """Remove a conflict whose facts no longer compete. The facts stay."""
        with self._db.writing():
            gone = self._db.run(delete(CONFLICT).where(CONFLICT.c.id == conflict)).rowcount
            if gone:
                audit.record(self._db, "drop_conflict", conflict, is_redacted=True)

    def conflicts(self) -> tuple[ConflictRow, ...]:
        with self._db.reading():
            rows = self._db.rows(select(CONFLICT).order_by(CONFLICT.c.id))
            roots = [canonical_id(self._db, row.entity_id) for row in rows]
        return tuple(
            ConflictRow(
                row.id,
                root,
                row.field_name,
                tuple(row.assertion_ids),
                tuple(row.ranking),
                row.recommended_assertion_id,
                row.confidence,
                row.method,
                row.resolution_status,
                row.rationale,
                tuple(row.next_actions),
            )
            for row, root in zip(rows, roots, strict=True)
        )


def _audit_state(row: Mapping[str, object]) -> JsonDict:
    details = {"field_name": row["field_name"], "entity_id": row["entity_id"], "ids": row["assertion_ids"]}
    return details | {"status": row["resolution_status"], "recommended": row["recommended_assertion_id"]}
