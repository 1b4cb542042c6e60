"""Small pieces of WordprocessingML: runs, paragraphs, links, table cells and pictures."""

from __future__ import annotations

from html import escape

from kiwiresearch.document.html import escaped
from kiwiresearch.document.picture_header import PictureSize
from kiwiresearch.document.svg import is_rtl
from kiwiresearch.text import printable

MAX_LIST_LEVEL = 8
# English metric units: 914,400 to the inch of 96 pixels, and 360,000 to the centimetre.
EMU_PER_PIXEL = 9525
MAX_WIDTH_EMU = 9 * 360_000
MAX_HEIGHT_EMU = 10 * 360_000
"""The largest picture: 9 cm wide and 10 cm high."""
TEXT_WIDTH = 9638
"""The width of the text in twentieths of a point: A4 with margins of 2 cm."""
# The limit of Word itself; names and links are cut in the same way, so that they still match.
MAX_BOOKMARK_CHARS = 40
PICTURE_TYPE = "http://schemas.openxmlformats.org/drawingml/2006/picture"


def run(text: str, *, bold: bool = False, italic: bool = False, style: str = "") -> str:
    """Words in one format; the empty text is nothing."""
    if not text:
        return ""
    properties = f'<w:rStyle w:val="{style}"/>' if style else ""
    properties += ("<w:b/>" if bold else "") + ("<w:i/>" if italic else "") + ("<w:rtl/>" if is_rtl(text) else "")
    properties = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{properties}<w:t xml:space="preserve">{escaped(text)}</w:t></w:r>'


def paragraph(runs: str, style: str, words: str, properties: str = "") -> str:
    """A paragraph; its `words` decide its direction. `properties` follow the order of the schema."""
    properties = (f'<w:pStyle w:val="{style}"/>' if style else "") + properties
    properties += "<w:bidi/>" if is_rtl(words) else ""
    properties = f"<w:pPr>{properties}</w:pPr>" if properties else ""
    return f"<w:p>{properties}{runs}</w:p>"


def numbering(list_id: int, level: int = 0) -> str:
    level = min(level, MAX_LIST_LEVEL)
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>'


def heading_bookmark(number: int) -> str:
    """The bookmark of a heading, in the form that Word itself gives those in its contents."""
    return f"_Toc{number:08d}"


def bookmark(number: int, name: str, runs: str) -> str:
    start = f'<w:bookmarkStart w:id="{number}" w:name="{name[:MAX_BOOKMARK_CHARS]}"/>'
    return f'{start}{runs}<w:bookmarkEnd w:id="{number}"/>'


def inner_link(name: str, words: str, style: str = "Hyperlink") -> str:
    """A link to a bookmark."""
    return f'<w:hyperlink w:anchor="{name[:MAX_BOOKMARK_CHARS]}" w:history="1">{run(words, style=style)}</w:hyperlink>'


def table_start(columns: int, label: str) -> str:
    """The opening of a table over the whole width, with a description for screen readers."""
    described = f'<w:tblCaption w:val="{_attribute(label)}"/>' if label else ""
    grid = f'<w:gridCol w:w="{TEXT_WIDTH // columns}"/>' * columns
    return (
        '<w:tbl><w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="5000" w:type="pct"/>'
        f'<w:tblLook w:val="0020" w:firstRow="1" w:noVBand="1"/>{described}</w:tblPr>'
        f"<w:tblGrid>{grid}</w:tblGrid>"
    )


def table_cell(runs: str, words: str, columns: int) -> str:
    width = f'<w:tcPr><w:tcW w:w="{TEXT_WIDTH // columns}" w:type="dxa"/></w:tcPr>'
    return f"<w:tc>{width}{paragraph(runs, 'TableText', words)}</w:tc>"


def drawing(number: int, size: PictureSize, alt: str) -> str:
    """The run of a picture in the line, no larger than it is and than the page allows."""
    scale = min(1, MAX_WIDTH_EMU / (size.width * EMU_PER_PIXEL), MAX_HEIGHT_EMU / (size.height * EMU_PER_PIXEL))
    width, height = (max(1, round(side * EMU_PER_PIXEL * scale)) for side in size)
    named = f'id="{number}" name="Picture {number}" descr="{_attribute(alt)}"'
    extent = f'cx="{width}" cy="{height}"'
    return (
        f'<w:r><w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent {extent}/>'
        f'<wp:docPr {named}/><a:graphic><a:graphicData uri="{PICTURE_TYPE}"><pic:pic>'
        f"<pic:nvPicPr><pic:cNvPr {named}/><pic:cNvPicPr/></pic:nvPicPr>"
        f'<pic:blipFill><a:blip r:embed="picture{number}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>'
        f'<pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext {extent}/></a:xfrm>'
        '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr>'
        "</pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    )


def _attribute(text: str) -> str:
    return escape(printable(text))
