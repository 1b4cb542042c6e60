"""Where a reader can look a quote up: the page, the section, and the words in it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote as percent

from kiwiresearch.evidence.quote import Quote
from kiwiresearch.page.doc import PageDoc, Section
from kiwiresearch.zim.entry import EntryRef

Address = Callable[[EntryRef], str]
"""Where a reader opens a page: an own reader, a kiwix-serve, or the book by its UUID."""

BOX = "facts box"
INTRODUCTION = "introduction"
LONGEST_FRAGMENT = 60
EDGE_WORDS = 4


class Place(NamedTuple):
    """A section of a page; its name is empty in the introduction."""

    section: str
    anchor: str


def place_of(page: PageDoc, offset: int) -> Place:
    """The section an offset of the text is in; boxes stand behind the article's own text."""
    sections = page.sections
    if offset >= sections[-1].end and any(box.start <= offset < box.end for box in page.infoboxes):
        return Place(BOX, "")
    section = section_at(sections, offset)
    return Place(section.heading, section.anchor)


def section_at(sections: tuple[Section, ...], offset: int) -> Section:
    return sections[max(bisect_right(sections, offset, key=lambda section: section.heading_start) - 1, 0)]


class Citation(NamedTuple):
    """A quote with all that is needed to find it again, in this book or in a copy of it."""

    quote: Quote
    book_name: str
    title: str
    section: str
    anchor: str

    @property
    def words(self) -> str:
        """The citation as readers see it: Bronze Age collapse — “Theories” section."""
        return cited(self.title, self.section)

    def url(self, address: Address, *, highlight: bool = False) -> str:
        """The page at its section; with `highlight` also the words, for browsers that show them."""
        url = address(self.quote.ref)
        fragment = percent(self.anchor, errors="replace") if self.anchor else ""
        if highlight and url.startswith("http"):
            fragment += ":~:text=" + _fragment(self.quote.text)
        return f"{url}#{fragment}" if fragment else url


def cited(title: str, section: str) -> str:
    """How a page and its section are named in a citation."""
    if not section:
        return f"{title} — {INTRODUCTION}"
    return f"{title} — {section}" if section.startswith(BOX) else f"{title} — “{section}” section"


def _fragment(text: str) -> str:
    """The words of a text fragment: all of a short quote, first and last words of a long one."""
    words = " ".join(text.split())
    if len(words) <= LONGEST_FRAGMENT:
        return _escaped(words)
    parts = words.split()
    if len(parts) < 2 * EDGE_WORDS:
        return _escaped(words)
    return f"{_escaped(' '.join(parts[:EDGE_WORDS]))},{_escaped(' '.join(parts[-EDGE_WORDS:]))}"


def _escaped(text: str) -> str:
    return percent(text, safe="", errors="replace").replace("-", "%2D")
