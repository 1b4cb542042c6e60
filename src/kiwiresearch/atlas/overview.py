"""A book at a glance: how large it is, what it says, and what the rest of the atlas would show."""

from __future__ import annotations

from typing import Any

from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.contradictions import CONTRADICTIONS, counts
from kiwiresearch.atlas.graph import GRAPH
from kiwiresearch.text.dates.days import day_at


def overview(atlas: Atlas, *, whole: bool = True) -> dict[str, Any]:
    """What the tables tell; parts whose tables are lacking are left out.

    `whole` works out what is not yet known; else only what is told at once.
    """
    manifest = atlas.bulk.manifest
    told: dict[str, Any] = {
        "book": {"id": manifest.book.id, "name": manifest.book.name, "title": manifest.book.title}
        | {"date": manifest.book.date, "language": manifest.book.language},
        "tables": {name: table.rows for name, table in manifest.tables.items()},
    }
    if atlas.has_tables("pages"):
        told["pages"] = _pages(atlas)
    if atlas.has_tables(*GRAPH.needs) and (whole or atlas.has(GRAPH)):
        told["links"] = _links(atlas)
    if atlas.has_tables("claims"):
        told["claims"] = _claims(atlas)
    if atlas.has_tables(*CONTRADICTIONS.needs) and (whole or atlas.has(CONTRADICTIONS)):
        told["contradictions"] = counts(atlas)
    if atlas.has_tables("people"):
        with atlas.database("people") as database:
            told["people"] = {"people": database.value("SELECT count(DISTINCT entry) FROM people")}
    return told


def _pages(atlas: Atlas) -> dict[str, Any]:
    with atlas.database("pages") as database:
        return database.rows(
            """SELECT count(*) FILTER (kind = 'article') AS articles, count(*) FILTER (kind = 'list') AS lists,
                count(*) FILTER (kind = 'disambiguation') AS disambiguations, coalesce(sum(words), 0)::BIGINT AS words,
                coalesce(sum("references"), 0)::BIGINT AS "references", count(*) FILTER (stub) AS stubs,
                count(*) FILTER (disputed) AS disputed
            FROM pages"""
        )[0]


def _links(atlas: Atlas) -> dict[str, Any]:
    with atlas.database(files=atlas.files(GRAPH)) as database:
        told = database.rows(
            """SELECT coalesce(sum(linking), 0)::BIGINT AS links,
                count(*) FILTER (linked = 0 AND kind NOT IN ('redirect', 'disambiguation')) AS orphans FROM graph"""
        )[0]
        wanted = database.value("SELECT count(*) FROM wanted")
        first = database.rows("SELECT path, title FROM graph WHERE kind <> 'redirect' ORDER BY rank DESC, id LIMIT 5")
    return told | {"wanted": wanted, "first": first}


def _claims(atlas: Atlas) -> dict[str, Any]:
    with atlas.database("claims") as database:
        told = database.rows(
            """SELECT count(*) AS claims, count(value) AS numbers, count(earliest) AS dates,
                count(*) FILTER (hedged) AS hedged, min(earliest) AS earliest, max(latest) AS latest FROM claims"""
        )[0]
        kinds = database.rows(
            "SELECT claim_type, count(*) AS rows FROM claims GROUP BY ALL ORDER BY rows DESC, claim_type"
        )
    years = {name: None if told[name] is None else day_at(told[name]).year for name in ("earliest", "latest")}
    return told | years | {"types": {row["claim_type"]: row["rows"] for row in kinds}}
