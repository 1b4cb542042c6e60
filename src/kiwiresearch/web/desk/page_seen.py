"""A page of a book as the reading view shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote as percent
from urllib.parse import urlencode

from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.tables import is_known
from kiwiresearch.kin.extract.people import told_person
from kiwiresearch.kin.extract.subject import subject_of
from kiwiresearch.kin.extract.words import family_words
from kiwiresearch.page.doc import PageDoc, Section
from kiwiresearch.page.read import read_page
from kiwiresearch.text.fold import fold
from kiwiresearch.web.desk.page_claims import ClaimList, ClaimsAsked, listed, with_query
from kiwiresearch.web.desk.pages import local
from kiwiresearch.web.page_claims_kept import KEPT_CLAIMS
from kiwiresearch.web.reader_open import Opened, framed
from kiwiresearch.web.room import Room
from kiwiresearch.zim.book import Book

MOST_SECTIONS = 200


@dataclass(frozen=True, slots=True)
class ViewAsked:
    """How a page is to be shown."""

    run: str = ""
    marks: tuple[str, ...] = ()
    section: str = ""
    claims: ClaimsAsked = field(default_factory=ClaimsAsked)
    with_claims: bool = False
    """Whether claims are marked in the text."""

    def query(self, *, with_claims: bool, **changed: object) -> str:
        """The same view with claims marked or not, and with other values where some are given; None leaves one out."""
        values: dict[str, object] = {"run": self.run or None, "type": self.claims.type, "start": None}
        pairs = [(name, value) for name, value in (values | changed).items() if value is not None]
        marks = [("mark", mark) for mark in self.marks]
        return "?" + urlencode([*pairs, *marks, *([("claims", "true")] if with_claims else [])], errors="replace")


@dataclass(frozen=True, slots=True)
class SectionLine:
    """An entry of the contents: how deep it stands, and where in the frame."""

    heading: str
    depth: int
    address: str


@dataclass(frozen=True, slots=True)
class PageSeen:
    """All that the view shows of a page by itself."""

    book: Book
    page: PageDoc
    asked: ViewAsked
    frame: str
    """What the frame shows first, the place in it included."""
    plain: str
    """The page in the frame with the parameters it has now, and no place in it."""
    alone: str
    sections: tuple[SectionLine, ...]
    claims: ClaimList
    all_claims: Sequence[Claim]
    is_person: bool
    lacks_section: bool

    @property
    def language(self) -> str:
        return self.page.language or self.book.language

    @property
    def is_read_whole(self) -> bool:
        """Whether claims are read from all of it; where a language has no tables, the first sentence must do."""
        return is_known(self.page.language)

    @property
    def title(self) -> str:
        return self.page.title or self.page.ref.path


def seen(room: Room, opened: Opened, asked: ViewAsked) -> PageSeen:
    """Read an opened page and what it claims, and find the addresses of its parts in the frame."""
    if opened.entry is None:
        raise ValueError("a file is not shown as a page")
    book = opened.book
    page = read_page(opened.entry, language=book.language or "eng", lead_only=book.lead_only)
    claims = KEPT_CLAIMS.of(page, book)
    raw = local(room.page_url(page.ref))
    plain = with_query(framed(raw), ["claims=true"] if asked.with_claims else [])
    place, lacks_section = _place(page, asked)
    marks = [f"mark={mark}" for mark in asked.marks]
    return PageSeen(
        book=book,
        page=page,
        asked=asked,
        frame=with_query(plain, marks) + place,
        plain=plain,
        alone=with_query(raw, marks) + place,
        sections=_contents(page, plain),
        claims=listed(claims, asked.claims, plain, are_marked=asked.with_claims),
        all_claims=claims,
        is_person=_is_about_a_person(page),
        lacks_section=lacks_section,
    )


def _place(page: PageDoc, asked: ViewAsked) -> tuple[str, bool]:
    """Where the page is opened: at the first mark, else at the section; and whether it has no such section."""
    if asked.marks:
        return "#mark", False
    found = page.below(asked.section) if asked.section.strip() else ()
    return (_anchor(found[0]) if found else ""), bool(asked.section.strip() and not found)


def _contents(page: PageDoc, plain: str) -> tuple[SectionLine, ...]:
    sections = [section for section in page.sections[1:] if _anchor(section) and section.heading.strip()]
    if sections and fold(sections[0].heading) == fold(page.title):  # the line above all has it, and 'Beginning'
        sections = sections[1:]
    top = min((section.level for section in sections), default=0)
    return tuple(
        SectionLine(section.heading, min(section.level - top, 3), plain + _anchor(section))
        for section in sections[:MOST_SECTIONS]
    )


def _anchor(section: Section) -> str:
    """Where the reader puts a section; MediaWiki's own way where the page names no place."""
    name = section.anchor or "_".join(section.heading.split())
    return f"#{percent(name, errors='replace')}" if name else ""


def _is_about_a_person(page: PageDoc) -> bool:
    words = family_words(page.language)
    return words is not None and told_person(page, subject_of(page), words).is_person
