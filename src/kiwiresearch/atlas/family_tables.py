"""The people of a book, their ties and families as tables, and family trees around some of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from kiwiresearch.atlas.atlas import Recipe
from kiwiresearch.atlas.database import AtlasDatabase, clean_row, save_query, sql_literal
from kiwiresearch.atlas.graph import Edges
from kiwiresearch.atlas.row_reader import date_of_row
from kiwiresearch.bulk import BookIdentity
from kiwiresearch.kin import (
    KIND_OF_FIELD,
    PARENT_FIELDS,
    RELATION_FIELDS,
    SEX_OF_PARENT,
    Evidence,
    Fact,
    FieldName,
    Method,
    Person,
    PersonId,
    Qualifier,
    RelationKind,
    Relationship,
    Source,
    Tree,
)

PAGELESS_MARK = "#"
"""Separates path and row number in the id of a person without a page, who is named in that row of that page."""
NOT_BY_BLOOD = ("adoptive", "step", "foster")
"""Parents whom a child may have in addition to a father and a mother."""


def _make(database: AtlasDatabase, folder: Path, _: BookIdentity) -> None:
    """Write two tables: `persons` with their families, and `ties` with the row that states each."""
    relations = ", ".join(sql_literal(field) for field in sorted(RELATION_FIELDS))
    database.execute(
        f"""CREATE TABLE pages_of AS
        SELECT path, any_value(people.entry) AS entry, any_value(name) AS name,
            coalesce(any_value(title), path) AS title
        FROM people LEFT JOIN ({_titles(database)}) named ON people.entry = named.entry GROUP BY path"""
    )
    # A page may name the same relative several times: there is one father by blood, and one other relative per name.
    others = ", ".join(sql_literal(qualifier) for qualifier in NOT_BY_BLOOD)
    database.execute(
        f"""CREATE TABLE ties AS
        SELECT person, entry, number, value,
            coalesce(
                first_value(page IGNORE NULLS) OVER same_relative,
                person || '{PAGELESS_MARK}' || min(number) OVER same_relative
            ) AS relative
        FROM (
            SELECT people.path AS person, people.entry, number, field, value, pages_of.path AS page,
                lower(strip_accents(value)) AS called_so,
                CASE WHEN field IN ('father', 'mother') AND bool_or(coalesce(qualifier, '') NOT IN ({others})) OVER (
                    PARTITION BY people.path, field, called_so
                ) THEN '' ELSE called_so END AS called
            FROM people LEFT JOIN pages_of ON people.target = pages_of.path
            WHERE field IN ({relations}) AND people.target <> people.path
        ) WINDOW same_relative AS (
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
    """A query for the titles of pages; it finds none if no table has them, and paths are used instead."""
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
"""The most people in one tree, the nearest first."""
MAX_ROWS = 200
"""The most rows of one page that are read."""
DATED: Mapping[str, str] = {"birth_date": "birth", "death_date": "death"}


def people_around(database: AtlasDatabase, people: Sequence[PersonId], max_people: int = MAX_PEOPLE) -> list[PersonId]:
    """People and their relatives, the nearest first, up to a maximum."""
    found = dict.fromkeys(people)
    circle = list(found)
    while circle and len(found) < max_people:
        relatives = dict.fromkeys(relative for _, relative in tied_people(database, circle))
        circle = [item for item in relatives if item not in found][: max_people - len(found)]
        found |= dict.fromkeys(circle)
    return list(found)


def tied_people(database: AtlasDatabase, people: Sequence[PersonId]) -> list[tuple[PersonId, PersonId]]:
    """The ties of some people to others, each as the person and the relative; sorted by relative."""
    blanks = ", ".join("?" * len(people))
    rows = database.stream(
        f"""SELECT person, relative FROM ties WHERE person IN ({blanks})
        UNION SELECT relative AS person, person AS relative FROM ties WHERE relative IN ({blanks})
        ORDER BY relative, person""",
        [*people, *people],
    )
    return [(person, relative) for person, relative in rows]


def family_tree(database: AtlasDatabase, people: Sequence[PersonId]) -> Tree:
    """The tree of these people and the ties between them."""
    builder = _TreeBuilder()
    blanks = ", ".join("?" * len(people))
    for row in database.rows(
        f"SELECT person, name, title, has_page FROM persons WHERE person IN ({blanks})", list(people)
    ):
        builder.add_person(clean_row(row))
    rows = database.rows(
        f"""SELECT people.*, ties.relative FROM people
        LEFT JOIN ties ON people.path = ties.person AND people.number = ties.number
        WHERE people.path IN ({blanks}) AND people.number < {MAX_ROWS} ORDER BY people.path, people.number""",
        list(people),
    )
    for row in rows:
        builder.add_row(clean_row(row))
    return builder.tree()


@dataclass(slots=True)
class _TreeBuilder:
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
        """Add a fact of a person, and the tie it states if the relative is one of the people."""
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
        if relative in self.persons and name in KIND_OF_FIELD and relative != who:
            self._tie(who, relative, name, evidence, cast(Qualifier, row["qualifier"]))

    def _tie(
        self, who: PersonId, relative: PersonId, name: FieldName, evidence: Evidence, qualifier: Qualifier
    ) -> None:
        if name in SEX_OF_PARENT:
            self.persons[relative].setdefault("sex", SEX_OF_PARENT[name])
        if name in PARENT_FIELDS:
            ends = (relative, who)
        elif name == "child":
            ends = (who, relative)
        else:
            # Marriages and the like have no direction, so that it is one tie, whichever of the two pages states it.
            ends = (min(who, relative), max(who, relative))
        self.ties[KIND_OF_FIELD[name], *ends].append((evidence, qualifier))

    def _evidence(self, row: Mapping[str, Any]) -> Evidence:
        path = row["path"]
        self.sources.setdefault(path, Source(path, path, path, self.persons[path]["external"].get("title", path)))
        return Evidence(
            f"{path}:{row['number']}", path, row["quote"], row["start"], row["end"], method=cast(Method, row["method"])
        )

    def tree(self) -> Tree:
        people = [Person(**values) for _, values in sorted(self.persons.items())]
        ties = []
        for (kind, first, second), stated in sorted(self.ties.items()):
            qualifier: Qualifier = next((qualifier for _, qualifier in stated if qualifier), "")
            evidence = tuple(item for item, _ in stated)
            ties.append(Relationship(f"{kind}:{first}:{second}", kind, first, second, qualifier, evidence=evidence))
        return Tree({person.id: person for person in people}, tuple(ties), tuple(self.facts), self.sources)
