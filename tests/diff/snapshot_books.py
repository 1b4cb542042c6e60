"""Two snapshots of a small book, in which everything happens that can happen to a page and to a claim."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.libzim import LibzimArchive
from kiwiresearch.zim.listing import ENTRY, HEADER, POINTER
from kiwiresearch.zim.paths import title_of_path

METADATA = {"Name": "coast_en", "Title": "Coast book", "Language": "eng", "Date": "2026-01-01"}
NEEDED = '<sup class="noprint Inline-Template Template-Fact">[<i>citation needed</i>]</sup>'
QUARRY = """<p>The quarry of Hohen is a pit in the chalk cliffs of the coast, where stone was cut from 1310 to 1890.
It was 42 metres deep. In 1744 some 300 men worked in the quarry, and 12 of them died when a wall fell.
The stone was used for the churches of the coast, because no other stone was to be had there.</p>"""

OLD = {
    "Salt_road": """<table class="infobox"><tr><th>Length</th><td>118 km</td></tr></table>
<p>The Salt road was a trade route of the northern coast. The Salt road was 118 km long from end to end.
It was opened in 1390 by Albert of Mecklen. Some carts were drawn by six oxen in the year 1402.</p>
<h2>Trade</h2><p>In 1437 the road was used by 19,000 carts of salt.
The Salt road was given up because cheaper salt was shipped from France after 1580.</p>""",
    "Ostrava": "<p>Ostrava is a town on the Salt road, founded in 1201. It has 7,400 inhabitants.</p>",
    "Lubmin": "<p>Lubmin is a harbour town at the end of the road. Lubmin had 23 inns in 1437.</p>",
    "Custom_house": "<p>A custom house is a building where duties are paid. The custom house was built in 1402.</p>",
    "Old_mill": "<p>The old mill was a mill of the town of Ostrava. It was built in 1512 by Johannes Brandt.</p>",
    "Quarry": QUARRY,
    "Harbour": "<p>The harbour of Lubmin is a harbour of the coast. The harbour was 14 metres deep in 1900.</p>",
}
NEW = {
    "Salt_road": f"""<table class="infobox"><tr><th>Length</th><td>121 km</td></tr></table>
<p>The Salt road was a trade route of the northern coast. The Salt road was 121 km long from end to end.
It was opened in 1390 by Albert of Mecklen.{NEEDED}</p>
<h2>Trade</h2><p>In 1437 the road was used by 19,000 carts of salt. A toll gate was built on the road in 1455.
The Salt road was possibly given up because cheaper salt was shipped from France after 1580.</p>""",
    "Ostrava": "<p>Ostrava is a town on the Salt road, founded in 1201. It has 7,400 inhabitants.</p><!-- new -->",
    "Lubmin_(town)": "<p>Lubmin is a harbour town at the end of the road. Lubmin had 25 inns in 1437.</p>",
    "Stone_pit_of_Hohen": QUARRY,
    "Lighthouse": "<p>The lighthouse is a tower of the harbour. It was built in 1490 by the town council.</p>",
    "Harbour": OLD["Harbour"].replace("</p>", " The harbour was 17 metres deep in 1900.</p>"),
}
LEADS = {"Lubmin": "Lubmin_(town)", "Old_mill": "Ostrava"}
"""Where the paths of two old pages lead in the newer book: one has another name, one is part of another page."""


def a_snapshot(
    file: Path,
    pages: Mapping[str, str],
    redirects: Mapping[str, str] | None = None,
    titles: Mapping[str, str] | None = None,
    **metadata: str,
) -> Path:
    """A book of pages."""
    file.parent.mkdir(parents=True, exist_ok=True)
    made = [
        NewPage(path, (titles or {}).get(path) or title_of_path(path), html.encode()) for path, html in pages.items()
    ]
    names = [NewRedirect(path, path.replace("_", " "), to) for path, to in (redirects or {}).items()]
    write_book(file, made, names, metadata=METADATA | metadata, index=False)
    return file


def two_books(folder: Path) -> tuple[Path, Path]:
    """The older and the newer snapshot."""
    old = a_snapshot(folder / "coast_2026-01.zim", OLD)
    return old, a_snapshot(folder / "coast_2026-03.zim", NEW, LEADS, Date="2026-03-01")


def spoil(file: Path, path: str) -> None:
    """Damage a page, so that it cannot be read any more: it says that it lies where nothing is."""
    archive = LibzimArchive(file)
    numbers = [int(number) for number in archive.directory().articles]
    number = next(one for one in numbers if archive.name_at(one).path == path)
    archive.close()
    data = bytearray(file.read_bytes())
    pointers = HEADER.unpack_from(data)[6]
    (entry,) = POINTER.unpack_from(data, pointers + POINTER.size * number)
    values = list(ENTRY.unpack_from(data, entry))
    values[4] = 0xFFFFFF
    ENTRY.pack_into(data, entry, *values)
    file.write_bytes(data)
