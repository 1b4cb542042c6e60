"""Facts and relationships with their evidence; values are added, never changed.

What sources say and what people decide about it are written to the same rows, which half of this file is about.
Rules set the status of a fact and which is preferred (`set_status`, `set_preferred`); what a person decides
(`decide`, `decide_preferred`) is stored apart and outweighs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Row, or_, select, update

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.store import audit, people_and_sources
from kiwiresearch.kin.store.database import CaseDatabase, StorePart
from kiwiresearch.kin.store.decisions import PREFERRED, Verdict, decide, verdicts
from kiwiresearch.kin.store.people_and_sources import canonical_id, follow_merges, may_be_living
from kiwiresearch.kin.store.tables import ASSERTION, EVIDENCE_CLAIM, PERSON, RELATIONSHIP
from kiwiresearch.kin.store.values import StoredValue, date_to_json
from kiwiresearch.kin.tree import (
    DATE_FIELDS,
    NAMED_RELATIVE_FIELDS,
    Directness,
    InformationKind,
    PersonId,
    RelationKind,
    SourceId,
    Status,
    row_id,
)


@dataclass(frozen=True, slots=True)
class Assessment:
    """The source of a statement, its status, and how far it is trusted."""

    source: SourceId
    status: Status
    confidence: float | None
    reliability: float
    information: InformationKind
    directness: Directness


def _check(fact: ExtractedFact, assessment: Assessment) -> None:
    for number in (fact.confidence, assessment.confidence, assessment.reliability):
        if number is not None and not 0 <= number <= 1:
            raise BadUsage(f"{number!r} is not a valid confidence or reliability. Use a number from 0 to 1.")
    if assessment.directness == "negative":
        raise BadUsage(
            f"A search without results is not evidence for {fact.field!r}.",
            remedy="Record it in the research log instead.",
        )
    if not fact.value.strip():
        raise BadUsage(f"A fact for the field {fact.field!r} has no value.")


def value_key(field: str, value: StoredValue) -> str:
    """A key that is equal for assertions with the same meaning."""
    when, until = value["when"], value["until"]
    if field in DATE_FIELDS:
        return "\x1f".join([when["edtf"], when["calendar"], when["precision"]]) if when else _plain(value["value"])
    ends = (when["edtf"] if when else "", until["edtf"] if until else "")
    return "\x1f".join([_plain(value["value"]), value["qualifier"], *ends])


def _plain(text: str) -> str:
    return " ".join(text.split())


def _assert(
    db: CaseDatabase, entity: str, ends: tuple[PersonId, ...], fact: ExtractedFact, assessment: Assessment
) -> str:
    """Store what a source says of a person or a tie: a new assertion, or more evidence for a known one."""
    value = _value(fact)
    key = value_key(fact.field, value)
    fact_id = row_id("assertion", entity, fact.field, key)
    confidence = fact.confidence if assessment.confidence is None else assessment.confidence
    at = db.now()
    row = {
        "id": fact_id,
        "entity_id": entity,
        "entity_type": "person" if len(ends) == 1 else "relationship",
        "field_name": fact.field,
        "field_value": value,
        "value_key": key,
        "confidence": confidence,
        "status": assessment.status,
        "is_fact": assessment.status != "hypothesis",
        "preferred": False,
        "asserted_at": at,
        "changed_at": at,
    }
    claim = _evidence_row(db, fact_id, fact, assessment, confidence)
    details = {"entity_id": entity, "field_name": fact.field, "source_record_id": assessment.source}
    if db.insert_new(ASSERTION, row):
        db.insert_new(EVIDENCE_CLAIM, claim)
        details |= {"value": fact.value, "status": assessment.status}
        audit.record(db, "assert", fact_id, is_redacted=_is_redacted(db, ends, fact.field), after=details)
    elif db.insert_new(EVIDENCE_CLAIM, claim):
        if not db.edit_id:  # what a person enters does not change what the rules found
            _strengthen(db, fact_id, assessment.status, confidence)
        audit.record(db, "add_evidence", fact_id, is_redacted=_is_redacted(db, ends, fact.field), after=details)
    return fact_id


def _is_redacted(db: CaseDatabase, people: Sequence[PersonId], field_name: str) -> bool:
    """Whether anyone a value is about may be living, as a relative who is only named in it may."""
    return (field_name in NAMED_RELATIVE_FIELDS and len(people) < 2) or may_be_living(db, *people)


def _value(fact: ExtractedFact) -> StoredValue:
    return {
        "value": fact.value,
        "when": date_to_json(fact.when, fact.snippet.words if fact.field in DATE_FIELDS else ""),
        "until": date_to_json(fact.until),
        "qualifier": fact.qualifier,
        "target": fact.target,
    }


def _evidence_row(
    db: CaseDatabase, fact_id: str, fact: ExtractedFact, assessment: Assessment, confidence: float
) -> JsonDict:
    snippet = fact.snippet
    row: JsonDict = {
        "assertion_id": fact_id,
        "source_record_id": assessment.source,
        "citation_snippet": snippet.words,
        "span_start": snippet.start,
        "span_end": snippet.end,
        "locator": fact.locator,
        "stance": "supports",
        "information_type": assessment.information,
        "directness": assessment.directness,
        "origin_group": people_and_sources.origin_group(db, assessment.source),
        "extraction_method": fact.method,
        "source_reliability": assessment.reliability,
        "confidence": confidence,
        "llm_rationale": {"text": fact.rationale},
    }
    return {"id": evidence_id(row), **row}


def evidence_id(row: Mapping[str, Any]) -> str:
    """The id of evidence, from what it supports and the words and position it quotes."""
    place = (str(row["span_start"]), str(row["span_end"]), row["citation_snippet"], row["extraction_method"])
    return row_id("claim", row["assertion_id"], row["source_record_id"], *place)


def _strengthen(db: CaseDatabase, fact_id: str, status: Status, confidence: float) -> None:
    """Update an assertion with more evidence, which may verify it but never reverts a decision."""
    row = db.run(select(ASSERTION.c.status, ASSERTION.c.confidence).where(ASSERTION.c.id == fact_id)).one()
    verified = row.status in ("unverified", "hypothesis") and status == "verified"
    better = {
        "status": status if verified else row.status,
        "is_fact": row.status != "hypothesis" or verified,
        "confidence": max(row.confidence, confidence),
    }
    _change_assertion(db, fact_id, better)


def _change_assertion(db: CaseDatabase, fact_id: str, values: Mapping[str, Any]) -> None:
    if db.edit_id:
        before = db.run(select(ASSERTION).where(ASSERTION.c.id == fact_id)).one()
        changed = {name: value for name, value in values.items() if getattr(before, name) != value}
        db.note_changes(["set", "assertion", fact_id, name, getattr(before, name), changed[name]] for name in changed)
    db.run(update(ASSERTION).where(ASSERTION.c.id == fact_id).values({**values, "changed_at": db.now()}))


def _equivalent_assertions(db: CaseDatabase, fact_or_tie: str) -> list[Row[Any]]:
    """The assertions that a decision about this fact or tie applies to."""
    rows = ASSERTION
    assertion = db.run(select(rows).where(rows.c.id == fact_or_tie)).one_or_none()
    if assertion is not None:
        alike = (
            rows.c.entity_id == assertion.entity_id,
            rows.c.field_name == assertion.field_name,
            rows.c.value_key == assertion.value_key,
        )
        return list(db.run(select(rows).where(*alike).order_by(rows.c.id)).all())
    tie = db.run(select(RELATIONSHIP).where(RELATIONSHIP.c.id == fact_or_tie)).one_or_none()
    if tie is None:
        raise BadUsage(f"The case has no fact or relationship {fact_or_tie!r}.", remedy="Use an ID from the tree.")
    ties, ends = RELATIONSHIP, (tie.person1_id, tie.person2_id)
    same = [ties.c.relationship_type == tie.relationship_type, ties.c.person1_id.in_(ends), ties.c.person2_id.in_(ends)]
    if tie.relationship_type == "parent_of":  # the only kind with a direction
        same.append(ties.c.person1_id == tie.person1_id)
    return list(db.run(select(rows).where(rows.c.entity_id.in_(select(ties.c.id).where(*same))).order_by(rows.c.id)))


def _note_row_changed(db: CaseDatabase, row: Row[Any]) -> tuple[PersonId, ...]:
    """Mark the people of an assertion to be derived again, and return them."""
    people: tuple[PersonId, ...] = (row.entity_id,)
    if row.entity_type == "relationship":
        ties = RELATIONSHIP
        ends = db.run(select(ties.c.person1_id, ties.c.person2_id).where(ties.c.id == row.entity_id)).one()
        people = (ends.person1_id, ends.person2_id)
        db.changed_ties.add(row.entity_id)
    db.changed_people.update(people)
    return people


def _note_decision(db: CaseDatabase, action: str, row: Row[Any], before: dict[str, Any], after: dict[str, Any]) -> None:
    people = _note_row_changed(db, row)
    shown = {"field_name": row.field_name}
    is_redacted = _is_redacted(db, people, row.field_name)
    audit.record(db, action, row.id, is_redacted=is_redacted, before={**before, **shown}, after={**after, **shown})


class FactStore(StorePart):
    """The assertions about people and relationships, with their evidence."""

    def assert_fact(
        self,
        person: PersonId,
        fact: ExtractedFact,
        source: SourceId,
        *,
        status: Status = "unverified",
        confidence: float | None = None,
        reliability: float = 0.5,
        information: InformationKind = "undetermined",
        directness: Directness = "direct",
    ) -> str:
        """Store what a source says about a person, and return the id of the fact.

        A known value gets another piece of evidence; another value is another fact.
        If the source was stored with its text, the text must contain the snippet.
        Without a confidence, that of `fact` is used.
        """
        assessment = Assessment(source, status, confidence, reliability, information, directness)
        _check(fact, assessment)
        with self._db.writing():
            people_and_sources.check_quote(self._db, assessment.source, fact.snippet)
            root = canonical_id(self._db, person)
            fact_id = _assert(self._db, root, (root,), fact, assessment)
            self._db.changed_people.add(root)
            return fact_id

    def assert_tie(
        self,
        kind: RelationKind,
        first: PersonId,
        second: PersonId,
        fact: ExtractedFact,
        source: SourceId,
        *,
        status: Status = "unverified",
        confidence: float | None = None,
        reliability: float = 0.5,
        information: InformationKind = "undetermined",
        directness: Directness = "direct",
    ) -> str:
        """Store what a source says about a tie between two people, and return the id of the tie.

        For `parent_of` the first is the parent. `fact.when` and `fact.until` are its start and end.
        """
        assessment = Assessment(source, status, confidence, reliability, information, directness)
        _check(fact, assessment)
        with self._db.writing():
            people_and_sources.check_quote(self._db, assessment.source, fact.snippet)
            first, second = canonical_id(self._db, first), canonical_id(self._db, second)
            if first == second:
                raise BadUsage(
                    f"The person {first!r} cannot be their own relative ({kind}).",
                    remedy="Check the merges of this person: kiwiresearch kin merges",
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
                "status": assessment.status,
                "confidence": 0.0,
                "shadowed_by": "",
            }
            # The kind and the ends name nobody, so this row of the log needs no redaction.
            if self._db.insert_new(RELATIONSHIP, new):
                audit.record(self._db, "add_tie", tie, is_redacted=False, after={"kind": kind, "ids": [first, second]})
            _assert(self._db, tie, (first, second), fact, assessment)
            self._db.changed_ties.add(tie)
            self._db.changed_people |= {first, second}
            return tie

    def set_status(self, fact_or_tie: str, status: Status, why: str, *, confidence: float | None = None) -> None:
        """Set the status of a fact or a tie; its value stays."""
        with self._db.writing():
            for row in _equivalent_assertions(self._db, fact_or_tie):
                believed = row.confidence if confidence is None else confidence
                if (row.status, row.confidence) == (status, believed):
                    continue
                values = {"status": status, "confidence": believed, "is_fact": status != "hypothesis"}
                _change_assertion(self._db, row.id, values)
                _note_decision(self._db, "set_status", row, {"status": row.status}, {"status": status, "why": why})

    def set_preferred(self, fact: str, why: str) -> None:
        """Make this value the preferred one of its field, as the rules found; the other values stay."""
        with self._db.writing():
            chosen = {row.id for row in _equivalent_assertions(self._db, fact)}
            preferred = self._db.run(select(ASSERTION).where(ASSERTION.c.id == min(chosen))).one()
            rows = ASSERTION
            same_field = select(rows).where(
                rows.c.entity_id == preferred.entity_id, rows.c.field_name == preferred.field_name
            )
            for row in self._db.run(same_field.order_by(rows.c.id)).all():
                wanted = row.id in chosen
                if row.preferred != wanted:
                    _change_assertion(self._db, row.id, {"preferred": wanted})
                    after = {"preferred": wanted, "why": why}
                    _note_decision(self._db, "prefer", row, {"preferred": row.preferred}, after)

    def decide(self, fact_or_tie: str, verdict: Verdict | Literal[""]) -> None:
        """Record what a person decided about a fact or a tie; an empty verdict withdraws it."""
        with self._db.writing():
            rows = _equivalent_assertions(self._db, fact_or_tie)
            ties = {row.entity_id for row in rows if row.entity_type == "relationship"}
            for entity in sorted(ties or {row.id for row in rows}):
                decide(self._db, entity, "status", verdict)
            self._note_changed(rows)

    def decide_preferred(self, fact: str, *, is_preferred: bool = True) -> None:
        """Record that a person prefers this value to all others of its field, or no longer does."""
        with self._db.writing():
            rows = _equivalent_assertions(self._db, fact)
            chosen = {row.id for row in rows}
            others = select(ASSERTION).where(
                ASSERTION.c.entity_id == rows[0].entity_id, ASSERTION.c.field_name == rows[0].field_name
            )
            for row in self._db.run(others.order_by(ASSERTION.c.id)).all():
                if is_preferred or row.id in chosen:
                    decide(self._db, row.id, "preferred", PREFERRED if is_preferred and row.id in chosen else "")
            self._note_changed(rows)

    def remove_person(self, person: PersonId) -> None:
        """Record that a person does not belong to the case; nothing about them is shown any more."""
        with self._db.writing():
            root = canonical_id(self._db, person)
            decide(self._db, root, "status", "rejected")
            ends = or_(RELATIONSHIP.c.person1_id == root, RELATIONSHIP.c.person2_id == root)
            for tie in self._db.run(select(RELATIONSHIP).where(ends)).all():
                self._db.changed_people |= {tie.person1_id, tie.person2_id}
            self._db.changed_people.add(root)

    def is_in_case(self, person: PersonId) -> bool:
        """Whether somebody belongs to the case: they were added, and nobody removed them."""
        db = self._db
        with db.reading():
            root = follow_merges(db, person)
            is_there = db.run(select(PERSON.c.id).where(PERSON.c.id == root)).first() is not None
            return is_there and root not in verdicts(db)

    def copy_statements(self, fact_or_tie: str, person: PersonId, new: PersonId) -> None:
        """Store what is said in a fact or a tie of a person about a new person as well, with its evidence."""
        db = self._db
        with db.writing():
            for row in _equivalent_assertions(db, fact_or_tie):
                if row.entity_type == "person":
                    self._copy_statement(row, new, (new,))
                else:
                    self._copy_tie(row, person, new)

    def _copy_tie(self, row: Row[Any], person: PersonId, new: PersonId) -> None:
        db = self._db
        tie = db.run(select(RELATIONSHIP).where(RELATIONSHIP.c.id == row.entity_id)).one()
        first, second = (new if end == person else end for end in (tie.person1_id, tie.person2_id))
        if tie.relationship_type != "parent_of":
            first, second = sorted((first, second))
        copied = row_id("relationship", tie.relationship_type, first, second)
        values = {"id": copied, "person1_id": first, "person2_id": second, "shadowed_by": ""}
        db.insert_new(RELATIONSHIP, tie._asdict() | values)
        db.changed_ties.add(copied)
        self._copy_statement(row, copied, (first, second))

    def _copy_statement(self, row: Row[Any], entity: str, people: tuple[PersonId, ...]) -> None:
        db = self._db
        copied = row_id("assertion", entity, row.field_name, row.value_key)
        db.insert_new(ASSERTION, row._asdict() | {"id": copied, "entity_id": entity})
        for item in db.rows(select(EVIDENCE_CLAIM).where(EVIDENCE_CLAIM.c.assertion_id == row.id)):
            claim = item._asdict() | {"assertion_id": copied}
            db.insert_new(EVIDENCE_CLAIM, claim | {"id": evidence_id(claim)})
        after = {"entity_id": entity, "field_name": row.field_name, "status": row.status}
        audit.record(db, "assert", copied, is_redacted=True, after=after)
        db.changed_people.update(people)

    def _note_changed(self, rows: Sequence[Row[Any]]) -> None:
        for row in rows:
            _note_row_changed(self._db, row)
