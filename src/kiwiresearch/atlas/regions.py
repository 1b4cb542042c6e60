"""The edges of a book: pages that nobody links to, islands, regions of thin pages, and pages that are wanted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.database import Database
from kiwiresearch.atlas.graph import GRAPH
from kiwiresearch.atlas.part import Part, Row, Window, clean, part

Of = Literal["orphans", "islands", "stubs", "wanted"]
OFS: tuple[Of, ...] = get_args(Of)
SHOWN = 5
"""Pages of an island or a region that are named."""
PAGE = ("path", "title", "words", "linked", "linking")


def regions(atlas: Atlas, of: Of, window: Window) -> Part:
    """One kind of edge, the largest first."""
    with atlas.database(files=atlas.files(GRAPH)) as database:
        if of == "orphans":
            unlinked = [("linked = 0 AND kind NOT IN ('redirect', 'disambiguation')", ())]
            return part(database, "graph", unlinked, "words DESC, id", window, PAGE)
        if of == "wanted":
            return part(database, "wanted", (), "pages DESC, links DESC, title", window)
        return _islands(database, window) if of == "islands" else _stubs(database, window)


def _page(row: Mapping[str, Any]) -> Row:
    return {name: row[name] for name in PAGE}


def _islands(database: Database, window: Window) -> Part:
    """Groups of pages that no link joins with the largest group; pages that stand alone are orphans."""
    database.do(
        """CREATE VIEW islands AS SELECT island AS first, count(*) AS pages, sum(words)::BIGINT AS words
        FROM graph WHERE kind <> 'redirect' GROUP BY island HAVING count(*) > 1
        QUALIFY row_number() OVER (ORDER BY count(*) DESC, island) > 1"""
    )
    found = part(database, "islands", (), "pages DESC, first", window)
    rows = [
        {"pages": row["pages"], "words": row["words"], "named": _named(database, "island", row["first"])}
        for row in found.rows
    ]
    return Part(tuple(rows), found.total, found.offset)


def _stubs(database: Database, window: Window) -> Part:
    found = part(database, "regions", (), "pages DESC, region", window)
    rows = [
        {
            "pages": row["pages"],
            "words": int(row["words"]),
            "hub": _hub(database, row["hub"]),
            "around": row["around"] or 0,
            "named": _named(database, "region", row["region"]),
        }
        for row in found.rows
    ]
    return Part(tuple(rows), found.total, found.offset)


def _hub(database: Database, page: int | None) -> Row | None:
    """The page outside that most pages of a region are linked with."""
    found = [] if page is None else database.rows("SELECT * FROM graph WHERE id = ?", [page])
    return _page(clean(found[0])) if found else None


def _named(database: Database, column: Literal["island", "region"], value: int) -> list[Row]:
    query = f"SELECT * FROM graph WHERE {column} = ? AND kind <> 'redirect' ORDER BY rank DESC, id LIMIT {SHOWN}"
    return [_page(clean(row)) for row in database.rows(query, [value])]
