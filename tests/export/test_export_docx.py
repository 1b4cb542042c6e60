"""A brief as a Word document: XML parts, complete relationships, real styles, and links that lead somewhere."""

from __future__ import annotations

import importlib.util
import posixpath
import re
import shutil
import subprocess
from dataclasses import replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from tests.brief.briefs import bronze_age, entry, nothing, of_words
from tests.export.exported_runs import a_read_run, noted
from tests.export.test_export_epub import HOSTILE

from kiwiresearch.brief.brief import Brief, BriefPicture, pictures_json
from kiwiresearch.export.exporter import export
from kiwiresearch.zim.book_writer import plain_png

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
PACKAGE = "{http://schemas.openxmlformats.org/package/2006/relationships}"
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
OFFICE = shutil.which("soffice") or shutil.which("libreoffice")


def made(folder: Path, brief: Brief | None = None) -> ZipFile:
    return ZipFile(BytesIO(export(a_read_run(folder, brief), "docx")[0].read_bytes()))


def part(file: ZipFile, name: str) -> ElementTree.Element:
    return ElementTree.fromstring(file.read(name))


def words_of(element: ElementTree.Element) -> str:
    return "".join(one.text or "" for one in element.iter(f"{W}t"))


def styles_of(file: ZipFile) -> dict[str, list[str]]:
    """The texts of the paragraphs by the ids of their styles."""
    found: dict[str, list[str]] = {}
    for paragraph in part(file, "word/document.xml").iter(f"{W}p"):
        style = paragraph.find(f"{W}pPr/{W}pStyle")
        found.setdefault("" if style is None else style.attrib[f"{W}val"], []).append(words_of(paragraph))
    return found


def with_picture(folder: Path) -> Path:
    """A run whose brief has a picture in its summary."""
    content = plain_png(64)
    sha = sha256(content).hexdigest()
    picture = BriefPicture(entry("Ugarit"), "I/port.png", "The port of Ugarit", 'A "port" & ships', "image/png", sha)
    run = a_read_run(folder, replace(bronze_age(), pictures=(picture,)))
    (run / "pictures.json").write_text(pictures_json({sha: content}), encoding="utf-8")
    return run


def test_every_part_is_xml_of_a_known_type(tmp_path: Path) -> None:
    """The content types come first and name every part; all dates are the first day that a zip knows."""
    with made(tmp_path) as file:
        names = file.namelist()
        assert names[0] == "[Content_Types].xml"
        assert names[1:] == sorted(names[1:])
        assert {one.date_time for one in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        types = part(file, "[Content_Types].xml")
        named = {one.attrib["PartName"].lstrip("/") for one in types.iter(f"{TYPES}Override")}
        endings = {one.attrib["Extension"] for one in types.iter(f"{TYPES}Default")}
        assert named <= set(names)
        for name in names:
            part(file, name)
            assert name in named or name.rpartition(".")[2] in endings


def test_every_relationship_leads_to_a_part_and_every_use_has_one(tmp_path: Path) -> None:
    """Of the package, the text and the footnotes; links lead outside."""
    file = ZipFile(BytesIO(export(with_picture(tmp_path), "docx")[0].read_bytes()))
    for rels in (name for name in file.namelist() if name.endswith(".rels")):
        folder, source = posixpath.dirname(posixpath.dirname(rels)), posixpath.basename(rels).removesuffix(".rels")
        rows = [one.attrib for one in part(file, rels).iter(f"{PACKAGE}Relationship")]
        assert len({row["Id"] for row in rows}) == len(rows)
        for row in rows:
            if row.get("TargetMode") == "External":
                assert row["Target"].startswith(("http://", "https://"))
            else:
                assert posixpath.join(folder, row["Target"]) in file.namelist()
        if source:
            root = part(file, posixpath.join(folder, source))
            used = {value for one in root.iter() for key, value in one.attrib.items() if key.startswith(R)}
            assert used <= {row["Id"] for row in rows}


def test_styles_are_those_that_word_knows(tmp_path: Path) -> None:
    """A title, headings of two levels, lists, a table with a repeated header row; each style is defined."""
    with made(tmp_path) as file:
        styles = styles_of(file)
        defined = {one.attrib[f"{W}styleId"] for one in part(file, "word/styles.xml").iter(f"{W}style")}
        tables = list(part(file, "word/document.xml").iter(f"{W}tbl"))
    assert styles["Title"] == ["Research Brief: Late Bronze Age collapse"]
    assert styles["Heading1"][0] == "Executive Summary"
    assert styles["Heading2"]
    assert styles["ListBullet"]
    assert len(styles["ListNumber"]) > 3
    assert set(styles) - {""} <= defined
    assert all(table.find(f"{W}tr/{W}trPr/{W}tblHeader") is not None for table in tables)
    assert tables


def test_the_contents_are_a_field_whose_entries_are_links(tmp_path: Path) -> None:
    """One for each heading, to a bookmark that is there; it begins and ends once."""
    with made(tmp_path) as file:
        text = part(file, "word/document.xml")
        styles = styles_of(file)
    (box,) = text.iter(f"{W}sdt")
    fields = [one.attrib[f"{W}fldCharType"] for one in box.iter(f"{W}fldChar")]
    assert fields == ["begin", "separate", "end"]
    assert [words_of(one) for one in box.iter(f"{W}hyperlink")] == [
        words_of(one) for one in text.iter(f"{W}p") if (one.find(f"{W}pPr/{W}pStyle[@{W}val='Heading1']") is not None)
        or (one.find(f"{W}pPr/{W}pStyle[@{W}val='Heading2']") is not None)
    ]  # fmt: skip
    assert styles["TOC1"] == styles["Heading1"]


def test_citations_are_footnotes_that_lead_to_the_bibliography(tmp_path: Path) -> None:
    """Each reference has its footnote, and each link within the document its bookmark."""
    with made(tmp_path) as file:
        text, notes = part(file, "word/document.xml"), part(file, "word/footnotes.xml")
        sources = styles_of(file)["ListNumber"]
    used = [one.attrib[f"{W}id"] for one in text.iter(f"{W}footnoteReference")]
    written = [one for one in notes.iter(f"{W}footnote") if f"{W}type" not in one.attrib]
    assert used == [one.attrib[f"{W}id"] for one in written]
    assert used == [str(number) for number in range(1, len(used) + 1)]
    places = [one.attrib[f"{W}name"] for one in text.iter(f"{W}bookmarkStart")]
    assert len(set(places)) == len(places)
    links = [one for root in (text, notes) for one in root.iter(f"{W}hyperlink") if f"{W}anchor" in one.attrib]
    assert {one.attrib[f"{W}anchor"] for one in links} <= set(places)
    cited = next(one for one in written[0].iter(f"{W}hyperlink"))
    number = int(cited.attrib[f"{W}anchor"].removeprefix("source_"))
    assert words_of(cited).endswith(f"[{number}]")
    assert words_of(cited).startswith(sources[number - 1].split(" — ")[0])


def test_a_picture_has_its_description_and_caption(tmp_path: Path) -> None:
    """As a file of the document, no larger than it is."""
    file = ZipFile(BytesIO(export(with_picture(tmp_path), "docx")[0].read_bytes()))
    text = part(file, "word/document.xml")
    (named,) = text.iter(f"{DRAWING}docPr")
    (size,) = text.iter(f"{DRAWING}extent")
    assert named.attrib["descr"] == 'A "port" & ships'
    assert size.attrib == {"cx": str(64 * 9525), "cy": str(64 * 9525)}
    assert styles_of(file)["Caption"] == ["The port of Ugarit [Ugarit]"]
    assert len([name for name in file.namelist() if name.startswith("word/media/")]) == 1


def test_the_document_says_its_language_and_day(tmp_path: Path) -> None:
    """The language of the book, and the day of its newest edition: a run has no clock."""
    with made(tmp_path) as file:
        styles, core = file.read("word/styles.xml").decode(), file.read("docProps/core.xml").decode()
    assert '<w:lang w:val="en"' in styles
    assert core.count("2026-01-01T00:00:00Z") == 2
    assert "<dc:title>Research Brief: Late Bronze Age collapse</dc:title>" in core


def test_notes_go_along(tmp_path: Path) -> None:
    """At the end, under their own heading."""
    run = noted(a_read_run(tmp_path), next(iter(bronze_age().claims.values())))
    styles = styles_of(ZipFile(export(run, "docx")[0]))
    assert styles["Heading1"][-1] == "Reader notes"
    assert any("The date is from an old book." in one for one in styles["ListBullet"])


@pytest.mark.parametrize("text", HOSTILE)
def test_words_of_a_book_become_no_markup(tmp_path: Path, text: str) -> None:
    """Whatever they are, every part is XML, and nothing is linked or run but web addresses."""
    with made(tmp_path, of_words(text)) as file:
        for name in file.namelist():
            part(file, name)
        markup = file.read("word/document.xml").decode()
    assert not re.search(r"<w:(?:object|pict|altChunk)|<script", markup)


def test_an_empty_brief_is_a_document_too(tmp_path: Path) -> None:
    """It says that nothing was found."""
    with made(tmp_path, nothing()) as file:
        assert "Executive Summary" in styles_of(file)["Heading1"]


@pytest.mark.skipif(importlib.util.find_spec("docx") is None, reason="python-docx is not installed")
def test_another_library_reads_it(tmp_path: Path) -> None:
    """python-docx finds the styles by the names that Word gives them, the tables and the picture."""
    import docx

    found = docx.Document(str(export(with_picture(tmp_path), "docx")[0]))
    names = {one.style.name for one in found.paragraphs if one.style}
    assert {"Title", "Heading 1", "Heading 2", "List Bullet", "List Number", "Caption"} <= names
    assert len(found.inline_shapes) == 1
    assert found.tables[0].rows[0].cells[-1].text
    assert (found.core_properties.language, found.core_properties.author) == ("en", "kiwiresearch")


@pytest.mark.skipif(OFFICE is None, reason="LibreOffice is not installed")
def test_libreoffice_opens_it(tmp_path: Path) -> None:
    """And reads its words."""
    assert OFFICE
    file = export(with_picture(tmp_path / "run"), "docx")[0]
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = [OFFICE, profile, "--headless", "--convert-to", "txt:Text", "--outdir", str(tmp_path), str(file)]
    subprocess.run(command, check=True, capture_output=True, timeout=180)
    assert "Executive Summary" in (tmp_path / "brief.txt").read_text(encoding="utf-8-sig")
