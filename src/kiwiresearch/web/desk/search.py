"""The search page: results that explain their score, with the searched words marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.errors import BookNotFound, KiwiError
from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.search.find import Findings, SearchOptions
from kiwiresearch.search.interpretation import Sense
from kiwiresearch.search.open_book import SearchEffort
from kiwiresearch.search.query import Hit, Score, parse_query
from kiwiresearch.text.languages import stemmer
from kiwiresearch.text.words import WORD, fold, has_no_spaces, occurrences, plain_lower
from kiwiresearch.web.addresses import page_address
from kiwiresearch.web.bodies import Name, Words
from kiwiresearch.web.book_pages import books_named
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.intent import other_actions
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.guard.roles import RoleRouter
from kiwiresearch.web.problems import Problem, problem_of
from kiwiresearch.web.search import run_search
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.zim.archive import Book
from kiwiresearch.zim.paths import near_titles
from kiwiresearch.zim.peer import MissingBooks

Parts = tuple[tuple[str, bool], ...]
"""A text in pieces, each with whether it was looked for."""


def marked_parts(text: str, query: str, language: str) -> Parts:
    """A text of a book, parted where forms of the words that matter in a query stand."""
    stem_of, levelled = stemmer(language), plain_lower(text)
    words = [term.word for term in parse_query(query, language).terms]
    places = sorted((at, _end(text, at, word)) for word in words for at in occurrences(levelled, word, stem_of))
    parts, done = [], 0
    for start, end in places:
        if start >= done:
            parts += [(text[done:start], False), (text[start:end], True)]
            done = end
    return tuple(part for part in (*parts, (text[done:], False)) if part[0])


def _end(text: str, start: int, word: str) -> int:
    """Where the form of a word that begins here ends."""
    whole = None if has_no_spaces(word) else WORD.match(text, start)
    return whole.end() if whole else start + len(word)


LIMIT = 20
MOST = 100
"""How many results can be asked for, some more at a time."""

MAX_NEAR = 6
NO_SCORE = Score()

Q = Annotated[Words, Query()]
OneBook = Annotated[Name, Query()]
Via = Annotated[str, Query(max_length=20)]
Most = Annotated[int, Query(ge=1, le=MOST)]


@dataclass(frozen=True, slots=True)
class HitView:
    """A page that was found, or a sense of the words."""

    title: str
    address: str
    book: str
    language: str
    snippet: Parts = ()
    alias: str = ""
    score: Score = NO_SCORE
    copies: tuple[tuple[str, str], ...] = ()
    """The same article in other books: their names and where it is read."""


@dataclass(frozen=True, slots=True)
class ResultsView:
    """What the part of the page shows that holds the results."""

    hits: tuple[HitView, ...] = ()
    senses: tuple[HitView, ...] = ()
    corrected: str = ""
    takes_turns: bool = False
    """Books of several kinds, whose points do not compare, stand in turn."""
    is_more: bool = False
    """There are results that are not shown."""
    more: str = ""
    """Where some of them are shown."""
    near: tuple[tuple[str, str], ...] = ()
    problem: Problem | None = None
    has_book: bool = True
    """The book that was asked for is here."""
    hidden: int = 0
    """How many pages the policy of the desk leaves out."""
    missing: tuple[MissingBooks, ...] = ()
    """Books that could not be asked, since their hosts are away."""


def router(room: ServerContext, jobs: JobQueue, pages: Pages) -> APIRouter:  # noqa: ARG001 (as all parts of the desk are made)
    """The page at /find, and the part of it that a script puts there while somebody types."""
    routes = RoleRouter("reader", include_in_schema=False)

    @routes.get("/find")
    def find(request: Request, q: Q = "", book: OneBook = "", via: Via = "", most: Most = LIMIT) -> Response:
        values = _values(room, q, book, SearchOptions(limit=most))
        led = other_actions(q, excluding="find") if via and q else ()
        books = [(one.id, one.title or one.name) for one in room.shelf.books]
        return pages.show(request, "search.html", status=_status(values["shown"]), books=books, offers=led, **values)

    @routes.get("/find/results")
    def results(request: Request, q: Q = "", book: OneBook = "", *, fast: Annotated[bool, Query()] = False) -> Response:
        values = _values(room, q, book, SearchOptions(limit=LIMIT, fast=fast))
        return pages.show(request, "search_results.html", status=_status(values["shown"]), **values)

    return routes


def _status(shown: ResultsView) -> int:
    if not shown.has_book:
        return 404
    return shown.problem.status if shown.problem else 200


def _values(room: ServerContext, q: str, book: str, wish: SearchOptions) -> dict[str, Any]:
    return {
        "q": q,
        "book": book,
        "shown": _results(room, q, wish, book) if q.strip() else ResultsView(),
    }


def _results(room: ServerContext, q: str, wish: SearchOptions, book: str) -> ResultsView:
    try:
        with room.locked_finder() as finder:
            one_more = wish.limit + 1  # tells whether there is more
            wider = replace(wish, limit=one_more, read=max(one_more, SearchEffort().read))
            found = run_search(finder, q, wider, book)
            if found.hits:
                return _results_view(finder, found, wish.limit, book)
            return ResultsView(near=_near(finder, q, book), hidden=found.hidden.pages, missing=found.missing)
    except BookNotFound:
        return ResultsView(has_book=False)
    except KiwiError as error:
        return ResultsView(problem=problem_of(error))


def _results_view(finder: Finder, found: Findings, limit: int, book: str) -> ResultsView:
    sheets = {one.book.id: one.book for one in finder.books}
    words = found.corrected or found.query
    is_more = len(found.hits) > limit
    return ResultsView(
        hits=tuple(_hit(hit, sheets, words) for hit in found.hits[:limit]),
        senses=_senses(found.senses, sheets),
        corrected=found.corrected,
        takes_turns=found.order == "ranks",
        is_more=is_more,
        more=_more(found.query, book, limit) if is_more and limit < MOST else "",
        hidden=found.hidden.pages,
        missing=found.missing,
    )


def _hit(hit: Hit, sheets: dict[Any, Book], words: str) -> HitView:
    book = sheets[hit.ref.book]
    copies = tuple((_named(sheets[ref.book]), page_address(ref)) for ref in hit.copies if ref.book in sheets)
    snippet = marked_parts(hit.snippet, words, _language(book))
    return HitView(
        hit.title, page_address(hit.ref), _named(book), _language(book), snippet, hit.alias, hit.score, copies
    )


def _senses(senses: Sequence[Sense], sheets: dict[Any, Book]) -> tuple[HitView, ...]:
    """Each sense once, though several books may tell of it."""
    first: dict[str, HitView] = {}
    for sense in senses:
        book, address, known = sheets[sense.ref.book], page_address(sense.ref), first.get(fold(sense.title))
        if known is None:
            line = ((sense.line, False),) if sense.line else ()
            first[fold(sense.title)] = HitView(sense.title, address, _named(book), _language(book), line)
        else:
            first[fold(sense.title)] = replace(known, copies=(*known.copies, (_named(book), address)))
    return tuple(first.values())


def _more(q: str, book: str, limit: int) -> str:
    """Where the next results are shown below these."""
    wish = {"q": q} | ({"book": book} if book else {}) | {"most": str(min(limit + LIMIT, MOST))}
    return f"/find?{urlencode(wish, errors='replace')}#hit-{limit + 1}"


def _named(book: Book) -> str:
    return book.title or book.name


def _language(book: Book) -> str:
    return book.language or "eng"


def _near(finder: Finder, q: str, book: str) -> tuple[tuple[str, str], ...]:
    """Titles that the reader may have meant, and where they are searched for."""
    titles = dict.fromkeys(title for one in books_named(finder, book) for title in near_titles(one.archive, q))
    more = {"book": book} if book else {}
    return tuple((title, f"/find?{urlencode({'q': title, **more}, errors='replace')}") for title in titles)[:MAX_NEAR]
