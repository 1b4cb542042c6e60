"""Who did what: append-only rows, each with the hash of the one before, so that changes are detected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Row, Table, insert, select, update

from kiwiresearch.codec import JsonDict, Record
from kiwiresearch.errors import StoreDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.store.database import Database
from kiwiresearch.store.engine import BACKUP_REMEDY
from kiwiresearch.store.tables import AUDIT, AUDIT_HEAD, is_storable

FIRST_PREVIOUS_HASH = "0" * 64
"""The previous hash of the first row."""
ROWS_PER_READ = 1_000


@dataclass(frozen=True, slots=True)
class AuditProblem:
    """A row of an audit that was changed or is missing."""

    seq: int
    kind: Literal["changed", "removed", "inserted", "reordered"]
    text: str


class ChainedRow(NamedTuple):
    """A row of an audit; 0 stands for a number that was replaced by something else."""

    seq: int
    prev_hash: str
    hash: str
    values: Mapping[str, object]
    """All its columns."""


@dataclass(frozen=True, slots=True)
class AuditChain:
    """A log whose rows are chained by hashes, and a table with its head, so that missing last rows are noticed.

    The head is the number and the hash of the last row; the hash alone is what a user notes.
    """

    log: Table
    head_table: Table
    hashes_previous_twice: bool = False
    """Whether the previous hash also precedes the row, as in family cases: heads noted by users must stay valid."""
    row_id: Callable[[int, str], str] | None = None
    """Makes the id of a row from its number and the previous hash, if rows have ids."""

    def row_hash(self, row: Mapping[str, object]) -> str:
        """The hash of a row and, through the previous hash in it, of all rows before."""
        values = canonical_json({str(key): row[key] for key in row if key != "hash"})
        hashed = str(row["prev_hash"]) + values if self.hashes_previous_twice else values
        return sha256(hashed.encode("utf-8", "surrogatepass")).hexdigest()

    def append(self, connection: Connection, rows: Sequence[Mapping[str, object]], head: tuple[int, str]) -> int:
        """Append rows after the given head, while nothing else writes; returns the number of the last row."""
        seq, previous = head
        chained = []
        for row in rows:
            seq += 1
            made: JsonDict = {**row, "seq": seq, "prev_hash": previous}
            if self.row_id is not None:
                made["id"] = self.row_id(seq, previous)
            previous = made["hash"] = self.row_hash(made)
            chained.append(made)
        connection.execute(insert(self.log), chained)
        connection.execute(update(self.head_table).values(seq=seq, hash=previous))
        return seq

    def read_head(self, connection: Connection) -> tuple[Any, Any] | None:
        """The number and hash of the last row, as stored apart from the log."""
        found = connection.execute(select(self.head_table.c.seq, self.head_table.c.hash)).one_or_none()
        return None if found is None else (found.seq, found.hash)

    def has_head(self, connection: Connection, head: str) -> bool:
        """Whether a row has this hash, as every earlier head does; an empty head is always known."""
        known = select(self.log.c.seq).where(self.log.c.hash == head).limit(1)
        return head in ("", FIRST_PREVIOUS_HASH) or connection.execute(known).one_or_none() is not None

    def problems(self, connection: Connection, head: tuple[int, str], noted: str = "") -> tuple[AuditProblem, ...]:
        """The rows that were changed, removed, inserted or reordered, by the positions at which they were written.

        If there are none, a hash `noted` earlier must be that of a row: otherwise everything was rewritten.
        """
        if self._is_intact(connection, head):
            if self.has_head(connection, noted):
                return ()
            text = f"the log never had the fingerprint {noted[:64]!r}: it was rewritten or shortened"
            return (AuditProblem(1, "changed", text),)
        trace = _ChainTrace(self, [row for some in self._batches(connection) for row in some])
        trace.follow(*head)
        return trace.problems()

    def hash_matches(self, row: ChainedRow, position: int) -> bool:
        """Whether a row is as it was written at this position."""
        try:
            return self.row_hash({**row.values, "seq": position}) == row.hash
        except TypeError:  # bytes instead of text
            return False

    def _is_intact(self, connection: Connection, head: tuple[int, str]) -> bool:
        seq, previous = 0, FIRST_PREVIOUS_HASH
        for rows in self._batches(connection):
            for row in rows:
                seq += 1
                if (row.seq, row.prev_hash) != (seq, previous) or not self.hash_matches(row, seq):
                    return False
                previous = row.hash
        return (seq, previous) == head

    def _batches(self, connection: Connection) -> Iterator[list[ChainedRow]]:
        seq, after = self.log.c.seq, 0
        first = select(self.log).order_by(seq).limit(ROWS_PER_READ)
        while found := connection.execute(first.where(seq > after)).all():
            yield [
                ChainedRow(row.seq if type(row.seq) is int else 0, row.prev_hash, row.hash, row._asdict())
                for row in found
            ]
            after = found[-1].seq


@dataclass
class _ChainTrace:
    """Follows a chain from its head to its start."""

    chain: AuditChain
    rows: Sequence[ChainedRow]
    positions: dict[int, int] = field(default_factory=dict)
    """For the index of a row: the position at which it was written."""
    changed: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)

    def follow(self, position: int, wanted: str) -> None:
        # Backwards, since only the head is stored apart from the rows: each row vouches for the hash of the one before.
        by_hash: defaultdict[str, list[int]] = defaultdict(list)
        for index, row in enumerate(self.rows):
            by_hash[row.hash].append(index)
        by_seq = {row.seq: index for index, row in enumerate(self.rows)}
        if wanted not in by_hash:  # if the last rows were removed, it is enough to name the first of them
            position = min(position, max(by_seq, default=0) + 1)
        while position > 0:
            found = self._of_hash(by_hash[wanted], position)
            if found is None:
                found = self._changed_at(by_seq.get(position))
            if found is None:
                self.removed.append(position)
                wanted = self._hash_at(by_seq.get(position - 1))
            else:
                wanted = self._accept(found, position, by_hash, by_seq)
            position -= 1

    def _accept(self, index: int, position: int, by_hash: Mapping[str, list[int]], by_seq: Mapping[int, int]) -> str:
        """Accept a row at its position; returns the hash that the row before it must have."""
        row = self.rows[index]
        self.positions[index] = position
        previous = row.prev_hash
        if self.chain.hash_matches(row, position):
            return previous
        self.changed.append(position)
        # A changed row may still have its true previous hash; if no row has that, the neighbour's hash is taken.
        known = previous == FIRST_PREVIOUS_HASH or self._of_hash(by_hash.get(previous, ()), position - 1) is not None
        return previous if known else self._hash_at(by_seq.get(position - 1))

    def _of_hash(self, indexes: Sequence[int], position: int) -> int | None:
        # Copies of a row have the same hash: the one that is right at this position is the original.
        free = [index for index in indexes if index not in self.positions]
        return min(free, key=lambda index: not self.chain.hash_matches(self.rows[index], position)) if free else None

    def _changed_at(self, index: int | None) -> int | None:
        """The row at this position if its own hash was changed; None if it is an intact row of another position."""
        if index is None or index in self.positions:
            return None
        row = self.rows[index]
        return None if self.chain.hash_matches(row, row.seq) else index

    def _hash_at(self, index: int | None) -> str:
        return str(self.rows[index].hash) if index is not None else ""

    def problems(self) -> tuple[AuditProblem, ...]:
        found = [AuditProblem(position, "changed", f"row {position} was changed") for position in self.changed]
        found += [AuditProblem(position, "removed", f"row {position} is missing") for position in self.removed]
        for index, row in enumerate(self.rows):
            if index not in self.positions:
                found.append(AuditProblem(row.seq, "inserted", f"row {row.seq} was inserted"))
        # Rows renumbered after a removal or an insertion are not reported a second time.
        if not found:
            moved = [(home, self.rows[index].seq) for index, home in self.positions.items()]
            found = [
                AuditProblem(home, "reordered", f"row {home} was moved to {seq}") for home, seq in moved if home != seq
            ]
        return tuple(sorted(found, key=lambda problem: (problem.seq, problem.kind)))


CHAIN = AuditChain(AUDIT, AUDIT_HEAD)
HEAD_NAME = "end"
"""The name of the head's row in the database."""
NO_ROWS = (0, FIRST_PREVIOUS_HASH)


@dataclass(frozen=True, slots=True)
class AuditRow(Record):
    """One thing that somebody did."""

    seq: int
    at: str
    user: str
    host: str
    """Where it came from: the address of a browser, the name of a worker, "command line" or "server".

    The database and the API call it `host`, so this field does too.
    """
    action: str
    subject: str
    outcome: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AuditProof(Record):
    """Whether the audit is complete and unchanged."""

    holds: bool
    row: int | None
    """The first row that was changed, removed or added; null if there is none."""
    why: str
    head: str
    """The hash of the last row: note it elsewhere, and send it as `head` later."""


class Audit:
    """The audit of a store."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(
        self,
        at: str,
        user: str,
        origin: str,
        action: str,
        subject: str = "",
        outcome: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> int:
        """Append a row; returns its number."""
        values = {"at": at, "user": user, "host": origin, "action": action, "subject": subject, "outcome": outcome}
        with self._db.writing("audit") as connection:
            head = _read_head(connection)
            # `append` only updates the head, so its row must exist before the first append.
            if head == NO_ROWS:
                connection.execute(
                    self._db.upsert(AUDIT_HEAD, {"name": HEAD_NAME, "seq": 0, "hash": FIRST_PREVIOUS_HASH})
                )
            return CHAIN.append(connection, [{**values, "details": dict(details or {})}], head)

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
        for column, value in ((AUDIT.c.user, user), (AUDIT.c.action, action), (AUDIT.c.outcome, outcome)):
            if value is not None:
                wanted = wanted.where(column == value)
        if since:
            wanted = wanted.where(AUDIT.c.at >= since)
        with self._db.reading() as connection:
            return [_row_of(row) for row in connection.execute(wanted)]

    def head(self) -> str:
        """The hash of the last row: noted down elsewhere, it later proves that the audit was not rewritten."""
        with self._db.reading() as connection:
            return _read_head(connection)[1]

    def has_head(self, head: str) -> bool:
        """Whether a row has this hash, as every earlier head does; an empty head is always known."""
        with self._db.reading() as connection:
            return CHAIN.has_head(connection, head)

    def verify(self, head: str = "") -> AuditProof:
        """Whether the audit is intact, and its head for the next time."""
        head_now = self.head()  # read first, so that the check covers it
        broken = self.first_problem(head)
        return AuditProof(broken is None, broken.seq if broken else None, broken.text if broken else "", head_now)

    def first_problem(self, head: str = "") -> AuditProblem | None:
        """The first row that was changed, removed or inserted; None if there is none.

        With an earlier `head`, one of the rows must have that hash.
        """
        with self._db.reading() as connection:
            return next(iter(CHAIN.problems(connection, _read_head(connection), head)), None)


def _read_head(connection: Connection) -> tuple[int, str]:
    found = CHAIN.read_head(connection)
    if found is None:
        return NO_ROWS
    if not (isinstance(found[0], int) and is_storable(found[1])):
        raise StoreDamaged("The store is damaged: the end of the audit log is not valid.", remedy=BACKUP_REMEDY)
    return found


def _row_of(row: Row[Any]) -> AuditRow:
    """The row as stored now; `first_problem` finds out whether it was changed."""
    names = ("at", "user", "host", "action", "subject", "outcome")
    texts = {name: text if is_storable(text := getattr(row, name)) else "" for name in names}
    return AuditRow(seq=row.seq, **texts, details={"damaged": True} if row.details is None else row.details)
