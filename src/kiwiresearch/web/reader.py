"""The reader: pages of books as browsers show them, made safe, with quoted words marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from kiwiresearch.errors import BadUsage, QuoteNotFound
from kiwiresearch.evidence import ground
from kiwiresearch.messages import Catalogue
from kiwiresearch.page import (
    MARK_ID,
    DisplayedPage,
    DisplayOptions,
    Extent,
    PageAddresses,
    PageDoc,
    book_url,
    cleaned_style,
    display_page,
)
from kiwiresearch.web.book_pages import (
    FRAMED_SUFFIX,
    PIECE_BYTES,
    Content,
    ReaderTarget,
    book_headers,
    cached_claims,
    etag,
    file_response,
    in_memory,
    large_page_turn,
    open_at,
    read_in_turn,
    type_of,
)
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.guard import FRAMES, RoleRouter
from kiwiresearch.zim import Book, Entry, Target

MAX_SHOWN = 600
BAR_PX = 28
BAR_WITH_NOTES_PX = 76

MAX_MARKED = 80

PLAIN = "all:revert;display:inline;position:static;padding:0;visibility:visible;text-indent:0;text-shadow:none;"
"""Undoes what a page declares for an element, and what the element would inherit."""

BAR_CSS = (
    f"html{{padding-top:{BAR_PX}px;scroll-padding-top:{BAR_PX + 8}px}}"
    f".kiwi-bar{{all:initial;direction:ltr;unicode-bidi:isolate;display:block;position:fixed;top:0;left:0;right:0;height:{BAR_PX}px;"
    "box-sizing:border-box;overflow:auto hidden;scrollbar-width:none;z-index:2147483647;color:#222;background:#f3f3ee;"
    "border-bottom:1px solid #ccc;padding:3px 10px;font:13px/21px system-ui,sans-serif;text-align:left;"
    "white-space:nowrap;text-overflow:ellipsis}"
    f".kiwi-bar.kiwi-has-notes{{height:{BAR_WITH_NOTES_PX}px;overflow:auto;background:#fff4d6}}"
    ".kiwi-bar bdi,.kiwi-bar span{all:unset}"
    ".kiwi-bar a{all:unset;color:#1a4b8c;cursor:pointer;text-decoration:underline}"
    ".kiwi-bar a:focus-visible{outline:2px solid #1a4b8c}"
    ".kiwi-bar .kiwi-note{display:block;white-space:normal;font-style:italic}"
    f"mark.kiwi-mark{{{PLAIN}background:#ffe45c;color:#000;-webkit-text-fill-color:#000;scroll-margin-top:30vh}}"
    f"mark.kiwi-claimed{{{PLAIN}background:#fdf3c4;color:#000;-webkit-text-fill-color:#000;"
    "box-shadow:inset 0 -2px #c79a00}"
    "a mark.kiwi-claimed{color:#1a4b8c;-webkit-text-fill-color:#1a4b8c}"
    ".kiwi-claim{scroll-margin-top:30vh}.kiwi-claim:target::before{content:'\\25B6\\FE0E';color:#a33000;font-size:.8em}"
    ".kiwi-claim:target+mark{background:#ffe45c}"
    f"a.kiwi-outside::after{{{PLAIN}content:'\\2197';visibility:visible;color:#1a4b8c;-webkit-text-fill-color:#1a4b8c;"
    "font-size:12px;vertical-align:super}"
    "@media print{.kiwi-bar{position:static}}"
)
"""What the program adds to a page: the bar, marks, and the arrow of a link that leads out of the book.

The bar is fixed, since a page may lay out its body as a grid. On a phone it is scrolled to what does not fit.
"""

NOT_TO_BE_MOVED = (
    "html,body{transform:none;translate:none;rotate:none;scale:none;zoom:1;filter:none;backdrop-filter:none;"
    "perspective:none;contain:none;container-type:normal;will-change:auto;content-visibility:visible;opacity:1;"
    "visibility:visible;clip-path:none;clip:auto;mask:none;-webkit-box-reflect:none;mix-blend-mode:normal;"
    "offset:none;animation:none;transition:none}"
    "html::before,html::after,body::before,body::after{content:none}"
    ".kiwi-bar::before,.kiwi-bar::after,.kiwi-bar *::before,.kiwi-bar *::after{content:none}"
)
"""What would move, cover or fill the bar from outside."""


def _important(style: str) -> str:
    """The style with every declaration marked as important."""
    return DECLARATIONS.sub(lambda found: f"{{{found[1].replace(';', '!important;')}!important}}", style)


# What is between the innermost braces, so that the rules within '@media' are found and not the block around them.
DECLARATIONS = re.compile(r"\{([^{}]+)\}")
STYLE = _important(BAR_CSS)
"""Follows the page's own styles, for browsers that know no layers."""

PADDING = f"padding-top:{BAR_PX}px"
# A variable, because WITH_NOTES could not override an important rule of the first layer.
LAYERED_BAR_CSS = BAR_CSS.replace(PADDING, f"padding-top:var(--kiwi-bar,{BAR_PX}px)") + NOT_TO_BE_MOVED
FIRST_STYLE = f"<style>@layer{{{_important(LAYERED_BAR_CSS)}}}</style>"
"""The same in a layer before those of the page: nothing that the page declares, important or not, is stronger."""

# '<style>' and '<link rel="stylesheet">'; not '<p style=…>', which does not lay out a page.
OWN_STYLE = re.compile(rb"<style\b|\brel\s*=\s*[\"']?[\w\s]*stylesheet", re.IGNORECASE)
PLAIN_STYLE = (
    "body{max-width:46em;margin:0 auto;padding:.5em 1em 3em;color:#1c1e21;overflow-wrap:break-word;"
    "font:1em/1.6 system-ui,'Segoe UI',Roboto,'Noto Sans',sans-serif}h1,h2,h3,h4{line-height:1.25}"
    "a{color:#1a4b8c}img{max-width:100%;height:auto}pre{white-space:pre-wrap}"
    "table{border-collapse:collapse;line-height:1.4}th,td{padding:.15em .5em;vertical-align:top}"
    "@media(max-width:40em){div{max-width:100%}table{display:block;max-width:100%;overflow-x:auto}}"
)
"""For pages without a style of their own, which browsers would show in small type across the window."""

WITH_NOTES = f"<style>html{{--kiwi-bar:{BAR_WITH_NOTES_PX}px;padding-top:{BAR_WITH_NOTES_PX}px!important}}</style>"


@dataclass(frozen=True, slots=True)
class BannerLinks:
    """Links in the bar at the top of a page; an empty address is left out."""

    book: str
    """The first page of the book."""
    front: str = ""
    desk: str = ""
    """This page on the desk, with its contents and claims."""
    marked: str = ""
    """The first words that are highlighted: a highlight of the book itself is not named here."""


def style_for(content: bytes) -> str:
    """The style that a page gets in addition to its own."""
    return STYLE if OWN_STYLE.search(content) else PLAIN_STYLE + STYLE


def banner(book: Book, links: BannerLinks, notes: Sequence[str], catalogue: Catalogue) -> str:
    """The bar at the top of a page, with notes about it."""
    said = "".join(f'<span class="kiwi-note">{escape(note)}</span>' for note in notes)
    kind = "kiwi-bar kiwi-has-notes" if notes else "kiwi-bar"
    head = f'<div class="{kind}" lang="{catalogue.language}" dir="ltr">'
    return f"{WITH_NOTES if notes else ''}{head}{' · '.join(_links(book, links, catalogue))}{said}</div>"


def _links(book: Book, links: BannerLinks, catalogue: Catalogue) -> Iterator[str]:
    # A frame may not show our own pages, so links to them leave the frame.
    if links.front:
        yield f'<a href="{escape(links.front)}" target="_top">kiwiresearch</a>'
    if links.desk:
        yield f'<a href="{escape(links.desk)}" target="_top">{escape(catalogue("reading.banner.desk"))}</a>'
    date = f", {escape(catalogue.locale.date(book.date))}" if book.date else ""
    yield f'<bdi><a href="{escape(links.book)}">{escape(book.title)}</a></bdi>{date}'
    if links.marked:
        yield f'<a href="#{MARK_ID}">{escape(catalogue("reading.banner.marked", words=links.marked))}</a>'


def _shortened(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= MAX_MARKED else words[:MAX_MARKED] + "…"


def _note(missed: str, catalogue: Catalogue) -> str:
    """What is said of words that could not be marked."""
    shown = missed if len(missed) <= MAX_SHOWN else missed[:MAX_SHOWN] + "…"
    return (
        catalogue("reading.banner.unmarked_words", words=shown)
        if shown.strip()
        else catalogue("reading.banner.unmarked")
    )


SPAN = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
MAX_MARKS = 64
MAX_QUOTE = 4_000

Marks = Annotated[
    list[str],
    Query(max_length=MAX_MARKS, description="Text to highlight: offsets into the text of the page, such as `120-180`."),
]
Quoted = Annotated[str, Query(max_length=MAX_QUOTE, description="Text to highlight, exactly as on the page.")]
Claims = Annotated[bool, Query(description="Highlight the claims of the page.")]

OWN_VIEWPORT = '<meta name="viewport"'
VIEWPORT = f'{OWN_VIEWPORT} content="width=device-width, initial-scale=1">'
"""Without it, phones show a page as wide as on a desktop, and tiny."""


def router(context: ServerContext) -> APIRouter:
    """Routes to the pages and files of the books on the shelf."""
    routes = RoleRouter("reader", tags=["read"])

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
        """Serve a page with text highlighted, or a file that a page uses."""
        spans = [_span(text) for text in mark]
        named = book.removesuffix(FRAMED_SUFFIX)
        opened = open_at(context, named, path, is_marked=bool(spans or quote or claims))
        base = str(request.scope.get("root_path", "")).rstrip("/")
        key = request.scope.get("state", {}).get("reading_key", "")
        root = f"{base}/read/{opened.book.id}{book[len(named) :]}{key}/"
        ref = opened.item.ref
        if opened.redirect is not None or named != opened.book.id or path != ref.path:
            return _moved(request, root, opened.redirect or Target(ref.path))
        runs_scripts = bool(key) and context.workspace.settings.serve.scripts
        if opened.entry is not None:
            # Scripts run in a frame of ours only, whose sandbox keeps them from leading the window elsewhere.
            in_frame = request.headers.get("sec-fetch-dest") in FRAMES
            view = DisplayOptions(root, spans, is_framed=in_frame or book != named, scripts=runs_scripts and in_frame)
            page = _RenderedPage(opened.book, opened.entry, base, catalogue_for(request))
            return page.response(view, quote, with_claims=claims)
        return _file(context, opened, request, root, scripts=runs_scripts)

    return routes


def _moved(request: Request, root: str, target: Target) -> Response:
    """A redirect to the canonical address of a page, so that its relative links work."""
    query = f"?{request.url.query}" if request.url.query else ""
    anchor = f"#{book_url('', target.anchor)}" if target.anchor else ""
    return RedirectResponse(f"{book_url(root, target.path)}{query}{anchor}", 302, book_headers(scripts=False))


@dataclass(frozen=True, slots=True)
class _RenderedPage:
    """A page of a book, with the values for the bar at its top."""

    book: Book
    entry: Entry
    base: str
    catalogue: Catalogue

    def response(self, view: DisplayOptions, quote: str, *, with_claims: bool) -> Response:
        page = read_in_turn(self.entry, self.book)
        marks, missed = _marks(page, view.marks, quote)
        claims = _claim_extents(page, self.book) if with_claims else ()
        style = style_for(self.entry.content)
        with large_page_turn(self.entry.content):
            shown = display_page(
                self.entry.content,
                page,
                replace(view, marks=marks, claims=claims, first_style=FIRST_STYLE, style=style),
            )
        missed += [page.text[span.start : span.end] for span in shown.unmarked]
        notes = [self.catalogue("reading.cut")] * page.is_cut + [_note(words, self.catalogue) for words in missed]
        found = [page.text[span.start : span.end] for span in marks if span not in shown.unmarked]
        links = replace(self._links(view), marked=_shortened(found[0]) if found else "")
        line = banner(self.book, links, notes, self.catalogue)
        body = f"{_with_viewport(shown)}{shown.after}{line}</body></html>"
        headers = book_headers(scripts=view.scripts, is_framed=view.is_framed) | {"Cache-Control": "no-cache"}
        return Response(body.encode("utf-8", "replace"), headers=headers, media_type="text/html; charset=utf-8")

    def _links(self, view: DisplayOptions) -> BannerLinks:
        """The links of the bar; in a frame, only those that may leave it."""
        desk = f"{self.base}/page/{self.book.id}/{book_url('', self.entry.ref.path)}"
        if view.is_framed:
            return BannerLinks(view.root, desk="" if view.scripts else desk)
        return BannerLinks(view.root, front=f"{self.base}/", desk=desk)


def _claim_extents(page: PageDoc, book: Book) -> tuple[Extent, ...]:
    """Where the quotes of the page's claims are."""
    quotes = [claim.quotes[0] for claim in cached_claims(page, book)]
    return tuple(Extent(quote.start, quote.end) for quote in quotes)


def _with_viewport(shown: DisplayedPage) -> str:
    """The beginning of a page, with a viewport if it has none of its own."""
    if OWN_VIEWPORT in shown.before or OWN_VIEWPORT in shown.after:
        return shown.before
    return shown.before.replace("<head>", f"<head>{VIEWPORT}", 1)


def _marks(page: PageDoc, spans: Sequence[Extent], quote: str) -> tuple[list[Extent], list[str]]:
    """The spans to mark, and the words that the page does not have."""
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
        raise BadUsage(
            f"{text!r} is not a valid range of text.",
            remedy="Use two offsets, the smaller one first, for example mark=120-180.",
        )
    return Extent(int(found[1]), int(found[2]))


def _file(context: ServerContext, opened: ReaderTarget, request: Request, root: str, *, scripts: bool) -> Response:
    item, archive = opened.item, opened.archive
    tag = etag(item, scripts=scripts)
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=book_headers(scripts=scripts) | {"ETag": tag})

    def part(start: int, end: int) -> bytes:
        with context.locked_finder():
            return archive.part(item.ref.path, start, end)

    content = Content(item.size, part)
    if type_of(item) == "text/css":
        style = cleaned_style(part(0, item.size).decode("utf-8", "replace"), PageAddresses(root, item.ref.path))
        content = in_memory(style.encode("utf-8", "replace"))
    elif item.is_packed and item.size > PIECE_BYTES:  # each part would have to be decompressed again
        content = in_memory(part(0, item.size))
    # A part must not be joined to parts of another version, so then the whole file is sent.
    condition = request.headers.get("if-range", tag)
    asked = request.headers.get("range", "") if condition == tag else ""
    return file_response(item, content, asked, scripts=scripts, is_head=request.method == "HEAD")
