"""The pages a run visited, as the file of bookmarks that Kiwix exports and imports."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from kiwiresearch.research.export.document import document
from kiwiresearch.research.export.reading import RunGraph, RunPage

BOOK_PARTS = ("id", "title", "name", "flavour", "language", "date")


def bookmarks(run: RunGraph) -> str:
    """One bookmark for each page that was visited, in the order of the visits."""
    root = Element("bookmarks")
    visited = [(page.order or 0, page.ref, page) for page in run.pages if page.state == "visited"]
    for _, _, page in sorted(visited, key=lambda row: row[:2]):
        _bookmark(root, page)
    return document(root)


def _bookmark(root: Element, page: RunPage) -> None:
    mark = SubElement(root, "bookmark")
    book = SubElement(mark, "book")
    for part in BOOK_PARTS:
        SubElement(book, part).text = getattr(page.book, part)
    SubElement(mark, "title").text = page.label
    # Kiwix puts this behind 'zim://UUID.zim' as it stands: a slash, then the path, nothing percent-encoded
    SubElement(mark, "url").text = f"/{page.path}"
