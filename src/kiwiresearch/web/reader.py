"""The reader: pages of the books as a browser shows them, safe to look at, with quoted words marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from kiwiresearch.errors import BadUsage, QuoteNotFound
from kiwiresearch.evidence.quote import ground
from kiwiresearch.page.addresses import Addresses, address_of
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.laid import Extent
from kiwiresearch.page.read import read_page
from kiwiresearch.page.shown import Shown, View, show
from kiwiresearch.page.style_sheets import cleaned_style
from kiwiresearch.web.desk.words import Words, words_for
from kiwiresearch.web.page_claims_kept import KEPT_CLAIMS
from kiwiresearch.web.reader_banner import Ways, banner, style_for
from kiwiresearch.web.reader_files import PIECE_BYTES, Content, etag, file_response, headers_of, type_of, whole
from kiwiresearch.web.reader_open import FRAMED, Opened, open_at
from kiwiresearch.web.room import Room
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import Entry
from kiwiresearch.zim.paths import Target

SPAN = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
MOST_MARKS = 64
LONGEST_QUOTE = 4_000

Marks = Annotated[
    list[str],
    Query(max_length=MOST_MARKS, description="Words to mark: offsets into the page's text, such as `120-180`."),
]
Quoted = Annotated[str, Query(max_length=LONGEST_QUOTE, description="Words to mark, as the page spells them.")]
Claims = Annotated[bool, Query(description="Mark what the page claims.")]
FRAMES = frozenset({"iframe", "frame"})

OWN_VIEWPORT = '<meta name="viewport"'
VIEWPORT = f'{OWN_VIEWPORT} content="width=device-width, initial-scale=1">'
"""What a page says that is made for screens of any size: without it, phones show it as wide as a desk's, and tiny."""


def router(room: Room) -> APIRouter:
    """Routes to the pages and files of all books on the shelf."""
    routes = APIRouter(tags=["read"])

    @routes.head("/read/{book}/{path:path}", include_in_schema=False)
    @routes.get("/read/{book}/{path:path}", response_class=Response, summary="A page or file of a book, for browsers")
    def read(
        request: Request,
        book: str,
        path: str,
        mark: Marks = [],  # noqa: B006
        quote: Quoted = "",
        *,
        claims: Claims = False,
    ) -> Response:
        """Serve a page with the words asked for marked, or a file that a page shows."""
        spans = [_span(text) for text in mark]
        named = book.removesuffix(FRAMED)
        opened = open_at(room, named, path, is_marked=bool(spans or quote or claims))
        base = str(request.scope.get("root_path", "")).rstrip("/")
        key = request.scope.get("state", {}).get("reading_key", "")
        root = f"{base}/read/{opened.book.id}{book[len(named) :]}{key}/"
        ref = opened.item.ref
        if opened.elsewhere is not None or named != opened.book.id or path != ref.path:
            return _moved(request, root, opened.elsewhere or Target(ref.path))
        scripts = room.desk.settings.serve.scripts
        if opened.entry is not None:
            is_framed = book != named or request.headers.get("sec-fetch-dest") in FRAMES
            view = View(root, spans, is_framed=is_framed, scripts=scripts)
            page = _Page(opened.book, opened.entry, base, words_for(request))
            return page.shown(view, quote, with_claims=claims)
        return _file(room, opened, request, root, scripts=scripts)

    return routes


def _moved(request: Request, root: str, target: Target) -> Response:
    """The address under which a page stands, so that its relative links lead where they should."""
    query = f"?{request.url.query}" if request.url.query else ""
    anchor = f"#{address_of('', target.anchor)}" if target.anchor else ""
    return RedirectResponse(f"{address_of(root, target.path)}{query}{anchor}", 302, headers_of(scripts=False))


@dataclass(frozen=True, slots=True)
class _Page:
    """A page of a book, with what our own line on top of it needs to know."""

    book: Book
    entry: Entry
    base: str
    words: Words

    def shown(self, view: View, quote: str, *, with_claims: bool) -> Response:
        page = read_page(self.entry, language=self.book.language or "eng", lead_only=self.book.lead_only)
        marks, missed = _marks(page, view.marks, quote)
        claims = _claimed(page, self.book) if with_claims else ()
        style = style_for(self.entry.content)
        shown = show(self.entry.content, page, replace(view, marks=marks, claims=claims, style=style))
        missed += [page.text[span.start : span.end] for span in shown.unmarked]
        line = banner(self.book, self._ways(view), missed, self.words)
        body = f"{_for_any_screen(shown)}{line}{shown.behind}"
        headers = headers_of(scripts=view.scripts, is_framed=view.is_framed) | {"Cache-Control": "no-cache"}
        return Response(body.encode("utf-8", "replace"), headers=headers, media_type="text/html; charset=utf-8")

    def _ways(self, view: View) -> Ways:
        """Where the line on top leads; what is in a frame leads out of it, or, where it may not, nowhere."""
        desk = f"{self.base}/page/{self.book.id}/{address_of('', self.entry.ref.path)}"
        if view.is_framed:
            return Ways(view.root, desk="" if view.scripts else desk)
        return Ways(view.root, front=f"{self.base}/", desk=desk)


def _claimed(page: PageDoc, book: Book) -> tuple[Extent, ...]:
    """Where the words stand that say what the page claims."""
    quotes = [claim.quotes[0] for claim in KEPT_CLAIMS.of(page, book)]
    return tuple(Extent(quote.start, quote.end) for quote in quotes)


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
