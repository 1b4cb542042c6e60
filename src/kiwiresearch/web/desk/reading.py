"""The reading view: any page of any book in a frame of ours, with its contents, its claims and its place in a run."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote as percent
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import RedirectResponse, Response

from kiwiresearch.claims.claim import ClaimType
from kiwiresearch.errors import BookNotFound, KiwiError, PageHidden, PageNotFound
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk.page_claims import ClaimsAsked
from kiwiresearch.web.desk.page_in_run import in_run
from kiwiresearch.web.desk.page_seen import PageSeen, ViewAsked, seen
from kiwiresearch.web.desk.pages import Pages, go_to, local
from kiwiresearch.web.desk.run_frame import RunFrames, frames_of
from kiwiresearch.web.places import books_named
from kiwiresearch.web.problems import problem_of
from kiwiresearch.web.reader import MOST_MARKS
from kiwiresearch.web.reader_open import Opened, open_at
from kiwiresearch.web.room import Room
from kiwiresearch.zim.entry import EntryRef
from kiwiresearch.zim.lookup import near_titles
from kiwiresearch.zim.paths import title_of_path

SPAN = r"^[0-9]{1,9}-[0-9]{1,9}$"
MOST_CLAIMS = 100_000
NO_RUN = {"run": None, "here_in_run": None, "run_problem": None, "notes_target": None, "notes": None}

BookName = Annotated[str, Path(max_length=500)]
PagePath = Annotated[str, Path(max_length=4_000)]
Run = Annotated[str, Query(max_length=255)]
Marks = Annotated[list[Annotated[str, Query(pattern=SPAN)]], Query(max_length=MOST_MARKS)]
Part = Annotated[str, Query(max_length=500)]
OfType = Annotated[ClaimType | None, Query(alias="type")]
Start = Annotated[int, Query(ge=0, le=MOST_CLAIMS)]


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:
    """The page at /page/BOOK/PATH."""
    routes = APIRouter(include_in_schema=False)
    view = ReadingDesk(room, frames_of(room, jobs), pages)

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
    ) -> Response:
        listed = ClaimsAsked(of_type, start)
        return view.page(request, book, path, ViewAsked(run, tuple(mark), section, listed, with_claims=claims))

    return routes


class ReadingDesk:
    """Shows pages of books, and what to do where there is none."""

    def __init__(self, room: Room, runs: RunFrames, pages: Pages) -> None:
        self._room = room
        self._runs = runs
        self._pages = pages

    def page(self, request: Request, book: str, path: str, asked: ViewAsked) -> Response:
        try:
            opened = open_at(self._room, book, path, is_marked=True)
        except BookNotFound:
            return self._no_book(request, book)
        except PageHidden:
            raise
        except PageNotFound:
            return self._no_page(request, book, path)
        if opened.entry is None:  # a picture, a film: nothing of it is ours to show
            return go_to(local(self._room.page_url(opened.item.ref)))
        ref = opened.item.ref
        if opened.elsewhere is not None or book != ref.book or path != ref.path:
            return self._moved(request, opened)
        found = seen(self._room, opened, asked)
        return self._pages.show(request, "page.html", one=found, **self._of_run(asked.run, found))

    def _of_run(self, run_id: str, found: PageSeen) -> dict[str, Any]:
        """What a run knows of the page; one that cannot be read is no reason not to show the page."""
        try:
            run = self._runs.get(run_id) if run_id else None
            return NO_RUN | ({"run": run, **in_run(run, found)} if run else {})
        except KiwiError as error:
            return NO_RUN | {"run_problem": problem_of(error)}

    def _moved(self, request: Request, opened: Opened) -> Response:
        """The one address under which a page is read, with all that was asked for."""
        ref, target = opened.item.ref, opened.elsewhere
        query = [pair for pair in request.query_params.multi_items() if pair[0] != "section" or not target]
        if target is not None and target.anchor:
            query.append(("section", target.anchor))
        return RedirectResponse(page_address(ref) + (f"?{urlencode(query, errors='replace')}" if query else ""), 302)

    def _no_book(self, request: Request, book: str) -> Response:
        books = [(one.title or one.name, page_address(EntryRef(one.id, ""))) for one in self._room.shelf.books]
        return self._pages.show(request, "page_no_book.html", status=404, wanted=book[:200], books=books)

    def _no_page(self, request: Request, named: str, path: str) -> Response:
        words = title_of_path(path)[:200]
        with self._room.reading() as finder:
            archive = books_named(finder, named)[0].archive if named.strip() else None
            book = archive.book if archive else None
            near = near_titles(archive, words) if archive and words.strip() else []
            found = [(title, at) for title in near if archive and (at := archive.by_title(title))]
        links = [(title, page_address(EntryRef(book.id, at))) for title, at in found] if book else []
        first = page_address(EntryRef(book.id, "")) if book and book.main_page else ""
        return self._pages.show(
            request, "page_missing.html", status=404, book=book, path=path[:200], words=words, near=links, first=first
        )


def page_address(ref: EntryRef) -> str:
    """Where a page is read at the desk."""
    return f"/page/{percent(ref.book, safe='')}/{percent(ref.path, errors='replace')}"
