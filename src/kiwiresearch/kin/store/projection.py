"""Rows that are told anew from assertions and ties: people, what a tie says, which ties say the same, and events.

They hang on nothing but the rows they are made of. A merge undone therefore gives
back the very rows that were there before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import bindparam, delete, insert, or_, select, update

from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.dates import bounds
from kiwiresearch.kin.store.happenings import of_person, of_tie
from kiwiresearch.kin.store.people import followed
from kiwiresearch.kin.store.personas import Around
from kiwiresearch.kin.store.schema import (
    AssertionRow,
    EventRow,
    PersonRow,
    RelationshipRow,
)
from kiwiresearch.kin.store.standing import DEAD, RANKS, best_by_field, standing
from kiwiresearch.kin.store.tables import Rows, table

Row = Mapping[str, Any]
One = TypeVar("One")
CHUNK = 400
CORE = ("birth_date", "birth_place", "death_date", "death_place")
"""What a person's confidence is the mean of, as far as it is known."""


def settle(db: Database) -> None:
    """Tell anew what the step has changed."""
    if not (db.changed_people or db.changed_ties):
        return
    people, ties = sorted(db.changed_people), sorted(db.changed_ties)
    db.changed_people.clear()
    db.changed_ties.clear()
    for chunk in _chunks(ties):
        _tell_ties(db, chunk)
    for chunk in _chunks(people):
        _tell_people(db, chunk)


def _chunks(some: Sequence[One]) -> Iterator[Sequence[One]]:
    for at in range(0, len(some), CHUNK):
        yield some[at : at + CHUNK]


def _said_of(db: Database, entities: Iterable[str]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {entity: [] for entity in entities}
    for row in db.rows(select(table(AssertionRow)).where(AssertionRow.entity_id.in_(list(found)))):
        found[row["entity_id"]].append(row)
    return found


def _tell_ties(db: Database, ties: Sequence[str]) -> None:
    _update(db, RelationshipRow, [_told_tie(tie, rows) for tie, rows in _said_of(db, ties).items()])


def _told_tie(tie: str, said: Sequence[Row]) -> dict[str, Any]:
    ranked = sorted(said, key=standing)
    living = [row for row in ranked if row["status"] not in DEAD] or ranked
    values = [row["field_value"] for row in living]
    start = next((value["when"] for value in values if value["when"]), None)
    end = next((value["until"] for value in values if value["until"]), None)
    return {
        "of": tie,
        "qualifier": next((value["qualifier"] for value in values if value["qualifier"]), ""),
        "start": start,
        "start_date": bounds(start).earliest,
        "end": end,
        "end_date": bounds(end).latest,
        "status": living[0]["status"],
        "confidence": living[0]["confidence"],
    }


def untrue(db: Database) -> Iterator[str]:
    """The people and ties whose rows are not what is said of them."""
    people = db.rows(select(table(PersonRow)).where(PersonRow.merged_into_id.is_(None)).order_by(PersonRow.id))
    for some in _chunks(people):
        said, around = _said_of(db, ids := [row["id"] for row in some]), Around.of(db, ids)
        for row in some:
            told = _told(row, said[row["id"]], best_by_field(said[row["id"]]), around)
            if any(row[name] != value for name, value in told.items() if name != "of"):
                yield f"person {row['id']}: it is not what is said of it."
    for some in _chunks(db.rows(select(table(RelationshipRow)).order_by(RelationshipRow.id))):
        said = _said_of(db, [row["id"] for row in some])
        for row in some:
            told = _told_tie(row["id"], said[row["id"]]) if said[row["id"]] else {"status": "unsaid"}
            if any(row[name] != value for name, value in told.items() if name != "of"):
                yield f"tie {row['id']}: it is not what is said of it."


def _update(db: Database, row: type[Rows], changes: Sequence[Mapping[str, Any]]) -> None:
    if changes:
        columns: dict[str, Any] = {name: bindparam(name) for name in changes[0] if name != "of"}
        db.run(update(table(row)).where(table(row).c.id == bindparam("of")).values(columns), changes)


def _tell_people(db: Database, people: Sequence[str]) -> None:
    rows = db.rows(select(table(PersonRow)).where(PersonRow.id.in_(people)).order_by(PersonRow.id))
    said = _said_of(db, people)
    ties = _shadowed(db, people)
    around = Around.of(db, [row["id"] for row in rows if row["merged_into_id"] is None])
    happened = []
    changes = []
    for person in rows:
        if person["merged_into_id"] is None:
            best = best_by_field(said[person["id"]])
            changes.append(_told(person, said[person["id"]], best, around))
            happened += of_person(person["id"], best, [tie for tie in ties if person["id"] in _ends(tie)])
    for tie in ties:
        happened += of_tie(tie)
    _update(db, PersonRow, changes)
    for owners in _chunks([*people, *(tie["id"] for tie in ties)]):
        db.run(delete(table(EventRow)).where(EventRow.owner_id.in_(owners)))
    if happened:
        db.run(insert(table(EventRow)), happened)


def _ends(tie: Row) -> tuple[str, str]:
    return tie["person1_id"], tie["person2_id"]


def _shadowed(db: Database, people: Sequence[str]) -> list[Row]:
    """The ties of these people, each with the one that stands for it where several say the same."""
    ties = RelationshipRow
    touching = or_(ties.person1_id.in_(people), ties.person2_id.in_(people))
    rows = db.rows(select(table(ties)).where(touching).order_by(ties.id))
    alike: defaultdict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        first, second = followed(db, row["person1_id"]), followed(db, row["person2_id"])
        ends = (first, second) if row["relationship_type"] == "parent_of" else tuple(sorted((first, second)))
        alike[row["relationship_type"], ends[0], ends[1]].append(row)
    changes = []
    for (_, first, second), group in alike.items():
        lead = min(group, key=lambda row: (RANKS[row["status"]], row["id"]))
        for row in group:
            shadow = row["id"] if first == second else "" if row is lead else lead["id"]
            if row["shadowed_by"] != shadow:
                row["shadowed_by"] = shadow
                changes.append({"of": row["id"], "shadowed_by": shadow})
    _update(db, ties, changes)
    return list(rows)


def _told(person: Row, said: Sequence[Row], best: Mapping[str, Row], around: Around) -> dict[str, Any]:
    """The row of a person who was not merged into another."""
    named = best.get("name")
    name = named["field_value"]["value"] if named and named["preferred"] else person["told_name"]
    values = {field: row["field_value"] for field, row in best.items()}
    birth = values["birth_date"]["when"] if "birth_date" in values else None
    death = values["death_date"]["when"] if "death_date" in values else None
    core = [best[field]["confidence"] for field in CORE if field in best]
    return {
        "of": person["id"],
        "canonical_name": name,
        "name_variants": around.variants(person["id"], said, name),
        "sex": around.sex(person["id"], best.get("sex")),
        "birth_date": birth,
        "birth_date_earliest": bounds(birth).earliest,
        "birth_date_latest": bounds(birth).latest,
        "birth_place": values["birth_place"]["value"] if "birth_place" in values else "",
        "death_date": death,
        "death_date_earliest": bounds(death).earliest,
        "death_date_latest": bounds(death).latest,
        "death_place": values["death_place"]["value"] if "death_place" in values else "",
        "external_ids": around.external(person["id"]),
        "confidence": sum(core) / len(core) if core else 0.0,
        "updated_at": max([person["created_at"], *(row["changed_at"] for row in said)]),
    }
