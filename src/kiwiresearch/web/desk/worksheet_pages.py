"""The page on which a teacher chooses the questions of a worksheet, and takes it away as a file."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.errors import NothingFound
from kiwiresearch.export import (
    EXERCISE_KINDS,
    MAX_WANTED,
    MIN_WANTED,
    Worksheet,
    WorksheetChoice,
    choice_of,
    make_page_worksheet,
)
from kiwiresearch.jobs import JobQueue
from kiwiresearch.page import PageDoc
from kiwiresearch.web.addresses import page_address
from kiwiresearch.web.book_pages import claims_in_turn
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import PageRenderer, redirect
from kiwiresearch.web.desk.typed_words import pages_like, pages_named
from kiwiresearch.web.exports import Kinds, Questions
from kiwiresearch.web.guard import RoleRouter, requires_role
from kiwiresearch.web.run_view import run_views
from kiwiresearch.web.search import Title, read_page
from kiwiresearch.web.worksheets import WorksheetFormat, worksheet_response
from kiwiresearch.zim import Book

FILES: tuple[WorksheetFormat, ...] = ("docx", "html", "markdown")
"""The files of a worksheet; the first can be edited."""
MAX_RUNS = 6
"""How many of the latest briefs are offered beside an article."""


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The page at /worksheet. It is not for readers, who may be pupils: the files have the answers."""
    routes, runs = RoleRouter("researcher", include_in_schema=False), run_views(context, jobs)

    @routes.get("/worksheet")
    @requires_role("researcher", "export")
    def worksheet(
        request: Request,
        book: Annotated[str, Query(max_length=500)] = "",
        path: Annotated[str, Query(max_length=2_000)] = "",
        format_name: Annotated[WorksheetFormat | None, Query(alias="format")] = None,
        title: Title = "",
        questions: Questions = 0,
        kind: Kinds = [],  # noqa: B006
    ) -> Response:
        """The questions about a page with links to the files, or one of these; without a page, what it can be about."""
        if not path:
            named = pages_named(context, title)
            if named:
                return redirect(named[0].worksheet_address)
            archived = jobs.removed.ids("run", "archived")
            return pages.show(
                request,
                "worksheet_start.html",
                title=title.strip(),
                near=pages_like(context, title),
                runs=[run for run in runs.all() if run.id not in archived][:MAX_RUNS],
            )
        choice = choice_of(questions, kind)
        if format_name is not None:
            return worksheet_response(context, "", path, book, format_name, choice, is_shown=True)
        place, found = read_page(context, "", path, book)
        asked = [("book", book), ("path", path)]
        chosen = [("questions", questions), *(("kind", one) for one in kind)]
        return pages.show(
            request,
            "worksheet.html",
            worksheet=_worksheet(found, place.book.book, choice),
            choice=choice,
            counts=range(MIN_WANTED, MAX_WANTED + 1),
            kinds=EXERCISE_KINDS,
            action="/worksheet",
            asked=asked,
            title=found.title,
            address=page_address(found.ref),
            files=[
                (name, f"/worksheet?{urlencode([*asked, *chosen, ('format', name)], errors='replace')}")
                for name in FILES
            ],
        )

    return routes


def _worksheet(found: PageDoc, book: Book, choice: WorksheetChoice) -> Worksheet | None:
    """The worksheet of a page; None if it has no questions of the chosen kinds."""
    try:
        return make_page_worksheet(claims_in_turn(found, book), book, choice)
    except NothingFound:
        if choice.has_all_kinds:
            raise
        return None
