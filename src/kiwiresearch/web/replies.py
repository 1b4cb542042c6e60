"""What clients get of books and pages, as the OpenAPI shows it: every field of the records that are sent."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi.routing import APIRoute
from starlette.responses import JSONResponse, Response

from kiwiresearch.claims.claim import ClaimRecord
from kiwiresearch.codec import OMIT_DEFAULT, Record, plain
from kiwiresearch.ids import canonical_json
from kiwiresearch.search.find import MergeOrder
from kiwiresearch.zim import archive as books


class Json(JSONResponse):
    """JSON as the program writes it everywhere; letters that no encoding has become question marks."""

    def render(self, content: Any) -> bytes:
        return canonical_json(plain(content)).encode("utf-8", "replace")


class JsonRoute(APIRoute):
    """A route that names its reply as its return type and returns that value, which is sent as our JSON.

    FastAPI would pass it through pydantic, which changes numbers and knows nothing of keys that are left out.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        sends = endpoint if inspect.iscoroutinefunction(endpoint) else _sending(endpoint, options.get("status_code"))
        super().__init__(path, sends, **options)


def _sending(endpoint: Callable[..., Any], status: int | None) -> Callable[..., Response]:
    @functools.wraps(endpoint)
    def respond(*given: Any, **named: Any) -> Response:
        reply = endpoint(*given, **named)
        return reply if isinstance(reply, Response) else Json(reply, status or 200)

    return respond


@dataclass(frozen=True, slots=True)
class ScoreLineReply(Record):
    """One reason for a score."""

    signal: str
    points: float


@dataclass(frozen=True, slots=True)
class PlaceReply(Record):
    """A page by its book and path."""

    book_id: str
    path: str


@dataclass(frozen=True, slots=True)
class HitReply(Record):
    """A page that a search found."""

    book: str
    book_id: str
    path: str
    title: str
    alias: str
    """The other name that led here, where the page's own did not."""
    snippet: str
    score: float
    lines: tuple[ScoreLineReply, ...]
    """What the score is made of."""
    copies: tuple[PlaceReply, ...]
    """The same article in other books."""
    url: str
    """Opens the page."""


@dataclass(frozen=True, slots=True)
class SenseReply(Record):
    """One of several meanings of the query."""

    book_id: str
    path: str
    title: str
    line: str
    url: str


@dataclass(frozen=True, slots=True)
class SearchedBookReply(Record):
    """A book that hits were taken from."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class HiddenReply(Record):
    """Pages that are left out of an answer by the policy of the server."""

    pages: int
    """How many of the pages that the books offer first."""
    by: str
    """Whose policy it is."""


@dataclass(frozen=True, slots=True)
class MissingBookReply(Record):
    """A book that could not be asked."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class MissingReply(Record):
    """A host that is away, and the books that could not be asked for that."""

    host: str
    books: tuple[MissingBookReply, ...]
    why: str


@dataclass(frozen=True, slots=True)
class SearchReply(Record):
    """The pages that a search found, best first."""

    query: str
    corrected: str
    """The query as it was understood, where words were mistyped."""
    order: MergeOrder
    books: tuple[SearchedBookReply, ...]
    hits: tuple[HitReply, ...]
    senses: tuple[SenseReply, ...]
    hidden: HiddenReply | None = field(default=None, metadata=OMIT_DEFAULT)
    """There only where the policy of the server hides pages."""
    missing: tuple[MissingReply, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    """There only where a host that has books is away."""


@dataclass(frozen=True, slots=True)
class SuggestionReply(Record):
    """A page whose title begins with or holds what was typed."""

    title: str
    alias: str
    """The other name of the page that matched; empty where its title did."""
    book: str
    book_id: str
    book_title: str
    path: str
    url: str


@dataclass(frozen=True, slots=True)
class SuggestReply(Record):
    """Titles for a box that completes what is typed."""

    query: str
    suggestions: tuple[SuggestionReply, ...]


@dataclass(frozen=True, slots=True)
class IndexesReply(Record):
    """What a book can look up by itself."""

    full_text: bool
    titles: bool


@dataclass(frozen=True, slots=True)
class BookReply(Record):
    """A book on the shelf. Of one that cannot be opened, only the first five fields are known."""

    id: str
    name: str
    title: str
    check: str
    """`sound`, `unchecked`, `no checksum`, `damaged`, `served` or `broken`."""
    problem: str | None
    """Why it cannot be read, if it cannot."""
    host: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """The other host that has it; not there for a book of this one."""
    url: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """Opens its first page."""
    description: str | None = field(default=None, metadata=OMIT_DEFAULT)
    date: str | None = field(default=None, metadata=OMIT_DEFAULT)
    languages: tuple[str, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    flavour: str | None = field(default=None, metadata=OMIT_DEFAULT)
    creator: str | None = field(default=None, metadata=OMIT_DEFAULT)
    publisher: str | None = field(default=None, metadata=OMIT_DEFAULT)
    scraper: str | None = field(default=None, metadata=OMIT_DEFAULT)
    tags: tuple[str, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    articles: int | None = field(default=None, metadata=OMIT_DEFAULT)
    entries: int | None = field(default=None, metadata=OMIT_DEFAULT)
    media: int | None = field(default=None, metadata=OMIT_DEFAULT)
    size_bytes: int | None = field(default=None, metadata=OMIT_DEFAULT)
    indexes: IndexesReply | None = field(default=None, metadata=OMIT_DEFAULT)
    kind: books.BookKind | None = field(default=None, metadata=OMIT_DEFAULT)
    main_page: str | None = field(default=None, metadata=OMIT_DEFAULT)
    old_namespaces: bool | None = field(default=None, metadata=OMIT_DEFAULT)
    is_wikipedia: bool | None = field(default=None, metadata=OMIT_DEFAULT)
    lead_only: bool | None = field(default=None, metadata=OMIT_DEFAULT)


@dataclass(frozen=True, slots=True)
class BooksReply(Record):
    """The shelf."""

    sample: bool
    """Whether this is the sample book, as the shelf is empty."""
    books: tuple[BookReply, ...]


@dataclass(frozen=True, slots=True)
class SectionReply(Record):
    """A section of a page; the first is the introduction."""

    heading: str
    level: int
    anchor: str
    text: str
    start_offset: int
    end_offset: int
    references: int


@dataclass(frozen=True, slots=True)
class PageReply(Record):
    """A page as the program reads it; offsets count characters of `plain_text`."""

    id: str
    book: str
    """The book's UUID."""
    path: str
    title: str
    url: str
    """Opens the page."""
    language: str
    plain_text: str
    lead: str
    sections: tuple[SectionReply, ...]
    links: tuple[dict[str, Any], ...]
    infoboxes: tuple[dict[str, Any], ...]
    tables: tuple[dict[str, Any], ...]
    marks: tuple[dict[str, Any], ...]
    categories: tuple[str, ...]
    hatnotes: tuple[str, ...]
    signals: dict[str, Any]
    revision: int | None
    edited: str
    source: str


@dataclass(frozen=True, slots=True)
class ClaimsReply(Record):
    """What a page or a text claims, in its order."""

    title: str
    book: str
    path: str
    url: str
    """Opens the page; empty for a text."""
    claims: tuple[ClaimRecord, ...]
    hedges: tuple[str, ...]
    """The words anywhere in it that hold back."""
