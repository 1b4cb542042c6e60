"""A worksheet made from one page of a book, as a file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from kiwiresearch.export import FORMATS, WorksheetChoice, choice_of, page_worksheet_file
from kiwiresearch.web.book_pages import claims_in_turn
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.exports import HEADERS, Kinds, Questions, content_disposition
from kiwiresearch.web.guard import RoleRouter, requires_role
from kiwiresearch.web.replies import JsonRoute
from kiwiresearch.web.search import BookFilter, Path, Title, read_page
from kiwiresearch.workspace import folder_name

WorksheetFormat = Literal["html", "docx", "markdown"]
WorksheetFormatQuery = Annotated[WorksheetFormat, Query(alias="format", description="The kind of file.")]
# A browser may show the page to print, but it runs nothing, loads nothing, and leads nowhere.
SHOWN_HEADERS = HEADERS | {
    "Content-Security-Policy": "sandbox allow-modals; default-src 'none'; style-src 'unsafe-inline'; "
    "frame-ancestors 'none'"
}
MEDIA_TYPES = {
    "html": FORMATS["worksheet"].media_type,
    "docx": FORMATS["worksheet-docx"].media_type,
    "markdown": FORMATS["worksheet-markdown"].media_type,
}
WORKSHEET_DOC: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind.partition(";")[0]: {} for kind in MEDIA_TYPES.values()}, "description": "The file."}
}


def router(context: ServerContext) -> APIRouter:
    """The route that makes a worksheet; nothing is written on the server. Pupils read: they get no answers."""
    routes = RoleRouter("researcher", prefix="/api", tags=["find"], route_class=JsonRoute)

    @routes.get("/worksheet", response_class=Response, responses=WORKSHEET_DOC)
    @requires_role("researcher", "export")
    def worksheet(
        title: Title = "",
        path: Path = "",
        book: BookFilter = "",
        format_name: WorksheetFormatQuery = "html",
        questions: Questions = 0,
        kind: Kinds = [],  # noqa: B006
    ) -> Response:
        """Questions about a page for a class, and an answer sheet that quotes the page, as a file."""
        return worksheet_response(context, title, path, book, format_name, choice_of(questions, kind))

    return routes


def worksheet_response(
    context: ServerContext,
    title: str,
    path: str,
    book: str,
    format_name: WorksheetFormat,
    choice: WorksheetChoice,
    *,
    is_shown: bool = False,
) -> Response:
    """The worksheet of a page, as a download; a page to print can also be shown."""
    place, found = read_page(context, title, path, book)
    made = page_worksheet_file(claims_in_turn(found, place.book.book), format_name, place.book.book, choice)
    if is_shown and format_name == "html":
        return Response(made.content, headers=SHOWN_HEADERS, media_type=MEDIA_TYPES[format_name])
    headers = HEADERS | {"Content-Disposition": content_disposition(f"{folder_name(found.title)}-article-{made.name}")}
    return Response(made.content, headers=headers, media_type=MEDIA_TYPES[format_name])
