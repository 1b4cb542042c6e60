"""A run as an EPUB 3 for reading apps and e-readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from html import escape
from uuid import UUID

from kiwiresearch.brief.html import escaped
from kiwiresearch.research.export.findings import Findings, title_of
from kiwiresearch.research.export.leaf_style import style
from kiwiresearch.research.export.leaves import BRIEF, Leaf, leaves, one_line
from kiwiresearch.research.export.packing import Made, packed
from kiwiresearch.research.export.row import clean
from kiwiresearch.text.languages import three_letter_code, two_letter_code

MIMETYPE = Made("mimetype", b"application/epub+zip")
SUFFIX = ".xhtml"
CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <rootfiles>
    <rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/>
  </rootfiles>
</container>
"""
FRAME = """<?xml version="1.0" encoding="UTF-8"?>
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
"""What the standard for accessible books asks for, but for a summary."""
WITHOUT_PICTURES = (("accessibilitySummary", "Text with headings, lists, tables and links, and no pictures."),)
WITH_PICTURES = (
    ("accessMode", "visual"),
    ("accessibilityFeature", "alternativeText"),
    ("accessibilitySummary", "Text with headings, lists, tables and links; each picture is described in words."),
)


def epub(findings: Findings) -> bytes:
    """The whole book: contents, brief, notes, the pages with their quotes, sources."""
    found = list(leaves(findings, SUFFIX))
    look = style(with_pictures=bool(findings.images))
    files = [_file("nav.xhtml", _framed("Contents", _contents(found))), _file("style.css", look)]
    files += [_file(leaf.name + SUFFIX, _framed(leaf.title, _main(leaf.body), leaf.language)) for leaf in found]
    names = findings.picture_names
    files += [Made(f"EPUB/{names[sha]}", findings.images[sha]) for sha in names]
    seen = sha256(b"".join(content for _, content in files)).digest()
    package = _file("package.opf", _package(findings, found, str(UUID(bytes=seen[:16], version=5))))
    container = Made("META-INF/container.xml", CONTAINER.encode())
    return packed([MIMETYPE, container, package, *files], stored=[MIMETYPE.name])


def _file(name: str, text: str) -> Made:
    return Made(f"EPUB/{name}", clean(text).encode())


def _framed(title: str, body: str, language: str = "en") -> str:
    return FRAME.format(lang=escape(language), title=escaped(title), body=body)


def _main(body: str) -> str:
    return f"<main>\n{body}\n</main>"


def _contents(found: Sequence[Leaf]) -> str:
    lines = ['<nav epub:type="toc" id="toc">', "<h1>Contents</h1>", "<ol>"]
    for leaf in found:
        inner = "".join(
            f'<li><a href="{leaf.name}{SUFFIX}#{anchor}">{escaped(heading)}</a></li>' for anchor, heading in leaf.parts
        )
        below = f"<ol>{inner}</ol>" if inner else ""
        lines.append(f'<li><a href="{leaf.name}{SUFFIX}">{escaped(leaf.title)}</a>{below}</li>')
    return "\n".join([*lines, "</ol>", "</nav>"])


def _package(findings: Findings, found: Sequence[Leaf], name: str) -> str:
    items = [
        f'    <item id="{leaf.name}" href="{leaf.name}{SUFFIX}" media-type="application/xhtml+xml"/>' for leaf in found
    ]
    kinds = {one.sha256: one.media_type for one in findings.brief.pictures}
    items += [
        f'    <item id="picture-{number}" href="{name}" media-type="{kinds[sha]}"/>'
        for number, (sha, name) in enumerate(findings.picture_names.items(), start=1)
    ]
    spine = (f'    <itemref idref="{leaf.name}"/>' for leaf in _in_order(found))
    metadata = "\n".join(f"    {line}" for line in _metadata(findings, name))
    return PACKAGE.format(metadata=metadata, items="\n".join(items), spine="\n".join(spine))


def _in_order(found: Sequence[Leaf]) -> Iterator[Leaf]:
    yield from (leaf for leaf in found if leaf.name == BRIEF)
    yield from (leaf for leaf in found if leaf.name != BRIEF)


def _metadata(findings: Findings, name: str) -> Iterator[str]:
    books = findings.brief.sources.books
    codes = dict.fromkeys(two_letter_code(code) for book in books if (code := three_letter_code(book.language)))
    yield f'<dc:identifier id="id">urn:uuid:{name}</dc:identifier>'
    yield f"<dc:title>{escaped(one_line(findings.topic))}</dc:title>"
    yield from (f"<dc:language>{escape(code)}</dc:language>" for code in codes or ("en",))
    yield "<dc:creator>kiwiresearch</dc:creator>"
    yield "<dc:type>research brief</dc:type>"
    yield from (f"<dc:source>{escaped(f'{title_of(book)} ({book.id})')}</dc:source>" for book in books)
    yield f"<dc:date>{findings.date}</dc:date>"
    yield f'<meta property="dcterms:modified">{findings.date}T00:00:00Z</meta>'
    told = (*ACCESS, *(WITH_PICTURES if findings.images else WITHOUT_PICTURES))
    yield from (f'<meta property="schema:{name}">{value}</meta>' for name, value in told)
