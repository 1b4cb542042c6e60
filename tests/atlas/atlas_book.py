"""A small book that contradicts itself, with a family, an island, stubs, orphans and pages that are wanted."""

from __future__ import annotations

from pathlib import Path

from tests.bulk.bulk_book import tables_here

from kiwiresearch.version import __version__
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book

TABLES = ("titles", "pages", "links", "claims", "people")
METADATA = {
    "Name": "elm_en",
    "Title": "Book of Elm",
    "Description": "A book for tests",
    "Language": "eng",
    "Creator": "tests",
    "Publisher": "tests",
    "Date": "2026-01-01",
}
PADDING = (
    "<p>" + "The river is old and the valley is green, and many people like to walk there in summer. " * 12 + "</p>"
)


def _box(title: str, rows: dict[str, str]) -> str:
    cells = "".join(f"<tr><th>{key}</th><td>{value}</td></tr>" for key, value in rows.items())
    return f'<table class="infobox vcard"><tr><th colspan="2">{title}</th></tr>{cells}</table>'


def _page(body: str, *, long: bool = True) -> bytes:
    return f"<html><body>{body}{PADDING if long else ''}</body></html>".encode()


HTML: dict[str, bytes] = {
    "Elmland": _page(
        _box("Elmland", {"Population, 2005 estimate": "103,000", "Area, Total": "500 km²"})
        + "<p><b>Elmland</b> is a country by the <a href='Elm_Sea'>Elm Sea</a>. Elmland has an area of 501 km². "
        "<a href='Ada_Rowe'>Ada Rowe</a> lived there. Elmland was founded in 1204.</p>"
        "<h2>Storms</h2><p>Elmland was hit by a storm that caused $20 million in damage in 1992. "
        "See the <a href='Old_bridge'>old bridge</a>.</p>"
    ),
    "Elm_Sea": _page(
        "<p>The <b>Elm Sea</b> is a sea. <a href='Elmland'>Elmland</a> is on it, and the "
        "<a href='Old_bridge'>old bridge</a> too. The Elm Sea formed 65 million years ago.</p><h2>Countries</h2><table>"
        "<tr><th>Country</th><th>Population (1 July 2005 est.)</th></tr>"
        "<tr><td><a href='Elmland'>Elmland</a></td><td>89,502</td></tr>"
        "<tr><td>Ashland</td><td>12,000</td></tr></table>"
        "<h2>Weather</h2><p>Elmland was hit by a storm that caused $45 million in damage in 1992.</p>"
    ),
    "Ada_Rowe": _page(
        _box("Ada Rowe", {"Born": "3 May 1815", "Died": "9 June 1885", "Father": "<a href='Tom_Rowe'>Tom Rowe</a>"})
        + "<p><b>Ada Rowe</b> (3 May 1816 – 9 June 1885) was an English painter of <a href='Elmland'>Elmland</a>. "
        "Her son was <a href='Ben_Rowe'>Ben Rowe</a>.</p>"
    ),
    "Tom_Rowe": _page(
        _box("Tom Rowe", {"Born": "1 April 1780", "Died": "5 June 1850", "Children": "<a href='Ada_Rowe'>Ada Rowe</a>"})
        + "<p><b>Tom Rowe</b> (1 April 1780 – 5 June 1850) was an English miller of <a href='Elmland'>Elmland</a>.</p>"
    ),
    "Ben_Rowe": _page(
        _box("Ben Rowe", {"Born": "2 March 1850", "Died": "1 May 1920", "Mother": "<a href='Ada_Rowe'>Ada Rowe</a>"})
        + "<p><b>Ben Rowe</b> (2 March 1850 – 1 May 1920) was an English baker.</p>"
    ),
    "Dan_Finch": _page(
        _box("Dan Finch", {"Born": "7 July 1930", "Died": "8 August 2010", "Children": "<a href='Cy_Finch'>Cy</a>"})
        + "<p><b>Dan Finch</b> (7 July 1930 – 8 August 2010) was an English singer.</p>"
    ),
    "Cy_Finch": _page(
        _box("Cy Finch", {"Born": "4 July 1990", "Father": "<a href='Dan_Finch'>Dan Finch</a>"})
        + "<p><b>Cy Finch</b> (born 4 July 1990) is an English singer.</p>"
    ),
    "North_Isle": _page("<p><b>North Isle</b> is an isle near <a href='South_Isle'>South Isle</a>.</p>"),
    "South_Isle": _page("<p><b>South Isle</b> is an isle near <a href='North_Isle'>North Isle</a>.</p>"),
    "Moths": _page("<p><b>Moths</b> of <a href='Elmland'>Elmland</a>: <a href='Ash_moth'>Ash moth</a>, "
                   "<a href='Oak_moth'>Oak moth</a>.</p>"),
    "Ash_moth": _page("<p><b>Ash moth</b> is like the <a href='Oak_moth'>oak moth</a>.</p>", long=False),
    "Oak_moth": _page("<p><b>Oak moth</b> is like the <a href='Ash_moth'>ash moth</a>.</p>", long=False),
    "Alone": _page("<p><b>Alone</b> is a hill of <a href='Elmland'>Elmland</a>. Ada Rowe (1815–1885) painted it.</p>"),
}  # fmt: skip


def write_elm(folder: Path) -> Path:
    """The book as a ZIM file."""
    file = folder / "elm.zim"
    pages = [NewPage(path, path.replace("_", " "), html) for path, html in HTML.items()]
    write_book(file, pages, [NewRedirect("Land_of_Elms", "Land of Elms", "Elmland")], metadata=METADATA)
    return file


def write_elm_shards(file: Path, out: Path, what: tuple[str, ...] = TABLES) -> Path:
    """The folder that bulk makes of it."""
    tables_here(file, what, out, version=__version__)
    return out
