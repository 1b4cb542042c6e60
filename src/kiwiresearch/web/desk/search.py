"""The search page: results that explain their score, with the searched words marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypedDict

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.errors import BookNotFound, KiwiError
from kiwiresearch.jobs import JobQueue
from kiwiresearch.search import Hit, Score, SearchEffort, SearchOptions, SearchResult, Sense, parse_query
from kiwiresearch.text import WORD, fold, is_in_unspaced_script, occurrences, plain_lower, stemmer
from kiwiresearch.web.addresses import list_address, page_address
from kiwiresearch.web.bodies import Name, Words
from kiwiresearch.web.book_pages import books_named
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.covers import picture_address
from kiwiresearch.web.desk.pages import PageRenderer
from kiwiresearch.web.desk.typed_words import other_actions, person_in
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.web.problems import Problem, problem_of
from kiwiresearch.web.search import run_search
from kiwiresearch.workspace import Finder
from kiwiresearch.zim import Book, MissingBooks, near_titles

Parts = tuple[tuple[str, bool], ...]
"""A text in pieces, each with whether it matches the query."""


def marked_parts(text: str, query: str, language: str) -> Parts:
    """A text of a book, divided where it has forms of the words of a query."""
    stem_of, lowered = stemmer(language), plain_lower(text)
    words = [term.word for term in parse_query(query, language).terms]
    places = sorted((at, _end(text, at, word)) for word in words for at in occurrences(lowered, word, stem_of))
    parts, done = [], 0
    for start, end in places:
        if start >= done:
            parts += [(text[done:start], False), (text[start:end], True)]
            done = end
    return tuple(part for part in (*parts, (text[done:], False)) if part[0])


def _end(text: str, start: int, word: str) -> int:
    """Where the form of a word ends that begins at `start`."""
    found = None if is_in_unspaced_script(word) else WORD.match(text, start)
    return found.end() if found else start + len(word)


DEFAULT_LIMIT = 20
MAX_RESULTS = 100
"""Results that a page can show; each link "more" adds some."""

MAX_NEAR = 6
NO_SCORE = Score()

Q = Annotated[Words, Query()]
OneBook = Annotated[Name, Query()]
Via = Annotated[str, Query(max_length=20)]
Most = Annotated[int, Query(ge=1, le=MAX_RESULTS)]


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
    """The same article in other books: their names and its addresses."""
    book_id: str = ""
    picture: str = ""
    """Where its lead picture is, if the book has pictures; whether the page has one is not known yet."""


@dataclass(frozen=True, slots=True)
class ResultsView:
    """The part of the page with the results."""

    hits: tuple[HitView, ...] = ()
    senses: tuple[HitView, ...] = ()
    corrected: str = ""
    takes_turns: bool = False
    """Whether results of different kinds of books alternate, because their points cannot be compared."""
    of_several: bool = False
    """Whether several books were searched, so that each result shows which one it is from."""
    is_more: bool = False
    """Whether there are more results than are shown."""
    more: str = ""
    """The address that shows more of them."""
    near: tuple[tuple[str, str], ...] = ()
    problem: Problem | None = None
    has_book: bool = True
    """Whether the requested book is on the shelf."""
    hidden: int = 0
    """The number of pages that the policy hides."""
    missing: tuple[MissingBooks, ...] = ()
    """Books that could not be searched because their hosts do not answer."""


class SearchValues(TypedDict):
    """The values of the part of the page with the results."""

    q: str
    book: str
    is_quick: bool
    shown: ResultsView


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:  # noqa: ARG001 (all desk routers share this signature)
    """The page at /find, and the part of it that the script replaces while the reader types."""
    routes = RoleRouter("reader", include_in_schema=False)

    @routes.get("/find")
    def find(request: Request, q: Q = "", book: OneBook = "", via: Via = "", most: Most = DEFAULT_LIMIT) -> Response:
        values = _values(context, q, book, SearchOptions(limit=most))
        led = other_actions(q, excluding="find", person=person_in(context, q)) if via and q else ()
        books = [(listed_book.id, listed_book.title or listed_book.name) for listed_book in context.shelf.books]
        return pages.show(request, "search.html", status=_status(values["shown"]), books=books, offers=led, **values)

    @routes.get("/find/results")
    def results(request: Request, q: Q = "", book: OneBook = "", *, fast: Annotated[bool, Query()] = False) -> Response:
        values = _values(context, q, book, SearchOptions(limit=DEFAULT_LIMIT, fast=fast))
        return pages.show(request, "search_results.html", status=_status(values["shown"]), **values)

    return routes


def _status(shown: ResultsView) -> int:
    if not shown.has_book:
        return 404
    return shown.problem.status if shown.problem else 200


def _values(context: ServerContext, q: str, book: str, options: SearchOptions) -> SearchValues:
    shown = _results(context, q, options, book) if q.strip() else ResultsView()
    return {"q": q, "book": book, "is_quick": options.fast, "shown": shown}


def _results(context: ServerContext, q: str, options: SearchOptions, book: str) -> ResultsView:
    try:
        with context.locked_finder() as finder:
            one_more = options.limit + 1  # one extra shows whether there are more
            wider = replace(options, limit=one_more, read=max(one_more, SearchEffort().read))
            found = run_search(finder, q, wider, book)
            if found.hits:
                return _results_view(finder, found, options.limit, book)
            return ResultsView(near=_near(finder, q, book), hidden=found.hidden.pages, missing=found.missing)
    except BookNotFound:
        return ResultsView(has_book=False)
    except KiwiError as error:
        return ResultsView(problem=problem_of(error))


def _results_view(finder: Finder, found: SearchResult, limit: int, book: str) -> ResultsView:
    books = {open_book.book.id: open_book.book for open_book in finder.books}
    words = found.corrected or found.query
    is_more = len(found.hits) > limit
    return ResultsView(
        hits=tuple(_hit(hit, books, words) for hit in found.hits[:limit]),
        senses=_senses(found.senses, books),
        corrected=found.corrected,
        takes_turns=found.order == "ranks",
        of_several=len(books) > 1 and not book,
        is_more=is_more,
        more=_more(found.query, book, limit) if is_more and limit < MAX_RESULTS else "",
        hidden=found.hidden.pages,
        missing=found.missing,
    )


def _hit(hit: Hit, books: dict[Any, Book], words: str) -> HitView:
    book = books[hit.ref.book]
    copies = tuple((_named(books[ref.book]), page_address(ref)) for ref in hit.copies if ref.book in books)
    snippet = marked_parts(hit.snippet, words, _language(book))
    return HitView(
        hit.title,
        page_address(hit.ref),
        _named(book),
        _language(book),
        snippet,
        hit.alias,
        hit.score,
        copies,
        book.id,
        picture_address(hit.ref) if book.media else "",
    )


def _senses(senses: Sequence[Sense], books: dict[Any, Book]) -> tuple[HitView, ...]:
    """Each sense once, even if several books have it."""
    first: dict[str, HitView] = {}
    for sense in senses:
        book, address, known = books[sense.ref.book], page_address(sense.ref), first.get(fold(sense.title))
        if known is None:
            line = ((sense.line, False),) if sense.line else ()
            first[fold(sense.title)] = HitView(sense.title, address, _named(book), _language(book), line)
        else:
            first[fold(sense.title)] = replace(known, copies=(*known.copies, (_named(book), address)))
    return tuple(first.values())


def _more(q: str, book: str, limit: int) -> str:
    """The address that shows the next results below these."""
    address = list_address("/find", {"q": q, "book": book, "most": min(limit + DEFAULT_LIMIT, MAX_RESULTS)})
    return f"{address}#hit-{limit + 1}"


def _named(book: Book) -> str:
    return book.title or book.name


def _language(book: Book) -> str:
    return book.language or "eng"


def _near(finder: Finder, q: str, book: str) -> tuple[tuple[str, str], ...]:
    """Titles that the reader may have meant, with the addresses that search for them."""
    titles = dict.fromkeys(
        title for open_book in books_named(finder, book) for title in near_titles(open_book.archive, q)
    )
    return tuple((title, list_address("/find", {"q": title, "book": book})) for title in titles)[:MAX_NEAR]
