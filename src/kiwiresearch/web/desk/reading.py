"""The reading view: a page of a book as a page of ours, with its contents, its claims and its place in a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import urlencode, urljoin

from fastapi import APIRouter, Form, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from kiwiresearch.claims import Claim, ClaimType
from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import BookNotFound, KiwiError, PageHidden, PageNotFound
from kiwiresearch.jobs import JobQueue
from kiwiresearch.runs import RunPage
from kiwiresearch.web.addresses import local_address, page_address, safe_return_address
from kiwiresearch.web.book_pages import ReaderTarget, books_named, open_at
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.browser import set_lasting_cookie
from kiwiresearch.web.desk.notes import notes_for
from kiwiresearch.web.desk.page_view import (
    ClaimSelection,
    PageQuery,
    PageView,
    marked_address,
    original_frame_address,
    page_view,
    read_target,
    section_place,
)
from kiwiresearch.web.desk.pages import POLICY, PageRenderer, redirect
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.web.notes import page_target
from kiwiresearch.web.peers import address_to_share
from kiwiresearch.web.problems import problem_of
from kiwiresearch.web.reader import MAX_MARKS
from kiwiresearch.web.run_view import RunView, RunViews, run_views
from kiwiresearch.zim import EntryRef, near_titles, title_of_path

MAX_LINKS = 40


@dataclass(frozen=True, slots=True)
class BackLink:
    """A page of the run that links to this one, and the text of the link."""

    title: str
    address: str
    words: str
    section: str


@dataclass(frozen=True, slots=True)
class PageInRun:
    """A page as a run knows it."""

    taken: RunPage | None
    links: tuple[BackLink, ...]
    more_links: int
    known: frozenset[str]
    """The ids of the claims of this page that the run has."""
    others: tuple[tuple[Claim, str], ...]
    """Claims that only the run has, and the addresses of their words."""


def page_in_run(run: RunView, found: PageView) -> JsonDict:
    """The values of the template: the run's data about the page, and the notes on it."""
    ref = found.page.ref
    claims = [claim for claim in run.claims if claim.ref == ref]
    read_now = {claim.id for claim in found.all_claims}
    links = list(_links_to(run, ref))
    target = page_target(run, ref, found.title) if any(book.id == ref.book for book in run.books) else None
    return {
        "here_in_run": PageInRun(
            taken=next((page for page in run.pages if page.source.ref == ref), None),
            links=tuple(links[:MAX_LINKS]),
            more_links=max(len(links) - MAX_LINKS, 0),
            known=frozenset(claim.id for claim in claims),
            others=tuple((claim, marked_address(found.address, claim)) for claim in claims if claim.id not in read_now),
        ),
        "notes_target": target,
        "notes": notes_for(run, target) if target else None,
    }


def _links_to(run: RunView, ref: EntryRef) -> Iterator[BackLink]:
    """The links to a page in the graph of the run, sorted by the titles of their pages."""
    titles = {page.ref: page.title for page in run.graph.pages}
    links = [link for link in run.graph.links if link.target == str(ref)]
    for link in sorted(links, key=lambda link: titles[link.source].casefold()):
        source = EntryRef.parse(link.source)
        title = titles[link.source] or (source.path if source else link.source)
        words = "" if link.anchor_text == title else link.anchor_text
        yield BackLink(title, run.page_url(source) if source else "", words, link.section)


SPAN_PATTERN = r"^[0-9]{1,9}-[0-9]{1,9}$"
MAX_CLAIMS = 100_000
NO_RUN: JsonDict = {"run": None, "here_in_run": None, "run_problem": None, "notes_target": None, "notes": None}

READING_POLICY = POLICY.replace("frame-src 'self'", "frame-src 'none'; media-src 'self'")
"""Pages with an article frame nothing, and may play recordings of its book."""

TEXT_SIZES = ("small", "normal", "large", "largest")
SIZE_COOKIE = "kiwiresearch_text_size"

BookName = Annotated[str, Path(max_length=500)]
PagePath = Annotated[str, Path(max_length=4_000)]
Run = Annotated[str, Query(max_length=255)]
Marks = Annotated[list[Annotated[str, Query(pattern=SPAN_PATTERN)]], Query(max_length=MAX_MARKS)]
Part = Annotated[str, Query(max_length=500)]
OfType = Annotated[ClaimType | None, Query(alias="type")]
Start = Annotated[int, Query(ge=0, le=MAX_CLAIMS)]


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The page at /page/BOOK/PATH."""
    routes = RoleRouter("reader", include_in_schema=False)
    view = ReadingPages(context, run_views(context, jobs), pages)

    @routes.api_route("/page/{book}/{path:path}", methods=["GET", "HEAD"])
    def read(
        request: Request,
        book: BookName,
        path: PagePath,
        run: Run = "",
        mark: Marks = [],  # noqa: B006
        section: Part = "",
        of_type: OfType = None,
        start: Start = 0,
        *,
        claims: bool = False,
        beside: bool = False,
        layout: Literal["", "original"] = "",
    ) -> Response:
        listed = ClaimSelection(of_type, start)
        query = PageQuery(run, tuple(mark), section, listed, with_claims=claims, beside=beside)
        return view.page(request, book, path, query, is_original=layout == "original")

    @routes.post("/text-size")
    def choose_size(
        request: Request, size: Annotated[str, Form(max_length=8)] = "", back: Annotated[str, Form()] = "/"
    ) -> Response:
        answer = redirect(safe_return_address(back))
        if size in TEXT_SIZES:
            set_lasting_cookie(request, answer, SIZE_COOKIE, size)
        return answer

    return routes


def text_size(request: Request) -> str:
    """The size in which a reader wants articles."""
    wanted = request.cookies.get(SIZE_COOKIE, "")
    return wanted if wanted in TEXT_SIZES else "normal"


class ReadingPages:
    """Shows pages of books, or a remedy if the page does not exist."""

    def __init__(self, context: ServerContext, runs: RunViews, pages: PageRenderer) -> None:
        self._context = context
        self._runs = runs
        self._pages = pages

    def page(self, request: Request, book: str, path: str, query: PageQuery, *, is_original: bool) -> Response:
        try:
            opened = open_at(self._context, book, path, is_marked=True)
        except BookNotFound:
            return self._no_book(request, book)
        # A kind of PageNotFound, but the page is there: similar titles would be of no help.
        except PageHidden:
            raise
        except PageNotFound:
            return self._no_page(request, book, path)
        if opened.entry is None:  # a picture or a film, which the browser shows by itself
            return redirect(local_address(self._context.page_url(opened.item.ref)))
        ref = opened.item.ref
        if opened.redirect is not None or book != ref.book or path != ref.path:
            return self._moved(request, opened)
        read = read_target(opened)
        if is_original:
            frame = original_frame_address(self._context, request, ref, query)
            return self._pages.show(request, "page_original.html", page=read.page, frame=frame)
        if not query.marks and (place := section_place(read.page, query.section)):
            return self._moved(request, opened, place)
        found = page_view(self._context, read, query, links_label=catalogue_for(request)("reading.links_box"))
        of_run = self._of_run(query.run, found)
        shared = address_to_share(self._context.workspace.settings.serve, request)
        return self._pages.show(
            request,
            "page.html",
            of_run,
            part_of=f"/runs/{query.run}" if of_run["run"] else page_address(ref),
            headers={"Content-Security-Policy": READING_POLICY},
            one=found,
            printed_address=urljoin(shared, page_address(ref)) if shared else "",
            size=text_size(request),
            sizes=TEXT_SIZES,
        )

    def _of_run(self, run_id: str, found: PageView) -> JsonDict:
        """The run's data about the page; the page is shown even if the run cannot be read."""
        try:
            run = self._runs.get(run_id) if run_id else None
            return NO_RUN | ({"run": run, **page_in_run(run, found)} if run else {})
        except KiwiError as error:
            return NO_RUN | {"run_problem": problem_of(error)}

    def _moved(self, request: Request, opened: ReaderTarget, place: str = "") -> Response:
        """Redirect to the canonical address of a page, with the same parameters, or to a place in it."""
        ref, target = opened.item.ref, opened.redirect
        query = [pair for pair in request.query_params.multi_items() if pair[0] != "section" or not (target or place)]
        if target is not None and target.anchor:
            query.append(("section", target.anchor))
        asked = f"?{urlencode(query, errors='replace')}" if query else ""
        return RedirectResponse(page_address(ref) + asked + place, 302)

    def _no_book(self, request: Request, book: str) -> Response:
        books = [
            (listed_book.title or listed_book.name, page_address(EntryRef(listed_book.id, "")))
            for listed_book in self._context.shelf.books
        ]
        return self._pages.show(request, "book_missing.html", status=404, wanted=book[:200], books=books)

    def _no_page(self, request: Request, named: str, path: str) -> Response:
        words = title_of_path(path)[:200]
        with self._context.locked_finder() as finder:
            archive = books_named(finder, named)[0].archive if named.strip() else None
            book = archive.book if archive else None
            near = near_titles(archive, words) if archive and words.strip() else []
            found = [(title, at) for title in near if archive and (at := archive.by_title(title))]
        links = [(title, page_address(EntryRef(book.id, at))) for title, at in found] if book else []
        first = page_address(EntryRef(book.id, "")) if book and book.main_page else ""
        return self._pages.show(
            request, "page_missing.html", status=404, book=book, path=path[:200], words=words, near=links, first=first
        )
