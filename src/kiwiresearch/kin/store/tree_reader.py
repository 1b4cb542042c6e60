"""Reads a case into the family tree that all other parts work on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, bindparam, func, select

from kiwiresearch.kin.store.database import CaseDatabase, StorePart
from kiwiresearch.kin.store.decisions import DECIDED_ASSERTION, verdicts
from kiwiresearch.kin.store.people_and_sources import canonical_id, living_from_flag
from kiwiresearch.kin.store.tables import ASSERTION, EVIDENCE_CLAIM, PERSON, RELATIONSHIP, SOURCE_RECORD
from kiwiresearch.kin.store.values import date_from_json, details_with_shadows, rank_key
from kiwiresearch.kin.tree import (
    DEATH_FIELDS,
    DISCARDED,
    Decision,
    Evidence,
    Fact,
    Person,
    PersonId,
    Relationship,
    Source,
    Tree,
)

EVIDENCE_COLUMNS = {
    "source": "source_record_id",
    "snippet": "citation_snippet",
    "start": "span_start",
    "end": "span_end",
    "method": "extraction_method",
    "reliability": "source_reliability",
    "information": "information_type",
    "rationale": "llm_rationale",
}
"""The columns of evidence whose names are not those of the fields of `Evidence`."""


def _columns(table: Table, kind: type[Any], names: Mapping[str, str]) -> list[ColumnElement[Any]]:
    """The columns of a table, labelled with the names of a dataclass's fields."""
    return [table.c[names.get(field.name, field.name)].label(field.name) for field in fields(kind)]


# Statements are built once, since building one takes longer than running it.
PEOPLE = select(PERSON).where(PERSON.c.merged_into_id.is_(None)).order_by(PERSON.c.id)
TIES = select(RELATIONSHIP).order_by(RELATIONSHIP.c.id)
ASSERTIONS = select(DECIDED_ASSERTION).order_by(DECIDED_ASSERTION.c.id)
EVIDENCE = select(EVIDENCE_CLAIM.c.assertion_id, *_columns(EVIDENCE_CLAIM, Evidence, EVIDENCE_COLUMNS))
SOURCES = select(*_columns(SOURCE_RECORD, Source, {"name": "source_name", "tier": "source_tier"})).order_by(
    SOURCE_RECORD.c.id
)
ONE_PERSON = select(PERSON).where(PERSON.c.id == bindparam("person"))
DEATHS_OF = (
    select(DECIDED_ASSERTION.c.id)
    .where(
        DECIDED_ASSERTION.c.entity_id == bindparam("person"),
        DECIDED_ASSERTION.c.field_name.in_(DEATH_FIELDS),
        DECIDED_ASSERTION.c.status.not_in(sorted(DISCARDED)),
    )
    .limit(1)
)


def _evidence(db: CaseDatabase) -> Mapping[str, list[Evidence]]:
    """The evidence of each assertion."""
    found: defaultdict[str, list[Evidence]] = defaultdict(list)
    for row in db.rows(EVIDENCE):
        values = row._asdict() | {"rationale": row.rationale.get("text", "")}
        found[values.pop("assertion_id")].append(Evidence(**values))
    return found


def _facts(rows: Sequence[Row[Any]], evidence: Mapping[str, list[Evidence]]) -> list[Fact]:
    """The facts of a person; those that became equal by a merge are one, with the evidence of all."""
    alike: defaultdict[tuple[str, str], list[Row[Any]]] = defaultdict(list)
    for row in sorted(rows, key=rank_key):
        alike[row.field_name, row.value_key].append(row)
    preferred = {row.field_name for row in rows if row.preferred and row.status not in DISCARDED}
    found = []
    for (field, _), group in alike.items():
        best = group[0]
        # Groups come in the order of rank: if nothing in a field is preferred, the first one is.
        chosen = best.preferred or (field not in preferred and best.status not in DISCARDED)
        preferred.add(field)
        found.append(
            Fact(
                best.id,
                best.entity_id,
                field,  # type: ignore[arg-type]
                best.field_value["value"],
                date_from_json(best.field_value["when"]),
                best.status,
                best.confidence,
                chosen,
                _evidence_of_group(group, evidence),
                best.decision,
            )
        )
    return found


def _evidence_of_group(group: Sequence[Row[Any]], evidence: Mapping[str, list[Evidence]]) -> tuple[Evidence, ...]:
    found = [item for row in group for item in evidence.get(row.id, ())]
    return tuple(sorted(found, key=lambda item: item.id))


def _ties(
    rows: Sequence[Row[Any]],
    by_entity: Mapping[str, list[Row[Any]]],
    evidence: Mapping[str, list[Evidence]],
    decided: Mapping[str, Decision],
) -> list[Relationship]:
    assertions: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    shadows: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    for row in rows:
        # A tie that a merge made a duplicate gives its evidence to the one that is shown.
        assertions[row.shadowed_by or row.id] += by_entity.get(row.id, [])
        shadows[row.shadowed_by].append(row)
    found = []
    for row in rows:
        if row.shadowed_by:
            continue
        details = details_with_shadows(row, shadows[row.id])
        found.append(
            Relationship(
                row.id,
                row.relationship_type,
                row.person1_id,
                row.person2_id,
                details.qualifier,  # type: ignore[arg-type]
                date_from_json(details.start),
                date_from_json(details.end),
                row.status,
                row.confidence,
                _evidence_of_group(assertions[row.id], evidence),
                decided.get(row.id, ""),
            )
        )
    return found


def _person(row: Row[Any], *, is_dead: bool) -> Person:
    return Person(
        row.id,
        row.canonical_name,
        tuple(variant["value"] for variant in row.name_variants),
        row.sex,
        date_from_json(row.birth_date),
        row.birth_place,
        date_from_json(row.death_date),
        row.death_place,
        is_dead,
        living_from_flag(row.is_living),
        row.confidence,
        row.external_ids,
    )


class TreeReader(StorePart):
    """Reads people, facts and relationships."""

    def tree(self, *, with_discarded: bool = False) -> Tree:
        """All people, ties, facts and sources; merged people are one, duplicates count once.

        Rejected, superseded and hypothetical ones are left out unless `with_discarded` is set.
        In each field one fact is preferred: the chosen one, or else the best supported.
        A tree is read once for each state of the case.
        """
        with self._db.reading():
            version = self._db.version()
            read, known = self._db.trees.get(with_discarded, (None, None))
            if known is None or read != version:
                known = self._read_tree(with_discarded=with_discarded)
                self._db.trees[with_discarded] = version, known
            return known

    def _read_tree(self, *, with_discarded: bool) -> Tree:
        decided = verdicts(self._db)
        found = self._db.rows(PEOPLE)
        people = [row for row in found if row.id not in decided]  # a person who was decided on was removed
        removed = {row.id for row in found} - {row.id for row in people}
        ties = [row for row in self._db.rows(TIES) if not removed & {row.person1_id, row.person2_id}]
        assertions = [row for row in self._db.rows(ASSERTIONS) if with_discarded or row.status not in DISCARDED]
        evidence = _evidence(self._db)
        sources = {row.id: Source(**row._asdict()) for row in self._db.rows(SOURCES)}
        by_entity: defaultdict[str, list[Row[Any]]] = defaultdict(list)
        for row in assertions:
            by_entity[row.entity_id].append(row)
        facts = [fact for row in people for fact in _facts(by_entity[row.id], evidence)]
        dead = {fact.person for fact in facts if fact.field in DEATH_FIELDS and fact.status not in DISCARDED}
        related = _ties(ties, by_entity, evidence, decided)
        return Tree(
            {row.id: _person(row, is_dead=row.id in dead) for row in people},
            tuple(tie for tie in related if with_discarded or tie.status not in DISCARDED),
            tuple(sorted(facts, key=lambda fact: fact.id)),
            sources,
        )

    def has_no_discarded(self) -> bool:
        """Whether `with_discarded` makes no difference to the tree: nothing is rejected, superseded or hypothetical."""
        with self._db.reading():
            discarded = [
                select(table.c.id).where(table.c.status.in_(sorted(DISCARDED)))
                for table in (DECIDED_ASSERTION, RELATIONSHIP)
            ]
            return all(self._db.run(item.limit(1)).first() is None for item in discarded)

    def person_count(self) -> int:
        """The number of people, without those who were merged into others."""
        with self._db.reading():
            counted = select(func.count()).select_from(PERSON).where(PERSON.c.merged_into_id.is_(None))
            return int(self._db.run(counted).scalar() or 0)

    def assertion_count(self) -> int:
        """The number of assertions, rejected ones included."""
        with self._db.reading():
            return int(self._db.run(select(func.count()).select_from(ASSERTION)).scalar() or 0)

    def person(self, person: PersonId) -> Person:
        with self._db.reading():
            root = canonical_id(self._db, person)
            [row] = self._db.rows(ONE_PERSON, {"person": root})
            return _person(row, is_dead=bool(self._db.rows(DEATHS_OF, {"person": root})))
