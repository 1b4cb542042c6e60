"""Tier 0: the user's own books, searched and read locally; never the network."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from kiwiresearch.errors import HostUnreachable, KiwiError, PageNotFound
from kiwiresearch.kin.sources.source import MAX_PEOPLE, SUFFIXES, FetchedRecord, PersonQuery
from kiwiresearch.kin.tree import Source, row_id
from kiwiresearch.page import PageDoc, open_page
from kiwiresearch.search import OpenBook, SearchOptions, SearchResult, search_books
from kiwiresearch.text import fold
from kiwiresearch.zim import SCHEME, hidden_page_error

SEARCH_LIMIT = 10
LEAD_CHARS = 1_500
"""The years of a person are at the beginning of a page, or in the box."""
NAME_LINK_WORDS = frozenset({"of", "the", "de", "von", "van", "der", "la", "le", "du", "da", "di", "and", "y", "e"})
# Both years, as `_years` counts them.
BOTH = 2


def content_hash(text: str) -> str:
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class NameSearch:
    """Pages found for a name, each with the alias that led to it."""

    pages: tuple[tuple[FetchedRecord, str], ...]
    corrected: str = ""
    """The corrected name, if no book knows a word of it."""


class BookSource:
    """The books of a case, the first that has a person's page first."""

    id = "wikipedia"
    tier = 0

    def __init__(self, books: Sequence[OpenBook], *, accessed_at: str = "") -> None:
        self._books = tuple(books)
        self._accessed_at = accessed_at

    def search(self, query: PersonQuery) -> Sequence[FetchedRecord]:
        """Pages with the person's name, those first whose years fit.

        A page that shares only one word of the name counts if it has both years:
        trees and books often name the same person differently.
        """
        if not query.name.strip():
            return []
        found: dict[tuple[str, str], tuple[tuple[int, int, int], FetchedRecord]] = {}
        for index, (book, path, alias) in enumerate(self._candidates(query.name)):
            if not shares_word(query.name, (book.title(path), alias)):
                continue
            fetched = self._read(book, path)
            page = fetched.page if fetched else None
            if fetched is None or page is None:
                continue
            years = _years(query, page)
            opening = page.text[:120].partition("(")[0].strip()  # an article often begins with the full name
            named = likeness(query.name, (page.title, alias, opening))
            key = (page.ref.book, page.ref.path)
            if (named or years == BOTH) and key not in found:
                found[key] = ((-years, -named, index), fetched)
        ordered = sorted(found.values(), key=lambda pair: pair[0])
        return [fetched for _, fetched in ordered[:MAX_PEOPLE]]

    def search_name(self, name: str) -> NameSearch:
        """Pages that may be about a person with this name, as a reader would search for them."""
        findings = self._search(name, fast=False)
        candidates = [*self._candidates(findings.corrected or name), *self._pages_of(findings)]
        read = ((self._read(book, path), alias) for book, path, alias in dict.fromkeys(candidates))
        pages = tuple((fetched, alias) for fetched, alias in read if fetched is not None)
        return NameSearch(pages, findings.corrected)

    def fetch(self, locator: str) -> FetchedRecord:
        """The page at a path in the first book that has it, or at 'zim://UUID/PATH'."""
        wanted, path = "", locator
        if locator.startswith(SCHEME):
            wanted, _, path = locator.removeprefix(SCHEME).partition("/")
        for book in self._books:
            if wanted in ("", book.id) and book.resolve(path) is not None:
                return self._fetched(book, open_page(book.archive, path))
        archives = [book.archive for book in self._books if wanted in ("", book.id)]
        hidden = next(filter(None, (hidden_page_error(archive, path) for archive in archives)), None)
        raise hidden or PageNotFound(
            f"No book of this case has the page {locator!r}.", remedy="Add the book that has this page."
        )

    def _candidates(self, name: str) -> list[tuple[OpenBook, str, str]]:
        """Pages and the names that led to them: exact titles of all books first, then what a search finds."""
        exact = [(book, path, name) for book in self._books if (path := book.archive.by_title(name)) is not None]
        return [*exact, *self._pages_of(self._search(name, fast=True))]

    def _search(self, name: str, *, fast: bool) -> SearchResult:
        return search_books(
            self._books, name, SearchOptions(limit=SEARCH_LIMIT, fast=fast, max_books=len(self._books) or 1)
        )

    def _pages_of(self, findings: SearchResult) -> list[tuple[OpenBook, str, str]]:
        by_id = {book.id: book for book in self._books}
        return [(by_id[hit.ref.book], hit.ref.path, hit.alias) for hit in findings.hits if hit.ref.book in by_id]

    def _read(self, book: OpenBook, path: str) -> FetchedRecord | None:
        try:
            return self._fetched(book, open_page(book.archive, path))
        except HostUnreachable:
            raise  # its pages are not missing, so the search proves nothing
        except KiwiError:
            return None  # an unreadable page is not a result; `fetch` says what is wrong with it

    def _fetched(self, book: OpenBook, page: PageDoc) -> FetchedRecord:
        digest = content_hash(page.text)
        is_wiki = book.book.kind == "wikipedia"
        source = Source(
            id=row_id("source", str(page.ref), digest),
            url=str(page.ref),
            name=book.book.title or book.book.name,
            title=page.title,
            tier=self.tier,
            accessed_at=self._accessed_at,
            content_hash=digest,
            origin_group="wikimedia" if is_wiki else f"book:{book.book.name or book.id}",
            form="authored",
            user_contributed=is_wiki,
        )
        return FetchedRecord(source, page.text, page=page)


def shares_word(name: str, others: Sequence[str]) -> bool:
    """Whether another name has a word of this one."""
    wanted = set(_words(name))
    return any(wanted & set(_words(other)) for other in others)


def likeness(name: str, others: Sequence[str]) -> int:
    """How well a name fits the best of others: 3 the same, 2 one contains the other, 1 the last word and one more.

    A number or 'junior' that only the wanted name has excludes the other.
    """
    wanted = _words(name)
    # 'Henry VIII' does not find Henry; 'Henry' finds Henry VIII.
    distinguishing = {word for word in wanted if word in SUFFIXES or set(word) <= set("ivxlc") or word.isdigit()}
    best = 0
    for other in others:
        words = _words(other)
        shared = set(wanted) & set(words)
        if not shared or distinguishing - set(words):
            continue
        if wanted == words:
            best = max(best, 3)
        elif shared == set(wanted) or (shared == set(words) and len(words) > 1):
            best = max(best, 2)
        elif wanted[-1] in shared and len(shared) > 1:
            best = max(best, 1)
    return best


def _words(name: str) -> list[str]:
    plain = name.partition("(")[0] or name
    return [word for word in fold(plain).split() if word not in NAME_LINK_WORDS]


def _years(query: PersonQuery, page: PageDoc) -> int:
    """How many of the known years occur in the lead or a box of the page."""
    boxes = " ".join(page.text[box.start : box.end] for box in page.infoboxes)
    text = f"{page.text[:LEAD_CHARS]} {boxes}"
    return sum(str(year) in text for year in (query.birth_year, query.death_year) if year is not None)
