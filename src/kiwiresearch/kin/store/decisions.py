"""What people decided about facts, relationships and people: it outweighs the rules, and rules never change it."""

from __future__ import annotations

from typing import Literal, get_args

from sqlalchemy import FromClause, and_, case, func, select

from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.tables import ASSERTION, DECISION
from kiwiresearch.kin.tree import Decision

Aspect = Literal["status", "preferred", "living", "living_reason"]
Verdict = Literal["accepted", "rejected"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
PREFERRED = "yes"
VERDICTS_GIVEN = select(DECISION.c.entity_id, DECISION.c.value).where(DECISION.c.aspect == "status")


def _decided_assertions() -> FromClause:
    """All assertions as they stand after the decisions of people, with a column `decision`.

    A value that somebody prefers is the only preferred one of its field.
    """
    assertion, status, preferred, other = ASSERTION, DECISION.alias(), DECISION.alias(), ASSERTION.alias()
    # The fields in which a person prefers a value: there, no other value is preferred, whatever the rules say.
    chosen = (
        select(other.c.entity_id, other.c.field_name)
        .join(DECISION, and_(DECISION.c.entity_id == other.c.id, DECISION.c.aspect == "preferred"))
        .distinct()
        .subquery()
    )
    is_chosen = preferred.c.value.is_not(None)
    decided = {
        "status": case(
            (status.c.value == "accepted", "verified"),
            (status.c.value.is_not(None), status.c.value),
            else_=assertion.c.status,
        ),
        "is_fact": case((status.c.value == "accepted", True), else_=assertion.c.is_fact),
        "preferred": case((chosen.c.entity_id.is_not(None), is_chosen), else_=assertion.c.preferred),
    }
    columns = [decided[column.name].label(column.name) if column.name in decided else column for column in assertion.c]
    decision = case((is_chosen, "preferred"), else_=func.coalesce(status.c.value, "")).label("decision")
    joined = (
        assertion.outerjoin(status, and_(status.c.entity_id == assertion.c.id, status.c.aspect == "status"))
        .outerjoin(preferred, and_(preferred.c.entity_id == assertion.c.id, preferred.c.aspect == "preferred"))
        .outerjoin(
            chosen, and_(chosen.c.entity_id == assertion.c.entity_id, chosen.c.field_name == assertion.c.field_name)
        )
    )
    return select(*columns, decision).select_from(joined).subquery("decided_assertion")


DECIDED_ASSERTION = _decided_assertions()


def verdicts(db: CaseDatabase) -> dict[str, Decision]:
    """What was decided about the status of facts, relationships and people, by their id."""
    return {row.entity_id: row.value for row in db.rows(VERDICTS_GIVEN)}


def decide(db: CaseDatabase, entity: str, aspect: Aspect, value: str) -> None:
    """Record a decision, replacing an earlier one; an empty value withdraws it."""
    same = (DECISION.c.entity_id == entity, DECISION.c.aspect == aspect)
    before = db.run(select(DECISION).where(*same)).one_or_none()
    if before is not None and before.value == value:
        return
    if before is not None:
        db.remove(DECISION, before._asdict())
    if value:
        db.insert_new(DECISION, {"entity_id": entity, "aspect": aspect, "value": value, "edit_id": db.edit_id})
