"""A family tree around a person of a book, from the rows that its pages gave, for the rules of family research."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from kiwiresearch.atlas.database import Database
from kiwiresearch.atlas.part import clean
from kiwiresearch.atlas.people_facts import when_of
from kiwiresearch.kin.fields import FieldName, Method, Qualifier, RelationKind, Sex
from kiwiresearch.kin.tree import Evidence, Fact, Person, PersonId, Relationship, Source, Tree

MOST_PEOPLE = 400
"""People that one tree is made of, those nearest first."""
MOST_ROWS = 200
"""Rows of one page that are read."""
KINDS: Mapping[str, RelationKind] = {
    "father": "parent_of", "mother": "parent_of", "parent": "parent_of", "child": "parent_of",
    "spouse": "spouse_of", "partner": "partner_of", "sibling": "sibling_of",
}  # fmt: skip
SEXES: Mapping[str, Sex] = {"father": "male", "mother": "female"}
DATED: Mapping[str, str] = {"birth_date": "birth", "death_date": "death"}


def around(database: Database, people: Sequence[PersonId], most: int = MOST_PEOPLE) -> list[PersonId]:
    """People and those tied to them, the nearest first, until there are enough."""
    found = dict.fromkeys(people)
    circle = list(found)
    while circle and len(found) < most:
        blanks = ", ".join("?" * len(circle))
        rows = database.rows(
            f"""SELECT relative AS one FROM ties WHERE person IN ({blanks})
            UNION SELECT person AS one FROM ties WHERE relative IN ({blanks}) ORDER BY one""",
            [*circle, *circle],
        )
        circle = [row["one"] for row in rows if row["one"] not in found][: most - len(found)]
        found |= dict.fromkeys(circle)
    return list(found)


def tree_of(database: Database, people: Sequence[PersonId]) -> Tree:
    """The tree of these people and the ties between them."""
    growing = _Growing(frozenset(people))
    blanks = ", ".join("?" * len(people))
    for row in database.rows(
        f"SELECT person, name, title, has_page FROM persons WHERE person IN ({blanks})", list(people)
    ):
        growing.add_person(clean(row))
    rows = database.rows(
        f"""SELECT people.*, ties.relative FROM people
        LEFT JOIN ties ON people.path = ties.person AND people.number = ties.number
        WHERE people.path IN ({blanks}) AND people.number < {MOST_ROWS} ORDER BY people.path, people.number""",
        list(people),
    )
    for row in rows:
        growing.add_row(clean(row))
    return growing.tree()


@dataclass(slots=True)
class _Growing:
    people: frozenset[PersonId]
    persons: dict[PersonId, dict[str, Any]] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    ties: dict[tuple[RelationKind, PersonId, PersonId], list[tuple[Evidence, Qualifier]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    sources: dict[str, Source] = field(default_factory=dict)

    def add_person(self, row: Mapping[str, Any]) -> None:
        external = {"zim": row["person"], "title": row["title"]} if row["has_page"] else {}
        self.persons[row["person"]] = {"id": row["person"], "name": row["name"], "external": external}

    def add_row(self, row: Mapping[str, Any]) -> None:
        """A fact of a person, and the tie that it tells, if its relative is one of the people."""
        who, name, when = row["path"], cast(FieldName, row["field"]), when_of(row)
        if who not in self.persons:
            return
        evidence = self._evidence(row)
        fact = f"{who}:{row['number']}"
        self.facts.append(Fact(fact, who, name, row["value"], when, confidence=row["confidence"], evidence=(evidence,)))
        if name == "sex" and row["value"] in ("male", "female"):
            self.persons[who]["sex"] = row["value"]
        if name in DATED and when is not None:
            self.persons[who].setdefault(DATED[name], when)
        relative = row["relative"]
        if relative in self.persons and name in KINDS and relative != who:
            self._tie(who, relative, name, evidence, cast(Qualifier, row["qualifier"]))

    def _tie(
        self, who: PersonId, relative: PersonId, name: FieldName, evidence: Evidence, qualifier: Qualifier
    ) -> None:
        if name in SEXES:
            self.persons[relative].setdefault("sex", SEXES[name])
        if name in ("father", "mother", "parent"):
            ends = (relative, who)
        elif name == "child":
            ends = (who, relative)
        else:
            ends = (min(who, relative), max(who, relative))
        self.ties[KINDS[name], *ends].append((evidence, qualifier))

    def _evidence(self, row: Mapping[str, Any]) -> Evidence:
        path = row["path"]
        self.sources.setdefault(path, Source(path, path, path, self.persons[path]["external"].get("title", path)))
        return Evidence(
            f"{path}:{row['number']}", path, row["quote"], row["start"], row["end"], method=cast(Method, row["method"])
        )

    def tree(self) -> Tree:
        people = [Person(**told) for _, told in sorted(self.persons.items())]
        ties = [
            Relationship(
                f"{kind}:{first}:{second}",
                kind,
                first,
                second,
                _qualified(told),
                evidence=tuple(one for one, _ in told),
            )
            for (kind, first, second), told in sorted(self.ties.items())
        ]
        return Tree({one.id: one for one in people}, tuple(ties), tuple(self.facts), self.sources)


def _qualified(told: Iterable[tuple[Evidence, Qualifier]]) -> Qualifier:
    return next((qualifier for _, qualifier in told if qualifier), "")
