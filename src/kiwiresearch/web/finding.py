"""Routes to the books themselves: search, titles as one types, pages and what they claim."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query

from kiwiresearch.claims.claim import ClaimType
from kiwiresearch.errors import BadUsage, PageNotFound
from kiwiresearch.page.doc import PageDoc, Section
from kiwiresearch.page.record import record_of as page_record
from kiwiresearch.research.claiming import Claimed, claims_of_page, claims_of_text
from kiwiresearch.research.finding import Finder
from kiwiresearch.research.finding import record_of as search_record
from kiwiresearch.research.inventory import Row, inventory
from kiwiresearch.search.find import Findings, Wish, find
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.web.bodies import BookField, ClaimsBody, Name, Words, has_words
from kiwiresearch.web.places import Place, books_named, page_at, page_named
from kiwiresearch.web.replies import BooksReply, ClaimsReply, Json, PageReply, SearchReply, SuggestReply
from kiwiresearch.web.room import Room
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import EntryRef, Match

MOST_HITS = 100
MOST_SUGGESTIONS = 50
BROKEN = "It cannot be opened; 'kiwiresearch books list' on the server says why."

Q = Annotated[Words, Query(description="What to look for: a title, some words or a question.")]
Typed = Annotated[Words, Query(description="What has been typed so far.")]
Limit = Annotated[int, Query(ge=1, le=MOST_HITS, description="How many pages to give.")]
Few = Annotated[int, Query(ge=1, le=MOST_SUGGESTIONS, description="How many titles to give.")]
Focus = Annotated[Name, Query(description="A hint that decides between senses, such as `planet`.")]
Fast = Annotated[bool, Query(description="Titles and the books' own indexes; no page is read.")]
Title = Annotated[Name, Query(description="The page's title.", examples=["Sunset"])]
Path = Annotated[Name, Query(description="The page's path in its book, instead of its title.")]
Part = Annotated[Name, Query(description="Only the section of this heading or anchor, and those below it.")]
OneBook = Annotated[BookField, Query()]
OfType = Annotated[ClaimType | None, Query(alias="type", description="Only claims of this type.")]


def router(room: Room) -> APIRouter:
    """Everything that is read from the books without asking a question."""
    routes = APIRouter(prefix="/api", tags=["find"])

    @routes.get("/search", response_class=Json, responses={200: {"model": SearchReply}})
    def search(q: Q, *, limit: Limit = 10, focus: Focus = "", fast: Fast = False, book: OneBook = "") -> Json:
        """Find pages, best first; each score says what it is made of."""
        return Json(_searched(room, q, Wish(limit=limit, fast=fast, focus=focus), book))

    @routes.get("/suggest", response_class=Json, responses={200: {"model": SuggestReply}})
    def suggest(q: Typed, limit: Few = 10, book: OneBook = "") -> Json:
        """Complete a title as it is typed."""
        return Json({"query": q, "suggestions": _suggested(room, q, limit, book)})

    @routes.get("/books", response_class=Json, responses={200: {"model": BooksReply}})
    def books() -> Json:
        """List the books on the shelf."""
        with room.reading():
            rows = inventory(room.desk, room.shelf)
        return Json({"sample": room.shelf.is_sample, "books": [_book_record(room, row) for row in rows]})

    @routes.get("/page", response_class=Json, responses={200: {"model": PageReply}})
    def page(title: Title = "", path: Path = "", book: OneBook = "", section: Part = "") -> Json:
        """Read a page: its text, sections, facts, links and signals."""
        _, found = _read(room, title, path, book)
        chosen = _sections(found, section)
        anchor = chosen[0].anchor if chosen else ""
        return Json(page_record(found, only=chosen) | {"url": room.page_url(found.ref, anchor=anchor)})

    @routes.get("/claims", response_class=Json, responses={200: {"model": ClaimsReply}})
    def claims_of_a_page(title: Title = "", path: Path = "", book: OneBook = "", kind: OfType = None) -> Json:
        """Show what a page claims, with types, hedges and the words that say so."""
        place, found = _read(room, title, path, book)
        return _claimed(claims_of_page(found, place.book.book.name), kind, room.page_url(found.ref))

    @routes.post("/claims", response_class=Json, responses={200: {"model": ClaimsReply}})
    def claims_of_a_text(body: ClaimsBody, kind: OfType = None) -> Json:
        """Show what a text of yours claims."""
        return _claimed(claims_of_text(body.text, body.title), kind, "")

    return routes


def searched(finder: Finder, words: str, wish: Wish, book: str) -> Findings:
    """What a search gives: over the shelf, or in all that goes by the name of one book."""
    if not has_words(words):
        raise BadUsage("The query has no words.", remedy="Ask for something, such as 'Bronze Age collapse'.")
    if not book.strip():
        return finder.find(words, wish)

    def in_those() -> Findings:
        chosen = books_named(finder, book)
        return find(chosen, words, replace(wish, max_books=len(chosen)), finder.advice)

    return finder.searched(in_those)


def _searched(room: Room, words: str, wish: Wish, book: str) -> dict[str, Any]:
    with room.reading() as finder:
        found = searched(finder, words, wish, book)
        record = search_record(found, finder)
        names = {hit.ref.book: finder.name_of(hit.ref.book) for hit in found.hits}
    return record | {
        "hits": [hit.record(names[hit.ref.book]) | {"url": room.page_url(hit.ref)} for hit in found.hits],
        "senses": [sense.record() | {"url": room.page_url(sense.ref)} for sense in found.senses],
    }


def _suggested(room: Room, words: str, limit: int, book: str) -> list[dict[str, str]]:
    """Titles that begin so, then the books' own suggestions; a book's best comes before any book's second."""
    if not has_words(words):
        return []
    with room.reading() as finder:
        offered = finder.asked(
            lambda: [
                (place, one.book, match)
                for one in books_named(finder, book)
                for place, match in enumerate(_offered(one, words, limit))
            ]
        )
    offered.sort(key=lambda row: row[0])
    return [_suggestion(room, book, match) for _, book, match in offered[:limit]]


def _offered(book: OpenBook, words: str, limit: int) -> list[Match]:
    """What a book offers for what was typed; its own suggestions seldom know which title one is about to finish."""
    rows = book.titles.prefix(words, limit) if book.titles else ()
    book.titles_ahead(row.path for row in rows)
    begun = [Match(row.path, book.title(row.path), alias=row.title if row.alias else "") for row in rows]
    unique = {match.path: match for match in (*reversed(book.archive.suggest(words, limit)), *reversed(begun))}
    return list(reversed(unique.values()))[:limit]


def _suggestion(room: Room, book: Book, match: Match) -> dict[str, str]:
    ref = EntryRef(book.id, match.path)
    return {
        "title": match.title,
        "alias": match.alias,
        "book": book.name,
        "book_id": ref.book,
        "book_title": book.title or book.name,
        "path": ref.path,
        "url": room.page_url(ref),
    }


def _book_record(room: Room, row: Row) -> dict[str, Any]:
    """What a client may know of a book: not where its file is."""
    record = row.record() | {"problem": BROKEN if row.problem else None}
    del record["source"]
    return record | ({"url": room.page_url(EntryRef(row.book.id, ""))} if row.book else {})


def _read(room: Room, title: str, path: str, book: str) -> tuple[Place, PageDoc]:
    if bool(title.strip()) == bool(path.strip()):
        raise BadUsage("Name one page.", remedy="Give either its title or its path.")

    def found() -> tuple[Place, PageDoc]:
        place = page_named(finder, title, book) if title.strip() else page_at(finder, path, book)
        return place, place.read()

    with room.reading() as finder:
        return finder.asked(found)


def _sections(page: PageDoc, wanted: str) -> tuple[Section, ...]:
    if not wanted.strip():
        return ()
    chosen = page.below(wanted)
    if not chosen:
        names = ", ".join(repr(section.heading) for section in page.sections[1:]) or "none but the lead"
        raise PageNotFound(f"The page {page.title!r} has no section {wanted!r}.", remedy=f"Its sections: {names}.")
    return chosen


def _claimed(found: Claimed, kind: str | None, url: str) -> Json:
    return Json(found.of_type(kind or "").record() | {"url": url})
