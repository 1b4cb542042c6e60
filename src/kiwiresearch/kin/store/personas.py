"""What is known of people apart from assertions: what all who were merged into one were called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import select

from kiwiresearch.kin.store.database import Database
from kiwiresearch.kin.store.schema import PersonExternalRow, PersonNameRow, PersonRow
from kiwiresearch.kin.store.standing import DEAD
from kiwiresearch.kin.store.tables import table

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Around:
    """Rows of some people and of all who were merged into them, the person itself first, then by id."""

    people: Mapping[str, Sequence[Row]]
    names: Mapping[str, Sequence[Row]]
    externals: Mapping[str, Sequence[Row]]

    @classmethod
    def of(cls, db: Database, people: Sequence[str]) -> Self:
        found: dict[str, list[Row]] = {person: [] for person in people}
        home = {person: person for person in people}
        ring = db.rows(select(table(PersonRow)).where(PersonRow.id.in_(people)))
        while ring:
            for row in ring:
                home.setdefault(row["id"], home.get(row["merged_into_id"], row["id"]))
                found[home[row["id"]]].append(row)
            inside = [row["id"] for row in ring]
            merged = db.rows(select(table(PersonRow)).where(PersonRow.merged_into_id.in_(inside)))
            ring = [row for row in merged if row["id"] not in home]
        ordered = {
            person: sorted(rows, key=lambda row, first=person: (row["id"] != first, row["id"]))  # type: ignore[misc]
            for person, rows in found.items()
        }
        return cls(ordered, _by_person(db, PersonNameRow, home), _by_person(db, PersonExternalRow, home))

    def variants(self, person: str, said: Sequence[Row], name: str) -> list[dict[str, str]]:
        """The other forms of the name, each with what kind of form it is."""
        found = {row["told_name"]: "title" for row in self.people[person]}
        asserted = (row for row in said if row["field_name"] == "name" and row["status"] not in DEAD)
        found |= {row["field_value"]["value"]: "asserted" for row in asserted}
        for one in self.people[person]:
            found |= {row["value"]: row["kind"] for row in self.names.get(one["id"], ())}
        return [{"value": value, "type": kind} for value, kind in sorted(found.items()) if value != name]

    def sex(self, person: str, best: Row | None) -> str:
        """What was preferred, else what the person came with, else what sources or merged people say."""
        told = [row["told_sex"] for row in self.people[person]]
        asserted = [best["field_value"]["value"]] if best else []
        ranked = [*asserted, *told] if best and best["preferred"] else [*told[:1], *asserted, *told[1:]]
        return next((sex for sex in ranked if sex), "")

    def external(self, person: str) -> dict[str, str]:
        """One name for each place elsewhere, the person's own before those of merged people."""
        found: dict[str, str] = {}
        for one in self.people[person]:
            for row in self.externals.get(one["id"], ()):
                found.setdefault(row["key"], row["value"])
        return found


def _by_person(
    db: Database, kind: type[PersonNameRow | PersonExternalRow], people: Mapping[str, str]
) -> dict[str, list[Row]]:
    found: defaultdict[str, list[Row]] = defaultdict(list)
    chosen = select(table(kind)).where(kind.person_id.in_(list(people)))
    for row in sorted(db.rows(chosen), key=lambda row: [row[name] for name in sorted(row)]):
        found[row["person_id"]].append(row)
    return found
