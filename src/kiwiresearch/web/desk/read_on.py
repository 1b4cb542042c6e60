"""Where to read on behind an answer: the other sections of the page it was taken from."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from kiwiresearch.errors import KiwiError
from kiwiresearch.page.doc import PageDoc, Section
from kiwiresearch.page.read import open_page
from kiwiresearch.text.languages import words_of
from kiwiresearch.web.desk.answers import ShownSource
from kiwiresearch.web.desk.telling import page_address
from kiwiresearch.web.room import Room

MOST_SECTIONS = 6
LONGEST_HEADING = 80
PATIENCE_S = 1.0


@dataclass(frozen=True, slots=True)
class ReadOn:
    """A page, and sections of it by heading and address."""

    title: str
    language: str
    sections: tuple[tuple[str, str], ...]


def read_on(room: Room, source: ShownSource) -> ReadOn | None:
    """The sections of a cited page besides the one that was cited; None where there are none, or no time to look."""
    with room.reading_soon(PATIENCE_S) as finder:
        if finder is None:
            return None
        try:
            page = open_page(finder.book(source.ref.book).archive, source.ref.path)
        except KiwiError:
            return None
    address = page_address(source.ref)
    found = [section for section in _worth_reading(page) if section.heading != source.section][:MOST_SECTIONS]
    links = tuple((one.heading, f"{address}?section={quote(one.anchor, errors='replace')}") for one in found)
    return ReadOn(page.title, source.language, links) if links else None


def _worth_reading(page: PageDoc) -> list[Section]:
    """Sections right below the page itself that tell something: no lists of references, nothing without a place."""
    words = words_of(page.language)
    silent = words.references | words.see_also
    top = min((section.level for section in page.sections[1:]), default=0)
    return [
        section
        for section in page.sections[1:]
        if section.level == top
        and section.anchor
        and section.heading.casefold() not in silent
        and len(section.heading) <= LONGEST_HEADING
    ]
