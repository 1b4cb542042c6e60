"""A small book with everything that a real book can have: people, lists, redirects, and entries that are not pages."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kiwiresearch.bulk.batch import BulkWork, EntryReader, FinishedBatch, pack_batch
from kiwiresearch.bulk.finished_folder import BulkManifest
from kiwiresearch.bulk.run import write_book as write_tables
from kiwiresearch.ids import BookId
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.libzim import LibzimArchive

TABLES = ("titles", "pages", "links", "claims", "people")
METADATA = {
    "Name": "harrow_en",
    "Title": "Harrow book",
    "Description": "A book for tests",
    "Language": "eng",
    "Creator": "tests",
    "Publisher": "tests",
    "Date": "2026-01-01",
}
PERSON = """<html><body><table class="infobox vcard">
<tr><th colspan="2">Edmund Wendover</th></tr><tr><th>Born</th><td>12 May 1850<br>Harrowby</td></tr>
<tr><th>Father</th><td><a href="Old_Josiah">Josiah Wendover</a></td></tr></table>
<p><b>Edmund Wendover</b> (12 May 1850 – 3 November 1920) was an English engineer.</p></body></html>"""
FATHER = """<html><body>
<p><b>Josiah Wendover</b> (4 June 1815 – 9 May 1885) was an English miller. He lived in <a href="Harrowby">Harrowby</a>
and in <a href="Harrow_town">Harrow</a>.</p></body></html>"""
TOWN = """<html><body><p><b>Harrowby</b> is a town on the river Elm. It was founded in 1204 and has
4,200 inhabitants.[<i>citation needed</i>] <a href="Harrow_town">Itself</a>, <a href="Edmund_Wendover">Edmund</a>,
<a href="Edmund_Wendover">Wendover</a> and <a href="Missing_page">a page that is not there</a>.</p>
<h2 id="Bridge">Bridge</h2><p>The bridge of Harrowby is 120 metres long because the river is wide.</p>
<h2>See also</h2><ul><li><a href="Elm">Elm</a></li></ul></body></html>"""
SENSES = """<html><body><p><b>Elm</b> may refer to:</p><ul>
<li><a href="Harrowby">Harrowby</a>, a town</li>
<li><a href="Edmund_Wendover">Edmund</a>, a man</li></ul></body></html>"""
REFRESH = """<html><head><meta http-equiv="refresh" content="0;URL='Harrowby#Bridge'"></head><body></body></html>"""

PAGES = (
    NewPage("Edmund_Wendover", "Edmund Wendover", PERSON.encode()),
    NewPage("Josiah_Wendover", "Josiah Wendover", FATHER.encode()),
    NewPage("Harrowby", "Harrowby", TOWN.encode()),
    NewPage("Elm_(disambiguation)", "Elm (disambiguation)", SENSES.encode()),
    NewPage("Bridge_of_Harrowby", "Bridge of Harrowby", REFRESH.encode()),
    NewPage("Map.pdf", "Map", b"%PDF-1.4", "application/pdf"),
    NewPage("Wound", "Wound", b"<p>It will be damaged.</p>"),
    NewPage("style.css", "style.css", b"p {}", "text/css", is_article=False),
    NewPage("Aside", "Aside", b"<p>A page that the book does not list.</p>", is_article=False),
    *(
        NewPage(f"Plain_{n}", f"Plain {n}", f"<p>Plain {n} is a plain of {n + 7} km.</p>".encode() * (12 * n + 1))
        for n in range(9)
    ),
)
REDIRECTS = (
    NewRedirect("Old_Josiah", "Old Josiah", "Josiah_Wendover"),
    NewRedirect("Harrow_town", "Harrow town", "Harrowby"),
    NewRedirect("Harrow_city", "Harrow city", "Harrow_town"),
    NewRedirect("A_sheet", "A sheet", "style.css"),
)


def write_harrow(file: Path) -> Path:
    """The book, with one entry whose type no reader knows."""
    write_book(file, PAGES, REDIRECTS, metadata=METADATA, main_path="Harrowby", index=False)
    damage(file, "Wound")
    return file


def read_here(work: BulkWork, numbers: list[int], _: int) -> Iterator[FinishedBatch]:
    """An engine without processes, with the batch function of every engine: to start one takes seconds."""
    for number in numbers:
        yield pack_batch(number, EntryReader(work.file, work.book, work.tables).rows(work.ids(number)))


def tables_here(file: Path, what: Sequence[str], out: Path, **options: object) -> BulkManifest:
    """The tables of a book, written by this process alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kiwiresearch.bulk.run.by_processes", read_here)
        return write_tables(file, what, out, **options).manifest  # type: ignore[arg-type]


def number_of(file: Path, path: str) -> int:
    """The number of an entry."""
    archive = LibzimArchive(file)
    found = [n for n in range(archive.book.entries) if archive.path_at(n) == path]
    archive.close()
    return found[0]


def id_of(file: Path) -> BookId:
    archive = LibzimArchive(file)
    archive.close()
    return archive.book.id


def damage(file: Path, path: str) -> None:
    """Give an entry a type that the book does not have."""
    data = bytearray(file.read_bytes())
    (pointers,) = struct.unpack_from("<Q", data, 32)
    (place,) = struct.unpack_from("<Q", data, pointers + 8 * number_of(file, path))
    struct.pack_into("<H", data, place, 900)
    file.write_bytes(data)
