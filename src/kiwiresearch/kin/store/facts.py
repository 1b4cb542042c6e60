"""Facts and relationships with their evidence, and conflicts between them; values are added, never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, delete, select, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.store import audit, records
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.records import canonical_id, living_of
from kiwiresearch.kin.store.tables import ASSERTION, CONFLICT, EVIDENCE_CLAIM, RELATIONSHIP
from kiwiresearch.kin.store.values import ConflictRow, date_to_json
from kiwiresearch.kin.tree import (
    DATE_FIELDS,
    RELATION_FIELDS,
    Directness,
    InformationKind,
    LivingStatus,
    PersonId,
    RelationKind,
    SourceId,
    Status,
    row_id,
)


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is thought of a statement: where it stands, whether it was verified, how far it can be trusted."""

    source: SourceId
    status: Status
    confidence: float | None
    reliability: float
    information: InformationKind
    directness: Directness


def assert_fact(db: CaseDatabase, person: PersonId, fact: ExtractedFact, grounds: Assessment) -> str:
    _check(fact, grounds)
    with db.writing():
        records.check_quote(db, grounds.source, fact.snippet)
        root = canonical_id(db, person)
        identity = _assert(db, root, (root,), fact, grounds)
        db.changed_people.add(root)
        return identity


def assert_tie(
    db: CaseDatabase, kind: RelationKind, ends: tuple[PersonId, PersonId], fact: ExtractedFact, grounds: Assessment
) -> str:
    _check(fact, grounds)
    with db.writing():
        records.check_quote(db, grounds.source, fact.snippet)
        first, second = (canonical_id(db, end) for end in ends)
        if first == second:
            raise BadUsage(
                f"The person {first!r} cannot be {kind} of itself.", remedy="Check who was merged with whom."
            )
        if kind != "parent_of":
            first, second = sorted((first, second))
        tie = row_id("relationship", kind, first, second)
        new = {
            "id": tie,
            "person1_id": first,
            "person2_id": second,
            "relationship_type": kind,
            "qualifier": "",
            "status": grounds.status,
            "confidence": 0.0,
            "shadowed_by": "",
        }
        if db.insert_new(RELATIONSHIP, new):
            audit.record(db, "add_tie", tie, living="deceased", after={"kind": kind, "ids": [first, second]})
        _assert(db, tie, (first, second), fact, grounds)
        db.changed_ties.add(tie)
        db.changed_people |= {first, second}
        return tie


def _check(fact: ExtractedFact, grounds: Assessment) -> None:
    for number in (fact.confidence, grounds.confidence, grounds.reliability):
        if number is not None and not 0 <= number <= 1:
            raise BadUsage(f"{number!r} is no confidence or reliability: they go from 0 to 1.")
    if grounds.directness == "negative":
        raise BadUsage(
            f"That nothing was found is no evidence for {fact.field!r}.", remedy="Write it into the research log."
        )
    if not fact.value.strip():
        raise BadUsage(f"A fact of the field {fact.field!r} has no value.")


def value_key(field: str, value: Mapping[str, Any]) -> str:
    """What two statements share that say the same."""
    when, until = value["when"], value["until"]
    if field in DATE_FIELDS:
        return "\x1f".join([when["edtf"], when["calendar"], when["precision"]]) if when else _plain(value["value"])
    ends = (when["edtf"] if when else "", until["edtf"] if until else "")
    return "\x1f".join([_plain(value["value"]), value["qualifier"], *ends])


def _plain(text: str) -> str:
    return " ".join(text.split())


def _assert(db: CaseDatabase, entity: str, ends: tuple[PersonId, ...], fact: ExtractedFact, grounds: Assessment) -> str:
    """One statement about a person or a tie: a new value or more evidence for a known one."""
    value = _value(fact)
    key = value_key(fact.field, value)
    identity = row_id("assertion", entity, fact.field, key)
    confidence = fact.confidence if grounds.confidence is None else grounds.confidence
    at = db.now()
    row = {
        "id": identity,
        "entity_id": entity,
        "entity_type": "person" if len(ends) == 1 else "relationship",
        "field_name": fact.field,
        "field_value": value,
        "value_key": key,
        "confidence": confidence,
        "status": grounds.status,
        "is_fact": grounds.status != "hypothesis",
        "preferred": False,
        "asserted_at": at,
        "changed_at": at,
    }
    claim = _claim(db, identity, fact, grounds, confidence)
    told = {"entity_id": entity, "field_name": fact.field, "source_record_id": grounds.source}
    if db.insert_new(ASSERTION, row):
        db.insert_new(EVIDENCE_CLAIM, claim)
        told |= {"value": fact.value, "status": grounds.status}
        audit.record(db, "assert", identity, living=_living(db, ends, fact.field), after=told)
    elif db.insert_new(EVIDENCE_CLAIM, claim):
        _strengthen(db, identity, grounds.status, confidence)
        audit.record(db, "add_evidence", identity, living=_living(db, ends, fact.field), after=told)
    return identity


def _living(db: CaseDatabase, people: Sequence[PersonId], field_name: str) -> LivingStatus:
    """Whether all a value is about are dead; a relative in a fact of one person is somebody we know nothing of."""
    if field_name in RELATION_FIELDS and len(people) < 2:
        return "unknown"
    return "deceased" if all(living_of(db, person) == "deceased" for person in people) else "unknown"


def _value(fact: ExtractedFact) -> dict[str, Any]:
    return {
        "value": fact.value,
        "when": date_to_json(fact.when, fact.snippet.words if fact.field in DATE_FIELDS else ""),
        "until": date_to_json(fact.until),
        "qualifier": fact.qualifier,
        "target": fact.target,
    }


def _claim(
    db: CaseDatabase, identity: str, fact: ExtractedFact, grounds: Assessment, confidence: float
) -> dict[str, Any]:
    snippet = fact.snippet
    row = {
        "assertion_id": identity,
        "source_record_id": grounds.source,
        "citation_snippet": snippet.words,
        "span_start": snippet.start,
        "span_end": snippet.end,
        "locator": fact.locator,
        "stance": "supports",
        "information_type": grounds.information,
        "directness": grounds.directness,
        "origin_group": records.origin_group(db, grounds.source),
        "extraction_method": fact.method,
        "source_reliability": grounds.reliability,
        "confidence": confidence,
        "llm_rationale": {"text": fact.rationale},
    }
    return {"id": claim_id(row), **row}


def claim_id(row: Mapping[str, Any]) -> str:
    """The name of evidence: what it speaks for, and the words and the place it quotes."""
    place = (str(row["span_start"]), str(row["span_end"]), row["citation_snippet"], row["extraction_method"])
    return row_id("claim", row["assertion_id"], row["source_record_id"], *place)


def _strengthen(db: CaseDatabase, identity: str, status: Status, confidence: float) -> None:
    """More evidence may verify what was not, and never takes back what was decided."""
    row = db.run(select(ASSERTION.c.status, ASSERTION.c.confidence).where(ASSERTION.c.id == identity)).one()
    verified = row.status in ("unverified", "hypothesis") and status == "verified"
    better = {
        "status": status if verified else row.status,
        "is_fact": row.status != "hypothesis" or verified,
        "confidence": max(row.confidence, confidence),
        "changed_at": db.now(),
    }
    db.run(update(ASSERTION).where(ASSERTION.c.id == identity).values(better))


def set_status(db: CaseDatabase, identity: str, status: Status, why: str, confidence: float | None) -> None:
    """Decide about a fact, or about all that is said of a tie; what says the same since a merge goes with it."""
    with db.writing():
        for row in _equivalent_assertions(db, identity):
            values: dict[str, Any] = {"status": status, "changed_at": db.now(), "is_fact": status != "hypothesis"}
            if confidence is not None:
                values["confidence"] = confidence
            if (row.status, row.confidence) == (status, values.get("confidence", row.confidence)):
                continue
            db.run(update(ASSERTION).where(ASSERTION.c.id == row.id).values(values))
            _note_decision(db, "set_status", row, {"status": row.status}, {"status": status, "why": why})


def prefer(db: CaseDatabase, identity: str, why: str) -> None:
    with db.writing():
        chosen = {row.id for row in _equivalent_assertions(db, identity)}
        one = db.run(select(ASSERTION).where(ASSERTION.c.id == min(chosen))).one()
        rows = ASSERTION
        same_field = select(rows).where(rows.c.entity_id == one.entity_id, rows.c.field_name == one.field_name)
        for row in db.run(same_field.order_by(rows.c.id)).all():
            wanted = row.id in chosen
            if row.preferred != wanted:
                values = {"preferred": wanted, "changed_at": db.now()}
                db.run(update(rows).where(rows.c.id == row.id).values(values))
                _note_decision(db, "prefer", row, {"preferred": row.preferred}, {"preferred": wanted, "why": why})


def _equivalent_assertions(db: CaseDatabase, identity: str) -> list[Row[Any]]:
    """The assertions that a decision about this fact or tie is about."""
    rows = ASSERTION
    one = db.run(select(rows).where(rows.c.id == identity)).one_or_none()
    if one is not None:
        alike = (
            rows.c.entity_id == one.entity_id,
            rows.c.field_name == one.field_name,
            rows.c.value_key == one.value_key,
        )
        return list(db.run(select(rows).where(*alike).order_by(rows.c.id)).all())
    tie = db.run(select(RELATIONSHIP).where(RELATIONSHIP.c.id == identity)).one_or_none()
    if tie is None:
        raise BadUsage(f"The case has no fact and no tie {identity!r}.", remedy="Take an id from the tree.")
    same = [other.id for other in ties_between(db, tie.person1_id, tie.person2_id) if _is_same_relationship(tie, other)]
    return list(db.run(select(rows).where(rows.c.entity_id.in_(same)).order_by(rows.c.id)).all())


def ties_between(db: CaseDatabase, first: PersonId, second: PersonId) -> list[Row[Any]]:
    ties, ends = RELATIONSHIP, (first, second)
    chosen = select(ties).where(ties.c.person1_id.in_(ends), ties.c.person2_id.in_(ends))
    return list(db.run(chosen.order_by(ties.c.id)).all())


def _is_same_relationship(tie: Row[Any], other: Row[Any]) -> bool:
    turned = tie.relationship_type == "parent_of" and tie.person1_id != other.person1_id
    return tie.relationship_type == other.relationship_type and not turned


def _note_decision(db: CaseDatabase, action: str, row: Row[Any], before: dict[str, Any], after: dict[str, Any]) -> None:
    people: tuple[PersonId, ...] = (row.entity_id,)
    if row.entity_type == "relationship":
        ties = RELATIONSHIP
        ends = db.run(select(ties.c.person1_id, ties.c.person2_id).where(ties.c.id == row.entity_id)).one()
        people = (ends.person1_id, ends.person2_id)
        db.changed_ties.add(row.entity_id)
    db.changed_people.update(people)
    shown = {"field_name": row.field_name}
    living = _living(db, people, row.field_name)
    audit.record(db, action, row.id, living=living, before={**before, **shown}, after={**after, **shown})


def put_conflict(db: CaseDatabase, conflict: ConflictRow) -> str:
    with db.writing():
        root = canonical_id(db, conflict.entity_id)
        known = {
            found
            for at in (ASSERTION, RELATIONSHIP)  # two fathers compete as ties
            for found in db.run(select(at.c.id).where(at.c.id.in_(conflict.assertion_ids))).scalars()
        }
        missing = sorted({*conflict.assertion_ids, conflict.recommended_assertion_id} - known - {""})
        if missing:
            raise BadUsage(f"A conflict about {conflict.field!r} names a fact that the case has not: {missing[0]!r}.")
        identity = conflict.id or row_id("conflict", root, conflict.field)
        row = {
            "id": identity,
            "entity_id": root,
            "field_name": conflict.field,
            "assertion_ids": list(conflict.assertion_ids),
            "ranking": [dict(rank) for rank in conflict.ranking],
            "recommended_assertion_id": conflict.recommended_assertion_id,
            "confidence": conflict.confidence,
            "method": conflict.method,
            "resolution_status": conflict.resolution_status,
            "rationale": conflict.rationale,
            "next_actions": list(conflict.next_actions),
        }
        before = db.rows(select(CONFLICT).where(CONFLICT.c.id == identity))
        if before != [row]:
            db.put(CONFLICT, row)
            shown, was = _audit_state(row), _audit_state(before[0]) if before else None
            audit.record(db, "conflict", identity, living=living_of(db, root), before=was, after=shown)
        return identity


def _audit_state(row: Mapping[str, Any]) -> dict[str, Any]:
    told = {"field_name": row["field_name"], "entity_id": row["entity_id"], "ids": row["assertion_ids"]}
    return told | {"status": row["resolution_status"], "recommended": row["recommended_assertion_id"]}


def drop_conflict(db: CaseDatabase, conflict: str) -> None:
    with db.writing():
        gone = db.run(delete(CONFLICT).where(CONFLICT.c.id == conflict)).rowcount
        if gone:
            audit.record(db, "drop_conflict", conflict, living="unknown")


def conflicts(db: CaseDatabase) -> tuple[ConflictRow, ...]:
    with db.reading():
        rows = db.rows(select(CONFLICT).order_by(CONFLICT.c.id))
        roots = [canonical_id(db, row["entity_id"]) for row in rows]
    return tuple(
        ConflictRow(
            row["id"],
            root,
            row["field_name"],
            tuple(row["assertion_ids"]),
            tuple(row["ranking"]),
            row["recommended_assertion_id"],
            row["confidence"],
            row["method"],
            row["resolution_status"],
            row["rationale"],
            tuple(row["next_actions"]),
        )
        for row, root in zip(rows, roots, strict=True)
    )
