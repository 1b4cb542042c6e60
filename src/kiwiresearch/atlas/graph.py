"""How the pages of a book hang together: who links to whom, what that makes of each, and which are missing."""

from __future__ import annotations

from pathlib import Path

from kiwiresearch.atlas.atlas import Recipe
from kiwiresearch.atlas.database import Database, save
from kiwiresearch.atlas.edges import IN_TEXT, Edges, write_edges
from kiwiresearch.bulk.manifest import Subject

THIN_WORDS = 150
"""An article of fewer words says little, whether its editors have marked it as a stub or not."""


def _make(database: Database, folder: Path, _: Subject) -> None:
    edges = write_edges(database, folder)
    _write_pages(database, folder, edges)
    _write_regions(database, folder)
    _write_wanted(database, folder)
    edges.file.unlink()


def _write_pages(database: Database, folder: Path, edges: Edges) -> None:
    """Each page with its links counted, its rank, its island, and the region of thin pages it is of."""
    import numpy as np

    from kiwiresearch.atlas.islands import groups
    from kiwiresearch.atlas.pagerank import pagerank

    ins, outs = np.zeros(edges.pages, dtype=np.int64), np.zeros(edges.pages, dtype=np.int64)
    for sources, targets in edges.parts():
        outs += np.bincount(sources, minlength=edges.pages)
        ins += np.bincount(targets, minlength=edges.pages)
    database.do(
        f"""CREATE TABLE sheet AS SELECT nodes.id, pages.* EXCLUDE (lead, text_sha),
            kind = 'article' AND (stub OR words < {THIN_WORDS}) AS thin
        FROM nodes JOIN pages ON nodes.entry = pages.entry ORDER BY id"""
    )
    thin = database.columns("SELECT thin FROM sheet ORDER BY id")["thin"].astype(bool)
    worked_out = {
        "id": np.arange(edges.pages, dtype=np.int32),
        "linked": ins,
        "linking": outs,
        "rank": pagerank(edges),
        "island": groups(edges),
        "region": groups(edges, thin),
    }
    with database.seen("worked_out", worked_out):
        database.do(
            """CREATE TABLE told AS
            SELECT sheet.*, linked, linking, rank, island, CASE WHEN thin THEN region END AS region
            FROM sheet JOIN worked_out ON sheet.id = worked_out.id"""
        )
    save(database, folder, "graph", "SELECT * FROM told ORDER BY id")


def _write_regions(database: Database, folder: Path) -> None:
    """Groups of thin pages that link to each other, each with the page outside that most of them stand around."""
    save(
        database,
        folder,
        "regions",
        f"""WITH sizes AS (
            SELECT region, count(*) AS pages, sum(words) AS words
            FROM told WHERE region IS NOT NULL GROUP BY region HAVING count(*) > 1
        ), members AS (
            SELECT id, entry, path, told.region FROM told JOIN sizes ON told.region = sizes.region
        ), beside AS (
            SELECT members.region, other.id AS hub, members.id AS member
            FROM links JOIN members ON links.entry = members.entry JOIN told other ON links.target = other.path
            WHERE links.place IN ({IN_TEXT}) AND members.region IS DISTINCT FROM other.region
            UNION
            SELECT members.region, other.id AS hub, members.id AS member
            FROM links JOIN members ON links.target = members.path JOIN told other ON links.entry = other.entry
            WHERE links.place IN ({IN_TEXT}) AND members.region IS DISTINCT FROM other.region
        ), counted AS (
            SELECT region, hub, count(*) AS around FROM beside GROUP BY region, hub
        ), hubs AS (
            SELECT region, max_by(hub, (around, -hub)) AS hub, max(around) AS around FROM counted GROUP BY region
        )
        SELECT sizes.*, hubs.hub, hubs.around FROM sizes LEFT JOIN hubs ON sizes.region = hubs.region
        ORDER BY pages DESC, sizes.region""",
    )


def _write_wanted(database: Database, folder: Path) -> None:
    """Pages that others name and the book lacks."""
    save(
        database,
        folder,
        "wanted",
        f"""WITH named AS (
            SELECT href_title AS title, count(DISTINCT entry) AS pages, sum("count")::BIGINT AS links,
                min_by(path, entry) AS first_path, min(entry) AS first
            FROM links WHERE target = '' AND href_title <> '' AND place IN ({IN_TEXT}) GROUP BY href_title
        )
        SELECT named.* EXCLUDE (first), coalesce(told.title, first_path) AS first_title
        FROM named LEFT JOIN told ON named.first = told.entry ORDER BY pages DESC, named.links DESC, named.title""",
    )


GRAPH = Recipe("graph", ("graph", "regions", "wanted"), ("pages", "links"), _make)
