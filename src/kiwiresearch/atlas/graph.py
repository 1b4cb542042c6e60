"""The link graph of a book: links on disk, PageRank, connected groups, and missing pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.atlas.atlas import Recipe
from kiwiresearch.atlas.database import AtlasDatabase, parquet_source, save_query, sql_literal
from kiwiresearch.bulk.finished_folder import BookIdentity

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[np.int32]]
    Chosen = np.ndarray[Any, np.dtype[np.bool_]]
    Shares = np.ndarray[Any, np.dtype[np.float64]]

SQL_TEXT_PLACES = ", ".join(
    map(sql_literal, ("lead", "body", "list", "table", "caption", "infobox", "see also", "hatnote"))
)
"""Places whose links an author chose for this page: not menus, navigation boxes, notes and reference lists."""
LINKS_PER_CHUNK = 2_000_000
"""So many links are in memory at a time, 16 MB of them."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Links from page to page, by the places of pages in the order of their entries; sorted, each once."""

    pages: int
    links: int
    file: Path

    def chunks(self) -> Iterator[tuple[Numbers, Numbers]]:
        """From where and to where, some at a time, always cut at the same places."""
        import numpy as np

        if not self.links:
            return
        pairs = np.memmap(self.file, dtype="<i4", mode="r", shape=(self.links, 2))
        for start in range(0, self.links, LINKS_PER_CHUNK):
            part = np.array(pairs[start : start + LINKS_PER_CHUNK])
            yield part[:, 0], part[:, 1]


def write_edges(database: AtlasDatabase, folder: Path) -> Edges:
    """Number the pages, and write which links to which: `nodes` is a table of the database afterwards.

    Joining and sorting are DuckDB's, which spills to disk; only a part of the links is ever in memory here.
    """
    database.execute(
        "CREATE TABLE nodes AS SELECT (row_number() OVER (ORDER BY entry) - 1)::INTEGER AS id, entry, path FROM pages"
    )
    pairs = folder / "edges.parquet"
    database.execute(
        f"""COPY (
            SELECT DISTINCT a.id AS source, b.id AS target
            FROM links JOIN nodes a ON links.entry = a.entry JOIN nodes b ON links.target = b.path
            WHERE links.target <> '' AND links.place IN ({SQL_TEXT_PLACES}) AND a.id <> b.id
            ORDER BY source, target
        ) TO {sql_literal(str(pairs))} (FORMAT parquet, COMPRESSION zstd)"""
    )
    pages = int(database.scalar("SELECT count(*) FROM nodes"))
    links = int(database.scalar(f"SELECT count(*) FROM {parquet_source([pairs])}"))
    file = folder / "edges.bin"
    _copy(database, pairs, file, pages, links)
    pairs.unlink()
    return Edges(pages, links, file)


def _copy(database: AtlasDatabase, pairs: Path, file: Path, pages: int, links: int) -> None:
    """From Parquet to plain numbers, some pages at a time."""
    import numpy as np

    step = max(1, pages * LINKS_PER_CHUNK // max(links, 1))
    with file.open("wb") as out:
        for start in range(0, pages, step):
            part = database.columns(
                f"SELECT * FROM {parquet_source([pairs])} WHERE source >= ? AND source < ? ORDER BY source, target",
                [start, start + step],
            )
            out.write(np.column_stack([part["source"], part["target"]]).astype("<i4").tobytes())


def connected_groups(edges: Edges, among: Chosen | None = None) -> Numbers:
    """For each page the first page of its group; with `among`, only those pages and the links between them count.

    A page that is not among them is a group of its own. In each round the groups that a link joins become one,
    named by the lower of their first pages; few rounds are needed, however long the chains of links are.
    """
    import numpy as np

    first: Numbers = np.arange(edges.pages, dtype=np.int32)
    while True:
        before = first.copy()
        for sources, targets in edges.chunks():
            if among is not None:
                inside = among[sources] & among[targets]
                sources, targets = sources[inside], targets[inside]
            one, other = first[sources], first[targets]
            lower = np.minimum(one, other)
            np.minimum.at(first, one, lower)
            np.minimum.at(first, other, lower)
        while not np.array_equal(first, shorter := first[first]):
            first = shorter
        if np.array_equal(first, before):
            return first


DAMPING = 0.85
ROUNDS = 100
CONVERGED = 1e-10
"""Where all pages together change by less than this, the next round would tell nothing new."""
DIGITS = 9
"""Of a rank times the number of pages, so many decimals are kept."""


def pagerank(edges: Edges) -> Shares:
    """The rank of each page, 1 for a page like the average; the same bits on every machine.

    Sums are taken one by one in the order of the links, whatever the number of cores and the size of the parts.
    Needs four numbers of 8 bytes for each page, and one part of the links.
    """
    import numpy as np

    pages = edges.pages
    if not pages:
        return np.zeros(0)
    out = np.zeros(pages)
    for sources, _ in edges.chunks():
        out += np.bincount(sources, minlength=pages)
    rank = np.full(pages, 1.0 / pages)
    for _ in range(ROUNDS):
        lost = _total(rank[out == 0])
        share = np.divide(rank, out, out=np.zeros(pages), where=out > 0)
        following = np.full(pages, (1.0 - DAMPING + DAMPING * lost) / pages)
        for sources, targets in edges.chunks():
            np.add.at(following, targets, DAMPING * share[sources])
        change = _total(np.abs(following - rank))
        rank = following
        if change < CONVERGED:
            break
    return np.round(rank * pages, DIGITS)


def _total(values: Shares) -> float:
    """The sum from left to right: `sum` of numpy may add in another order on another processor."""
    import numpy as np

    return float(np.cumsum(values)[-1]) if len(values) else 0.0


THIN_WORDS = 150
"""An article of fewer words says little, whether its editors have marked it as a stub or not."""


def _make(database: AtlasDatabase, folder: Path, _: BookIdentity) -> None:
    edges = write_edges(database, folder)
    _write_pages(database, folder, edges)
    _write_regions(database, folder)
    _write_wanted(database, folder)
    edges.file.unlink()


def _write_pages(database: AtlasDatabase, folder: Path, edges: Edges) -> None:
    """Each page with its links counted, its rank, its island, and the region of thin pages it is of."""
    import numpy as np

    ins, outs = np.zeros(edges.pages, dtype=np.int64), np.zeros(edges.pages, dtype=np.int64)
    for sources, targets in edges.chunks():
        outs += np.bincount(sources, minlength=edges.pages)
        ins += np.bincount(targets, minlength=edges.pages)
    database.execute(
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
        "island": connected_groups(edges),
        "region": connected_groups(edges, thin),
    }
    with database.with_arrays("worked_out", worked_out):
        database.execute(
            """CREATE TABLE told AS
            SELECT sheet.*, linked, linking, rank, island, CASE WHEN thin THEN region END AS region
            FROM sheet JOIN worked_out ON sheet.id = worked_out.id"""
        )
    save_query(database, folder, "graph", "SELECT * FROM told ORDER BY id")


def _write_regions(database: AtlasDatabase, folder: Path) -> None:
    """Groups of thin pages that link to each other, each with the page outside that most of them stand around."""
    save_query(
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
            WHERE links.place IN ({SQL_TEXT_PLACES}) AND members.region IS DISTINCT FROM other.region
            UNION
            SELECT members.region, other.id AS hub, members.id AS member
            FROM links JOIN members ON links.target = members.path JOIN told other ON links.entry = other.entry
            WHERE links.place IN ({SQL_TEXT_PLACES}) AND members.region IS DISTINCT FROM other.region
        ), counted AS (
            SELECT region, hub, count(*) AS around FROM beside GROUP BY region, hub
        ), hubs AS (
            SELECT region, max_by(hub, (around, -hub)) AS hub, max(around) AS around FROM counted GROUP BY region
        )
        SELECT sizes.*, hubs.hub, hubs.around FROM sizes LEFT JOIN hubs ON sizes.region = hubs.region
        ORDER BY pages DESC, sizes.region""",
    )


def _write_wanted(database: AtlasDatabase, folder: Path) -> None:
    """Pages that others name and the book lacks."""
    save_query(
        database,
        folder,
        "wanted",
        f"""WITH named AS (
            SELECT href_title AS title, count(DISTINCT entry) AS pages, sum("count")::BIGINT AS links,
                min_by(path, entry) AS first_path, min(entry) AS first
            FROM links WHERE target = '' AND href_title <> '' AND place IN ({SQL_TEXT_PLACES}) GROUP BY href_title
        )
        SELECT named.* EXCLUDE (first), coalesce(told.title, first_path) AS first_title
        FROM named LEFT JOIN told ON named.first = told.entry ORDER BY pages DESC, named.links DESC, named.title""",
    )


GRAPH = Recipe("graph", ("graph", "regions", "wanted"), ("pages", "links"), _make)
