"""The audit log: every row carries the hash of the one before, so that no row can be touched unseen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import insert, select, update

from kiwiresearch.errors import RunDamaged
from kiwiresearch.kin.fields import Living
from kiwiresearch.kin.store.audit_proof import problems_of
from kiwiresearch.kin.store.chain import AUDIT_START, hash_of, id_at
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.ledger import AuditHeadRow, AuditLogRow
from kiwiresearch.kin.store.problems import BACKUP
from kiwiresearch.kin.store.rows import AuditProblem, AuditRow
from kiwiresearch.kin.store.tables import table

State = Mapping[str, Any]
OPEN_FIELDS = frozenset({"id", "ids", "entity_id", "field_name", "status", "preferred", "source_record_id", "state"})
"""What says nothing about a person: it is written for everybody."""


def audited_state(state: State | None, living: Living) -> State | None:
    """What of a state may stand in the log: of people not known to be dead only ids, and which fields there were."""
    if state is None or living == "deceased":
        return state
    shown = {key: value for key, value in state.items() if key in OPEN_FIELDS}
    return {**shown, "fields": sorted(key for key in state if key not in OPEN_FIELDS)}


def note(
    db: Database,
    action_type: str,
    entity_id: str,
    *,
    living: Living,
    before: State | None = None,
    after: State | None = None,
) -> None:
    """Put down what was done; it is chained and written when the step ends."""
    db.unwritten_audit.append(
        {
            "action_type": action_type,
            "entity_id": entity_id,
            "before_state": audited_state(before, living),
            "after_state": audited_state(after, living),
            "agent_name": db.agent,
            "timestamp": db.now(),
        }
    )


def write_unwritten(db: Database) -> None:
    if not db.unwritten_audit:
        return
    seq, previous = _end(db)
    chained = []
    for row in db.unwritten_audit:
        seq += 1
        whole = {**row, "seq": seq, "id": id_at(seq, previous), "prev_hash": previous}
        previous = hash_of(whole)
        chained.append({**whole, "hash": previous})
    db.run(insert(table(AuditLogRow)), chained)
    db.run(update(table(AuditHeadRow)).values(seq=seq, hash=previous))
    db.unwritten_audit.clear()


def head(db: Database) -> str:
    with db.reading():
        return _end(db)[1]


def _end(db: Database) -> tuple[int, str]:
    """Where the log ends, and the hash of its last row: kept apart, so that rows cut off are missed."""
    found = db.run(select(AuditHeadRow.seq, AuditHeadRow.hash)).one_or_none()
    if found is None:
        raise RunDamaged(f"The case {db.place.name!r} is damaged: the end of its audit log was removed.", remedy=BACKUP)
    return found.seq, found.hash


def rows(db: Database) -> tuple[AuditRow, ...]:
    with db.reading():
        return tuple(AuditRow(**row) for row in _all(db))


def _all(db: Database) -> Sequence[dict[str, Any]]:
    return db.rows(select(table(AuditLogRow)).order_by(AuditLogRow.seq))


def problems(db: Database, expected_head: str = "") -> tuple[AuditProblem, ...]:
    """What is not as it was written, row by row."""
    with db.reading():
        end = _end(db)
        found = _all(db)
    told = problems_of(found, *end)
    if not told and expected_head and expected_head not in (AUDIT_START, *(row["hash"] for row in found)):
        return (AuditProblem(0, "changed", f"the log never had the head {expected_head!r}: it was written anew"),)
    return told
