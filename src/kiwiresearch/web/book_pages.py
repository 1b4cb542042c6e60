"""Pages and files of books, found by the names in requests, opened and sent."""

from __future__ import annotations

import codecs
import contextlib
import functools
import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from starlette.responses import Response, StreamingResponse

from kiwiresearch.claims import Claim, PageClaims, claims_of_page
from kiwiresearch.errors import BadUsage, BookNotFound, PageHidden, PageNotFound, RedirectLoop
from kiwiresearch.page import PageDoc, bounded_entry, open_page, read_page, regular_markup
from kiwiresearch.search import OpenBook
from kiwiresearch.system import stop_if_abandoned
from kiwiresearch.web.context import ServerContext
from kiwiresearch.workspace import Finder, RecentCache, books_matching, locate_page
from kiwiresearch.zim import MAX_HOPS, Archive, Book, Entry, EntryInfo, EntryRef, Target, resolve_href


@dataclass(frozen=True, slots=True)
class LocatedPage:
    """A page of a book, found but not read."""

    book: OpenBook
    path: str

    def load(self) -> Callable[[], PageDoc]:
        """Take the page out of its book; calling the result reads it, which no longer needs the book."""
        archive = self.book.archive
        entry = bounded_entry(archive.read(self.path))
        if REFRESH.search(entry.content, 0, HEAD_BYTES):
            page = open_page(archive, self.path)
            return lambda: page
        return functools.partial(read_in_turn, entry, archive.book, archive.url(entry.ref.path))


def books_named(finder: Finder, wanted: str) -> Sequence[OpenBook]:
    """The books with this name, title or UUID; all if none is named."""
    if not wanted.strip():
        return finder.books
    found = books_matching(finder.books, wanted, lambda open_book: open_book.book)
    if not found:
        if away := finder.missing_book_error(wanted):
            raise away
        raise BookNotFound(f"The library has no book named {wanted!r}.", remedy="GET /api/books lists all books.")
    return found


def page_named(finder: Finder, title: str, book: str = "") -> LocatedPage:
    """The page of this title or path, in the first book that has it."""
    if not title.strip():
        raise BadUsage("The title is empty.", remedy="Enter the title of a page, for example 'Sunset', or its path.")
    books = {open_book.archive: open_book for open_book in books_named(finder, book)}
    missing = f"No book in the library has a page named {title!r}."
    archive, path = locate_page(list(books), title, missing, "GET /api/search finds pages.")
    return LocatedPage(books[archive], path)


def page_at(finder: Finder, path: str, book: str = "") -> LocatedPage:
    """The page at exactly this path, or else the one with this name."""
    for open_book in books_named(finder, book) if path.strip() else ():
        if found := open_book.archive.resolve(path):
            return LocatedPage(open_book, found)
    return page_named(finder, path, book)


CLAIM_CACHE: RecentCache[EntryRef, tuple[Claim, ...]] = RecentCache(16)
"""Shared by the reader and the reading view. A book never changes, so the page is enough as a key."""


LARGE_PAGE_BYTES = 500_000
LONG_TEXT_CHARS = 50_000
LARGE_PAGE_TURN = threading.Lock()
LONG_TEXT_TURN = threading.Lock()
"""Large pages are read one at a time, and so are claims of long texts, which leaves time for other requests."""


@contextlib.contextmanager
def turn(lock: threading.Lock, *, is_large: bool) -> Iterator[None]:
    """Waits for the turn of something large; what is small need not wait."""
    with lock if is_large else contextlib.nullcontext():
        stop_if_abandoned()
        yield


def large_page_turn(content: bytes) -> contextlib.AbstractContextManager[None]:
    """The turn in which a page with this content is read or written."""
    return turn(LARGE_PAGE_TURN, is_large=len(content) > LARGE_PAGE_BYTES)


def read_in_turn(entry: Entry, book: Book, url: str = "") -> PageDoc:
    """Read a page."""
    with large_page_turn(entry.content):
        return read_page(entry, language=book.language or "eng", url=url, lead_only=book.lead_only)


def claims_in_turn(page: PageDoc, book: Book) -> PageClaims:
    """The claims of a page."""
    with turn(LONG_TEXT_TURN, is_large=len(page.text) > LONG_TEXT_CHARS):
        return claims_of_page(page, book.name)


def cached_claims(page: PageDoc, book: Book) -> tuple[Claim, ...]:
    """The claims of a page, from the cache if it was read recently."""
    return CLAIM_CACHE.get(page.ref, lambda: claims_in_turn(page, book).claims)


# 'image/png' and 'application/vnd.ms-excel'; nothing that could end the header, as the value comes from the book.
TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)
# One range only. 18 digits are more than any file has, and are parsed quickly.
RANGE = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))")
INLINE_TYPES = ("image/", "audio/", "video/", "font/", "text/")
"""Types that a browser shows itself; others are downloaded."""

INLINE_APPLICATION_TYPES = frozenset(
    {"application/javascript", "application/json", "application/xml", "application/ogg"}
)
TYPE_BY_SUFFIX = {
    "css": "text/css", "js": "text/javascript", "mjs": "text/javascript", "html": "text/html", "htm": "text/html",
    "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
    "webp": "image/webp", "ico": "image/x-icon", "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf",
    "otf": "font/otf", "mp3": "audio/mpeg", "ogg": "audio/ogg", "oga": "audio/ogg", "ogv": "video/ogg",
    "webm": "video/webm", "mp4": "video/mp4", "vtt": "text/vtt", "txt": "text/plain", "json": "application/json",
    "pdf": "application/pdf", "epub": "application/epub+zip",
}  # fmt: skip
"""For files whose book names no useful type."""

UNKNOWN = "application/octet-stream"
PIECE_BYTES = 2**20
"""How much of a file is in memory at a time; larger files are sent in pieces."""

# Enough of a text to decide whether it is UTF-8.
SNIFFED_BYTES = 64 * 1024
FONTS = ("font/", "application/font", "application/x-font", "application/vnd.ms-fontobject")


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file: their number, and a function that reads those from one offset to another."""

    size: int
    part: Callable[[int, int], bytes]


def in_memory(content: bytes) -> Content:
    """Content that is already in memory."""
    return Content(len(content), lambda start, end: content[start:end])


FRAME_ESCAPE = " allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
"""Lets a page without scripts leave its frame when a reader clicks a link that asks for it; only we write those."""


def book_policy(*, scripts: bool, is_framed: bool = False) -> str:
    """The Content-Security-Policy of books' pages: they may be read, and do nothing else.

    Without scripts they keep our origin, so that browsers send the cookie for their pictures and styles, and no
    other site can load these. A page that runs scripts is taken out of our origin, so that nothing in it can use the
    server in the user's name; 'self' still means the server's address.
    """
    plain = f"sandbox allow-downloads allow-same-origin{FRAME_ESCAPE if is_framed else ''}"
    sandbox = "sandbox allow-scripts" if scripts else plain
    run = "script-src 'self' 'unsafe-inline'; " if scripts else ""
    return (
        f"{sandbox}; default-src 'none'; {run}img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
        "font-src 'self' data:; media-src 'self'; form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
    )


def book_headers(*, scripts: bool, is_framed: bool = False) -> dict[str, str]:
    """The headers of every reply with content of a book."""
    # A browser looks up the names in links ahead, which would let a script send words to the owner of a name.
    return ({"X-DNS-Prefetch-Control": "off"} if scripts else {}) | {
        "Content-Security-Policy": book_policy(scripts=scripts, is_framed=is_framed),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def type_of(item: EntryInfo) -> str:
    """The media type of a file, without parameters; plain bytes if the book names no usable type."""
    named = item.mimetype.partition(";")[0].strip().lower()
    if not TYPE.fullmatch(named) or named == UNKNOWN:
        return TYPE_BY_SUFFIX.get(item.ref.path.rpartition(".")[2].lower(), UNKNOWN)
    return named


def file_response(
    item: EntryInfo, content: Content, byte_range: str, *, scripts: bool, is_head: bool = False
) -> Response:
    """A file of a book, or the requested range of it."""
    kind = type_of(item)
    headers = book_headers(scripts=scripts) | {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, max-age=86400",
        "ETag": etag(item, scripts=scripts),
        "Content-Type": f"{kind}; charset=utf-8" if kind.startswith("text/") and _is_utf8(content) else kind,
    }
    if scripts:  # to the browser, files of a page without an origin are cross-origin; the key lets nobody else in
        headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        if kind.startswith(FONTS):  # which are always fetched with CORS
            headers["Access-Control-Allow-Origin"] = "null"
    if not kind.startswith((*INLINE_TYPES, *FONTS)) and kind not in INLINE_APPLICATION_TYPES:
        headers["Content-Disposition"] = "attachment"
    size = content.size
    if is_head:
        return Response(b"", headers=headers | {"Content-Length": str(size)})
    found = RANGE.fullmatch(byte_range.replace(" ", ""))
    if found is None or (
        found[1] and found[2] and int(found[2]) < int(found[1])
    ):  # not a valid range: HTTP says to ignore it
        return _bytes_response(content, 0, size, 200, headers)
    # "bytes=0-99" is the first hundred bytes, "bytes=500-" all from there on, and "bytes=-100" the last hundred.
    start = int(found[1]) if found[1] else max(size - int(found[3]), 0)
    end = min(int(found[2]) + 1, size) if found[2] else size
    if start >= end or found[3] == "0":
        return Response(b"", 416, headers | {"Content-Range": f"bytes */{size}"})
    return _bytes_response(content, start, end, 206, headers | {"Content-Range": f"bytes {start}-{end - 1}/{size}"})


def _bytes_response(content: Content, start: int, end: int, status: int, headers: dict[str, str]) -> Response:
    """The bytes, in pieces if there are many; the first piece is read now, so that an error still has its status."""
    first_end = min(start + PIECE_BYTES, end)
    first = content.part(start, first_end)
    if first_end == end:
        return Response(first, status, headers)

    def pieces() -> Iterator[bytes]:
        yield first
        for place in range(first_end, end, PIECE_BYTES):
            yield content.part(place, min(place + PIECE_BYTES, end))

    return StreamingResponse(pieces(), status, headers | {"Content-Length": str(end - start)})


def etag(item: EntryInfo, *, scripts: bool) -> str:
    """The ETag of a file. A book never changes, so the path identifies the bytes."""
    named = f"{item.ref} {scripts}"
    return f'"{hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()[:20]}"'


def _is_utf8(content: Content) -> bool:
    """Whether a text begins as valid UTF-8; the last character looked at may be incomplete."""
    beginning = content.part(0, SNIFFED_BYTES)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(beginning, final=content.size <= SNIFFED_BYTES)
    except UnicodeDecodeError:
        return False
    return True


INDEX_NAMESPACE = re.compile(r"[XZ]/")
"""Where books with old namespaces store their search indexes, which may be larger than memory."""

FRAMED_SUFFIX = ".framed"
"""Follows a book's name in addresses of pages in a frame, so that their links inherit it.

Browsers do not send Sec-Fetch-Dest, which names frames, to other machines without HTTPS.
"""

REFRESH = re.compile(rb"http-equiv\s*=\s*[\"']?refresh", re.IGNORECASE)
# A meta refresh is only looked for in the first bytes of a page.
HEAD_BYTES = 4_096
BOOK_PATH = re.compile(r"/read/[^/~?#]+")
MAX_QUERIES = 4
# The namespace letter in paths of old books, such as 'A/Rome'.
NAMESPACE = re.compile(r"[A-Z-]/(?=.)")


@dataclass(frozen=True, slots=True)
class ReaderTarget:
    """The content at an address of the reader, or the path it redirects to."""

    archive: Archive
    item: EntryInfo
    entry: Entry | None
    """Its content, if it is shown as a page."""
    redirect: Target | None = None

    @property
    def book(self) -> Book:
        return self.archive.book


def open_at(context: ServerContext, named: str, path: str, *, is_marked: bool) -> ReaderTarget:
    """Find the content at a path of a book, and read it if it is a page; pages that only redirect are followed."""
    with context.locked_finder() as finder:
        archive = books_named(finder, named)[0].archive if named.strip() else None
        if archive is None:
            raise PageNotFound("The address does not name a book.", remedy="GET /api/books lists all books.")
        book = archive.book
        if not path and not book.main_page:
            raise PageNotFound(f"{book.title!r} has no main page.", remedy="GET /api/search finds pages in it.")
        item = _find(archive, path or book.main_page)
        entry = _as_page(archive, item, is_marked=is_marked)
        seen = [item.ref.path]
        target: Target | None = None
        # Books made from web sites redirect by pages with a meta refresh, some of them in circles.
        while entry is not None and (leads := _meta_refresh(entry, archive)) is not None:
            target = leads
            if target.path in seen or len(seen) > MAX_HOPS:
                raise RedirectLoop(f"The page {path!r} of {book.title!r} redirects in a loop.")
            seen.append(target.path)
            item = archive.info(target.path)
            entry = _as_page(archive, item, is_marked=is_marked)
        return ReaderTarget(archive, item, entry, target)


def _find(archive: Archive, path: str) -> EntryInfo:
    """The content at a path, or at the path without its query or the namespace letter that newer books dropped."""
    bare = path.lstrip("/")
    spellings = [path, bare]
    for _ in range(min(bare.count("?"), MAX_QUERIES)):  # a name may contain question marks itself
        spellings.append(spellings[-1].rpartition("?")[0])
    spellings.append(NAMESPACE.sub("", spellings[-1], count=1))
    for spelling in dict.fromkeys(spellings):
        if _is_path(spelling, archive.book):
            try:
                return archive.info(spelling)
            except PageHidden:
                raise
            except PageNotFound:
                continue
    raise PageNotFound(f"{archive.book.title!r} has no page named {path!r}.")


def _as_page(archive: Archive, item: EntryInfo, *, is_marked: bool) -> Entry | None:
    """The content if it is shown as a page: HTML, or plain text in which words are to be marked."""
    if item.is_html:
        return bounded_entry(archive.read(item.ref.path))
    if not is_marked or type_of(item) != "text/plain":
        return None
    entry = bounded_entry(archive.read(item.ref.path))
    text = escape(entry.content.decode("utf-8", "replace"), quote=False)
    content = f"<body><pre>{text}</pre></body>".encode()
    return bounded_entry(Entry(entry.ref, entry.title, "text/html", content, is_cut=entry.is_cut))


def _is_path(path: str, book: Book) -> bool:
    """Whether this can be the path of a page: not one that leads out of the book, or into its indexes."""
    if not path or "\0" in path or any(part in (".", "..") for part in re.split(r"[/\\]", path)):
        return False
    return not (book.old_namespaces and INDEX_NAMESPACE.match(path))


def _meta_refresh(entry: Entry, archive: Archive) -> Target | None:
    """The target of a page that only redirects within its book by a meta refresh."""
    if not entry.is_html or not REFRESH.search(entry.content, 0, HEAD_BYTES):
        return None
    refresh = regular_markup(entry.content).refresh
    target = resolve_href(entry.ref.path, refresh) if refresh else None
    if target is None or target.path == entry.ref.path:
        return None
    final = archive.resolve(target.path) if _is_path(target.path, archive.book) else None
    return Target(final, target.anchor) if final else None


def framed_address(address: str) -> str:
    """The address of a book's page for one of our frames."""
    return BOOK_PATH.sub(rf"\g<0>{FRAMED_SUFFIX}", address, count=1)
