"""Pages for tests: HTML in, what was read out, and short ways to look at it."""

from __future__ import annotations

from kiwiresearch.ids import BookId
from kiwiresearch.page.doc import Link, PageDoc
from kiwiresearch.page.parser import read_page
from kiwiresearch.zim.archive import Entry, EntryRef

BOOK = BookId("00000000-0000-0000-0000-000000000001")


def an_entry(content: str | bytes, *, title: str = "Page", path: str = "Page", mimetype: str = "text/html") -> Entry:
    """An entry of a book; text may have lone surrogates, as bad UTF-8 does."""
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    return Entry(EntryRef(BOOK, path), title, mimetype, content)


def a_page(
    content: str | bytes,
    *,
    title: str = "Page",
    path: str = "Page",
    mimetype: str = "text/html",
    language: str = "eng",
    lead_only: bool = False,
) -> PageDoc:
    """The page that this HTML is read into."""
    entry = an_entry(content, title=title, path=path, mimetype=mimetype)
    return read_page(entry, language=language, lead_only=lead_only)


def outline(page: PageDoc) -> list[str]:
    """Each section on a line: level, heading, anchor and text."""
    return [f"{s.level} {s.heading} #{s.anchor}: {page.section_text(s)}".rstrip() for s in page.sections]


def link_lines(page: PageDoc) -> list[str]:
    """Each link on a line: its place, its words and where it leads."""
    return [link_line(link) for link in page.links]


def link_line(link: Link) -> str:
    anchor = f"#{link.anchor}" if link.anchor else ""
    return f"{link.place}: {link.text} -> {link.target}{anchor}"


def box_lines(page: PageDoc) -> list[str]:
    """Each row of the infoboxes on a line."""
    return [f"{row.key}: {row.value}" for box in page.infoboxes for row in box.rows]


def kinds(page: PageDoc) -> list[str]:
    """Each block on a line: its kind and its words."""
    return [f"{block.kind}: {page.text[block.start : block.end]}" for block in page.blocks]


def tables(page: PageDoc) -> list[list[list[str]]]:
    """The words of the cells of the rows of the tables."""
    return [[[page.text[cell.start : cell.end] for cell in row] for row in table.rows] for table in page.tables]
