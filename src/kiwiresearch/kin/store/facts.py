"""Writing down what sources say: values are added beside each other, never changed, never deleted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, select, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.extracted import Extracted
from kiwiresearch.kin.fields import DATES, RELATIONS, Directness, Information, Living, RelationKind, Status
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.store import audit, records
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.dates import kept
from kiwiresearch.kin.store.people import living_of, root_of
from kiwiresearch.kin.store.schema import AssertionRow, EvidenceClaimRow, RelationshipRow
from kiwiresearch.kin.store.tables import table
from kiwiresearch.kin.tree import PersonId, SourceId


@dataclass(frozen=True, slots=True)
class Grounds:
    """What is thought of a statement: where it stands, whether it was verified, how far it can be trusted."""

    source: SourceId
    status: Status
    confidence: float | None
    reliability: float
    information: Information
    directness: Directness


def assert_fact(db: Database, person: PersonId, fact: Extracted, grounds: Grounds) -> str:
    _check(fact, grounds)
    with db.writing():
        records.check_quote(db, grounds.source, fact.snippet)
        root = root_of(db, person)
        identity = _assert(db, root, (root,), fact, grounds)
        db.changed_people.add(root)
        return identity


def assert_tie(
    db: Database, kind: RelationKind, ends: tuple[PersonId, PersonId], fact: Extracted, grounds: Grounds
) -> str:
    _check(fact, grounds)
    with db.writing():
        records.check_quote(db, grounds.source, fact.snippet)
        first, second = (root_of(db, end) for end in ends)
        if first == second:
            raise BadUsage(
                f"The person {first!r} cannot be {kind} of itself.", remedy="Check who was merged with whom."
            )
        if kind != "parent_of":
            first, second = sorted((first, second))
        tie = id_of("relationship", kind, first, second)
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
        if db.insert_new(RelationshipRow, new):
            audit.note(db, "add_tie", tie, living="deceased", after={"kind": kind, "ids": [first, second]})
        _assert(db, tie, (first, second), fact, grounds)
        db.changed_ties.add(tie)
        db.changed_people |= {first, second}
        return tie


def _check(fact: Extracted, grounds: Grounds) -> None:
    for number in (fact.confidence, grounds.confidence, grounds.reliability):
        if number is not None and not 0 <= number <= 1:
            raise BadUsage(f"{number!r} is no confidence or reliability: they go from 0 to 1.")
    if grounds.directness == "negative":
        raise BadUsage(
            f"That nothing was found is no evidence for {fact.field!r}.", remedy="Write it into the research log."
        )
    if not fact.value.strip():
        raise BadUsage(f"A fact of the field {fact.field!r} has no value.")


def key_of(field: str, value: Mapping[str, Any]) -> str:
    """What two statements share that say the same."""
    when, until = value["when"], value["until"]
    if field in DATES:
        return "\x1f".join([when["edtf"], when["calendar"], when["precision"]]) if when else _plain(value["value"])
    ends = (when["edtf"] if when else "", until["edtf"] if until else "")
    return "\x1f".join([_plain(value["value"]), value["qualifier"], *ends])


def _plain(text: str) -> str:
    return " ".join(text.split())


def _assert(db: Database, entity: str, ends: tuple[PersonId, ...], fact: Extracted, grounds: Grounds) -> str:
    """One statement about a person or a tie: a new value or more evidence for a known one."""
    value = _value(fact)
    key = key_of(fact.field, value)
    identity = id_of("assertion", entity, fact.field, key)
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
    if db.insert_new(AssertionRow, row):
        db.insert_new(EvidenceClaimRow, claim)
        told |= {"value": fact.value, "status": grounds.status}
        audit.note(db, "assert", identity, living=_living(db, ends, fact.field), after=told)
    elif db.insert_new(EvidenceClaimRow, claim):
        _strengthen(db, identity, grounds.status, confidence)
        audit.note(db, "add_evidence", identity, living=_living(db, ends, fact.field), after=told)
    return identity


def _living(db: Database, people: Sequence[PersonId], field_name: str) -> Living:
    """Whether all a value is about are dead; a relative in a fact of one person is somebody we know nothing of."""
    if field_name in RELATIONS and len(people) < 2:
        return "unknown"
    return "deceased" if all(living_of(db, person) == "deceased" for person in people) else "unknown"


def _value(fact: Extracted) -> dict[str, Any]:
    return {
        "value": fact.value,
        "when": kept(fact.when, fact.snippet.words if fact.field in DATES else ""),
        "until": kept(fact.until),
        "qualifier": fact.qualifier,
        "target": fact.target,
    }


def _claim(db: Database, identity: str, fact: Extracted, grounds: Grounds, confidence: float) -> dict[str, Any]:
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
    return id_of("claim", row["assertion_id"], row["source_record_id"], *place)


def _strengthen(db: Database, identity: str, status: Status, confidence: float) -> None:
    """More evidence may verify what was not, and never takes back what was decided."""
    row = db.run(select(AssertionRow.status, AssertionRow.confidence).where(AssertionRow.id == identity)).one()
    verified = row.status in ("unverified", "hypothesis") and status == "verified"
    better = {
        "status": status if verified else row.status,
        "is_fact": row.status != "hypothesis" or verified,
        "confidence": max(row.confidence, confidence),
        "changed_at": db.now(),
    }
    db.run(update(table(AssertionRow)).where(AssertionRow.id == identity).values(better))


def set_status(db: Database, identity: str, status: Status, why: str, confidence: float | None) -> None:
    """Decide about a fact, or about all that is said of a tie; what says the same since a merge goes with it."""
    with db.writing():
        for row in _alike(db, identity):
            values: dict[str, Any] = {"status": status, "changed_at": db.now(), "is_fact": status != "hypothesis"}
            if confidence is not None:
                values["confidence"] = confidence
            if (row.status, row.confidence) == (status, values.get("confidence", row.confidence)):
                continue
            db.run(update(table(AssertionRow)).where(AssertionRow.id == row.id).values(values))
            _note_decision(db, "set_status", row, {"status": row.status}, {"status": status, "why": why})


def prefer(db: Database, identity: str, why: str) -> None:
    with db.writing():
        chosen = {row.id for row in _alike(db, identity)}
        one = db.run(select(table(AssertionRow)).where(AssertionRow.id == min(chosen))).one()
        rows = AssertionRow
        same_field = select(table(rows)).where(rows.entity_id == one.entity_id, rows.field_name == one.field_name)
        for row in db.run(same_field.order_by(rows.id)).all():
            wanted = row.id in chosen
            if row.preferred != wanted:
                values = {"preferred": wanted, "changed_at": db.now()}
                db.run(update(table(rows)).where(rows.id == row.id).values(values))
                _note_decision(db, "prefer", row, {"preferred": row.preferred}, {"preferred": wanted, "why": why})


def _alike(db: Database, identity: str) -> list[Row[Any]]:
    """The assertions that a decision about this fact or tie is about."""
    rows = AssertionRow
    one = db.run(select(table(rows)).where(rows.id == identity)).one_or_none()
    if one is not None:
        alike = (rows.entity_id == one.entity_id, rows.field_name == one.field_name, rows.value_key == one.value_key)
        return list(db.run(select(table(rows)).where(*alike).order_by(rows.id)).all())
    tie = db.run(select(table(RelationshipRow)).where(RelationshipRow.id == identity)).one_or_none()
    if tie is None:
        raise BadUsage(f"The case has no fact and no tie {identity!r}.", remedy="Take an id from the tree.")
    same = [other.id for other in ties_between(db, tie.person1_id, tie.person2_id) if _say_same(tie, other)]
    return list(db.run(select(table(rows)).where(rows.entity_id.in_(same)).order_by(rows.id)).all())


def ties_between(db: Database, first: PersonId, second: PersonId) -> list[Row[Any]]:
    ties, ends = RelationshipRow, (first, second)
    chosen = select(table(ties)).where(ties.person1_id.in_(ends), ties.person2_id.in_(ends))
    return list(db.run(chosen.order_by(ties.id)).all())


def _say_same(tie: Row[Any], other: Row[Any]) -> bool:
    turned = tie.relationship_type == "parent_of" and tie.person1_id != other.person1_id
    return tie.relationship_type == other.relationship_type and not turned


def _note_decision(db: Database, action: str, row: Row[Any], before: dict[str, Any], after: dict[str, Any]) -> None:
    people: tuple[PersonId, ...] = (row.entity_id,)
    if row.entity_type == "relationship":
        ties = RelationshipRow
        ends = db.run(select(ties.person1_id, ties.person2_id).where(ties.id == row.entity_id)).one()
        people = (ends.person1_id, ends.person2_id)
        db.changed_ties.add(row.entity_id)
    db.changed_people.update(people)
    shown = {"field_name": row.field_name}
    living = _living(db, people, row.field_name)
    audit.note(db, action, row.id, living=living, before={**before, **shown}, after={**after, **shown})
