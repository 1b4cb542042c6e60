"""A worksheet made from one page of a book, as a file."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from kiwiresearch.export import FORMATS, page_worksheet_file
from kiwiresearch.web.book_pages import claims_in_turn
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.exports import HEADERS, content_disposition
from kiwiresearch.web.guard import RoleRouter, allow
from kiwiresearch.web.replies import JsonRoute
from kiwiresearch.web.search import BookFilter, Path, Title, read_page
from kiwiresearch.workspace import folder_name

WorksheetForm = Literal["html", "docx", "markdown"]
Form = Annotated[WorksheetForm, Query(alias="format", description="The kind of file.")]
MEDIA_TYPES = {
    "html": FORMATS["worksheet"].media_type,
    "docx": FORMATS["worksheet-docx"].media_type,
    "markdown": FORMATS["worksheet-markdown"].media_type,
}
WORKSHEET_DOC: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind.partition(";")[0]: {} for kind in MEDIA_TYPES.values()}, "description": "The file."}
}


def router(context: ServerContext) -> APIRouter:
    """The route that makes a worksheet; nothing is written on the server."""
    routes = RoleRouter("reader", prefix="/api", tags=["find"], route_class=JsonRoute)

    @routes.get("/worksheet", response_class=Response, responses=WORKSHEET_DOC)
    @allow("reader", "export")
    def worksheet(title: Title = "", path: Path = "", book: BookFilter = "", form: Form = "html") -> Response:
        """Questions about a page for a class, and an answer sheet that quotes the page, as a file."""
        return worksheet_response(context, title, path, book, form)

    return routes


def worksheet_response(context: ServerContext, title: str, path: str, book: str, form: WorksheetForm) -> Response:
    """The worksheet of a page, as a download."""
    place, found = read_page(context, title, path, book)
    made = page_worksheet_file(claims_in_turn(found, place.book.book), form, place.book.book)
    headers = HEADERS | {"Content-Disposition": content_disposition(f"{folder_name(found.title)}-article-{made.name}")}
    return Response(made.content, headers=headers, media_type=MEDIA_TYPES[form])
