"""Who did what: rows that are only added, each with the hash of the one before, so that none is touched unseen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, Select, insert, select

from kiwiresearch.codec import Record
from kiwiresearch.errors import StoreDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.store.database import Database
from kiwiresearch.store.engine import BACKUP
from kiwiresearch.store.tables import AUDIT, AUDIT_HEAD, is_storable

START = "0" * 64
"""What the first row is chained to."""
HEAD_NAME = "end"
ROWS_PER_READ = 1_000


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One thing that somebody did."""

    seq: int
    at: str
    user: str
    host: str
    """From where."""
    action: str
    subject: str
    outcome: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BrokenRow:
    """The first row that is not as it was written, and what is wrong with it."""

    seq: int
    why: str


@dataclass(frozen=True, slots=True)
class AuditProof(Record):
    """Whether every row is as it was written."""

    holds: bool
    row: int | None
    """The first row that is not as it was written; null where all are."""
    why: str
    head: str
    """The hash of the last row: noted elsewhere, it can be given as `head` later."""


class Audit:
    """The audit of a store."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(
        self,
        at: str,
        user: str,
        host: str,
        action: str,
        subject: str = "",
        outcome: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> int:
        """Add a row at the end, and give its number."""
        told = {"at": at, "user": user, "host": host, "action": action, "subject": subject, "outcome": outcome}
        with self._db.writing("audit") as connection:
            seq, previous = _read_head(connection)
            row = {**told, "details": dict(details or {}), "seq": seq + 1, "prev_hash": previous}
            row["hash"] = _hash(row)
            connection.execute(insert(AUDIT).values(row))
            end = {"seq": seq + 1, "hash": row["hash"]}
            head = self._db.insert(AUDIT_HEAD).values(name=HEAD_NAME, **end)
            connection.execute(head.on_conflict_do_update(index_elements=["name"], set_=end))
        return seq + 1

    def rows(
        self,
        after: int = 0,
        limit: int = 100,
        *,
        user: str | None = None,
        action: str | None = None,
        outcome: str | None = None,
        since: str = "",
        before: int | None = None,
        newest_first: bool = False,
    ) -> list[AuditRow]:
        """Rows with numbers between `after` and `before`, at or after `since`, of a user, an action or an outcome."""
        wanted = select(AUDIT).where(AUDIT.c.seq > after).limit(limit)
        wanted = wanted.order_by(AUDIT.c.seq.desc() if newest_first else AUDIT.c.seq)
        if before is not None:
            wanted = wanted.where(AUDIT.c.seq < before)
        if user is not None:
            wanted = wanted.where(AUDIT.c.user == user)
        if action is not None:
            wanted = wanted.where(AUDIT.c.action == action)
        if outcome is not None:
            wanted = wanted.where(AUDIT.c.outcome == outcome)
        if since:
            wanted = wanted.where(AUDIT.c.at >= since)
        with self._db.reading() as connection:
            return [_row_of(row) for row in connection.execute(wanted)]

    def head(self) -> str:
        """The hash of the last row: noted elsewhere, it proves later that nobody wrote the whole audit anew."""
        with self._db.reading() as connection:
            return _read_head(connection)[1]

    def has_head(self, head: str) -> bool:
        """Whether a row has this hash, as every head of before does; no head at all is known."""
        with self._db.reading() as connection:
            return _has_head(connection, head)

    def prove(self, head: str = "") -> AuditProof:
        """Whether the audit holds, and where it ends for the next time."""
        end = self.head()  # before the proof, which covers it then
        broken = self.check(head)
        return AuditProof(broken is None, broken.seq if broken else None, broken.why if broken else "", end)

    def check(self, head: str = "") -> BrokenRow | None:
        """The first row that was changed, removed or put in; None if all are as they were written.

        With a `head` of before, one of the rows must have that hash.
        """
        with self._db.reading() as connection:
            if not _has_head(connection, head):
                return BrokenRow(1, f"no row has the hash {head[:64]!r}: the audit was written anew, or cut")
            end, end_hash = _read_head(connection)
            seq, previous = 0, START
            while rows := connection.execute(_next(seq)).all():
                for row in rows:
                    seq += 1
                    why = _problem_with(row, seq, previous)
                    if why:
                        return BrokenRow(seq, why)
                    previous = row.hash
            if (seq, previous) != (end, end_hash):
                return BrokenRow(min(seq, end) + 1, "the audit does not end where its last row was written")
        return None


def _read_head(connection: Connection) -> tuple[int, str]:
    """Where the audit ends, and the hash of its last row."""
    found = connection.execute(select(AUDIT_HEAD).where(AUDIT_HEAD.c.name == HEAD_NAME)).one_or_none()
    if found is None:
        return 0, START
    if not (isinstance(found.seq, int) and is_storable(found.hash)):
        raise StoreDamaged("The store is damaged: nobody knows any more where the audit ends.", remedy=BACKUP)
    return found.seq, found.hash


def _has_head(connection: Connection, head: str) -> bool:
    known = select(AUDIT.c.seq).where(AUDIT.c.hash == head).limit(1)
    return head in ("", START) or connection.execute(known).one_or_none() is not None


def _next(after: int) -> Select[Any]:
    return select(AUDIT).where(AUDIT.c.seq > after).order_by(AUDIT.c.seq).limit(ROWS_PER_READ)


def _problem_with(row: Row[Any], seq: int, previous: str) -> str:
    if row.seq != seq:
        return f"row {seq} is missing"
    if row.prev_hash != previous:
        return f"row {seq} does not follow the one before it"
    try:
        is_whole = _hash(row._asdict()) == row.hash
    except TypeError:  # bytes, where a text was written
        is_whole = False
    return "" if is_whole else f"row {seq} was changed"


def _hash(row: Mapping[str, Any]) -> str:
    """The hash of a row and, through the one it carries, of all before it."""
    told = {str(key): row[key] for key in row if key != "hash"}
    return sha256(canonical_json(told).encode("utf-8", "surrogatepass")).hexdigest()


def _row_of(row: Row[Any]) -> AuditRow:
    """A row as it stands; whether it is as it was written, `check` says."""
    names = ("at", "user", "host", "action", "subject", "outcome")
    texts = {name: text if is_storable(text := getattr(row, name)) else "" for name in names}
    return AuditRow(seq=row.seq, **texts, details={"damaged": True} if row.details is None else row.details)
