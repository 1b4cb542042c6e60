"""The seam between the program and its books: one protocol, four backends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import Entry, Item, Match, TitleEntry

MAX_HOPS = 32
"""Longer chains of redirects are taken for a loop."""


class Archive(Protocol):
    """A book that can be opened at any page.

    Paths are those of the book itself, after percent-decoding; old files spell
    them `A/Ray_Charles`, new ones `Ray_Charles`. A path that is not there
    raises PageNotFound, a chain of redirects without end RedirectLoop.
    """

    @property
    def book(self) -> Book: ...

    def read(self, path: str) -> Entry:
        """The entry at a path, with redirects followed."""
        ...

    def look(self, path: str) -> Item:
        """What is at a path, its type and its size, with redirects followed and nothing of it read."""
        ...

    def part(self, path: str, start: int, end: int) -> bytes:
        """The bytes from one place to another of what is at a path; what it costs does not grow with the rest.

        Of something packed, all has to be unpacked. Behind the end there are no bytes.
        """
        ...

    def resolve(self, path: str) -> str | None:
        """Where a path leads after redirects, or None if the book does not have it."""
        ...

    def by_title(self, title: str) -> str | None:
        """The path of the page with exactly this title, redirects followed."""
        ...

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        """The book's own full-text search, which wants every word to occur; empty without index."""
        ...

    def holding(self, words: str, limit: int) -> tuple[str, ...]:
        """Paths of pages that hold all the words, as `search` gives them, without a look at the pages."""
        ...

    def title(self, path: str) -> str:
        """The title of the page at a path, without reading it; of a redirect, its own."""
        ...

    def estimate(self, words: str) -> int:
        """About how many pages hold all these words; 0 without an index."""
        ...

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        """Pages whose titles start with or hold the text, as the book offers them."""
        ...

    def articles(self) -> Iterator[str]:
        """Paths of all articles in the order that reads fastest; NotOffered by a server or another host."""
        ...

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        """Titles of articles and of redirects to them, numbered `start` and up; NotOffered by a server or another host.

        The order is the same each time. Redirects that lead nowhere are left out.
        """
        ...

    def url(self, path: str) -> str:
        """An address that opens the page for a reader of this book."""
        ...

    def close(self) -> None: ...
