"""The links between the pages of a book as two columns of numbers in a file: as many as there are need no memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiwiresearch.atlas.database import Database, files_of, literal

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, np.dtype[np.int32]]

IN_TEXT = ", ".join(map(literal, ("lead", "body", "list", "table", "caption", "infobox", "see also", "hatnote")))
"""Places whose links an author chose for this page: not menus, navigation boxes, notes and reference lists."""
AT_ONCE = 2_000_000
"""So many links are in memory at a time, 16 MB of them."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Links from page to page, by the places of pages in the order of their entries; sorted, each once."""

    pages: int
    links: int
    file: Path

    def parts(self) -> Iterator[tuple[Numbers, Numbers]]:
        """From where and to where, some at a time, always cut at the same places."""
        import numpy as np

        if not self.links:
            return
        pairs = np.memmap(self.file, dtype="<i4", mode="r", shape=(self.links, 2))
        for start in range(0, self.links, AT_ONCE):
            part = np.array(pairs[start : start + AT_ONCE])
            yield part[:, 0], part[:, 1]


def write_edges(database: Database, folder: Path) -> Edges:
    """Number the pages, and write which links to which: `nodes` is a table of the database afterwards.

    Joining and sorting are DuckDB's, which spills to disk; only a part of the links is ever in memory here.
    """
    database.do(
        "CREATE TABLE nodes AS SELECT (row_number() OVER (ORDER BY entry) - 1)::INTEGER AS id, entry, path FROM pages"
    )
    pairs = folder / "edges.parquet"
    database.do(
        f"""COPY (
            SELECT DISTINCT a.id AS source, b.id AS target
            FROM links JOIN nodes a ON links.entry = a.entry JOIN nodes b ON links.target = b.path
            WHERE links.target <> '' AND links.place IN ({IN_TEXT}) AND a.id <> b.id
            ORDER BY source, target
        ) TO {literal(str(pairs))} (FORMAT parquet, COMPRESSION zstd)"""
    )
    pages = int(database.value("SELECT count(*) FROM nodes"))
    links = int(database.value(f"SELECT count(*) FROM {files_of([pairs])}"))
    file = folder / "edges.bin"
    _copy(database, pairs, file, pages, links)
    pairs.unlink()
    return Edges(pages, links, file)


def _copy(database: Database, pairs: Path, file: Path, pages: int, links: int) -> None:
    """From Parquet to plain numbers, some pages at a time."""
    import numpy as np

    step = max(1, pages * AT_ONCE // max(links, 1))
    with file.open("wb") as out:
        for start in range(0, pages, step):
            part = database.columns(
                f"SELECT * FROM {files_of([pairs])} WHERE source >= ? AND source < ? ORDER BY source, target",
                [start, start + step],
            )
            out.write(np.column_stack([part["source"], part["target"]]).astype("<i4").tobytes())
