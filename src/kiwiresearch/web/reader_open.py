"""What is at an address of the reader: a page of a book, a file of it, or a way to another page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape

from kiwiresearch.errors import PageHidden, PageNotFound, RedirectLoop
from kiwiresearch.page.html import regular
from kiwiresearch.web.places import books_named
from kiwiresearch.web.reader_files import type_of
from kiwiresearch.web.room import Room
from kiwiresearch.zim.archive import MAX_HOPS, Archive
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import Entry, Item
from kiwiresearch.zim.paths import Target, resolve_href

INDEXES = re.compile(r"[XZ]/")
"""Where books of the old kind keep their search indexes, which are no pages and may be larger than memory."""

FRAMED = ".framed"
"""Stands behind a book's name in addresses of pages in a frame: links in them inherit it.

Browsers tell servers without HTTPS on other machines nothing of frames.
"""

REFRESH = re.compile(rb"http-equiv\s*=\s*[\"']?refresh", re.IGNORECASE)
HEAD_BYTES = 4_096
BOOK = re.compile(r"/read/[^/~?#]+")
MOST_QUERIES = 4
NAMESPACE = re.compile(r"[A-Z-]/(?=.)")


@dataclass(frozen=True, slots=True)
class Opened:
    """What is at an address of the reader, or another path that leads to it."""

    archive: Archive
    item: Item
    entry: Entry | None
    """All of it, where it is shown as a page."""
    elsewhere: Target | None = None

    @property
    def book(self) -> Book:
        return self.archive.book


def open_at(room: Room, named: str, path: str, *, is_marked: bool) -> Opened:
    """Find what is at a path of a book, and read it if it is a page; pages that only lead elsewhere are followed."""
    with room.reading() as finder:
        archive = books_named(finder, named)[0].archive if named.strip() else None
        if archive is None:
            raise PageNotFound("The address names no book.", remedy="GET /api/books lists those that are here.")
        book = archive.book
        if not path and not book.main_page:
            raise PageNotFound(f"{book.title!r} names no first page.", remedy="GET /api/search finds pages in it.")
        item = _find(archive, path or book.main_page)
        entry = _as_page(archive, item, is_marked=is_marked)
        seen = [item.ref.path]
        target: Target | None = None
        while entry is not None and (leads := _leads(entry, archive)) is not None:
            target = leads
            if target.path in seen or len(seen) > MAX_HOPS:
                raise RedirectLoop(f"The page {path!r} of {book.title!r} only redirects in a circle.")
            seen.append(target.path)
            item = archive.look(target.path)
            entry = _as_page(archive, item, is_marked=is_marked)
        return Opened(archive, item, entry, target)


def _find(archive: Archive, path: str) -> Item:
    """What is at a path, or at what is left of it without a query, or without a letter that newer books dropped."""
    bare = path.lstrip("/")
    spellings = [path, bare]
    for _ in range(min(bare.count("?"), MOST_QUERIES)):  # a name may hold question marks of its own
        spellings.append(spellings[-1].rpartition("?")[0])
    spellings.append(NAMESPACE.sub("", spellings[-1], count=1))
    for spelling in dict.fromkeys(spellings):
        if _is_path(spelling, archive.book):
            try:
                return archive.look(spelling)
            except PageHidden:
                raise
            except PageNotFound:
                continue
    raise PageNotFound(f"{archive.book.title!r} has no page {path!r}.")


def _as_page(archive: Archive, item: Item, *, is_marked: bool) -> Entry | None:
    """What is shown as a page, read: HTML, and plain text in which words are to be marked."""
    if item.is_html:
        return archive.read(item.ref.path)
    if not is_marked or type_of(item) != "text/plain":
        return None
    entry = archive.read(item.ref.path)
    text = escape(entry.content.decode("utf-8", "replace"), quote=False)
    return Entry(entry.ref, entry.title, "text/html", f"<body><pre>{text}</pre></body>".encode())


def _is_path(path: str, book: Book) -> bool:
    """Whether this can be a page: not a way out of the book, nor into its indexes."""
    if not path or "\0" in path or any(part in (".", "..") for part in re.split(r"[/\\]", path)):
        return False
    return not (book.old_namespaces and INDEXES.match(path))


def _leads(entry: Entry, archive: Archive) -> Target | None:
    """Where a page leads that is only there to lead elsewhere in its book."""
    if not entry.is_html or not REFRESH.search(entry.content, 0, HEAD_BYTES):
        return None
    refresh = regular(entry.content).refresh
    target = resolve_href(entry.ref.path, refresh) if refresh else None
    if target is None or target.path == entry.ref.path:
        return None
    final = archive.resolve(target.path) if _is_path(target.path, archive.book) else None
    return Target(final, target.anchor) if final else None


def framed(address: str) -> str:
    """The address of a page of a book for a frame of ours."""
    return BOOK.sub(rf"\g<0>{FRAMED}", address, count=1)
