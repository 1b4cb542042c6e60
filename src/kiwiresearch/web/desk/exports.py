"""The page of export formats, and the files that it offers."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from kiwiresearch.export import grouped_formats
from kiwiresearch.jobs import JobQueue
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.exports import download_response
from kiwiresearch.web.guard import RoleRouter, allow
from kiwiresearch.web.run_view import run_views

RunId = Annotated[str, Path(max_length=255)]
FormatName = Annotated[str, Path(max_length=40)]


def router(room: ServerContext, jobs: JobQueue, pages: Pages) -> APIRouter:
    """The page of formats, and the files."""
    routes = RoleRouter("reader", include_in_schema=False)
    runs = run_views(room, jobs)

    @routes.get("/runs/{run_id}/export")
    def formats(request: Request, run_id: RunId) -> Response:
        run = runs.get(run_id)
        notes = len(run.notes.notes)
        return pages.show(request, "export.html", run=run, tab="export", groups=grouped_formats(), notes=notes)

    # Not a coroutine: making a file takes time, and must not block other requests.
    @routes.get("/runs/{run_id}/export/{form}")
    @allow("reader", "export")
    def download(run_id: RunId, form: FormatName) -> Response:
        return download_response(runs.get(run_id), form)

    return routes
