"""A page of a book as the reading view shows it: frame, contents and claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote as percent
from urllib.parse import urlencode

from kiwiresearch.claims import CLAIM_TYPES, Claim, ClaimType, has_claim_tables
from kiwiresearch.kin import has_family_words
from kiwiresearch.kin.extract import judge_page, subject_of
from kiwiresearch.page import CLAIM_ID, PageDoc, Section, read_page
from kiwiresearch.text import fold
from kiwiresearch.web.addresses import local_address
from kiwiresearch.web.book_pages import ReaderTarget, cached_claims, framed_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.zim import Book

CLAIMS_PER_PAGE = 60


@dataclass(frozen=True, slots=True)
class ClaimSelection:
    """Which claims to list: those of a type, from a position among them."""

    type: ClaimType | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim, and the address of its words in the frame."""

    claim: Claim
    address: str


@dataclass(frozen=True, slots=True)
class ClaimList:
    """A part of the claims of a page, and how many there are."""

    lines: tuple[ClaimLine, ...]
    counts: tuple[tuple[ClaimType, int], ...]
    """The number of claims of each type that occurs."""
    total: int
    """The number of claims of the requested type."""
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
        """The position at which the part before starts."""
        return max(self.asked.start - CLAIMS_PER_PAGE, 0) if self.asked.start else None

    @property
    def later(self) -> int | None:
        return self.last if self.last < self.total else None


def claim_list(claims: Sequence[Claim], selection: ClaimSelection, frame: str, *, are_marked: bool) -> ClaimList:
    """The requested claims; `frame` is the address of the page in the frame with its parameters."""
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
    """The address in the frame at which the words of a claim are marked."""
    quote = claim.quotes[0]
    return with_query(frame, [f"mark={quote.start}-{quote.end}"]) + "#mark"


def with_query(address: str, parameters: Sequence[str]) -> str:
    """An address with further parameters."""
    return address + "".join(("&" if "?" in address or at else "?") + one for at, one in enumerate(parameters))


MAX_SECTIONS = 200


@dataclass(frozen=True, slots=True)
class PageQuery:
    """How to show a page."""

    run: str = ""
    marks: tuple[str, ...] = ()
    section: str = ""
    claims: ClaimSelection = field(default_factory=ClaimSelection)
    with_claims: bool = False
    """Whether claims are marked in the text."""

    def query(self, *, with_claims: bool, **changed: object) -> str:
        """The query of the same view with claims marked or not, and with some values changed; None removes one."""
        values: dict[str, object] = {"run": self.run or None, "type": self.claims.type, "start": None}
        pairs = [(name, value) for name, value in (values | changed).items() if value is not None]
        marks = [("mark", mark) for mark in self.marks]
        return "?" + urlencode([*pairs, *marks, *([("claims", "true")] if with_claims else [])], errors="replace")


@dataclass(frozen=True, slots=True)
class SectionLine:
    """An entry of the table of contents: its depth, and its address in the frame."""

    heading: str
    depth: int
    address: str


@dataclass(frozen=True, slots=True)
class PageView:
    """Everything that the view shows of a page, apart from a run."""

    book: Book
    page: PageDoc
    asked: PageQuery
    frame: str
    """The address that the frame opens, with the place in the page."""
    plain: str
    """The same address without the place."""
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
    def is_fully_read(self) -> bool:
        """Whether claims are read from the entire page; in languages without rules only the first sentence is read."""
        return has_claim_tables(self.page.language)

    @property
    def title(self) -> str:
        return self.page.title or self.page.ref.path


def page_view(room: ServerContext, opened: ReaderTarget, query: PageQuery) -> PageView:
    """Read an opened page and its claims, with the addresses of its parts in the frame."""
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
    """Where the page is opened: at the first mark, else at the section; and whether that section is missing."""
    if asked.marks:
        return "#mark", False
    found = page.below(asked.section) if asked.section.strip() else ()
    return (_anchor(found[0]) if found else ""), bool(asked.section.strip() and not found)


def _contents(page: PageDoc, plain: str) -> tuple[SectionLine, ...]:
    sections = [section for section in page.sections[1:] if _anchor(section) and section.heading.strip()]
    if sections and fold(sections[0].heading) == fold(page.title):  # the page's own title is already shown above
        sections = sections[1:]
    top = min((section.level for section in sections), default=0)
    return tuple(
        SectionLine(section.heading, min(section.level - top, 3), plain + _anchor(section))
        for section in sections[:MAX_SECTIONS]
    )


def _anchor(section: Section) -> str:
    """The anchor of a section, made from its heading as MediaWiki does if the page has none."""
    name = section.anchor or "_".join(section.heading.split())
    return f"#{percent(name, errors='replace')}" if name else ""


def _is_about_a_person(page: PageDoc) -> bool:
    return has_family_words(page.language) and judge_page(page, subject_of(page)).is_person
