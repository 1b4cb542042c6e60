"""The booklet of a run as an EPUB 3 and as a ZIM file."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from uuid import UUID

from kiwiresearch import system
from kiwiresearch.document import escaped
from kiwiresearch.errors import CannotWrite
from kiwiresearch.export.booklet import BRIEF, NOTES, SOURCES, BookletPage, booklet_pages, booklet_style, title_line
from kiwiresearch.export.findings import RunFindings
from kiwiresearch.export.packing import ExportedFile, zip_files
from kiwiresearch.runs import book_title, xml_safe
from kiwiresearch.text import three_letter_code, two_letter_code
from kiwiresearch.workspace import folder_name
from kiwiresearch.zim import MODULE, NewPage, build_request

MIMETYPE = ExportedFile("mimetype", b"application/epub+zip")
EPUB_SUFFIX = ".xhtml"
CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <rootfiles>
    <rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/>
  </rootfiles>
</container>
"""
EPUB_FRAME = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="{lang}" xml:lang="{lang}">
<head>
<meta charset="utf-8"/>
<title>{title}</title>
<link rel="stylesheet" type="text/css" href="style.css"/>
</head>
<body>
{body}
</body>
</html>
"""
PACKAGE = """<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
{metadata}
  </metadata>
  <manifest>
    <item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
    <item id="style" href="style.css" media-type="text/css"/>
{items}
  </manifest>
  <spine>
{spine}
  </spine>
</package>
"""
ACCESS = (
    ("accessMode", "textual"),
    ("accessModeSufficient", "textual"),
    ("accessibilityFeature", "structuralNavigation"),
    ("accessibilityFeature", "tableOfContents"),
    ("accessibilityHazard", "none"),
)
"""The metadata that the standard for accessible books requires, except for the summary."""
WITHOUT_PICTURES = (("accessibilitySummary", "Text with headings, lists, tables and links, and no pictures."),)
WITH_PICTURES = (
    ("accessMode", "visual"),
    ("accessibilityFeature", "alternativeText"),
    ("accessibilitySummary", "Text with headings, lists, tables and links; each picture is described in words."),
)


def epub(findings: RunFindings) -> bytes:
    """The EPUB: contents, brief, notes, the pages with their quotes, sources."""
    found = list(booklet_pages(findings, EPUB_SUFFIX))
    look = booklet_style(with_pictures=bool(findings.images))
    files = [_epub_file("nav.xhtml", _framed("Contents", _contents(found))), _epub_file("style.css", look)]
    files += [
        _epub_file(page.name + EPUB_SUFFIX, _framed(page.title, f"<main>\n{page.body}\n</main>", page.language))
        for page in found
    ]
    names = findings.picture_names
    files += [ExportedFile(f"EPUB/{names[sha]}", findings.images[sha]) for sha in names]
    # The identifier is made of the content, so that the same brief is the same book everywhere.
    seen = sha256(b"".join(content for _, content in files)).digest()
    package = _epub_file("package.opf", _package(findings, found, str(UUID(bytes=seen[:16], version=5))))
    container = ExportedFile("META-INF/container.xml", CONTAINER.encode())
    # The standard wants the media type first and uncompressed, so that programs can tell an EPUB by its first bytes.
    return zip_files([MIMETYPE, container, package, *files], stored=[MIMETYPE.name])


def _epub_file(name: str, text: str) -> ExportedFile:
    return ExportedFile(f"EPUB/{name}", xml_safe(text).encode())


def _framed(title: str, body: str, language: str = "en") -> str:
    return EPUB_FRAME.format(lang=escape(language), title=escaped(title), body=body)


def _contents(found: Sequence[BookletPage]) -> str:
    lines = ['<nav epub:type="toc" id="toc">', "<h1>Contents</h1>", "<ol>"]
    for page in found:
        inner = "".join(
            f'<li><a href="{page.name}{EPUB_SUFFIX}#{anchor}">{escaped(heading)}</a></li>'
            for anchor, heading in page.parts
        )
        below = f"<ol>{inner}</ol>" if inner else ""
        lines.append(f'<li><a href="{page.name}{EPUB_SUFFIX}">{escaped(page.title)}</a>{below}</li>')
    return "\n".join([*lines, "</ol>", "</nav>"])


def _package(findings: RunFindings, found: Sequence[BookletPage], name: str) -> str:
    items = [
        f'    <item id="{page.name}" href="{page.name}{EPUB_SUFFIX}" media-type="application/xhtml+xml"/>'
        for page in found
    ]
    kinds = {picture.sha256: picture.media_type for picture in findings.brief.pictures}
    items += [
        f'    <item id="picture-{number}" href="{name}" media-type="{kinds[sha]}"/>'
        for number, (sha, name) in enumerate(findings.picture_names.items(), start=1)
    ]
    spine = (f'    <itemref idref="{page.name}"/>' for page in found)
    metadata = "\n".join(f"    {line}" for line in _epub_metadata(findings, name))
    return PACKAGE.format(metadata=metadata, items="\n".join(items), spine="\n".join(spine))


def _epub_metadata(findings: RunFindings, name: str) -> Iterator[str]:
    books = findings.brief.sources.books
    codes = dict.fromkeys(two_letter_code(code) for book in books if (code := three_letter_code(book.language)))
    yield f'<dc:identifier id="id">urn:uuid:{name}</dc:identifier>'
    yield f"<dc:title>{escaped(title_line(findings.topic))}</dc:title>"
    yield from (f"<dc:language>{escape(code)}</dc:language>" for code in codes or ("en",))
    yield "<dc:creator>kiwiresearch</dc:creator>"
    yield "<dc:type>research brief</dc:type>"
    yield from (f"<dc:source>{escaped(f'{book_title(book)} ({book.id})')}</dc:source>" for book in books)
    yield f"<dc:date>{findings.date}</dc:date>"
    yield f'<meta property="dcterms:modified">{findings.date}T00:00:00Z</meta>'
    features = (*ACCESS, *(WITH_PICTURES if findings.images else WITHOUT_PICTURES))
    yield from (f'<meta property="schema:{name}">{value}</meta>' for name, value in features)


ZIM_SUFFIX = ".html"
TIMEOUT_S = 900.0
MAX_TITLE = 30
MAX_DESCRIPTION = 80
"""Limits of the Kiwix catalogue."""

ZIM_FRAME = """<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<nav class="top" lang="en">{menu}</nav>
{contents}<main>
{body}
</main>
</body>
</html>
"""


def zim(findings: RunFindings) -> bytes:
    """The ZIM file; the same run gives the same bytes, UUID included, with the same version of libzim."""
    found = list(booklet_pages(findings, ZIM_SUFFIX))
    menu = " · ".join(
        f'<a href="{name}{ZIM_SUFFIX}">{words}</a>'
        for name, words in ((BRIEF, "Brief"), (NOTES, "Notes"), (SOURCES, "Sources and pages"))
        if any(page.name == name for page in found)
    )
    pages = [_zim_page(page, menu) for page in found]
    look = booklet_style(with_pictures=bool(findings.images))
    pages.append(NewPage("style.css", "", look.encode(), "text/css", is_article=False))
    kinds = {picture.sha256: picture.media_type for picture in findings.brief.pictures}
    for sha, name in findings.picture_names.items():
        pages.append(NewPage(name, "", findings.images[sha], kinds[sha], is_article=False))
    codes = _codes(findings)
    return _write_zim(
        build_request(pages, _zim_metadata(findings, codes), language=codes[0], main_path=f"{BRIEF}{ZIM_SUFFIX}")
    )


def _write_zim(request: bytes) -> bytes:
    """Write the ZIM file in a separate process: a server stays responsive, and libzim cannot print into its log."""
    try:
        with tempfile.TemporaryDirectory(prefix="kiwiresearch-", ignore_cleanup_errors=True) as folder:
            file = Path(folder) / "brief.zim"
            command = system.module_command(MODULE, str(file))
            subprocess.run(command, input=request, capture_output=True, timeout=TIMEOUT_S, check=True)  # noqa: S603
            return file.read_bytes()
    except (OSError, subprocess.SubprocessError) as problem:
        raise CannotWrite(
            "The ZIM file could not be written.",
            remedy="Free up space in the temporary folder, then try again.",
        ) from problem


def _zim_page(page: BookletPage, menu: str) -> NewPage:
    parts = "".join(f'<li><a href="#{anchor}">{escaped(heading)}</a></li>' for anchor, heading in page.parts)
    contents = f'<nav aria-label="Contents" lang="en">\n<ul class="contents">{parts}</ul>\n</nav>\n' if parts else ""
    text = ZIM_FRAME.format(
        lang=escape(page.language), title=escaped(page.title), menu=menu, contents=contents, body=page.body
    )
    return NewPage(f"{page.name}{ZIM_SUFFIX}", xml_safe(page.title), xml_safe(text).encode())


def _codes(findings: RunFindings) -> list[str]:
    """The languages of the books as ISO 639-3 codes, as ZIM files name them."""
    codes = dict.fromkeys(three_letter_code(book.language) for book in findings.brief.sources.books)
    return [code for code in codes if len(code) == 3] or ["eng"]


def _zim_metadata(findings: RunFindings, codes: list[str]) -> dict[str, str]:
    topic = xml_safe(title_line(findings.topic))
    books = findings.brief.sources.books
    return {
        "Name": f"kiwiresearch_{codes[0]}_{folder_name(topic)}",
        "Title": _shortened(topic, MAX_TITLE),
        "Description": _shortened(f"Research brief: {topic}", MAX_DESCRIPTION),
        "Language": ",".join(codes),
        "Creator": "kiwiresearch",
        "Publisher": "kiwiresearch",
        "Date": findings.date,
        "Source": xml_safe("; ".join(f"{title_line(book_title(book))} ({book.id})" for book in books)),
        "Scraper": xml_safe(f"kiwiresearch {title_line(findings.version)}"),
        "Tags": f"_category:research;_ftindex:yes;_pictures:{'yes' if findings.images else 'no'};_videos:no",
    }


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
