"""The audit log of a case, without anything about people who may be alive."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import select

from kiwiresearch.errors import RunDamaged
from kiwiresearch.kin.store.database import CaseDatabase, StorePart
from kiwiresearch.kin.store.tables import AUDIT_HEAD, AUDIT_LOG
from kiwiresearch.kin.store.values import CaseAuditRow
from kiwiresearch.kin.tree import row_id
from kiwiresearch.store import BACKUP_REMEDY, AuditChain, AuditProblem

CHAIN = AuditChain(
    AUDIT_LOG, AUDIT_HEAD, hashes_previous_twice=True, row_id=lambda seq, previous: row_id("audit", previous, str(seq))
)
State = Mapping[str, object]
UNREDACTED_FIELDS = frozenset(
    {"id", "ids", "entity_id", "field_name", "status", "preferred", "source_record_id", "state", "digest"}
)
"""Fields that reveal nothing about a person, and are logged for everyone."""


def redact_state(state: State | None, *, is_redacted: bool) -> State | None:
    """The state as it is logged: redacted, it has only ids and the names of the other fields."""
    if state is None or not is_redacted:
        return state
    shown = {key: value for key, value in state.items() if key in UNREDACTED_FIELDS}
    return {**shown, "fields": sorted(key for key in state if key not in UNREDACTED_FIELDS)}


def record(
    db: CaseDatabase,
    action_type: str,
    entity_id: str,
    *,
    is_redacted: bool,
    before: State | None = None,
    after: State | None = None,
) -> None:
    """Log an action; it is chained and written when the step ends.

    States that name anybody not known to be dead must be redacted; those that name nobody, such as ids, need not be.
    """
    db.pending_audit.append(
        {
            "action_type": action_type,
            "entity_id": entity_id,
            "before_state": redact_state(before, is_redacted=is_redacted),
            "after_state": redact_state(after, is_redacted=is_redacted),
            "agent_name": db.agent,
            "timestamp": db.now(),
        }
    )


def write_pending(db: CaseDatabase) -> None:
    if db.pending_audit:
        with db.errors():
            CHAIN.append(db.connection, db.pending_audit, _read_head(db))
        db.pending_audit.clear()


def _read_head(db: CaseDatabase) -> tuple[int, str]:
    """The number and hash of the last row: stored separately, so that truncation is noticed."""
    with db.errors():
        found = CHAIN.read_head(db.connection)
    if found is None:
        raise RunDamaged(
            f"The case {db.name!r} is damaged: the end of its audit log was removed.", remedy=BACKUP_REMEDY
        )
    return found


class AuditReader(StorePart):
    """Reads and verifies the audit log."""

    @property
    def head(self) -> str:
        """The hash of the last row of the audit log, which covers all rows before it."""
        with self._db.reading():
            return _read_head(self._db)[1]

    def audit(self) -> tuple[CaseAuditRow, ...]:
        """All logged actions, in order."""
        with self._db.reading():
            return tuple(
                CaseAuditRow(**row._asdict()) for row in self._db.rows(select(AUDIT_LOG).order_by(AUDIT_LOG.c.seq))
            )

    def verify_audit(self, head: str = "") -> tuple[AuditProblem, ...]:
        """The rows of the audit log that were tampered with.

        Given the head from an export, it also proves that nothing before it was rewritten.
        """
        with self._db.reading(), self._db.errors():
            return CHAIN.problems(self._db.connection, _read_head(self._db), head)
