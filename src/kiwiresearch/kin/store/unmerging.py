"""Merges undone: each column gets back what it had, or nothing is touched at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select, update

from kiwiresearch.errors import BadUsage, RunDamaged
from kiwiresearch.kin.store import audit
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.ledger import MergeClusterRow
from kiwiresearch.kin.store.merging import both_dead, forbid_link
from kiwiresearch.kin.store.schema import AssertionRow, PersonRow, RelationshipRow
from kiwiresearch.kin.store.tables import table

TABLES = {"assertion": table(AssertionRow), "relationship": table(RelationshipRow), "person": table(PersonRow)}
Row = Mapping[str, Any]


def unmerge(db: Database, cluster: str, why: str, *, cascade: bool) -> tuple[str, ...]:
    with db.writing():
        wanted = _wanted(db, cluster)
        rows = MergeClusterRow
        after = select(table(rows)).where(rows.seq > wanted["seq"], rows.state == "merged").order_by(rows.seq)
        later = _resting_on(wanted, db.rows(after))
        if later and not cascade:
            raise BadUsage(
                f"The merge {cluster!r} cannot be undone alone: the later merge {later[-1]['id']!r} of"
                f" {' and '.join(map(repr, later[-1]['member_ids']))} rests on it.",
                remedy="Undo that one first, or undo this one with all that rest on it.",
            )
        undone = [*reversed(later), wanted]
        for row in undone:
            _undo(db, row, why)
        # Only this one was found wrong: those that rested on it may be proposed again.
        kept, gone = wanted["member_ids"]
        forbid_link(db, kept, gone, why or f"the merge {cluster} was undone", "undo")
        return tuple(row["id"] for row in undone)


def _wanted(db: Database, cluster: str) -> Row:
    rows = db.rows(select(table(MergeClusterRow)).where(MergeClusterRow.id == cluster))
    if not rows:
        raise BadUsage(f"There is no merge {cluster!r}.", remedy="'kiwiresearch kin merges' shows them all.")
    if rows[0]["state"] != "merged":
        raise BadUsage(f"The merge {cluster!r} was undone already.")
    return rows[0]


def _resting_on(wanted: Row, later: Sequence[Row]) -> list[Row]:
    """The later merges of the same people, or that changed the same columns again, and those that rest on these."""
    people, columns = set(wanted["member_ids"]), _columns(wanted)
    found = []
    for row in later:
        if people & set(row["member_ids"]) or columns & _columns(row):
            people |= set(row["member_ids"])
            columns |= _columns(row)
            found.append(row)
    return found


def _columns(row: Row) -> set[tuple[str, str, str]]:
    return {(name, identity, column) for name, identity, column, _, _ in row["undo"]}


def _undo(db: Database, row: Row, why: str) -> None:
    kept, gone = row["member_ids"]
    changed: defaultdict[tuple[str, str, str | None, str], list[str]] = defaultdict(list)
    for name, identity, column, old, new in row["undo"]:
        changed[name, column, old, new].append(identity)
    for (name, column, old, new), ids in changed.items():
        at = TABLES[name]
        as_left = (at.c.id.in_(ids), at.c[column] == new)
        if db.run(update(at).where(*as_left).values({column: old})).rowcount != len(ids):
            db.spoil()
            raise RunDamaged(
                f"The merge {row['id']!r} cannot be undone: {column!r} of a {name} was changed since.",
                remedy="Nothing was changed. Take the case from a backup.",
            )
    done = {"state": "reverted", "reverted_at": db.now()}
    db.run(update(table(MergeClusterRow)).where(MergeClusterRow.id == row["id"]).values(done))
    db.merged = None
    db.changed_people |= {kept, gone}
    told = {"ids": [kept, gone], "why": why}
    audit.note(db, "unmerge", row["id"], living=both_dead(db, kept, gone), after=told)
