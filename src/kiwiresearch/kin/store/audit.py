"""The audit log of a case: what was done, with nothing in it about people who may be alive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from kiwiresearch.errors import RunDamaged
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.tables import AUDIT_HEAD, AUDIT_LOG
from kiwiresearch.kin.store.values import CaseAuditRow
from kiwiresearch.kin.tree import LivingStatus, row_id
from kiwiresearch.store.audit import AuditChain, AuditProblem
from kiwiresearch.store.engine import BACKUP

CHAIN = AuditChain(
    AUDIT_LOG,
    AUDIT_HEAD,
    hashes_previous_twice=True,
    row_id=lambda seq, previous: row_id("audit", previous, str(seq)),
)
State = Mapping[str, Any]
UNREDACTED_FIELDS = frozenset(
    {"id", "ids", "entity_id", "field_name", "status", "preferred", "source_record_id", "state"}
)
"""What says nothing about a person: it is written for everybody."""


def redact_state(state: State | None, living: LivingStatus) -> State | None:
    """What of a state may stand in the log: of people not known to be dead only ids, and which fields there were."""
    if state is None or living == "deceased":
        return state
    shown = {key: value for key, value in state.items() if key in UNREDACTED_FIELDS}
    return {**shown, "fields": sorted(key for key in state if key not in UNREDACTED_FIELDS)}


def record(
    db: CaseDatabase,
    action_type: str,
    entity_id: str,
    *,
    living: LivingStatus,
    before: State | None = None,
    after: State | None = None,
) -> None:
    """Put down what was done; it is chained and written when the step ends."""
    db.pending_audit.append(
        {
            "action_type": action_type,
            "entity_id": entity_id,
            "before_state": redact_state(before, living),
            "after_state": redact_state(after, living),
            "agent_name": db.agent,
            "timestamp": db.now(),
        }
    )


def write_pending(db: CaseDatabase) -> None:
    if db.pending_audit:
        with db.errors():
            CHAIN.append(db.connection, db.pending_audit, _read_end(db))
        db.pending_audit.clear()


def head(db: CaseDatabase) -> str:
    with db.reading():
        return _read_end(db)[1]


def _read_end(db: CaseDatabase) -> tuple[int, str]:
    """Where the log ends, and the hash of its last row: kept apart, so that rows cut off are missed."""
    with db.errors():
        found = CHAIN.read_end(db.connection)
    if found is None:
        raise RunDamaged(f"The case {db.name!r} is damaged: the end of its audit log was removed.", remedy=BACKUP)
    return found


def rows(db: CaseDatabase) -> tuple[CaseAuditRow, ...]:
    with db.reading():
        return tuple(CaseAuditRow(**row) for row in db.rows(select(AUDIT_LOG).order_by(AUDIT_LOG.c.seq)))


def problems(db: CaseDatabase, expected_head: str = "") -> tuple[AuditProblem, ...]:
    """What is not as it was written, row by row."""
    with db.reading(), db.errors():
        found = CHAIN.problems(db.connection, _read_end(db))
        if not found and not CHAIN.has_head(db.connection, expected_head):
            text = f"the log never had the head {expected_head!r}: it was written anew"
            return (AuditProblem(0, "changed", text),)
        return found
