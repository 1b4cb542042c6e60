"""A page of a book as the reading view shows it: article, contents and claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote as percent
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.requests import Request

from kiwiresearch.claims import CLAIM_TYPES, MAX_CLAIM_CHARS, Claim, ClaimType, has_claim_tables
from kiwiresearch.kin import has_family_words
from kiwiresearch.kin.extract import judge_page, subject_of
from kiwiresearch.page import (
    ANCHOR_PREFIX,
    CLAIM_ID,
    ArticleMarkup,
    ArticleOptions,
    Extent,
    PageDoc,
    Section,
    write_article,
)
from kiwiresearch.text import fold
from kiwiresearch.web.addresses import local_address, page_address
from kiwiresearch.web.book_pages import ReaderTarget, cached_claims, framed_address, large_page_turn, read_in_turn
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import ReadingKeys
from kiwiresearch.zim import Book, EntryRef

CLAIMS_PER_PAGE = 60


@dataclass(frozen=True, slots=True)
class ClaimSelection:
    """Which claims to list: those of a type, from a position among them."""

    type: ClaimType | None = None
    start: int = 0


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim, and the address of its words."""

    claim: Claim
    address: str
    is_marked: bool = False
    """Whether its words are those that the reader asked for."""


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


def claim_list(
    claims: Sequence[Claim], selection: ClaimSelection, address: str, *, are_marked: bool, marks: Sequence[str] = ()
) -> ClaimList:
    """The requested claims; `address` is that of the page with its parameters, `marks` are the words marked in it."""
    numbered = [(number, claim) for number, claim in enumerate(claims, 1) if selection.type in (None, claim.type)]
    last_part = max(len(numbered) - 1, 0) // CLAIMS_PER_PAGE * CLAIMS_PER_PAGE
    selection = replace(selection, start=min(selection.start, last_part))
    chosen = numbered[selection.start : selection.start + CLAIMS_PER_PAGE]
    counts = Counter(claim.type for claim in claims)
    lines = [
        ClaimLine(
            claim,
            f"#{CLAIM_ID}-{number}" if are_marked else marked_address(address, claim),
            is_marked=claim_span(claim) in marks,
        )
        for number, claim in chosen
    ]
    kinds = tuple((kind, counts[kind]) for kind in CLAIM_TYPES if counts[kind])
    return ClaimList(tuple(lines), kinds, len(numbered), len(claims), selection)


def claim_span(claim: Claim) -> str:
    """The place of a claim's words, as addresses spell it."""
    quote = claim.quotes[0]
    return f"{quote.start}-{quote.end}"


def marked_address(address: str, claim: Claim) -> str:
    """The address at which the words of a claim are marked."""
    return f"{address}{'&' if '?' in address else '?'}mark={claim_span(claim)}#mark"


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
    beside: bool = False
    """Whether the drawer with claims and notes is open."""

    @property
    def opens_drawer(self) -> bool:
        """Whether something in the drawer was asked for."""
        return bool(self.beside or self.run or self.claims.type or self.claims.start or self.with_claims)

    @property
    def list_query(self) -> str:
        """The query of this view with the same list of claims, without marks."""
        start = self.claims.start or None
        return replace(self, marks=()).query(with_claims=self.with_claims, start=start, beside="true")

    def query(self, *, with_claims: bool, **changed: object) -> str:
        """The query of the same view with claims marked or not, and with some values changed; None removes one."""
        values: dict[str, object] = {"run": self.run or None, "type": self.claims.type, "start": None}
        pairs = [(name, value) for name, value in (values | changed).items() if value is not None]
        marks = [("mark", mark) for mark in self.marks]
        return "?" + urlencode([*pairs, *marks, *([("claims", "true")] if with_claims else [])], errors="replace")


@dataclass(frozen=True, slots=True)
class SectionLine:
    """An entry of the table of contents: its depth, and its place in the article."""

    heading: str
    depth: int
    address: str


@dataclass(frozen=True, slots=True)
class ReadingPage:
    """A page that was read, and its bytes."""

    book: Book
    page: PageDoc
    content: bytes


def read_target(target: ReaderTarget) -> ReadingPage:
    """Read the page that an address leads to."""
    if target.entry is None:
        raise ValueError("a file is not shown as a page")
    book = target.book
    return ReadingPage(book, read_in_turn(target.entry, book), target.entry.content)


@dataclass(frozen=True, slots=True)
class PageView:
    """Everything that the view shows of a page, apart from a run."""

    book: Book
    page: PageDoc
    asked: PageQuery
    article: ArticleMarkup
    unmarked: tuple[str, ...]
    """Words that were to be marked and could not be."""
    original: str
    """Where the page is shown with its own look, or scripts."""
    address: str
    """Where the page is shown with the same list of claims."""
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
    def is_long(self) -> bool:
        """Whether claims are read only from the beginning of the page."""
        return len(self.page.text) > MAX_CLAIM_CHARS

    @property
    def markup(self) -> Markup:
        """The article for the template, which escapes all else: every tag of it was written by `write_article`."""
        return Markup(self.article.markup)  # noqa: S704

    @property
    def has_article(self) -> bool:
        """Whether there is anything to read in the article."""
        return self.article.is_whole and bool(self.page.text.strip())

    @property
    def title(self) -> str:
        return self.page.title or self.page.ref.path


def page_view(context: ServerContext, opened: ReadingPage, query: PageQuery, *, links_label: str) -> PageView:
    """Read the claims of a page, and write its article."""
    book, page = opened.book, opened.page
    claims = cached_claims(page, book)
    spans = [_span(mark) for mark in query.marks]
    first = EntryRef(book.id, "")
    options = ArticleOptions(
        pages=page_address(first),
        files=local_address(context.page_url(first)),
        query=f"?{urlencode({'run': query.run}, errors='replace')}" if query.run else "",
        marks=[span for span in spans if span.start < span.end <= len(page.text)],
        claims=[_span(claim_span(claim)) for claim in claims] if query.with_claims else (),
        links_label=links_label,
    )
    with large_page_turn(opened.content):
        article = write_article(opened.content, page, options)
    missed = [span for span in spans if span not in options.marks or span in article.unmarked]
    address = page_address(page.ref) + query.list_query
    return PageView(
        book=book,
        page=page,
        asked=query,
        article=article,
        unmarked=tuple(page.text[span.start : span.end][:MAX_UNMARKED_CHARS] for span in missed),
        original=original_address(context, page, query),
        address=address,
        sections=_contents(page),
        claims=claim_list(claims, query.claims, address, are_marked=query.with_claims, marks=query.marks),
        all_claims=claims,
        is_person=_is_about_a_person(page),
        lacks_section=bool(query.section.strip()),
    )


MAX_UNMARKED_CHARS = 600


def original_address(context: ServerContext, page: PageDoc, query: PageQuery) -> str:
    """Where a page is shown with its own look, and with the same words marked."""
    marks = "".join(f"&mark={mark}" for mark in query.marks)
    if context.workspace.settings.serve.scripts:  # a page that runs scripts could lead its own window anywhere
        return f"{page_address(page.ref)}?layout=original{marks}"
    return local_address(context.page_url(page.ref)) + (f"?{marks[1:]}#mark" if marks else "")


def frame_address(context: ServerContext, ref: EntryRef, query: PageQuery) -> str:
    """The address of a page with its own look for a frame of ours."""
    marks = "&".join(f"mark={mark}" for mark in query.marks)
    return framed_address(local_address(context.page_url(ref))) + (f"?{marks}#mark" if marks else "")


def original_frame_address(context: ServerContext, request: Request, ref: EntryRef, query: PageQuery) -> str:
    """The address of a page for the frame of its original layout, in which it may run its scripts.

    The key in it is only for browsers that say what a request is for: with others, nobody could tell our frame from
    a window, which scripts could lead anywhere.
    """
    address = frame_address(context, ref, query)
    if not context.workspace.settings.serve.scripts or "sec-fetch-dest" not in request.headers:
        return address
    keys: ReadingKeys = request.app.state.reading_keys
    return address.replace(
        framed_address(f"/read/{ref.book}"), f"/read/{ref.book}~{keys.key_for(ref.book, request)}", 1
    )


def section_place(page: PageDoc, name: str) -> str:
    """The place in the article of the section with this heading or anchor; empty if there is none."""
    found = page.below(name) if name.strip() else ()
    return _anchor(found[0]) if found else ""


def _span(text: str) -> Extent:
    start, _, end = text.partition("-")
    return Extent(int(start), int(end))


def _contents(page: PageDoc) -> tuple[SectionLine, ...]:
    sections = [section for section in page.sections[1:] if _anchor(section) and section.heading.strip()]
    if sections and fold(sections[0].heading) == fold(page.title):  # the page's own title is already shown above
        sections = sections[1:]
    top = min((section.level for section in sections), default=0)
    return tuple(
        SectionLine(section.heading, min(section.level - top, 3), _anchor(section))
        for section in sections[:MAX_SECTIONS]
    )


def _anchor(section: Section) -> str:
    """The anchor of a section, made from its heading as MediaWiki does if the page has none."""
    name = section.anchor or "_".join(section.heading.split())
    return f"#{ANCHOR_PREFIX}{percent(name, errors='replace')}" if name else ""


def _is_about_a_person(page: PageDoc) -> bool:
    return has_family_words(page.language) and judge_page(page, subject_of(page)).is_person
