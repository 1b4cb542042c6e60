"""Who is tied to whom in a book: people who have pages, those whom their pages name, and the families they form."""

from __future__ import annotations

from pathlib import Path

from kiwiresearch.atlas.atlas import Recipe
from kiwiresearch.atlas.database import Database, literal, save
from kiwiresearch.atlas.edges import Edges
from kiwiresearch.bulk.manifest import Subject
from kiwiresearch.kin.fields import RELATIONS

STRANGER = "#"
"""Between the path of a page and the number of the row that names somebody who has no page."""
NOT_BY_BLOOD = ("adoptive", "step", "foster")
"""Parents whom a child may have beside a father and a mother."""


def _make(database: Database, folder: Path, _: Subject) -> None:
    """Two tables: `persons` with the family of each, and `ties` with the row that tells each of them."""
    relations = ", ".join(literal(field) for field in sorted(RELATIONS))
    database.do(
        f"""CREATE TABLE pages_of AS
        SELECT path, any_value(people.entry) AS entry, any_value(name) AS name,
            coalesce(any_value(title), path) AS title
        FROM people LEFT JOIN ({_titles(database)}) named ON people.entry = named.entry GROUP BY path"""
    )
    # One page may name the same relative several times: a father by blood is one, others are one by their name.
    others = ", ".join(literal(qualifier) for qualifier in NOT_BY_BLOOD)
    database.do(
        f"""CREATE TABLE ties AS
        SELECT person, entry, number, value,
            coalesce(
                first_value(page IGNORE NULLS) OVER told, person || '{STRANGER}' || min(number) OVER told
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
    database.do(
        """CREATE TABLE persons AS
        SELECT (row_number() OVER (ORDER BY person) - 1)::INTEGER AS id, * FROM (
            SELECT path AS person, name, title, true AS has_page FROM pages_of
            UNION ALL
            SELECT relative AS person, min_by(value, number) AS name, '' AS title, false AS has_page
            FROM ties WHERE relative NOT IN (SELECT path FROM pages_of) GROUP BY relative
        )"""
    )
    _write_families(database, folder)
    save(database, folder, "ties", "SELECT person, number, relative FROM ties ORDER BY person, number")


def _titles(database: Database) -> str:
    """A query for the titles of pages; without a table that has them, the path of a page stands for its title."""
    table = next(filter(database.has, ("titles", "pages")), "")
    return f"SELECT entry, title FROM {table}" if table else "SELECT NULL::BIGINT AS entry, NULL::VARCHAR AS title"


def _write_families(database: Database, folder: Path) -> None:
    import numpy as np

    from kiwiresearch.atlas.islands import groups

    pairs = database.columns(
        """SELECT one.id AS one, other.id AS other FROM ties
        JOIN persons one ON ties.person = one.person JOIN persons other ON ties.relative = other.person
        ORDER BY one, other"""
    )
    file = folder / "ties.bin"
    file.write_bytes(np.column_stack([pairs["one"], pairs["other"]]).astype("<i4").tobytes())
    count = int(database.value("SELECT count(*) FROM persons"))
    family = groups(Edges(count, len(pairs["one"]), file))
    with database.seen("grouped", {"id": np.arange(count, dtype=np.int32), "family": family}):
        save(
            database,
            folder,
            "persons",
            "SELECT persons.*, family FROM persons JOIN grouped ON persons.id = grouped.id ORDER BY persons.id",
        )
    file.unlink()


FAMILIES = Recipe("families", ("persons", "ties"), ("people",), _make, helps=("titles", "pages"))
