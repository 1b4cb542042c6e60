"""Two people taken for one: everything is pointed to the other, and every column that was changed is put down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, func, insert, select, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.fields import Living
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.store import audit
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.ledger import CannotLinkRow, MergeClusterRow
from kiwiresearch.kin.store.people import living_of, root_of
from kiwiresearch.kin.store.rows import CannotLink, MergeCluster
from kiwiresearch.kin.store.schema import AssertionRow, PersonRow, RelationshipRow
from kiwiresearch.kin.store.tables import table
from kiwiresearch.kin.tree import PersonId


@dataclass(frozen=True, slots=True)
class Reasons:
    """Why two people are one, and what speaks against it."""

    rationale: str
    why_not_split: str
    why_not_merge: str
    features: Mapping[str, Any]
    score: float
    decided_by: str


def merge(db: Database, canonical: PersonId, other: PersonId, reasons: Reasons, *, again: bool) -> str:
    if not reasons.rationale.strip() or not reasons.why_not_merge.strip():
        raise BadUsage("A merge needs a reason for it and what speaks against it.", remedy="Give both.")
    with db.writing():
        kept, gone = root_of(db, canonical), root_of(db, other)
        if kept == gone:
            raise BadUsage(f"{canonical!r} and {other!r} are one person already.")
        if not again:
            _check_allowed(db, kept, gone)
        seq = db.run(select(func.coalesce(func.max(MergeClusterRow.seq), 0) + 1)).scalar_one()
        cluster = id_of("merge", kept, gone, str(seq))
        undo = [
            *_point_facts(db, gone, kept),
            *_point_ties(db, gone, kept),
            ["person", gone, "merged_into_id", None, kept],
        ]
        db.run(update(table(PersonRow)).where(PersonRow.id == gone).values(merged_into_id=kept))
        db.merged = None
        row = {
            "id": cluster,
            "seq": seq,
            "canonical_id": kept,
            "member_ids": [kept, gone],
            "merge_rationale": reasons.rationale,
            "why_not_split": reasons.why_not_split,
            "why_not_merge": reasons.why_not_merge,
            "features": dict(reasons.features),
            "score": reasons.score,
            "decided_by": reasons.decided_by,
            "is_reversible": True,
            "undo": undo,
            "state": "merged",
            "created_at": db.now(),
            "reverted_at": "",
        }
        db.run(insert(table(MergeClusterRow)).values(row))
        db.changed_people |= {kept, gone}
        told = {"ids": [kept, gone], "rationale": reasons.rationale, "score": reasons.score}
        audit.note(db, "merge", cluster, living=both_dead(db, kept, gone), after=told)
        return cluster


def both_dead(db: Database, *people: PersonId) -> Living:
    return "deceased" if all(living_of(db, person) == "deceased" for person in people) else "unknown"


def _check_allowed(db: Database, kept: PersonId, gone: PersonId) -> None:
    for pair in cannot_links(db):
        if {root_of(db, pair.first), root_of(db, pair.second)} == {kept, gone}:
            raise BadUsage(
                f"{kept!r} and {gone!r} must not be merged: {pair.reason}",
                remedy="Merge them all the same only if there is new evidence, and say so.",
            )


def _point_facts(db: Database, gone: PersonId, kept: PersonId) -> list[list[Any]]:
    rows = AssertionRow
    mine = (rows.entity_id == gone, rows.entity_type == "person")
    moved = list(db.run(select(rows.id).where(*mine).order_by(rows.id)).scalars())
    db.run(update(table(rows)).where(*mine).values(entity_id=kept))
    return [["assertion", identity, "entity_id", gone, kept] for identity in moved]


def _point_ties(db: Database, gone: PersonId, kept: PersonId) -> list[list[Any]]:
    """A tie between the two is left as it is: no person is tied to itself, and it is shadowed from now on."""
    moved: list[list[Any]] = []
    for here, there in (("person1_id", "person2_id"), ("person2_id", "person1_id")):
        ties = table(RelationshipRow)
        mine = (ties.c[here] == gone, ties.c[there] != kept)
        found = list(db.run(select(ties.c.id).where(*mine).order_by(ties.c.id)).scalars())
        db.run(update(ties).where(*mine).values({here: kept}))
        moved += [["relationship", identity, here, gone, kept] for identity in found]
    return moved


def merges(db: Database) -> tuple[MergeCluster, ...]:
    with db.reading():
        rows = db.rows(select(table(MergeClusterRow)).order_by(MergeClusterRow.seq))
    return tuple(
        MergeCluster(**{**{name: row[name] for name in row if name != "undo"}, "member_ids": tuple(row["member_ids"])})
        for row in rows
    )


def cannot_links(db: Database) -> tuple[CannotLink, ...]:
    rows = CannotLinkRow
    with db.reading(settled=False):
        found = db.run(select(table(rows)).order_by(rows.first_id, rows.second_id)).all()
    return tuple(CannotLink(row.first_id, row.second_id, row.reason, row.decided_by) for row in found)


def forbid_link(db: Database, first: PersonId, second: PersonId, reason: str, decided_by: str) -> None:
    if first == second:
        raise BadUsage(f"{first!r} cannot be kept apart from itself.")
    with db.writing():
        root_of(db, first), root_of(db, second)
        low, high = sorted((first, second))
        row = {"first_id": low, "second_id": high, "reason": reason, "decided_by": decided_by, "at": db.now()}
        if db.insert_new(CannotLinkRow, row):
            audit.note(db, "cannot_link", low, living="deceased", after={"ids": [low, high]})


def allow_link(db: Database, first: PersonId, second: PersonId, why: str) -> None:
    low, high = sorted((first, second))
    mine = CannotLinkRow.first_id == low, CannotLinkRow.second_id == high
    with db.writing():
        if not db.run(delete(table(CannotLinkRow)).where(*mine)).rowcount:
            raise BadUsage(f"{low!r} and {high!r} are not kept apart.")
        told = {"ids": [low, high], "why": why}
        audit.note(db, "allow_link", low, living=both_dead(db, low, high), after=told)
