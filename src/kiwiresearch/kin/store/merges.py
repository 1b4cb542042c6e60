"""Merging two people into one, and undoing a merge column by column."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, func, select, update

from kiwiresearch.errors import BadUsage, RunDamaged
from kiwiresearch.kin.store import audit
from kiwiresearch.kin.store.database import CaseDatabase, StorePart
from kiwiresearch.kin.store.people_and_sources import canonical_id, may_be_living
from kiwiresearch.kin.store.tables import ASSERTION, CANNOT_LINK, MERGE_CLUSTER, PERSON, RELATIONSHIP
from kiwiresearch.kin.store.values import MergeCluster, Separation
from kiwiresearch.kin.tree import PersonId, row_id

UNDO_TABLES = {"assertion": ASSERTION, "relationship": RELATIONSHIP, "person": PERSON}


class Merges(StorePart):
    """Merges of people, and pairs that must not be merged."""

    def merge(
        self,
        canonical: PersonId,
        other: PersonId,
        *,
        rationale: str,
        why_not_split: str,
        why_not_merge: str,
        features: Mapping[str, Any] | None = None,
        score: float = 0.0,
        decided_by: str = "rule",
        even_if_separated: bool = False,
    ) -> str:
        """Merge two people and return the id of the merge; everything that pointed to `other` points to `canonical`.

        `why_not_split` says why they are not two people, `why_not_merge` gives the reasons against the merge.
        What a user writes belongs into `why_not_split`, which only the owner sees.
        A pair that is kept separate is refused, unless `even_if_separated` is set.
        """
        if not rationale.strip() or not why_not_merge.strip():
            raise BadUsage("A merge needs a reason for it and a reason against it.", remedy="Add both reasons.")
        db = self._db
        with db.writing():
            kept, gone = canonical_id(db, canonical), canonical_id(db, other)
            if kept == gone:
                raise BadUsage(f"{canonical!r} and {other!r} are already merged.")
            if not even_if_separated:
                _check_allowed(db, kept, gone)
            seq = next_merge_seq(db)
            cluster = row_id("merge", kept, gone, str(seq))
            undo = [  # table, row id, column, old value, new value
                *_move_facts(db, gone, kept),
                *_move_relationships(db, gone, kept),
                ["person", gone, "merged_into_id", None, kept],
            ]
            db.run(update(PERSON).where(PERSON.c.id == gone).values(merged_into_id=kept))
            db.note_changes(["set", *change] for change in undo)
            db.merged_into = None
            row = {
                "id": cluster,
                "seq": seq,
                "canonical_id": kept,
                "member_ids": [kept, gone],
                "merge_rationale": rationale,
                "why_not_split": why_not_split,
                "why_not_merge": why_not_merge,
                "features": dict(features or {}),
                "score": score,
                "decided_by": decided_by,
                "is_reversible": True,
                "undo": undo,
                "state": "merged",
                "created_at": db.now(),
                "reverted_at": "",
            }
            db.insert_new(MERGE_CLUSTER, row)
            db.changed_people |= {kept, gone}
            details = {"ids": [kept, gone], "rationale": rationale, "score": score}
            audit.record(db, "merge", cluster, is_redacted=may_be_living(db, kept, gone), after=details)
            return cluster

    def all(self) -> tuple[MergeCluster, ...]:
        """All merges, including undone ones, in the order they were made."""
        db = self._db
        with db.reading():
            columns = [column for column in MERGE_CLUSTER.c if column.name != "undo"]
            rows = db.rows(select(*columns).order_by(MERGE_CLUSTER.c.seq))
        return tuple(MergeCluster(**row._asdict() | {"member_ids": tuple(row.member_ids)}) for row in rows)

    def undo(self, cluster: str, *, cascade: bool = False, why: str = "") -> tuple[str, ...]:
        """Undo a merge and return what was undone, the latest first; the pair is not proposed again.

        If a later merge depends on this one, it is refused; with `cascade`, those are undone first.
        """
        db = self._db
        with db.writing():
            wanted = _merge_to_undo(db, cluster)
            columns = MERGE_CLUSTER.c
            after = select(MERGE_CLUSTER).where(columns.seq > wanted.seq, columns.state == "merged")
            later = _dependent_merges(wanted, db.rows(after.order_by(columns.seq)))
            if later and not cascade:
                raise BadUsage(
                    f"The merge {cluster!r} cannot be undone on its own: the later merge {later[-1].id!r} of"
                    f" {' and '.join(map(repr, later[-1].member_ids))} depends on it.",
                    remedy="Undo the later merge first, "
                    "or undo this merge together with every merge that depends on it.",
                )
            undone = [*reversed(later), wanted]
            for row in undone:
                _undo(db, row)
            # Only this one was found wrong: merges that depended on it may be proposed again.
            kept, gone = wanted.member_ids
            self.separate(kept, gone, why or f"the merge {cluster} was undone", "undo")
            return tuple(row.id for row in undone)

    def separated(self) -> tuple[Separation, ...]:
        """The pairs that must not be merged."""
        return _separations(self._db)

    def separate(self, first: PersonId, second: PersonId, reason: str, decided_by: str = "user") -> None:
        """Record that two people are not the same."""
        if first == second:
            raise BadUsage(f"{first!r} cannot be kept separate from itself.")
        db = self._db
        with db.writing():
            canonical_id(db, first), canonical_id(db, second)  # both raise for an unknown person
            low, high = sorted((first, second))
            row = {"first_id": low, "second_id": high, "reason": reason, "decided_by": decided_by, "at": db.now()}
            if db.insert_new(CANNOT_LINK, row):
                audit.record(db, "cannot_link", low, is_redacted=False, after={"ids": [low, high]})

    def withdraw_separation(self, first: PersonId, second: PersonId) -> None:
        """Withdraw that two people are not the same, so that they may be proposed again."""
        low, high = sorted((first, second))
        criteria = CANNOT_LINK.c.first_id == low, CANNOT_LINK.c.second_id == high
        db = self._db
        with db.writing():
            row = db.run(select(CANNOT_LINK).where(*criteria)).one_or_none()
            if row is None:
                raise BadUsage(f"{low!r} and {high!r} are not kept separate.")
            db.remove(CANNOT_LINK, row._asdict())
            audit.record(db, "allow_link", low, is_redacted=False, after={"ids": [low, high]})


def next_merge_seq(db: CaseDatabase) -> int:
    """The number of the next merge."""
    return int(db.run(select(func.coalesce(func.max(MERGE_CLUSTER.c.seq), 0) + 1)).scalar_one())


def _check_allowed(db: CaseDatabase, kept: PersonId, gone: PersonId) -> None:
    for pair in _separations(db):
        if {canonical_id(db, pair.first), canonical_id(db, pair.second)} == {kept, gone}:
            raise BadUsage(
                f"{kept!r} and {gone!r} cannot be merged, because they are kept separate: {pair.reason}",
                remedy="To merge them, first undo the decision to keep them separate.",
            )


def _move_facts(db: CaseDatabase, gone: PersonId, kept: PersonId) -> list[list[Any]]:
    criteria = (ASSERTION.c.entity_id == gone, ASSERTION.c.entity_type == "person")
    moved = list(db.run(select(ASSERTION.c.id).where(*criteria).order_by(ASSERTION.c.id)).scalars())
    db.run(update(ASSERTION).where(*criteria).values(entity_id=kept))
    return [["assertion", fact_id, "entity_id", gone, kept] for fact_id in moved]


def _move_relationships(db: CaseDatabase, gone: PersonId, kept: PersonId) -> list[list[Any]]:
    """Move the ties, except one between the two: nobody is tied to themselves, so it is shadowed instead."""
    moved: list[list[Any]] = []
    for here, there in (("person1_id", "person2_id"), ("person2_id", "person1_id")):
        criteria = (RELATIONSHIP.c[here] == gone, RELATIONSHIP.c[there] != kept)
        found = list(db.run(select(RELATIONSHIP.c.id).where(*criteria).order_by(RELATIONSHIP.c.id)).scalars())
        db.run(update(RELATIONSHIP).where(*criteria).values({here: kept}))
        moved += [["relationship", tie_id, here, gone, kept] for tie_id in found]
    return moved


def _separations(db: CaseDatabase) -> tuple[Separation, ...]:
    in_order = select(CANNOT_LINK).order_by(CANNOT_LINK.c.first_id, CANNOT_LINK.c.second_id)
    with db.reading(run_hooks_first=False):
        found = db.run(in_order).all()
    return tuple(Separation(row.first_id, row.second_id, row.reason, row.decided_by) for row in found)


def _merge_to_undo(db: CaseDatabase, cluster: str) -> Row[Any]:
    rows = db.rows(select(MERGE_CLUSTER).where(MERGE_CLUSTER.c.id == cluster))
    if not rows:
        raise BadUsage(f"The merge {cluster!r} was not found.", remedy="To list all merges: kiwiresearch kin merges")
    if rows[0].state != "merged":
        raise BadUsage(f"The merge {cluster!r} has already been undone.")
    return rows[0]


def _dependent_merges(wanted: Row[Any], later: Sequence[Row[Any]]) -> list[Row[Any]]:
    """Later merges of the same people or columns, and those that depend on them."""
    people, columns = set(wanted.member_ids), _columns(wanted)
    found = []
    for row in later:
        if people & set(row.member_ids) or columns & _columns(row):
            people |= set(row.member_ids)
            columns |= _columns(row)
            found.append(row)
    return found


def _swapped(change: list[Any]) -> list[Any]:
    table, changed_id, column, old, new = change
    return [table, changed_id, column, new, old]


def _columns(row: Row[Any]) -> set[tuple[str, str, str]]:
    return {(name, changed_id, column) for name, changed_id, column, _, _ in row.undo}


def _undo(db: CaseDatabase, row: Row[Any]) -> None:
    kept, gone = row.member_ids
    # Rows with the same change are updated together; a count that is too low means that one has changed since.
    changed: defaultdict[tuple[str, str, str | None, str], list[str]] = defaultdict(list)
    for name, changed_id, column, old, new in row.undo:
        changed[name, column, old, new].append(changed_id)
    for (name, column, old, new), ids in changed.items():
        table = UNDO_TABLES[name]
        unchanged_since = (table.c.id.in_(ids), table.c[column] == new)
        if db.run(update(table).where(*unchanged_since).values({column: old})).rowcount != len(ids):
            db.mark_broken()
            raise RunDamaged(
                f"The merge {row.id!r} cannot be undone: {column!r} of a {name} was changed later.",
                remedy="Nothing was changed. Restore the case from a backup.",
            )
    done = {"state": "reverted", "reverted_at": db.now()}
    db.run(update(MERGE_CLUSTER).where(MERGE_CLUSTER.c.id == row.id).values(done))
    db.note_changes(["set", *_swapped(change)] for change in reversed(row.undo))
    db.note_changes(
        ["set", "merge_cluster", row.id, column, getattr(row, column), value] for column, value in done.items()
    )
    db.merged_into = None
    db.changed_people |= {kept, gone}
    audit.record(db, "unmerge", row.id, is_redacted=False, after={"ids": [kept, gone]})
