"""Pages to search on: results that explain themselves, senses of a word on top, and one book if the reader wants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.errors import KiwiError
from kiwiresearch.research.finding import Finder
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.search.find import Findings, Wish
from kiwiresearch.search.hit import Hit, Score
from kiwiresearch.search.senses import Sense
from kiwiresearch.web.bodies import Name, Words
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.telling import offers, page_address
from kiwiresearch.web.finding import searched
from kiwiresearch.web.places import books_named
from kiwiresearch.web.problems import Problem, problem_of
from kiwiresearch.web.room import Room
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.lookup import near_titles

LIMIT = 20
MOST_NEAR = 6
NO_SCORE = Score()

Q = Annotated[Words, Query()]
OneBook = Annotated[Name, Query()]
Via = Annotated[str, Query(max_length=20)]


@dataclass(frozen=True, slots=True)
class ShownHit:
    """A page that was found."""

    title: str
    address: str
    book: str
    language: str
    snippet: str = ""
    alias: str = ""
    score: Score = NO_SCORE
    copies: tuple[tuple[str, str], ...] = ()
    """The same article in other books: their names and where it is read."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the part of the page shows that holds the results."""

    hits: tuple[ShownHit, ...] = ()
    senses: tuple[ShownHit, ...] = ()
    corrected: str = ""
    near: tuple[tuple[str, str], ...] = ()
    problem: Problem | None = None


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:  # noqa: ARG001 (as all parts of the desk are made)
    """The page at /find, and the part of it that a script puts there while somebody types."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/find")
    def find(request: Request, q: Q = "", book: OneBook = "", via: Via = "") -> Response:
        values = _values(room, q, book, Wish(limit=LIMIT))
        led = offers(q, but="find") if via and q else ()
        books = [(one.id, one.title or one.name) for one in room.shelf.books]
        return pages.show(request, "find.html", status=_status(values["shown"]), books=books, offers=led, **values)

    @routes.get("/find/results")
    def results(request: Request, q: Q = "", book: OneBook = "", *, fast: Annotated[bool, Query()] = False) -> Response:
        values = _values(room, q, book, Wish(limit=LIMIT, fast=fast))
        return pages.show(request, "find_results.html", status=_status(values["shown"]), **values)

    return routes


def _status(shown: Shown) -> int:
    return shown.problem.status if shown.problem else 200


def _values(room: Room, q: str, book: str, wish: Wish) -> dict[str, Any]:
    return {"q": q, "book": book, "shown": _found(room, q, wish, book) if q.strip() else Shown()}


def _found(room: Room, q: str, wish: Wish, book: str) -> Shown:
    try:
        with room.reading() as finder:
            found = searched(finder, q, wish, book)
            return _shown(finder, found) if found.hits else Shown(near=_near(finder, q, book))
    except KiwiError as error:
        return Shown(problem=problem_of(error))


def _shown(finder: Finder, found: Findings) -> Shown:
    sheets = {one.book.id: one.book for one in finder.books}
    hits = tuple(_hit(hit, sheets) for hit in found.hits)
    return Shown(hits, tuple(_sense(sense, sheets[sense.ref.book]) for sense in found.senses), found.corrected)


def _hit(hit: Hit, sheets: dict[Any, Book]) -> ShownHit:
    book = sheets[hit.ref.book]
    copies = tuple((_named(sheets[ref.book]), page_address(ref)) for ref in hit.copies if ref.book in sheets)
    address = page_address(hit.ref)
    return ShownHit(hit.title, address, _named(book), _language(book), hit.snippet, hit.alias, hit.score, copies)


def _sense(sense: Sense, book: Book) -> ShownHit:
    return ShownHit(sense.title, page_address(sense.ref), _named(book), _language(book), sense.line)


def _named(book: Book) -> str:
    return book.title or book.name


def _language(book: Book) -> str:
    return book.language or "eng"


def _near(finder: Finder, q: str, book: str) -> tuple[tuple[str, str], ...]:
    """Titles that the reader may have meant, and where they are searched for."""
    titles = dict.fromkeys(title for one in books_named(finder, book) for title in near_titles(one.archive, q))
    more = {"book": book} if book else {}
    return tuple((title, f"/find?{urlencode({'q': title, **more}, errors='replace')}") for title in titles)[:MOST_NEAR]
