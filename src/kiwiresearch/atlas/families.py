"""The people of a book, their ties and families as tables, and a family tree around some of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from kiwiresearch.atlas.atlas import Recipe
from kiwiresearch.atlas.database import AtlasDatabase, clean_row, save_query, sql_literal
from kiwiresearch.atlas.graph import Edges
from kiwiresearch.atlas.records import date_of_row
from kiwiresearch.bulk.finished_folder import BookIdentity
from kiwiresearch.kin.tree import (
    RELATION_FIELDS,
    Evidence,
    Fact,
    FieldName,
    Method,
    Person,
    PersonId,
    Qualifier,
    RelationKind,
    Relationship,
    Sex,
    Source,
    Tree,
)

PAGELESS_MARK = "#"
"""Between the path of a page and the number of the row that names somebody who has no page."""
NOT_BY_BLOOD = ("adoptive", "step", "foster")
"""Parents whom a child may have beside a father and a mother."""


def _make(database: AtlasDatabase, folder: Path, _: BookIdentity) -> None:
    """Two tables: `persons` with the family of each, and `ties` with the row that tells each of them."""
    relations = ", ".join(sql_literal(field) for field in sorted(RELATION_FIELDS))
    database.execute(
        f"""CREATE TABLE pages_of AS
        SELECT path, any_value(people.entry) AS entry, any_value(name) AS name,
            coalesce(any_value(title), path) AS title
        FROM people LEFT JOIN ({_titles(database)}) named ON people.entry = named.entry GROUP BY path"""
    )
    # One page may name the same relative several times: a father by blood is one, others are one by their name.
    others = ", ".join(sql_literal(qualifier) for qualifier in NOT_BY_BLOOD)
    database.execute(
        f"""CREATE TABLE ties AS
        SELECT person, entry, number, value,
            coalesce(
                first_value(page IGNORE NULLS) OVER told, person || '{PAGELESS_MARK}' || min(number) OVER told
            ) AS relative
        FROM (
            SELECT people.path AS person, people.entry, number, field, value, pages_of.path AS page,
                lower(strip_accents(value)) AS called_so,
                CASE WHEN field IN ('father', 'mother') AND bool_or(coalesce(qualifier, '') NOT IN ({others})) OVER (
                    PARTITION BY people.path, field, called_so
                ) THEN '' ELSE called_so END AS called
            FROM people LEFT JOIN pages_of ON people.target = pages_of.path
            WHERE field IN ({relations}) AND people.target <> people.path
        ) WINDOW told AS (
            PARTITION BY person, field, called ORDER BY number ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
        )"""
    )
    database.execute(
        """CREATE TABLE persons AS
        SELECT (row_number() OVER (ORDER BY person) - 1)::INTEGER AS id, * FROM (
            SELECT path AS person, name, title, true AS has_page FROM pages_of
            UNION ALL
            SELECT relative AS person, min_by(value, number) AS name, '' AS title, false AS has_page
            FROM ties WHERE relative NOT IN (SELECT path FROM pages_of) GROUP BY relative
        )"""
    )
    _write_families(database, folder)
    save_query(database, folder, "ties", "SELECT person, number, relative FROM ties ORDER BY person, number")


def _titles(database: AtlasDatabase) -> str:
    """A query for the titles of pages; without a table that has them, the path of a page stands for its title."""
    table = next(filter(database.has, ("titles", "pages")), "")
    return f"SELECT entry, title FROM {table}" if table else "SELECT NULL::BIGINT AS entry, NULL::VARCHAR AS title"


def _write_families(database: AtlasDatabase, folder: Path) -> None:
    import numpy as np

    from kiwiresearch.atlas.graph import connected_groups

    pairs = database.columns(
        """SELECT one.id AS one, other.id AS other FROM ties
        JOIN persons one ON ties.person = one.person JOIN persons other ON ties.relative = other.person
        ORDER BY one, other"""
    )
    file = folder / "ties.bin"
    file.write_bytes(np.column_stack([pairs["one"], pairs["other"]]).astype("<i4").tobytes())
    count = int(database.scalar("SELECT count(*) FROM persons"))
    family = connected_groups(Edges(count, len(pairs["one"]), file))
    with database.with_arrays("grouped", {"id": np.arange(count, dtype=np.int32), "family": family}):
        save_query(
            database,
            folder,
            "persons",
            "SELECT persons.*, family FROM persons JOIN grouped ON persons.id = grouped.id ORDER BY persons.id",
        )
    file.unlink()


FAMILIES = Recipe("families", ("persons", "ties"), ("people",), _make, optional=("titles", "pages"))


MAX_PEOPLE = 400
"""People that one tree is made of, those nearest first."""
MAX_ROWS = 200
"""Rows of one page that are read."""
KINDS: Mapping[str, RelationKind] = {
    "father": "parent_of", "mother": "parent_of", "parent": "parent_of", "child": "parent_of",
    "spouse": "spouse_of", "partner": "partner_of", "sibling": "sibling_of",
}  # fmt: skip
SEXES: Mapping[str, Sex] = {"father": "male", "mother": "female"}
DATED: Mapping[str, str] = {"birth_date": "birth", "death_date": "death"}


def people_around(database: AtlasDatabase, people: Sequence[PersonId], most: int = MAX_PEOPLE) -> list[PersonId]:
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


def family_tree(database: AtlasDatabase, people: Sequence[PersonId]) -> Tree:
    """The tree of these people and the ties between them."""
    growing = _TreeBuilder(frozenset(people))
    blanks = ", ".join("?" * len(people))
    for row in database.rows(
        f"SELECT person, name, title, has_page FROM persons WHERE person IN ({blanks})", list(people)
    ):
        growing.add_person(clean_row(row))
    rows = database.rows(
        f"""SELECT people.*, ties.relative FROM people
        LEFT JOIN ties ON people.path = ties.person AND people.number = ties.number
        WHERE people.path IN ({blanks}) AND people.number < {MAX_ROWS} ORDER BY people.path, people.number""",
        list(people),
    )
    for row in rows:
        growing.add_row(clean_row(row))
    return growing.tree()


@dataclass(slots=True)
class _TreeBuilder:
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
        who, name, when = row["path"], cast(FieldName, row["field"]), date_of_row(row)
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
