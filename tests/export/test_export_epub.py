"""A run as an EPUB: a container, a package, contents, and pages that are XML, as the standard wants them."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urldefrag
from xml.etree import ElementTree
from zipfile import ZIP_STORED, ZipFile

import pytest
from tests.brief.briefs import AROUND, BOOK, bronze_age, nothing, of_words
from tests.export.exported_runs import a_read_run, noted

from kiwiresearch.brief.brief import Brief
from kiwiresearch.export.exporter import export

OPF = "{http://www.idpf.org/2007/opf}"
DC = "{http://purl.org/dc/elements/1.1/}"
XHTML = "{http://www.w3.org/1999/xhtml}"
EPUB = "{http://www.idpf.org/2007/ops}"

HOSTILE = (
    "<script>alert(1)</script>",
    "]]>",
    "a\x00b\x1b",
    "\ud800",
    "&amp; & \"'",
    "שלום",
    "",
    'href="zim://inside/9"',
)


def made(folder: Path, brief: Brief | None = None, *, with_notes: bool = False) -> ZipFile:
    run = a_read_run(folder, brief)
    if with_notes:
        noted(run, next(iter((brief or bronze_age()).claims.values())))
    return ZipFile(export(run, "epub")[0])


def pages_of(book: ZipFile) -> dict[str, ElementTree.Element]:
    names = [name for name in book.namelist() if name.endswith(".xhtml")]
    return {name.removeprefix("EPUB/"): ElementTree.fromstring(book.read(name)) for name in names}


def package_of(book: ZipFile) -> ElementTree.Element:
    return ElementTree.fromstring(book.read("EPUB/package.opf"))


def test_the_container_is_as_the_standard_wants_it(tmp_path: Path) -> None:
    """The type comes first, not compressed and without an extra field, and the container names the package."""
    with made(tmp_path) as book:
        first = book.infolist()[0]
        assert (first.filename, first.compress_type, first.extra) == ("mimetype", ZIP_STORED, b"")
        assert book.read("mimetype") == b"application/epub+zip"
        assert 'full-path="EPUB/package.opf"' in book.read("META-INF/container.xml").decode()
        assert {entry.date_time for entry in book.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_package_names_every_file_once(tmp_path: Path) -> None:
    """What is in the book is in the manifest, and what is read is in the spine, the brief first."""
    with made(tmp_path, with_notes=True) as book:
        package = package_of(book)
        items = {item.attrib["id"]: item.attrib for item in package.iter(f"{OPF}item")}
        inside = {name for name in book.namelist() if name.startswith("EPUB/")} - {"EPUB/package.opf"}
        assert {f"EPUB/{item['href']}" for item in items.values()} == inside
        assert [one["href"] for one in items.values() if one.get("properties") == "nav"] == ["nav.xhtml"]
        spine = [ref.attrib["idref"] for ref in package.iter(f"{OPF}itemref")]
        assert spine[:3] == ["brief", "notes", "page-1"]
        assert set(spine) == set(items) - {"nav", "style"}
        assert len(spine) == len(set(spine))


def test_the_metadata_is_complete(tmp_path: Path) -> None:
    """Identifier, title, language and the day it was changed, which is the book's: a run has no clock."""
    with made(tmp_path) as book:
        package = package_of(book)
    assert package.attrib["version"] == "3.0"
    identifier = package.find(f".//{DC}identifier")
    assert identifier is not None
    assert identifier.attrib["id"] == package.attrib["unique-identifier"]
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", identifier.text or "")
    assert package.findtext(f".//{DC}title") == "Late Bronze Age collapse"
    assert package.findtext(f".//{DC}language") == "en"
    assert BOOK in (package.findtext(f".//{DC}source") or "")
    modified = [meta.text for meta in package.iter(f"{OPF}meta") if meta.attrib.get("property") == "dcterms:modified"]
    assert modified == ["2026-01-01T00:00:00Z"]


def test_every_link_leads_to_a_place_that_is_there(tmp_path: Path) -> None:
    """From the contents, the brief, the pages and the sources, also to sections."""
    with made(tmp_path, with_notes=True) as book:
        pages = pages_of(book)
    ids = {name: [one.attrib["id"] for one in page.iter() if "id" in one.attrib] for name, page in pages.items()}
    assert all(len(set(some)) == len(some) for some in ids.values())
    links = [(name, link.attrib["href"]) for name, page in pages.items() for link in page.iter(f"{XHTML}a")]
    assert len(links) > 50
    for name, href in links:
        place, anchor = urldefrag(href)
        assert (place or name) in pages, href
        assert not anchor or unquote(anchor) in ids[place or name], href
    assert ("brief.xhtml", "page-3.xhtml#section-1") in links
    claim = next(iter(bronze_age().claims.values()))
    assert ("notes.xhtml", f"page-1.xhtml#claim-{claim.id[7:]}") in links


def test_the_contents_list_all_parts(tmp_path: Path) -> None:
    """One list, with the parts of the brief below it."""
    with made(tmp_path) as book:
        nav = pages_of(book)["nav.xhtml"].find(f".//{XHTML}nav")
    assert nav is not None
    assert nav.attrib[f"{EPUB}type"] == "toc"
    titles = ["".join(link.itertext()) for link in nav.iter(f"{XHTML}a")]
    assert titles[:2] == ["Late Bronze Age collapse", "Executive Summary"]
    assert titles[-1] == "Sources"
    assert "Ugarit" in titles


def test_pages_have_the_claims_with_their_quotes(tmp_path: Path) -> None:
    """In the language of the book, and in the direction of its letters; with what was noted on them."""
    claim = next(iter(bronze_age().claims.values()))
    with made(tmp_path, with_notes=True) as book:
        page = pages_of(book)["page-1.xhtml"]
    (block,) = [one for one in page.iter(f"{XHTML}div") if one.attrib.get("id") == f"claim-{claim.id[7:]}"]
    quote = block.find(f"{XHTML}blockquote")
    assert quote is not None
    assert (quote.attrib["lang"], quote.attrib["dir"]) == ("en", "auto")
    assert "".join(quote.itertext()) == claim.quotes[0].text
    assert "Doubted (2026-02-03): The date is from an old book." in "".join(block.itertext())


def test_the_brief_marks_quotes_in_their_place_on_the_page(tmp_path: Path) -> None:
    """What is before and after a quote on its page is beside it, and the quote is marked."""
    claim = next(iter(bronze_age().claims.values()))
    with made(tmp_path) as book:
        page = pages_of(book)["brief.xhtml"]
    shown = ["".join(one.itertext()) for one in page.iter(f"{XHTML}p") if one.find(f"{XHTML}mark") is not None]
    assert set(shown) == {f"“{AROUND.before}{claim.quotes[0].text}{AROUND.after}”"}


@pytest.mark.parametrize("text", HOSTILE)
def test_words_of_a_book_become_no_markup(tmp_path: Path, text: str) -> None:
    """Whatever they are, every file is XML, runs no script and loads nothing."""
    with made(tmp_path, of_words(text)) as book:
        pages = pages_of(book)
        package_of(book)
    tags = {one.tag.removeprefix(XHTML) for page in pages.values() for one in page.iter()}
    assert not tags & {"script", "iframe", "img", "object", "style", "form"}
    links = {link.attrib["href"] for page in pages.values() for link in page.iter(f"{XHTML}a")}
    assert {urldefrag(link)[0] for link in links} <= set(pages) | {""}


def test_an_empty_brief_is_a_book_too(tmp_path: Path) -> None:
    """With a language and a date, which the standard asks for."""
    with made(tmp_path, nothing()) as book:
        package = package_of(book)
        assert set(pages_of(book)) == {"nav.xhtml", "brief.xhtml", "sources.xhtml"}
    assert package.findtext(f".//{DC}language") == "en"
    assert package.findtext(f".//{DC}date") == "1970-01-01"
