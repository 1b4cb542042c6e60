"""Proving an audit log: walked from its end, each row must be the one that the row after it was chained to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kiwiresearch.kin.store.chain import AUDIT_START, hash_of
from kiwiresearch.kin.store.rows import AuditProblem

Row = Mapping[str, Any]


def problems_of(rows: Sequence[Row], end: int, end_hash: str) -> tuple[AuditProblem, ...]:
    """What was changed, removed, inserted or reordered; places are those the rows were written at."""
    walk = _Walk(rows)
    walk.go(end, end_hash)
    return walk.told()


def _is_true(row: Row, place: int) -> bool:
    return hash_of({**row, "seq": place}) == str(row["hash"])


@dataclass
class _Walk:
    rows: Sequence[Row]
    homes: dict[int, int] = field(default_factory=dict)
    """For rows by their index: the place they were written at."""
    changed: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)

    def go(self, place: int, wanted: str) -> None:
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
        self.homes[index] = place
        previous: str = row["prev_hash"]
        if _is_true(row, place):
            return previous
        self.changed.append(place)
        known = previous in by_hash or previous == AUDIT_START
        return previous if known else self._hash_at(by_seq.get(place - 1))

    def _of_hash(self, indexes: Sequence[int], place: int) -> int | None:
        free = [index for index in indexes if index not in self.homes]
        return min(free, key=lambda index: not _is_true(self.rows[index], place)) if free else None

    def _stand_in(self, index: int | None) -> int | None:
        """The row at this place whose own hash was touched, unless it is a whole row of another place."""
        if index is None or index in self.homes or _is_true(self.rows[index], self.rows[index]["seq"]):
            return None
        return index

    def _hash_at(self, index: int | None) -> str:
        return str(self.rows[index]["hash"]) if index is not None else ""

    def told(self) -> tuple[AuditProblem, ...]:
        found = [AuditProblem(place, "changed", f"row {place} does not give its hash") for place in self.changed]
        found += [AuditProblem(place, "removed", f"row {place} is missing") for place in self.removed]
        for index, row in enumerate(self.rows):
            if index not in self.homes:
                text = f"row {row['seq']} ({row['id']}) is not of the chain"
                found.append(AuditProblem(row["seq"], "inserted", text))
        if not found:
            moved = [(home, self.rows[index]["seq"]) for index, home in self.homes.items()]
            found = [
                AuditProblem(home, "reordered", f"row {home} stands at {seq}") for home, seq in moved if home != seq
            ]
        return tuple(sorted(found, key=lambda problem: (problem.seq, problem.kind)))
