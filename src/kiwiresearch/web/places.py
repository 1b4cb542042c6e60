"""Books and pages as clients name them: only those of this shelf, never a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kiwiresearch.errors import BadUsage, BookNotFound, PageNotFound
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.read import open_page
from kiwiresearch.research.book_names import by_name
from kiwiresearch.research.desk import near_it
from kiwiresearch.research.finding import Finder
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.guarded import hidden_named
from kiwiresearch.zim.lookup import find_path


@dataclass(frozen=True, slots=True)
class Place:
    """A page of a book, found but not read."""

    book: OpenBook
    path: str

    def read(self) -> PageDoc:
        return open_page(self.book.archive, self.path)


def books_named(finder: Finder, wanted: str) -> Sequence[OpenBook]:
    """The books that go by this name, title or UUID; all where none is named."""
    if not wanted.strip():
        return finder.books
    found = by_name(finder.books, wanted, lambda one: one.book)
    if not found:
        if away := finder.away(wanted):
            raise away
        raise BookNotFound(f"There is no book {wanted!r} here.", remedy="GET /api/books lists those that are.")
    return found


def page_named(finder: Finder, title: str, book: str = "") -> Place:
    """The page of this title, or of this path, in the first book that has it."""
    if not title.strip():
        raise BadUsage("The page has no name.", remedy="Give its title, such as 'Sunset', or its path.")
    books = books_named(finder, book)
    for one in books:
        if path := find_path(one.archive, title):
            return Place(one, path)
    archives = [one.archive for one in books]
    near = near_it(archives, title)
    raise hidden_named(archives, title) or PageNotFound(
        f"No book here has a page {title!r}.", remedy=near or "GET /api/search finds pages."
    )


def page_at(finder: Finder, path: str, book: str = "") -> Place:
    """The page at exactly this path, else the one of this name."""
    for one in books_named(finder, book) if path.strip() else ():
        if found := one.archive.resolve(path):
            return Place(one, found)
    return page_named(finder, path, book)
