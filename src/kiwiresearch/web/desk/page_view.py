"""A page of a book as the reading view shows it: frame, contents and claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote as percent
from urllib.parse import urlencode

from kiwiresearch.claims.claim import CLAIM_TYPES, Claim, ClaimType
from kiwiresearch.claims.language import has_claim_tables
from kiwiresearch.kin.extract.people import judge_page
from kiwiresearch.kin.extract.subject import subject_of
from kiwiresearch.kin.language import has_family_words
from kiwiresearch.page.display import CLAIM_ID
from kiwiresearch.page.doc import PageDoc, Section
from kiwiresearch.page.read import read_page
from kiwiresearch.text.words import fold
from kiwiresearch.web.addresses import local_address
from kiwiresearch.web.book_pages import ReaderTarget, cached_claims, framed_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.zim.archive import Book

CLAIMS_PER_PAGE = 60
"""How many claims are listed at a time."""


@dataclass(frozen=True, slots=True)
class ClaimSelection:
    """Which claims are to be listed: those of a type, from a place among them."""

    type: ClaimType | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim, and where it stands in the frame."""

    claim: Claim
    address: str


@dataclass(frozen=True, slots=True)
class ClaimList:
    """Some claims of a page, and how many there are."""

    lines: tuple[ClaimLine, ...]
    counts: tuple[tuple[ClaimType, int], ...]
    """How many there are of each type that there are any of."""
    total: int
    """How many there are of the type asked for."""
    all: int
    asked: ClaimSelection

    @property
    def first(self) -> int:
        return self.asked.start + 1

    @property
    def last(self) -> int:
        return self.asked.start + len(self.lines)

    @property
    def earlier(self) -> int | None:
        """Where the claims before these begin."""
        return max(self.asked.start - CLAIMS_PER_PAGE, 0) if self.asked.start else None

    @property
    def later(self) -> int | None:
        return self.last if self.last < self.total else None


def claim_list(claims: Sequence[Claim], selection: ClaimSelection, frame: str, *, are_marked: bool) -> ClaimList:
    """The claims asked for; `frame` is the address of the page in the frame, with the parameters it has now."""
    numbered = [(number, claim) for number, claim in enumerate(claims, 1) if selection.type in (None, claim.type)]
    last_part = max(len(numbered) - 1, 0) // CLAIMS_PER_PAGE * CLAIMS_PER_PAGE
    selection = replace(selection, start=min(selection.start, last_part))
    chosen = numbered[selection.start : selection.start + CLAIMS_PER_PAGE]
    counts = Counter(claim.type for claim in claims)
    lines = [
        ClaimLine(claim, f"{frame}#{CLAIM_ID}-{number}" if are_marked else marked_address(frame, claim))
        for number, claim in chosen
    ]
    kinds = tuple((kind, counts[kind]) for kind in CLAIM_TYPES if counts[kind])
    return ClaimList(tuple(lines), kinds, len(numbered), len(claims), selection)


def marked_address(frame: str, claim: Claim) -> str:
    """Where the words of a claim are marked in the frame."""
    quote = claim.quotes[0]
    return with_query(frame, [f"mark={quote.start}-{quote.end}"]) + "#mark"


def with_query(address: str, parameters: Sequence[str]) -> str:
    """An address with further parameters."""
    return address + "".join(("&" if "?" in address or at else "?") + one for at, one in enumerate(parameters))


MAX_SECTIONS = 200


@dataclass(frozen=True, slots=True)
class PageQuery:
    """How a page is to be shown."""

    run: str = ""
    marks: tuple[str, ...] = ()
    section: str = ""
    claims: ClaimSelection = field(default_factory=ClaimSelection)
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
class PageView:
    """All that the view shows of a page by itself."""

    book: Book
    page: PageDoc
    asked: PageQuery
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
        return has_claim_tables(self.page.language)

    @property
    def title(self) -> str:
        return self.page.title or self.page.ref.path


def page_view(room: ServerContext, opened: ReaderTarget, query: PageQuery) -> PageView:
    """Read an opened page and what it claims, and find the addresses of its parts in the frame."""
    if opened.entry is None:
        raise ValueError("a file is not shown as a page")
    book = opened.book
    page = read_page(opened.entry, language=book.language or "eng", lead_only=book.lead_only)
    claims = cached_claims(page, book)
    raw = local_address(room.page_url(page.ref))
    plain = with_query(framed_address(raw), ["claims=true"] if query.with_claims else [])
    place, lacks_section = _place(page, query)
    marks = [f"mark={mark}" for mark in query.marks]
    return PageView(
        book=book,
        page=page,
        asked=query,
        frame=with_query(plain, marks) + place,
        plain=plain,
        alone=with_query(raw, marks) + place,
        sections=_contents(page, plain),
        claims=claim_list(claims, query.claims, plain, are_marked=query.with_claims),
        all_claims=claims,
        is_person=_is_about_a_person(page),
        lacks_section=lacks_section,
    )


def _place(page: PageDoc, asked: PageQuery) -> tuple[str, bool]:
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
        for section in sections[:MAX_SECTIONS]
    )


def _anchor(section: Section) -> str:
    """Where the reader puts a section; MediaWiki's own way where the page names no place."""
    name = section.anchor or "_".join(section.heading.split())
    return f"#{percent(name, errors='replace')}" if name else ""


def _is_about_a_person(page: PageDoc) -> bool:
    return has_family_words(page.language) and judge_page(page, subject_of(page)).is_person
