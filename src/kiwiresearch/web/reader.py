"""The reader: pages of the books as a browser shows them, safe to look at, with quoted words marked."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from kiwiresearch.errors import BadUsage, PageNotFound, QuoteNotFound, RedirectLoop
from kiwiresearch.evidence.quote import ground
from kiwiresearch.page.addresses import Addresses, address_of
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.html import regular
from kiwiresearch.page.laid import Extent
from kiwiresearch.page.read import read_page
from kiwiresearch.page.shown import Shown, View, show
from kiwiresearch.page.style_sheets import cleaned_style
from kiwiresearch.web.places import books_named
from kiwiresearch.web.reader_banner import STYLE, banner
from kiwiresearch.web.reader_files import PIECE_BYTES, Content, etag, file_response, headers_of, type_of, whole
from kiwiresearch.web.room import Room
from kiwiresearch.zim.archive import MAX_HOPS, Archive
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import Entry, Item
from kiwiresearch.zim.paths import Target, resolve_href

SPAN = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
MOST_MARKS = 64
LONGEST_QUOTE = 4_000
INDEXES = re.compile(r"[XZ]/")
"""Where books of the old kind keep their search indexes, which are no pages and may be larger than memory."""

REFRESH = re.compile(rb"http-equiv\s*=\s*[\"']?refresh", re.IGNORECASE)
HEAD_BYTES = 4_096
MOST_QUERIES = 4
NAMESPACE = re.compile(r"[A-Z-]/(?=.)")

Marks = Annotated[
    list[str],
    Query(max_length=MOST_MARKS, description="Words to mark: offsets into the page's text, such as `120-180`."),
]
Words = Annotated[str, Query(max_length=LONGEST_QUOTE, description="Words to mark, as the page spells them.")]


OWN_VIEWPORT = '<meta name="viewport"'
VIEWPORT = f'{OWN_VIEWPORT} content="width=device-width, initial-scale=1">'
"""What a page says that is made for screens of any size: without it, phones show it as wide as a desk's, and tiny."""


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


def router(room: Room) -> APIRouter:
    """Routes to the pages and files of all books on the shelf."""
    routes = APIRouter(tags=["read"])

    @routes.head("/read/{book}/{path:path}", include_in_schema=False)
    @routes.get("/read/{book}/{path:path}", response_class=Response, summary="A page or file of a book, for browsers")
    def read(request: Request, book: str, path: str, mark: Marks = [], quote: Words = "") -> Response:  # noqa: B006
        """Serve a page with the words asked for marked, or a file that a page shows."""
        spans = [_span(text) for text in mark]
        opened = _open(room, book, path, is_marked=bool(spans or quote))
        base = str(request.scope.get("root_path", "")).rstrip("/")
        key = request.scope.get("state", {}).get("reading_key", "")
        root = f"{base}/read/{opened.book.id}{key}/"
        ref = opened.item.ref
        if opened.elsewhere is not None or book != opened.book.id or path != ref.path:
            return _moved(request, root, opened.elsewhere or Target(ref.path))
        scripts = room.desk.settings.serve.scripts
        if opened.entry is not None:
            return _page(opened.book, opened.entry, View(root, spans, scripts=scripts, style=STYLE), quote, base)
        return _file(room, opened, request, root, scripts=scripts)

    return routes


def _open(room: Room, named: str, path: str, *, is_marked: bool) -> Opened:
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
            with contextlib.suppress(PageNotFound):
                return archive.look(spelling)
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


def _moved(request: Request, root: str, target: Target) -> Response:
    """The address under which a page stands, so that its relative links lead where they should."""
    query = f"?{request.url.query}" if request.url.query else ""
    anchor = f"#{address_of('', target.anchor)}" if target.anchor else ""
    return RedirectResponse(f"{address_of(root, target.path)}{query}{anchor}", 302, headers_of(scripts=False))


def _page(book: Book, entry: Entry, view: View, quote: str, base: str) -> Response:
    page = read_page(entry, language=book.language or "eng", lead_only=book.lead_only)
    marks, missed = _marks(page, view.marks, quote)
    shown = show(entry.content, page, View(view.root, marks, scripts=view.scripts, style=view.style))
    missed += [page.text[span.start : span.end] for span in shown.unmarked]
    body = f"{_for_any_screen(shown)}{banner(book, view.root, missed, front=base + '/')}{shown.behind}"
    headers = headers_of(scripts=view.scripts) | {"Cache-Control": "no-cache"}
    return Response(body.encode("utf-8", "replace"), headers=headers, media_type="text/html; charset=utf-8")


def _for_any_screen(shown: Shown) -> str:
    """The head of a page; one that does not say for which screens it is made gets the words that phones look for."""
    if OWN_VIEWPORT in shown.before or OWN_VIEWPORT in shown.behind:
        return shown.before
    return shown.before.replace("<head>", f"<head>{VIEWPORT}", 1)


def _marks(page: PageDoc, spans: Sequence[Extent], quote: str) -> tuple[list[Extent], list[str]]:
    """The spans to be marked, and the words that the page does not have."""
    marks = [span for span in spans if span.end <= len(page.text)]
    missed = [page.text[span.start : span.end] for span in spans if span.end > len(page.text)]
    if quote.strip():
        try:
            found = ground(quote, page)
            marks.append(Extent(found.start, found.end))
        except QuoteNotFound:
            missed.append(" ".join(quote.split()))
    return marks, missed


def _span(text: str) -> Extent:
    found = SPAN.fullmatch(text)
    if found is None or int(found[1]) >= int(found[2]):
        raise BadUsage(f"{text!r} is no part of a text.", remedy="Give two offsets, such as mark=120-180.")
    return Extent(int(found[1]), int(found[2]))


def _file(room: Room, opened: Opened, request: Request, root: str, *, scripts: bool) -> Response:
    item, archive = opened.item, opened.archive
    tag = etag(item, scripts=scripts)
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers_of(scripts=scripts) | {"ETag": tag})

    def part(start: int, end: int) -> bytes:
        with room.reading():
            return archive.part(item.ref.path, start, end)

    content = Content(item.size, part)
    if type_of(item) == "text/css":
        style = cleaned_style(part(0, item.size).decode("utf-8", "replace"), Addresses(root, item.ref.path))
        content = whole(style.encode("utf-8", "replace"))
    elif item.is_packed and item.size > PIECE_BYTES:  # each part would have to be unpacked anew
        content = whole(part(0, item.size))
    condition = request.headers.get("if-range", tag)
    asked = request.headers.get("range", "") if condition == tag else ""
    return file_response(item, content, asked, scripts=scripts, is_head=request.method == "HEAD")
