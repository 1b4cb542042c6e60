"""Who did what: rows that are only added, each with the hash of the one before, so that none is touched unseen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from sqlalchemy import Connection, Row, Table, insert, select, update

from kiwiresearch.codec import Record
from kiwiresearch.errors import StoreDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.store.database import Database
from kiwiresearch.store.engine import BACKUP
from kiwiresearch.store.tables import AUDIT, AUDIT_HEAD, is_storable

START = "0" * 64
"""What the first row is chained to."""
ROWS_PER_READ = 1_000
ChainRow = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AuditProblem:
    """A row of an audit that is not as it was written, or is missing."""

    seq: int
    kind: Literal["changed", "removed", "inserted", "reordered"]
    text: str


@dataclass(frozen=True, slots=True)
class AuditChain:
    """A log whose rows are chained, and a table that says where it ends, so that rows cut off are missed."""

    log: Table
    head: Table
    hashes_previous_twice: bool = False
    """Whether the hash before stands in front of the row as well, as in cases: heads that were noted must hold."""
    row_id: Callable[[int, str], str] | None = None
    """What makes the id of a row from its number and the hash before, where rows have one."""

    def row_hash(self, row: ChainRow) -> str:
        """The hash of a row and, through the one it carries, of all before it."""
        told = canonical_json({str(key): row[key] for key in row if key != "hash"})
        hashed = row["prev_hash"] + told if self.hashes_previous_twice else told
        return sha256(hashed.encode("utf-8", "surrogatepass")).hexdigest()

    def append(self, connection: Connection, rows: Sequence[ChainRow], end: tuple[int, str]) -> int:
        """Add rows after the end that was read; whoever calls lets nobody else write. The number of the last row."""
        seq, previous = end
        chained = []
        for row in rows:
            seq += 1
            made = {**row, "seq": seq, "prev_hash": previous}
            if self.row_id is not None:
                made["id"] = self.row_id(seq, previous)
            previous = made["hash"] = self.row_hash(made)
            chained.append(made)
        connection.execute(insert(self.log), chained)
        connection.execute(update(self.head).values(seq=seq, hash=previous))
        return seq

    def read_end(self, connection: Connection) -> tuple[Any, Any] | None:
        """The number and the hash of the last row as they were noted apart from it."""
        found = connection.execute(select(self.head.c.seq, self.head.c.hash)).one_or_none()
        return None if found is None else (found.seq, found.hash)

    def has_head(self, connection: Connection, head: str) -> bool:
        """Whether a row has this hash, as every head of before does; no head at all is known."""
        known = select(self.log.c.seq).where(self.log.c.hash == head).limit(1)
        return head in ("", START) or connection.execute(known).one_or_none() is not None

    def problems(self, connection: Connection, end: tuple[int, str]) -> tuple[AuditProblem, ...]:
        """What was changed, removed, inserted or reordered; places are those the rows were written at."""
        if self._is_intact(connection, end):
            return ()
        rows = [row for some in self._batches(connection) for row in some]
        walk = _ChainWalk(self, [row if type(row["seq"]) is int else {**row, "seq": 0} for row in rows])
        walk.walk(*end)
        return walk.problems()

    def hash_matches(self, row: ChainRow, place: int) -> bool:
        """Whether a row is as it was written at this place."""
        try:
            return bool(self.row_hash({**row, "seq": place}) == row["hash"])
        except TypeError:  # bytes, where a text was written
            return False

    def _is_intact(self, connection: Connection, end: tuple[int, str]) -> bool:
        seq, previous = 0, START
        for rows in self._batches(connection):
            for row in rows:
                seq += 1
                if (row["seq"], row["prev_hash"]) != (seq, previous) or not self.hash_matches(row, seq):
                    return False
                previous = row["hash"]
        return (seq, previous) == end

    def _batches(self, connection: Connection) -> Iterator[list[ChainRow]]:
        seq, after = self.log.c.seq, 0
        first = select(self.log).order_by(seq).limit(ROWS_PER_READ)
        while found := connection.execute(first.where(seq > after)).mappings().all():
            yield [{str(name): value for name, value in row.items()} for row in found]
            after = found[-1]["seq"]


@dataclass
class _ChainWalk:
    """Follows a chain from its end to its start."""

    chain: AuditChain
    rows: Sequence[ChainRow]
    positions: dict[int, int] = field(default_factory=dict)
    """For rows by their index: the place they were written at."""
    changed: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)

    def walk(self, place: int, wanted: str) -> None:
        by_hash: defaultdict[str, list[int]] = defaultdict(list)
        for index, row in enumerate(self.rows):
            by_hash[row["hash"]].append(index)
        by_seq = {row["seq"]: index for index, row in enumerate(self.rows)}
        if wanted not in by_hash:  # of rows that were cut off, the first is enough to name
            place = min(place, max(by_seq, default=0) + 1)
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
        if self.chain.hash_matches(row, place):
            return previous
        self.changed.append(place)
        known = previous == START or self._of_hash(by_hash.get(previous, ()), place - 1) is not None
        return previous if known else self._hash_at(by_seq.get(place - 1))

    def _of_hash(self, indexes: Sequence[int], place: int) -> int | None:
        free = [index for index in indexes if index not in self.positions]
        return min(free, key=lambda index: not self.chain.hash_matches(self.rows[index], place)) if free else None

    def _stand_in(self, index: int | None) -> int | None:
        """The row at this place whose own hash was touched, unless it is a whole row of another place."""
        if index is None or index in self.positions:
            return None
        row = self.rows[index]
        return None if self.chain.hash_matches(row, row["seq"]) else index

    def _hash_at(self, index: int | None) -> str:
        return str(self.rows[index]["hash"]) if index is not None else ""

    def problems(self) -> tuple[AuditProblem, ...]:
        found = [AuditProblem(place, "changed", f"row {place} was changed") for place in self.changed]
        found += [AuditProblem(place, "removed", f"row {place} is missing") for place in self.removed]
        for index, row in enumerate(self.rows):
            if index not in self.positions:
                found.append(AuditProblem(row["seq"], "inserted", f"row {row['seq']} is not of the chain"))
        if not found:
            moved = [(home, self.rows[index]["seq"]) for index, home in self.positions.items()]
            found = [
                AuditProblem(home, "reordered", f"row {home} stands at {seq}") for home, seq in moved if home != seq
            ]
        return tuple(sorted(found, key=lambda problem: (problem.seq, problem.kind)))


CHAIN = AuditChain(AUDIT, AUDIT_HEAD)
HEAD_NAME = "end"
NO_ROWS = (0, START)


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
            end = _read_end(connection)
            if end == NO_ROWS:
                connection.execute(self._db.upsert(AUDIT_HEAD, {"name": HEAD_NAME, "seq": 0, "hash": START}))
            return CHAIN.append(connection, [{**told, "details": dict(details or {})}], end)

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
            return _read_end(connection)[1]

    def has_head(self, head: str) -> bool:
        """Whether a row has this hash, as every head of before does; no head at all is known."""
        with self._db.reading() as connection:
            return CHAIN.has_head(connection, head)

    def prove(self, head: str = "") -> AuditProof:
        """Whether the audit holds, and where it ends for the next time."""
        end = self.head()  # before the proof, which covers it then
        broken = self.check(head)
        return AuditProof(broken is None, broken.seq if broken else None, broken.text if broken else "", end)

    def check(self, head: str = "") -> AuditProblem | None:
        """The first row that was changed, removed or put in; None if all are as they were written.

        With a `head` of before, one of the rows must have that hash.
        """
        with self._db.reading() as connection:
            if not CHAIN.has_head(connection, head):
                why = f"no row has the hash {head[:64]!r}: the audit was written anew, or cut"
                return AuditProblem(1, "changed", why)
            return next(iter(CHAIN.problems(connection, _read_end(connection))), None)


def _read_end(connection: Connection) -> tuple[int, str]:
    found = CHAIN.read_end(connection)
    if found is None:
        return NO_ROWS
    if not (isinstance(found[0], int) and is_storable(found[1])):
        raise StoreDamaged("The store is damaged: nobody knows any more where the audit ends.", remedy=BACKUP)
    return found


def _row_of(row: Row[Any]) -> AuditRow:
    """A row as it stands; whether it is as it was written, `check` says."""
    names = ("at", "user", "host", "action", "subject", "outcome")
    texts = {name: text if is_storable(text := getattr(row, name)) else "" for name in names}
    return AuditRow(seq=row.seq, **texts, details={"damaged": True} if row.details is None else row.details)
