"""The link graph of a book: links on disk, PageRank, connected groups, and missing pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.atlas.atlas import Recipe
from kiwiresearch.atlas.database import AtlasDatabase, parquet_source, save_query, sql_literal
from kiwiresearch.bulk import BookIdentity

if TYPE_CHECKING:
    import numpy as np

    IntArray = np.ndarray[Any, np.dtype[np.int32]]
    BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
    FloatArray = np.ndarray[Any, np.dtype[np.float64]]

SQL_TEXT_PLACES = ", ".join(
    map(sql_literal, ("lead", "body", "list", "table", "caption", "infobox", "see also", "hatnote"))
)
"""Places with links that authors chose for this page: not menus, navigation boxes, notes and reference lists."""
LINKS_PER_CHUNK = 2_000_000
"""How many links are in memory at a time: 16 MB."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Links between pages, which are numbered in the order of their entries; sorted and unique."""

    pages: int
    links: int
    file: Path

    def chunks(self) -> Iterator[tuple[IntArray, IntArray]]:
        """The sources and targets of the links, in chunks that are always the same."""
        import numpy as np

        if not self.links:
            return
        pairs = np.memmap(self.file, dtype="<i4", mode="r", shape=(self.links, 2))
        for start in range(0, self.links, LINKS_PER_CHUNK):
            part = np.array(pairs[start : start + LINKS_PER_CHUNK])
            yield part[:, 0], part[:, 1]


def write_edges(database: AtlasDatabase, folder: Path) -> Edges:
    """Number the pages in a new table `nodes`, and write the links between them to a file.

    DuckDB joins and sorts, since it spills to disk; only a chunk of the links is ever in memory here.
    """
    database.execute(
        "CREATE TABLE nodes AS SELECT (row_number() OVER (ORDER BY entry) - 1)::INTEGER AS id, entry, path FROM pages"
    )
    pairs = folder / "edges.parquet"
    save_query(
        database,
        folder,
        "edges",
        f"""SELECT DISTINCT a.id AS source, b.id AS target
        FROM links JOIN nodes a ON links.entry = a.entry JOIN nodes b ON links.target = b.path
        WHERE links.target <> '' AND links.place IN ({SQL_TEXT_PLACES}) AND a.id <> b.id
        ORDER BY source, target""",
    )
    pages = int(database.scalar("SELECT count(*) FROM nodes"))
    links = int(database.scalar(f"SELECT count(*) FROM {parquet_source([pairs])}"))
    file = folder / "edges.bin"
    _copy(database, pairs, file, pages, links)
    pairs.unlink()
    return Edges(pages, links, file)


def _copy(database: AtlasDatabase, pairs: Path, file: Path, pages: int, links: int) -> None:
    """Copy links from Parquet to plain numbers, some pages at a time."""
    import numpy as np

    step = max(1, pages * LINKS_PER_CHUNK // max(links, 1))
    with file.open("wb") as out:
        for start in range(0, pages, step):
            part = database.columns(
                f"SELECT * FROM {parquet_source([pairs])} WHERE source >= ? AND source < ? ORDER BY source, target",
                [start, start + step],
            )
            out.write(np.column_stack([part["source"], part["target"]]).astype("<i4").tobytes())


def connected_groups(edges: Edges, among: BoolArray | None = None) -> IntArray:
    """For each page the first page of its connected group; with `among`, only these pages and links between them count.

    All other pages are groups of their own. In each round, groups joined by a link are merged under the lower
    of their first pages; few rounds are needed, however long the chains of links are.
    """
    import numpy as np

    first: IntArray = np.arange(edges.pages, dtype=np.int32)
    while True:
        before = first.copy()
        for sources, targets in edges.chunks():
            if among is not None:
                inside = among[sources] & among[targets]
                sources, targets = sources[inside], targets[inside]
            one, other = first[sources], first[targets]
            lower = np.minimum(one, other)
            # `at`, because one page may be in a chunk many times, and plain indexing would apply only the last of them.
            np.minimum.at(first, one, lower)
            np.minimum.at(first, other, lower)
        # Pointer jumping: in the end each page names the first page of its group directly.
        while not np.array_equal(first, shorter := first[first]):
            first = shorter
        if np.array_equal(first, before):
            return first


DAMPING_FACTOR = 0.85
"""The usual damping factor of PageRank."""

MAX_ROUNDS = 100
"""The maximum number of rounds."""

MAX_FINAL_CHANGE = 1e-10
"""If all ranks together change by less than this, further rounds make no difference."""
RANK_DECIMALS = 9
"""Ranks are rounded to this many decimals."""


def pagerank(edges: Edges) -> FloatArray:
    """The rank of each page, 1 for the average page; identical to the bit on every machine.

    Sums are computed in the order of the links, whatever the number of cores and the size of the chunks.
    Needs four 8-byte numbers per page, and one chunk of the links.
    """
    import numpy as np

    pages = edges.pages
    if not pages:
        return np.zeros(0)
    out = np.zeros(pages)
    for sources, _ in edges.chunks():
        out += np.bincount(sources, minlength=pages)
    rank = np.full(pages, 1.0 / pages)
    for _ in range(MAX_ROUNDS):
        # Pages without links pass their rank on to all pages alike, so that the ranks always add up to one.
        lost = _total(rank[out == 0])
        share = np.divide(rank, out, out=np.zeros(pages), where=out > 0)
        updated = np.full(pages, (1.0 - DAMPING_FACTOR + DAMPING_FACTOR * lost) / pages)
        for sources, targets in edges.chunks():
            np.add.at(updated, targets, DAMPING_FACTOR * share[sources])
        change = _total(np.abs(updated - rank))
        rank = updated
        if change < MAX_FINAL_CHANGE:
            break
    return np.round(rank * pages, RANK_DECIMALS)


def _total(values: FloatArray) -> float:
    """The sum from left to right, since numpy's `sum` adds in a different order on other processors."""
    import numpy as np

    return float(np.cumsum(values)[-1]) if len(values) else 0.0


THIN_WORDS = 150
"""An article with fewer words is thin, whether its editors marked it as a stub or not."""


def _make(database: AtlasDatabase, folder: Path, _: BookIdentity) -> None:
    edges = write_edges(database, folder)
    _write_pages(database, folder, edges)
    _write_regions(database, folder)
    _write_wanted(database, folder)
    edges.file.unlink()


def _write_pages(database: AtlasDatabase, folder: Path, edges: Edges) -> None:
    """Write each page with its numbers of links, its rank, its island, and its region of thin pages."""
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
    computed = {
        "id": np.arange(edges.pages, dtype=np.int32),
        "linked": ins,
        "linking": outs,
        "rank": pagerank(edges),
        "island": connected_groups(edges),
        "region": connected_groups(edges, thin),
    }
    with database.with_arrays("computed", computed):
        database.execute(
            """CREATE TABLE graph AS
            SELECT sheet.*, linked, linking, rank, island, CASE WHEN thin THEN region END AS region
            FROM sheet JOIN computed ON sheet.id = computed.id"""
        )
    save_query(database, folder, "graph", "SELECT * FROM graph ORDER BY id")


def _write_regions(database: AtlasDatabase, folder: Path) -> None:
    """Write groups of thin pages that link to each other, with the outside page that most of a group link with."""
    # IS DISTINCT FROM, since pages outside of all groups have NULL there. Of equal hubs, the first by number.
    save_query(
        database,
        folder,
        "regions",
        f"""WITH sizes AS (
            SELECT region, count(*) AS pages, sum(words) AS words
            FROM graph WHERE region IS NOT NULL GROUP BY region HAVING count(*) > 1
        ), members AS (
            SELECT id, entry, path, graph.region FROM graph JOIN sizes ON graph.region = sizes.region
        ), beside AS (
            SELECT members.region, other.id AS hub, members.id AS member
            FROM links JOIN members ON links.entry = members.entry JOIN graph other ON links.target = other.path
            WHERE links.place IN ({SQL_TEXT_PLACES}) AND members.region IS DISTINCT FROM other.region
            UNION
            SELECT members.region, other.id AS hub, members.id AS member
            FROM links JOIN members ON links.target = members.path JOIN graph other ON links.entry = other.entry
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
    """Write the pages that others link to and the book lacks."""
    save_query(
        database,
        folder,
        "wanted",
        f"""WITH named AS (
            SELECT href_title AS title, count(DISTINCT entry) AS pages, sum("count")::BIGINT AS links,
                min_by(path, entry) AS first_path, min(entry) AS first
            FROM links WHERE target = '' AND href_title <> '' AND place IN ({SQL_TEXT_PLACES}) GROUP BY href_title
        )
        SELECT named.* EXCLUDE (first), coalesce(graph.title, first_path) AS first_title
        FROM named LEFT JOIN graph ON named.first = graph.entry ORDER BY pages DESC, named.links DESC, named.title""",
    )


GRAPH = Recipe("graph", ("graph", "regions", "wanted"), ("pages", "links"), _make)
