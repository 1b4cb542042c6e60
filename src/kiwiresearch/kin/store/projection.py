"""Rows derived from assertions: people, relationships and events, computed again after each change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Self, TypeVar

from sqlalchemy import BindParameter, Row, Table, Update, bindparam, delete, insert, or_, select, update

from kiwiresearch.codec import JsonDict
from kiwiresearch.kin.store.database import CaseDatabase
from kiwiresearch.kin.store.decisions import DECIDED_ASSERTION, verdicts
from kiwiresearch.kin.store.people_and_sources import follow_merges
from kiwiresearch.kin.store.tables import EVENT, PERSON, PERSON_EXTERNAL, PERSON_NAME, RELATIONSHIP
from kiwiresearch.kin.store.values import (
    STATUS_RANKS,
    StoredDate,
    best_by_field,
    date_bounds,
    details_with_shadows,
    rank_key,
)
from kiwiresearch.kin.tree import DISCARDED, Decision, Status, row_id

# Statements are built once, since building one takes longer than running it.
IDS: BindParameter[Sequence[str]] = bindparam("ids", expanding=True)
PEOPLE = select(PERSON).where(PERSON.c.id.in_(IDS)).order_by(PERSON.c.id)
MERGED_INTO = select(PERSON).where(PERSON.c.merged_into_id.in_(IDS))
OF_PEOPLE = {table: select(table).where(table.c.person_id.in_(IDS)) for table in (PERSON_NAME, PERSON_EXTERNAL)}
ASSERTIONS = select(DECIDED_ASSERTION).where(DECIDED_ASSERTION.c.entity_id.in_(IDS))
TIES = (
    select(RELATIONSHIP)
    .where(or_(RELATIONSHIP.c.person1_id.in_(IDS), RELATIONSHIP.c.person2_id.in_(IDS)))
    .order_by(RELATIONSHIP.c.id)
)
DROP_EVENTS = delete(EVENT).where(EVENT.c.owner_id.in_(IDS))

PERSON_EVENTS = ("birth", "baptism", "death", "burial")


def events_of_person(person: str, best: Mapping[str, Row[Any]], ties: Sequence[Row[Any]]) -> list[JsonDict]:
    """Events of one person; a marriage only if no spouse is known, since it belongs to the tie otherwise."""
    married = any(tie.relationship_type == "spouse_of" and _is_active(tie) for tie in ties)
    kinds = PERSON_EVENTS if married else (*PERSON_EVENTS, "marriage")
    found = []
    for kind in kinds:
        day, place = best.get(f"{kind}_date"), best.get(f"{kind}_place")
        confidences = [row.confidence for row in (day, place) if row is not None]
        if confidences:
            when = day.field_value["when"] if day is not None else None
            where = place.field_value["value"] if place is not None else ""
            people = [{"person_id": person, "role": "principal"}]
            found.append(_event(kind, person, people, when, where, max(confidences)))
    return found


def events_of_relationship(tie: Row[Any], shadows: Iterable[Row[Any]]) -> list[JsonDict]:
    """The marriage of a couple, and its legal end."""
    if tie.relationship_type != "spouse_of" or not _is_active(tie):
        return []
    people = [{"person_id": end, "role": "spouse"} for end in _ends(tie)]
    details = details_with_shadows(tie, shadows)
    found = [_event("marriage", tie.id, people, details.start, "", tie.confidence)]
    if details.qualifier == "divorced":
        found.append(_event("divorce", tie.id, people, details.end, "", tie.confidence))
    return found


def _is_active(tie: Row[Any]) -> bool:
    return not tie.shadowed_by and tie.status not in DISCARDED


def _event(
    kind: str, owner: str, people: list[dict[str, str]], when: StoredDate | None, place: str, confidence: float
) -> JsonDict:
    days = date_bounds(when)
    return {
        "id": row_id("event", kind, owner),
        "owner_id": owner,
        "event_type": kind,
        "date_earliest": days.earliest,
        "date_latest": days.latest,
        "date": when,
        "place": place,
        "participants": people,
        "confidence": confidence,
    }


@dataclass(frozen=True, slots=True)
class MergedPeople:
    """Rows of some people and of everybody merged into them: the person first, then by id."""

    people: Mapping[str, Sequence[Row[Any]]]
    names: Mapping[str, Sequence[Row[Any]]]
    externals: Mapping[str, Sequence[Row[Any]]]

    @classmethod
    def of(cls, db: CaseDatabase, people: Sequence[str]) -> Self:
        found: dict[str, list[Row[Any]]] = {person: [] for person in people}
        root_of = {person: person for person in people}
        # Layer by layer: first the people, then who was merged into them, then who was merged into those.
        layer = db.rows(PEOPLE, {"ids": people})
        while layer:
            for row in layer:
                root_of.setdefault(row.id, root_of.get(row.merged_into_id, row.id))
                found[root_of[row.id]].append(row)
            inside = [row.id for row in layer]
            merged = db.rows(MERGED_INTO, {"ids": inside})
            layer = [row for row in merged if row.id not in root_of]
        ordered = {
            person: sorted(rows, key=lambda row, first=person: (row.id != first, row.id))  # type: ignore[misc]
            for person, rows in found.items()
        }
        return cls(ordered, _by_person(db, PERSON_NAME, root_of), _by_person(db, PERSON_EXTERNAL, root_of))

    def variants(self, person: str, assertions: Sequence[Row[Any]], name: str) -> list[dict[str, str]]:
        """The other forms of the name, each with its kind."""
        found = {row.told_name: "title" for row in self.people[person]}
        asserted = (row for row in assertions if row.field_name == "name" and row.status not in DISCARDED)
        found |= {row.field_value["value"]: "asserted" for row in asserted}
        for item in self.people[person]:
            found |= {row.value: row.kind for row in self.names.get(item.id, ())}
        return [{"value": value, "type": kind} for value, kind in sorted(found.items()) if value != name]

    def sex(self, person: str, best: Row[Any] | None) -> str:
        """The preferred sex, or else the one the person was added with, or else that of sources or merged people."""
        sexes = [row.told_sex for row in self.people[person]]
        asserted = [best.field_value["value"]] if best else []
        # A sex that the rules merely found best comes after the one that the person was added with.
        ranked = [*asserted, *sexes] if best and best.preferred else [*sexes[:1], *asserted, *sexes[1:]]
        return next((sex for sex in ranked if sex), "")

    def external(self, person: str) -> dict[str, str]:
        """One id for each external key, the person's own before those of merged people."""
        found: dict[str, str] = {}
        for item in self.people[person]:
            for row in self.externals.get(item.id, ()):
                found.setdefault(row.key, row.value)
        return found


def _by_person(db: CaseDatabase, table: Table, people: Mapping[str, str]) -> dict[str, list[Row[Any]]]:
    found: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    rows = db.rows(OF_PEOPLE[table], {"ids": list(people)})
    for row in sorted(rows, key=lambda row: [getattr(row, name) for name in sorted(row._fields)]):
        found[row.person_id].append(row)
    return found


Element = TypeVar("Element")
# Some queries name these ids twice, and older versions of SQLite allow 999 parameters.
CHUNK = 400
CORE = ("birth_date", "birth_place", "death_date", "death_place")
"""The fields whose mean confidence is the person's, as far as they are known."""


def refresh(db: CaseDatabase) -> None:
    """Recompute the rows of all people and ties that the step has changed."""
    if not (db.changed_people or db.changed_ties):
        return
    # What belongs to somebody who was merged is shown with whom they were merged into.
    people = sorted(db.changed_people | {follow_merges(db, person) for person in db.changed_people})
    ties = sorted(db.changed_ties)
    db.changed_people.clear()
    db.changed_ties.clear()
    # Ties first: whether a person has a marriage of their own depends on the status of their ties.
    for chunk in _chunks(ties):
        _refresh_relationships(db, chunk)
    for chunk in _chunks(people):
        _refresh_people(db, chunk)


def _chunks(elements: Sequence[Element]) -> Iterator[Sequence[Element]]:
    for start in range(0, len(elements), CHUNK):
        yield elements[start : start + CHUNK]


def _assertions_of(db: CaseDatabase, entities: Iterable[str]) -> dict[str, list[Row[Any]]]:
    found: dict[str, list[Row[Any]]] = {entity: [] for entity in entities}
    for row in db.rows(ASSERTIONS, {"ids": list(found)}):
        found[row.entity_id].append(row)
    return found


def _refresh_relationships(db: CaseDatabase, ties: Sequence[str]) -> None:
    decided = verdicts(db)
    assertions = _assertions_of(db, ties)
    changes = [_relationship_values(tie, rows, decided.get(tie, "")) for tie, rows in assertions.items() if rows]
    _update(db, RELATIONSHIP, changes)


STATUS_OF_VERDICT: Mapping[str, Status] = {"accepted": "verified", "rejected": "rejected"}


def _relationship_values(tie: str, assertions: Sequence[Row[Any]], decided: Decision) -> JsonDict:
    ranked = sorted(assertions, key=rank_key)
    active = [row for row in ranked if row.status not in DISCARDED] or ranked
    values = [row.field_value for row in active]
    start = next((value["when"] for value in values if value["when"]), None)
    end = next((value["until"] for value in values if value["until"]), None)
    return {
        "row_key": tie,
        "qualifier": next((value["qualifier"] for value in values if value["qualifier"]), ""),
        "start": start,
        "start_date": date_bounds(start).earliest,
        "end": end,
        "end_date": date_bounds(end).latest,
        "status": STATUS_OF_VERDICT.get(decided, active[0].status),
        "confidence": active[0].confidence,
    }


def wrong_rows(db: CaseDatabase) -> Iterator[str]:
    """The people and ties whose rows differ from what their assertions imply."""
    people = db.rows(select(PERSON).where(PERSON.c.merged_into_id.is_(None)).order_by(PERSON.c.id))
    for chunk in _chunks(people):
        ids = [row.id for row in chunk]
        assertions, merged_people = _assertions_of(db, ids), MergedPeople.of(db, ids)
        for row in chunk:
            values = _person_values(row, assertions[row.id], best_by_field(assertions[row.id]), merged_people)
            if any(getattr(row, name) != value for name, value in values.items() if name != "row_key"):
                yield f"person {row.id}: it does not match its facts."
    decided = verdicts(db)
    for chunk in _chunks(db.rows(select(RELATIONSHIP).order_by(RELATIONSHIP.c.id))):
        assertions = _assertions_of(db, [row.id for row in chunk])
        for row in chunk:
            # No row has the status "unsaid", so a tie without assertions is always reported.
            known = assertions[row.id]
            values = _relationship_values(row.id, known, decided.get(row.id, "")) if known else {"status": "unsaid"}
            if any(getattr(row, name) != value for name, value in values.items() if name != "row_key"):
                yield f"relationship {row.id}: it does not match its facts."


def _update(db: CaseDatabase, table: Table, changes: Sequence[Mapping[str, Any]]) -> None:
    if changes:
        db.run(_update_of(table, tuple(changes[0])), changes)


@cache
def _update_of(table: Table, names: tuple[str, ...]) -> Update:
    columns: dict[str, Any] = {name: bindparam(name) for name in names if name != "row_key"}
    return update(table).where(table.c.id == bindparam("row_key")).values(columns)


def _refresh_people(db: CaseDatabase, people: Sequence[str]) -> None:
    rows = db.rows(PEOPLE, {"ids": people})
    assertions = _assertions_of(db, people)
    ties = _update_shadowing(db, people)
    merged_people = MergedPeople.of(db, [row.id for row in rows if row.merged_into_id is None])
    events: list[JsonDict] = []
    changes = []
    for person in rows:
        if person.merged_into_id is None:
            best = best_by_field(assertions[person.id])
            changes.append(_person_values(person, assertions[person.id], best, merged_people))
            events += events_of_person(person.id, best, [tie for tie in ties if person.id in _ends(tie)])
    shadows: defaultdict[str, list[Row[Any]]] = defaultdict(list)
    for tie in ties:
        shadows[tie.shadowed_by].append(tie)
    for tie in ties:
        events += events_of_relationship(tie, shadows[tie.id])
    _update(db, PERSON, changes)
    for owners in _chunks([*people, *(tie.id for tie in ties)]):
        db.run(DROP_EVENTS, {"ids": owners})
    if events:
        db.run(insert(EVENT), events)


def _ends(tie: Row[Any]) -> tuple[str, str]:
    return tie.person1_id, tie.person2_id


def _update_shadowing(db: CaseDatabase, people: Sequence[str]) -> list[Row[Any]]:
    """Set `shadowed_by` of all but the best of several ties between the same two people; returns all their ties."""
    rows = db.rows(TIES, {"ids": people})
    alike: defaultdict[tuple[str, str, str], list[Row[Any]]] = defaultdict(list)
    for row in rows:
        first, second = follow_merges(db, row.person1_id), follow_merges(db, row.person2_id)
        ends = (first, second) if row.relationship_type == "parent_of" else tuple(sorted((first, second)))
        alike[row.relationship_type, ends[0], ends[1]].append(row)
    changes = []
    for (_, first, second), group in alike.items():
        # The id decides between equals, so that the best does not depend on the order of the merges.
        best = min(group, key=lambda row: (STATUS_RANKS[row.status], row.id))
        for row in group:
            shadow = row.id if first == second else "" if row is best else best.id
            if row.shadowed_by != shadow:
                changes.append({"row_key": row.id, "shadowed_by": shadow})
    _update(db, RELATIONSHIP, changes)
    return db.rows(TIES, {"ids": people}) if changes else rows


def _person_values(
    person: Row[Any], assertions: Sequence[Row[Any]], best: Mapping[str, Row[Any]], merged_people: MergedPeople
) -> JsonDict:
    """The row of a person who was not merged into another."""
    named = best.get("name")
    name = named.field_value["value"] if named and named.preferred else person.told_name
    values = {field: row.field_value for field, row in best.items()}
    birth = values["birth_date"]["when"] if "birth_date" in values else None
    death = values["death_date"]["when"] if "death_date" in values else None
    core = [best[field].confidence for field in CORE if field in best]
    return {
        "row_key": person.id,
        "canonical_name": name,
        "name_variants": merged_people.variants(person.id, assertions, name),
        "sex": merged_people.sex(person.id, best.get("sex")),
        "birth_date": birth,
        "birth_date_earliest": date_bounds(birth).earliest,
        "birth_date_latest": date_bounds(birth).latest,
        "birth_place": values["birth_place"]["value"] if "birth_place" in values else "",
        "death_date": death,
        "death_date_earliest": date_bounds(death).earliest,
        "death_date_latest": date_bounds(death).latest,
        "death_place": values["death_place"]["value"] if "death_place" in values else "",
        "external_ids": merged_people.external(person.id),
        "confidence": sum(core) / len(core) if core else 0.0,
        "updated_at": max([person.created_at, *(row.changed_at for row in assertions)]),
    }
