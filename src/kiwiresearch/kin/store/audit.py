"""The audit log of a case: each row carries the hash of the one before, so that tampering shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import insert, select, update

from kiwiresearch.errors import RunDamaged
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.tables import AuditHeadRow, AuditLogRow, table
from kiwiresearch.kin.store.values import AUDIT_START, AuditProblem, CaseAuditRow, audit_hash, audit_id
from kiwiresearch.kin.tree import LivingStatus
from kiwiresearch.store.engine import BACKUP

Row = Mapping[str, Any]


def find_problems(rows: Sequence[Row], end: int, end_hash: str) -> tuple[AuditProblem, ...]:
    """What was changed, removed, inserted or reordered; places are those the rows were written at."""
    walk = _ChainWalk(rows)
    walk.walk(end, end_hash)
    return walk.problems()


def _hash_matches(row: Row, place: int) -> bool:
    return audit_hash({**row, "seq": place}) == str(row["hash"])


@dataclass
class _ChainWalk:
    rows: Sequence[Row]
    positions: dict[int, int] = field(default_factory=dict)
    """For rows by their index: the place they were written at."""
    changed: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)

    def walk(self, place: int, wanted: str) -> None:
        by_hash: defaultdict[str, list[int]] = defaultdict(list)
        for index, row in enumerate(self.rows):
            by_hash[row["hash"]].append(index)
        by_seq = {row["seq"]: index for index, row in enumerate(self.rows)}
        while place > 0:
            found = self._of_hash(by_hash[wanted], place)
            if found is None:
                found = self._stand_in(by_seq.get(place))
            if found is None:
                self.removed.append(place)
                wanted = self._hash_at(by_seq.get(place - 1))
            else:
                wanted = self._taken(found, place, by_hash, by_seq)
            place -= 1

    def _taken(self, index: int, place: int, by_hash: Mapping[str, list[int]], by_seq: Mapping[int, int]) -> str:
        """Settle a row at its place, and say which hash must stand before it."""
        row = self.rows[index]
        self.positions[index] = place
        previous: str = row["prev_hash"]
        if _hash_matches(row, place):
            return previous
        self.changed.append(place)
        known = previous in by_hash or previous == AUDIT_START
        return previous if known else self._hash_at(by_seq.get(place - 1))

    def _of_hash(self, indexes: Sequence[int], place: int) -> int | None:
        free = [index for index in indexes if index not in self.positions]
        return min(free, key=lambda index: not _hash_matches(self.rows[index], place)) if free else None

    def _stand_in(self, index: int | None) -> int | None:
        """The row at this place whose own hash was touched, unless it is a whole row of another place."""
        if index is None or index in self.positions or _hash_matches(self.rows[index], self.rows[index]["seq"]):
            return None
        return index

    def _hash_at(self, index: int | None) -> str:
        return str(self.rows[index]["hash"]) if index is not None else ""

    def problems(self) -> tuple[AuditProblem, ...]:
        found = [AuditProblem(place, "changed", f"row {place} does not give its hash") for place in self.changed]
        found += [AuditProblem(place, "removed", f"row {place} is missing") for place in self.removed]
        for index, row in enumerate(self.rows):
            if index not in self.positions:
                text = f"row {row['seq']} ({row['id']}) is not of the chain"
                found.append(AuditProblem(row["seq"], "inserted", text))
        if not found:
            moved = [(home, self.rows[index]["seq"]) for index, home in self.positions.items()]
            found = [
                AuditProblem(home, "reordered", f"row {home} stands at {seq}") for home, seq in moved if home != seq
            ]
        return tuple(sorted(found, key=lambda problem: (problem.seq, problem.kind)))


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
    if not db.pending_audit:
        return
    seq, previous = _read_head(db)
    chained = []
    for row in db.pending_audit:
        seq += 1
        whole = {**row, "seq": seq, "id": audit_id(seq, previous), "prev_hash": previous}
        previous = audit_hash(whole)
        chained.append({**whole, "hash": previous})
    db.run(insert(table(AuditLogRow)), chained)
    db.run(update(table(AuditHeadRow)).values(seq=seq, hash=previous))
    db.pending_audit.clear()


def head(db: CaseDatabase) -> str:
    with db.reading():
        return _read_head(db)[1]


def _read_head(db: CaseDatabase) -> tuple[int, str]:
    """Where the log ends, and the hash of its last row: kept apart, so that rows cut off are missed."""
    found = db.run(select(AuditHeadRow.seq, AuditHeadRow.hash)).one_or_none()
    if found is None:
        raise RunDamaged(f"The case {db.place.name!r} is damaged: the end of its audit log was removed.", remedy=BACKUP)
    return found.seq, found.hash


def rows(db: CaseDatabase) -> tuple[CaseAuditRow, ...]:
    with db.reading():
        return tuple(CaseAuditRow(**row) for row in _all(db))


def _all(db: CaseDatabase) -> Sequence[dict[str, Any]]:
    return db.rows(select(table(AuditLogRow)).order_by(AuditLogRow.seq))


def problems(db: CaseDatabase, expected_head: str = "") -> tuple[AuditProblem, ...]:
    """What is not as it was written, row by row."""
    with db.reading():
        end = _read_head(db)
        found = _all(db)
    told = find_problems(found, *end)
    if not told and expected_head and expected_head not in (AUDIT_START, *(row["hash"] for row in found)):
        return (AuditProblem(0, "changed", f"the log never had the head {expected_head!r}: it was written anew"),)
    return told
