"""What clients get of books and pages, as the OpenAPI shows it: every field of the records that are sent."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

from kiwiresearch.claims.claim import ClaimType, DependsOn, NameSource
from kiwiresearch.ids import canonical_json
from kiwiresearch.search.find import MergeOrder
from kiwiresearch.zim import archive as books


class Json(JSONResponse):
    """JSON as the program writes it everywhere; letters that no encoding has become question marks."""

    def render(self, content: Any) -> bytes:
        return canonical_json(content).encode("utf-8", "replace")


class ScoreLineReply(BaseModel):
    """One reason for a score."""

    signal: str
    points: float


class PlaceReply(BaseModel):
    """A page by its book and path."""

    book_id: str
    path: str


class HitReply(BaseModel):
    """A page that a search found."""

    book: str
    book_id: str
    path: str
    title: str
    alias: str = Field(description="The other name that led here, where the page's own did not.")
    snippet: str
    score: float
    lines: list[ScoreLineReply] = Field(description="What the score is made of.")
    copies: list[PlaceReply] = Field(description="The same article in other books.")
    url: str = Field(description="Opens the page.")


class SenseReply(BaseModel):
    """One of several meanings of the query."""

    book_id: str
    path: str
    title: str
    line: str
    url: str


class SearchedBookReply(BaseModel):
    """A book that hits were taken from."""

    id: str
    name: str


class HiddenReply(BaseModel):
    """Pages that are left out of an answer by the policy of the server."""

    pages: int = Field(description="How many of the pages that the books offer first.")
    by: str = Field(description="Whose policy it is.")


class MissingBookReply(BaseModel):
    """A book that could not be asked."""

    id: str
    title: str


class MissingReply(BaseModel):
    """A host that is away, and the books that could not be asked for that."""

    host: str
    books: list[MissingBookReply]
    why: str


class SearchReply(BaseModel):
    """The pages that a search found, best first."""

    query: str
    corrected: str = Field(description="The query as it was understood, where words were mistyped.")
    order: MergeOrder
    books: list[SearchedBookReply]
    hits: list[HitReply]
    senses: list[SenseReply]
    hidden: HiddenReply | None = Field(None, description="There only where the policy of the server hides pages.")
    missing: list[MissingReply] | None = Field(None, description="There only where a host that has books is away.")


class SuggestionReply(BaseModel):
    """A page whose title begins with or holds what was typed."""

    title: str
    alias: str = Field(description="The other name of the page that matched; empty where its title did.")
    book: str
    book_id: str
    book_title: str
    path: str
    url: str


class SuggestReply(BaseModel):
    """Titles for a box that completes what is typed."""

    query: str
    suggestions: list[SuggestionReply]


class IndexesReply(BaseModel):
    """What a book can look up by itself."""

    full_text: bool
    titles: bool


class BookReply(BaseModel):
    """A book on the shelf. Of one that cannot be opened, only the first five fields are known."""

    id: str
    name: str
    title: str
    check: str = Field(description="`sound`, `unchecked`, `no checksum`, `damaged`, `served` or `broken`.")
    problem: str | None = Field(description="Why it cannot be read, if it cannot.")
    host: str | None = Field(None, description="The other host that has it; not there for a book of this one.")
    url: str | None = Field(None, description="Opens its first page.")
    description: str | None = None
    date: str | None = None
    languages: list[str] | None = None
    flavour: str | None = None
    creator: str | None = None
    publisher: str | None = None
    scraper: str | None = None
    tags: list[str] | None = None
    articles: int | None = None
    entries: int | None = None
    media: int | None = None
    size_bytes: int | None = None
    indexes: IndexesReply | None = None
    kind: books.BookKind | None = None
    main_page: str | None = None
    old_namespaces: bool | None = None
    is_wikipedia: bool | None = None
    lead_only: bool | None = None


class BooksReply(BaseModel):
    """The shelf."""

    sample: bool = Field(description="Whether this is the sample book, as the shelf is empty.")
    books: list[BookReply]


class SectionReply(BaseModel):
    """A section of a page; the first is the introduction."""

    heading: str
    level: int
    anchor: str
    text: str
    start_offset: int
    end_offset: int
    references: int


class PageReply(BaseModel):
    """A page as the program reads it; offsets count characters of `plain_text`."""

    id: str
    book: str = Field(description="The book's UUID.")
    path: str
    title: str
    url: str = Field(description="Opens the page.")
    language: str
    plain_text: str
    lead: str
    sections: list[SectionReply]
    links: list[dict[str, Any]]
    infoboxes: list[dict[str, Any]]
    tables: list[dict[str, Any]]
    marks: list[dict[str, Any]]
    categories: list[str]
    hatnotes: list[str]
    signals: dict[str, Any]
    revision: int | None
    edited: str
    source: str


class ClaimReply(BaseModel):
    """One thing that a page or a text says; the reference of claims tells what its fields mean."""

    claim_id: str
    claim: str = Field(description="The claim in words that stand alone.")
    claim_type: ClaimType
    also: list[ClaimType] = Field(description="What else it is.")
    subject: str
    name_put_in: NameSource = Field(
        description="Where a name comes from that stands in place of a pronoun: the `title` of the page, or the "
        "sentence `before`; empty where none was put in."
    )
    depends_on: DependsOn = Field(
        description="What it can only be read with: the `subject` of its page, or the `previous` sentence; "
        "empty where it can be read by itself."
    )
    scope: str
    names: list[str]
    topic_tags: list[str]
    confidence: float
    confidence_terms: list[ScoreLineReply]
    dates: list[dict[str, Any]]
    measures: list[dict[str, Any]]
    hedging: list[dict[str, Any]]
    hedging_flags: dict[str, bool]
    evidence_signals: dict[str, Any]
    origin: str = Field(description="Who found it: the rules, or a model.")
    book: str
    book_name: str
    path: str
    page_title: str
    section: str
    section_heading: str
    headings: list[str] = Field(description="The headings it stands below, the outermost first.")
    anchor: str
    spans: list[dict[str, Any]] = Field(description="Where its words stand in the `plain_text` of the page.")
    support_snippets: list[str] = Field(description="These words, letter by letter.")


class ClaimsReply(BaseModel):
    """What a page or a text claims, in its order."""

    title: str
    book: str
    path: str
    url: str = Field(description="Opens the page; empty for a text.")
    claims: list[ClaimReply]
    hedges: list[str] = Field(description="The words anywhere in it that hold back.")
