"""People of a case: who they are called elsewhere, and who they were merged into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select, update

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.fields import Living, Sex
from kiwiresearch.kin.store import audit
from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.schema import PersonExternalRow, PersonNameRow, PersonRow
from kiwiresearch.kin.store.tables import table
from kiwiresearch.kin.tree import PersonId

IS_LIVING: Mapping[Living, bool | None] = {"living": True, "deceased": False, "unknown": None}


def living(flag: bool | None) -> Living:  # noqa: FBT001
    return "unknown" if flag is None else "living" if flag else "deceased"


def add_person(db: Database, person: PersonId, name: str, sex: Sex, external: Mapping[str, str]) -> bool:
    with db.writing():
        at = db.now()
        row = {
            "id": person,
            "case_id": db.case_id,
            "told_name": name,
            "told_sex": sex,
            "canonical_name": name,
            "name_variants": [],
            "sex": sex,
            "birth_place": "",
            "death_place": "",
            "living_basis": {},
            "external_ids": {},
            "confidence": 0.0,
            "created_at": at,
            "updated_at": at,
        }
        new = db.insert_new(PersonRow, row)
        if new:
            audit.note(db, "add_person", person, living="unknown", after={"name": name, "sex": sex})
        for key, value in sorted(external.items()):
            db.insert_new(PersonExternalRow, {"key": key, "value": value, "person_id": person})
        db.changed_people.add(root_of(db, person))
        return new


def root_of(db: Database, person: PersonId) -> PersonId:
    """The person at the end of the merges; one that the case has not is refused."""
    if person not in db.known_people:
        with db.reading(settled=False):
            if db.run(select(PersonRow.id).where(PersonRow.id == person)).first() is None:
                raise BadUsage(f"The case has no person {person!r}.", remedy="Add the person first.")
            db.known_people.add(person)
            return followed(db, person)
    return followed(db, person)


def followed(db: Database, person: PersonId) -> PersonId:
    """As `root_of`, for people who are in the case for sure."""
    if db.merged is None:
        with db.reading(settled=False):
            rows = db.run(select(PersonRow.id, PersonRow.merged_into_id).where(PersonRow.merged_into_id.is_not(None)))
            db.merged = {row.id: row.merged_into_id for row in rows}
    while person in db.merged:
        person = db.merged[person]
    return person


def told_name(db: Database, person: PersonId) -> str:
    with db.reading(settled=False):
        found: str | None = db.run(select(PersonRow.told_name).where(PersonRow.id == person)).scalar()
    if found is None:
        raise BadUsage(f"The case has no person {person!r}.", remedy="Add the person first.")
    return found


def person_by(db: Database, key: str, value: str) -> PersonId | None:
    rows = PersonExternalRow
    with db.reading():
        chosen = select(rows.person_id).where(rows.key == key, rows.value == value).order_by(rows.person_id)
        found = db.run(chosen.limit(1)).scalar()
        return None if found is None else root_of(db, found)


def alias(db: Database, person: PersonId, name: str, kind: str) -> bool:
    with db.writing():
        root = root_of(db, person)
        new = db.insert_new(PersonNameRow, {"person_id": person, "value": name, "kind": kind})
        if new:
            db.changed_people.add(root)
            audit.note(db, "alias", person, living=living_of(db, root), after={"name": name, "kind": kind})
        return new


def set_living(db: Database, person: PersonId, status: Living, basis: Mapping[str, Any]) -> None:
    with db.writing():
        root = root_of(db, person)
        before = living_of(db, root)
        values = {"is_living": IS_LIVING[status], "living_basis": dict(basis)}
        db.run(update(table(PersonRow)).where(PersonRow.id == root).values(values))
        if before != status:
            audit.note(db, "set_living", root, living="deceased", before={"living": before}, after={"living": status})


def living_of(db: Database, person: PersonId) -> Living:
    return living(db.run(select(PersonRow.is_living).where(PersonRow.id == person)).scalar())
