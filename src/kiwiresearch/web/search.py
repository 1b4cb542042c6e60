"""Routes for search, titles, books, pages and claims, and the search in the forms of SearXNG and Open WebUI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from kiwiresearch.claims import ClaimType, PageClaims, claims_of_text
from kiwiresearch.codec import JsonDict, Record, extend
from kiwiresearch.errors import BadUsage
from kiwiresearch.page import PageDoc, page_record
from kiwiresearch.search import OpenBook, SearchOptions, SearchResult, search_books
from kiwiresearch.text import is_searchable
from kiwiresearch.web.bodies import MAX_WORDS, BookField, ClaimsBody, Name, Words
from kiwiresearch.web.book_pages import LocatedPage, books_named, claims_in_turn, page_at, page_named
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.web.replies import (
    BooksReply,
    ClaimsReply,
    HitReply,
    Json,
    JsonRoute,
    PageReply,
    SearchReply,
    SenseReply,
    SuggestionReply,
    SuggestReply,
)
from kiwiresearch.workspace import BookRecord, BookStatus, Finder, book_statuses, search_record, sections_named
from kiwiresearch.zim import Book, EntryRef, Match

MAX_HITS = 100
MAX_SUGGESTIONS = 50
BROKEN_BOOK = "This book cannot be opened. Run 'kiwiresearch books list' on the server to see why."

Q = Annotated[Words, Query(description="What to search for: a title, keywords or a question.")]
TypedText = Annotated[Words, Query(description="The text typed so far.")]
Limit = Annotated[int, Query(ge=1, le=MAX_HITS, description="How many pages to return.")]
SuggestionLimit = Annotated[int, Query(ge=1, le=MAX_SUGGESTIONS, description="How many titles to return.")]
Focus = Annotated[Name, Query(description="A hint for choosing between meanings, such as `planet`.")]
Fast = Annotated[bool, Query(description="Use only titles and the books' own indexes, without reading pages.")]
Title = Annotated[Name, Query(description="The page's title.", examples=["Sunset"])]
Path = Annotated[Name, Query(description="The page's path in its book, instead of its title.")]
SectionName = Annotated[
    Name, Query(description="Only the section with this heading or anchor, and the sections below it.")
]
BookFilter = Annotated[BookField, Query()]
ClaimTypeFilter = Annotated[ClaimType | None, Query(alias="type", description="Only claims of this type.")]


def router(context: ServerContext) -> APIRouter:
    """Routes that read from the books without a question."""
    routes = RoleRouter("reader", prefix="/api", tags=["find"], route_class=JsonRoute)

    @routes.get("/search")
    def search(q: Q, *, limit: Limit = 10, focus: Focus = "", fast: Fast = False, book: BookFilter = "") -> SearchReply:
        """Find pages, best first; each score shows how it is calculated."""
        return _search_reply(context, q, SearchOptions(limit=limit, fast=fast, focus=focus), book)

    @routes.get("/suggest")
    def suggest(q: TypedText, limit: SuggestionLimit = 10, book: BookFilter = "") -> SuggestReply:
        """Complete a title as it is typed."""
        return SuggestReply(q, title_suggestions(context, q, limit, book))

    @routes.get("/books")
    def books() -> BooksReply:
        """List the books in the library."""
        with context.locked_finder():
            rows = book_statuses(context.workspace, context.shelf)
        return BooksReply(context.shelf.is_sample, tuple(_book_record(context, row) for row in rows))

    @routes.get("/page")
    def page(title: Title = "", path: Path = "", book: BookFilter = "", section: SectionName = "") -> PageReply:
        """Read a page: its text, sections, facts, links and signals."""
        _, found = read_page(context, title, path, book)
        chosen = sections_named(found, section) if section.strip() else ()
        anchor = chosen[0].anchor if chosen else ""
        record = replace(page_record(found, only=chosen), url=context.page_url(found.ref, anchor=anchor))
        return extend(PageReply, record, is_cut=found.is_cut)

    @routes.get("/claims")
    def claims_of_a_page(
        title: Title = "", path: Path = "", book: BookFilter = "", kind: ClaimTypeFilter = None
    ) -> ClaimsReply:
        """List the claims of a page, with types, hedges and quotes."""
        place, found = read_page(context, title, path, book)
        return _claims_reply(claims_in_turn(found, place.book.book), kind, context.page_url(found.ref))

    @routes.post("/claims")
    def claims_of_a_text(body: ClaimsBody, kind: ClaimTypeFilter = None) -> ClaimsReply:
        """List the claims of your own text."""
        return _claims_reply(claims_of_text(body.text, body.title), kind, "")

    return routes


def run_search(finder: Finder, words: str, options: SearchOptions, book: str) -> SearchResult:
    """Search the shelf, or all books of one name."""
    if not is_searchable(words):
        raise BadUsage(
            "The search is empty.", remedy="Enter something to search for, for example 'Bronze Age collapse'."
        )
    if not book.strip():
        return finder.find(words, options)

    def in_those() -> SearchResult:
        chosen = books_named(finder, book)
        return search_books(chosen, words, replace(options, max_books=len(chosen)), finder.helpers)

    return finder.search_reachable_hosts(in_those)


def _search_reply(context: ServerContext, words: str, options: SearchOptions, book: str) -> SearchReply:
    with context.locked_finder() as finder:
        found = run_search(finder, words, options, book)
        record = search_record(found, finder)
    hits, senses = (tuple(context.page_url(row.ref) for row in rows) for rows in (found.hits, found.senses))
    return extend(
        SearchReply,
        record,
        hits=tuple(extend(HitReply, hit_record, url=url) for hit_record, url in zip(record.hits, hits, strict=True)),
        senses=tuple(
            extend(SenseReply, sense_record, url=url) for sense_record, url in zip(record.senses, senses, strict=True)
        ),
    )


def title_suggestions(context: ServerContext, words: str, limit: int, book: str) -> tuple[SuggestionReply, ...]:
    """Titles that begin with the words, then the books' own suggestions; each book's best before any second best."""
    if not is_searchable(words):
        return ()
    with context.locked_finder() as finder:
        offered = finder.with_reachable_hosts(
            lambda: [
                (place, open_book.book, match)
                for open_book in books_named(finder, book)
                for place, match in enumerate(_completions(open_book, words, limit))
            ]
        )
    offered.sort(key=lambda row: row[0])
    return tuple(_suggestion(context, book, match) for _, book, match in offered[:limit])


def _completions(book: OpenBook, words: str, limit: int) -> list[Match]:
    """Completions of one book: titles that begin with the words first, since its own suggestions often lack them."""
    rows = book.titles.prefix(words, limit) if book.titles else ()
    book.prefetch_titles(row.path for row in rows)
    by_prefix = [Match(row.path, book.title(row.path), alias=row.title if row.alias else "") for row in rows]
    # In reverse, so that of two matches for one path the earlier wins: one by prefix, which knows the alias.
    unique = {match.path: match for match in (*reversed(book.archive.suggest(words, limit)), *reversed(by_prefix))}
    return list(reversed(unique.values()))[:limit]


def _suggestion(context: ServerContext, book: Book, match: Match) -> SuggestionReply:
    ref = EntryRef(book.id, match.path)
    return SuggestionReply(
        match.title, match.alias, book.name, ref.book, book.title or book.name, ref.path, context.page_url(ref)
    )


def _book_record(context: ServerContext, row: BookStatus) -> BookRecord:
    """A book as clients see it, without the path of its file."""
    url = context.page_url(EntryRef(row.book.id, "")) if row.book else None
    return replace(row.record(), source=None, problem=BROKEN_BOOK if row.problem else None, url=url)


def read_page(context: ServerContext, title: str, path: str, book: str) -> tuple[LocatedPage, PageDoc]:
    """The page with this title or path, of which one is given, and where it is."""
    if bool(title.strip()) == bool(path.strip()):
        raise BadUsage("The request must name exactly one page.", remedy="Send either the title or the path of a page.")

    def found() -> tuple[LocatedPage, Callable[[], PageDoc]]:
        place = page_named(finder, title, book) if title.strip() else page_at(finder, path, book)
        return place, place.load()

    with context.locked_finder() as finder:
        place, read = finder.with_reachable_hosts(found)
    return place, read()


def _claims_reply(found: PageClaims, kind: str | None, url: str) -> ClaimsReply:
    return extend(ClaimsReply, found.of_type(kind or "").record(), url=url)


RESULTS_PER_PAGE = 10
"""How many results SearXNG has on a page."""
MAX_PAGES = 20
MAX_RESULTS = 100
CATEGORY = "general"

EngineQuery = Annotated[Words, Query(max_length=MAX_WORDS, description="What to search for.")]
ReplyFormat = Annotated[
    str, Query(alias="format", description="Only `json` is supported; other formats are refused, as by SearXNG.")
]
PageNumber = Annotated[
    int, Query(ge=1, le=1_000, description=f"Which {RESULTS_PER_PAGE} results to return, starting at 1.")
]


class ExternalSearch(BaseModel):
    """What Open WebUI sends to an external search engine."""

    model_config = ConfigDict(extra="ignore")

    query: Annotated[Words, Field(max_length=MAX_WORDS, examples=["Bronze Age collapse"])]
    count: int = Field(RESULTS_PER_PAGE, ge=1, description=f"How many results to return, at most {MAX_RESULTS}.")


@dataclass(frozen=True, slots=True)
class ExternalResult(Record):
    """A result as Open WebUI needs it."""

    link: str
    title: str
    snippet: str


def external_router(context: ServerContext) -> APIRouter:
    """Searches in the form of other engines, for programs written for them."""
    routes = RoleRouter("reader", tags=["outside search"], route_class=JsonRoute)

    @routes.get("/search", response_class=Json, responses={403: {"description": "A format other than JSON."}})
    def searxng(q: EngineQuery = "", form: ReplyFormat = "html", pageno: PageNumber = 1) -> Json:
        """Search in the format of SearXNG; its other parameters are accepted and have no effect."""
        if form != "json":
            raise HTTPException(403, "Only format=json is supported.")
        return Json(_searxng(context, q, pageno))

    @routes.post("/owui/search")
    def external(body: ExternalSearch) -> list[ExternalResult]:
        """Search in the format of Open WebUI's external search."""
        with context.locked_finder() as finder:
            hits = finder.find(body.query, SearchOptions(limit=min(body.count, MAX_RESULTS))).hits
        return [ExternalResult(context.page_url(hit.ref), hit.title, hit.snippet) for hit in hits]

    return routes


def _searxng(context: ServerContext, query: str, number: int) -> JsonDict:
    with context.locked_finder() as finder:
        found = finder.find(query, SearchOptions(limit=RESULTS_PER_PAGE * min(number, MAX_PAGES)))
        names = {book: finder.book_name(book) for book in {hit.ref.book for hit in found.hits}}
    hits = list(enumerate(found.hits, start=1))[RESULTS_PER_PAGE * (number - 1) : RESULTS_PER_PAGE * number]
    return {
        "query": query,
        "number_of_results": len(found.hits),
        "results": [
            {
                "url": context.page_url(hit.ref),
                "title": hit.title,
                "content": hit.snippet,
                "engine": names[hit.ref.book],
                "engines": [names[hit.ref.book]],
                "category": CATEGORY,
                # Clients sort by it, so it follows our order; SearXNG's own is made of places as well.
                "score": round(1 / place, 4),
                "positions": [place],
                "template": "default.html",
                "publishedDate": None,
            }
            for place, hit in hits
        ],
        "answers": [],
        "corrections": [found.corrected] if found.corrected else [],
        "infoboxes": [],
        # Other meanings of an ambiguous name are what to search for next.
        "suggestions": list(dict.fromkeys(sense.title for sense in found.senses)),
        "unresponsive_engines": [],
    } | ({"hidden": found.hidden.record()} if found.hidden.pages else {})
