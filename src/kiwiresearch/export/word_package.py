"""A document as a .docx file: a reproducible zip of XML parts, written without another library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from types import MappingProxyType

from kiwiresearch.document import Document, WordParts, WordPicture, escaped, is_rtl, picture_size, word_parts
from kiwiresearch.export.packing import ExportedFile, zip_files
from kiwiresearch.runs import xml_safe
from kiwiresearch.text import printable, short_language_code

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
RELATION = f"{OFFICE}/relationships"
WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    f'xmlns:r="{RELATION}" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"'
)
PARTS = ("styles", "numbering", "settings", "footnotes", "header", "footer")
"""The parts beside the text; the relationship of each has the same name."""
PAGE = (
    '<w:sectPr><w:headerReference w:type="default" r:id="header"/><w:footerReference w:type="default" r:id="footer"/>'
    '<w:pgSz w:w="11906" w:h="16838"/>'
    '<w:pgMar w:top="1304" w:right="1134" w:bottom="1134" w:left="1134" w:header="624" w:footer="567" w:gutter="0"/>'
    "</w:sectPr>"
)
"""A4."""
# Word expects these two before the footnotes themselves, which count from 1.
SEPARATORS = (
    '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
    '<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>'
)
SETTINGS = (
    '<w:zoom w:percent="100"/><w:defaultTabStop w:val="709"/>'
    '<w:footnotePr><w:footnote w:id="-1"/><w:footnote w:id="0"/></w:footnotePr>'
    '<w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" '
    'w:val="15"/></w:compat>'
)
BULLETS = "•–▪"


@dataclass(frozen=True, slots=True)
class WordProperties:
    """The properties of a Word file: what it is about, and the day it carries."""

    title: str
    subject: str
    date: str


@cache
def _styles() -> str:
    return (files("kiwiresearch.export") / "word_styles.xml").read_text(encoding="utf-8")


def word_file(
    document: Document,
    properties: WordProperties,
    images: Mapping[str, bytes] = MappingProxyType({}),
    targets: Mapping[str, str] = MappingProxyType({}),
    *,
    with_contents: bool = True,
) -> bytes:
    """The document as a .docx file; the same document gives the same bytes.

    `images` are the files of its pictures by their address, and `targets` the list entries that citations lead to.
    """
    sizes = {name: size for name, content in images.items() if (size := picture_size(content))}
    shown = {name: WordPicture(f"media/{name.rpartition('/')[2]}", size) for name, size in sizes.items()}
    text = word_parts(document, shown, targets, with_contents=with_contents)
    media = {shown[name].file: images[name] for name in sizes}
    parts = dict(_parts(document, properties, text))
    found = [ExportedFile(name, xml_safe(XML + content).encode()) for name, content in parts.items()]
    found += [ExportedFile(f"word/{name}", media[name]) for name in text.pictures]
    # The content types come first, as in files that Word writes; all else is in the order of its name.
    found.sort(key=lambda file: (file.name != "[Content_Types].xml", file.name))
    return zip_files(found)


def _parts(document: Document, properties: WordProperties, text: WordParts) -> Iterable[tuple[str, str]]:
    yield "[Content_Types].xml", _content_types(text.pictures)
    yield (
        "_rels/.rels",
        _relationships(
            (
                ("document", f"{RELATION}/officeDocument", "word/document.xml"),
                ("core", f"{PACKAGE}/relationships/metadata/core-properties", "docProps/core.xml"),
                ("app", f"{RELATION}/extended-properties", "docProps/app.xml"),
            )
        ),
    )
    yield "docProps/core.xml", _core(document, properties)
    yield (
        "docProps/app.xml",
        f'<Properties xmlns="{OFFICE}/extended-properties"><Application>kiwiresearch</Application></Properties>',
    )
    yield "word/document.xml", f"<w:document {NAMESPACES}><w:body>{text.body}{PAGE}</w:body></w:document>"
    inner = [(name, f"{RELATION}/{name}", f"{name}.xml") for name in PARTS]
    inner += [(f"picture{n}", f"{RELATION}/image", file) for n, file in enumerate(text.pictures, start=1)]
    yield "word/_rels/document.xml.rels", _relationships(inner, text.links)
    yield "word/footnotes.xml", f"<w:footnotes {NAMESPACES}>{SEPARATORS}{text.footnotes}</w:footnotes>"
    if text.footnote_links:
        yield "word/_rels/footnotes.xml.rels", _relationships((), text.footnote_links)
    # The language is the only gap in the styles, and the file itself has its XML declaration.
    yield "word/styles.xml", _styles().removeprefix(XML).replace("{language}", _language(document.language))
    yield "word/numbering.xml", f"<w:numbering {NAMESPACES}>{_numbering(text.numbered_lists)}</w:numbering>"
    yield "word/settings.xml", f"<w:settings {NAMESPACES}>{SETTINGS}</w:settings>"
    style = f'<w:pPr><w:pStyle w:val="Header"/>{"<w:bidi/>" if is_rtl(properties.title) else ""}</w:pPr>'
    yield "word/header.xml", f"<w:hdr {NAMESPACES}><w:p>{style}{_text(properties.title)}</w:p></w:hdr>"
    page = f"{_field('PAGE')}{_text(' / ')}{_field('NUMPAGES')}"
    yield "word/footer.xml", f'<w:ftr {NAMESPACES}><w:p><w:pPr><w:pStyle w:val="Footer"/></w:pPr>{page}</w:p></w:ftr>'


def _content_types(pictures: Iterable[str]) -> str:
    suffixes = sorted({file.rpartition(".")[2] for file in pictures})
    types = [("rels", "application/vnd.openxmlformats-package.relationships+xml"), ("xml", "application/xml")]
    types += [(suffix, f"image/{suffix}") for suffix in suffixes]
    parts = {f"/word/{name}.xml": f"{WORD_TYPE}.{name}+xml" for name in PARTS}
    parts |= {
        "/word/document.xml": f"{WORD_TYPE}.document.main+xml",
        "/docProps/core.xml": "application/vnd.openxmlformats-package.core-properties+xml",
        "/docProps/app.xml": "application/vnd.openxmlformats-officedocument.extended-properties+xml",
    }
    lines = [f'<Default Extension="{suffix}" ContentType="{kind}"/>' for suffix, kind in types]
    lines += [f'<Override PartName="{name}" ContentType="{parts[name]}"/>' for name in sorted(parts)]
    return f'<Types xmlns="{PACKAGE}/content-types">{"".join(lines)}</Types>'


def _relationships(inner: Iterable[tuple[str, str, str]], links: Iterable[str] = ()) -> str:
    """Parts by their ids, types and targets, and addresses outside the file."""
    lines = [f'<Relationship Id="{name}" Type="{kind}" Target="{escape(place)}"/>' for name, kind, place in inner]
    lines += [
        f'<Relationship Id="link{n}" Type="{RELATION}/hyperlink" Target="{escape(link)}" TargetMode="External"/>'
        for n, link in enumerate(links, start=1)
    ]
    return f'<Relationships xmlns="{PACKAGE}/relationships">{"".join(lines)}</Relationships>'


def _core(document: Document, properties: WordProperties) -> str:
    day = f'xsi:type="dcterms:W3CDTF">{properties.date}T00:00:00Z'
    return (
        f'<cp:coreProperties xmlns:cp="{PACKAGE}/metadata/core-properties" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escaped(properties.title)}</dc:title><dc:subject>{escaped(properties.subject)}</dc:subject>"
        f"<dc:creator>kiwiresearch</dc:creator><dc:language>{_code(document.language)}</dc:language>"
        f"<dcterms:created {day}</dcterms:created><dcterms:modified {day}</dcterms:modified></cp:coreProperties>"
    )


def _code(language: str) -> str:
    return escape(printable(short_language_code(language) or "en"))


def _language(language: str) -> str:
    """The language for the spelling checks of all scripts."""
    code = _code(language)
    return f'<w:lang w:val="{code}" w:eastAsia="{code}" w:bidi="{code}"/>'


def _numbering(numbered_lists: int) -> str:
    """One definition of bullets and one of numbers; each numbered list starts again at 1."""
    bullets = "".join(_level(n, "bullet", BULLETS[n % len(BULLETS)]) for n in range(9))
    numbers = "".join(_level(n, "decimal", f"%{n + 1}.") for n in range(9))
    lists = [
        f'<w:num w:numId="{index}"><w:abstractNumId w:val="1"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>'
        for index in range(2, 2 + numbered_lists)
    ]
    return (
        f'<w:abstractNum w:abstractNumId="0"><w:multiLevelType w:val="hybridMultilevel"/>{bullets}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="1"><w:multiLevelType w:val="hybridMultilevel"/>{numbers}</w:abstractNum>'
        f'<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>{"".join(lists)}'
    )


def _level(number: int, form: str, sign: str) -> str:
    indent = f'<w:pPr><w:ind w:left="{425 * (number + 1)}" w:hanging="425"/></w:pPr>'
    return (
        f'<w:lvl w:ilvl="{number}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{sign}"/>'
        f'<w:lvlJc w:val="left"/>{indent}</w:lvl>'
    )


def _text(words: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{escaped(words)}</w:t></w:r>'


def _field(name: str) -> str:
    return f'<w:fldSimple w:instr=" {name} ">{_text("1")}</w:fldSimple>'
