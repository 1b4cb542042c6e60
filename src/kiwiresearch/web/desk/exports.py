"""Pages of the desk: a run for other programs, each format with what it is for, and the files to take along."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import quote as percent

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from kiwiresearch.export.exporter import make_files
from kiwiresearch.export.formats import FORMATS, grouped_formats
from kiwiresearch.export.packing import ExportedFile, safe_name, zip_files
from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.run_view import RunView, RunViews, run_views
from kiwiresearch.workspace.places import folder_name

# What is in the file comes from books: it may be kept, and not be shown as a page of this server.
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
WHOLE_RUN = "brief"

RunId = Annotated[str, Path(max_length=255)]
FormatName = Annotated[str, Path(max_length=40)]


def router(room: ServerContext, jobs: JobQueue, pages: Pages) -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    runs = run_views(room, jobs)
    _add(routes, runs, pages)
    return routes


def _add(routes: APIRouter, runs: RunViews, pages: Pages) -> None:
    @routes.get("/runs/{run_id}/export")
    def formats(request: Request, run_id: RunId) -> Response:
        run = runs.get(run_id)
        notes = len(run.notes.notes)
        return pages.show(request, "export.html", run=run, tab="export", groups=grouped_formats(), notes=notes)

    # Neither of the two is a coroutine, so that making a file holds up nobody but who asked for it.
    @routes.get("/runs/{run_id}/export/{form}")
    def download(run_id: RunId, form: FormatName) -> Response:
        return download_response(runs.get(run_id), form)


def download_response(run: RunView, form: str) -> Response:
    """A run in a format, as a file that a browser or a program keeps."""
    file = _one_file(form, run.topic, make_files(run.path, form))
    headers = HEADERS | {"Content-Disposition": content_disposition(file.name)}
    return Response(file.content, headers=headers, media_type=FORMATS[form].media_type)


def _one_file(form: str, topic: str, files: tuple[ExportedFile, ...]) -> ExportedFile:
    """What a browser keeps: the file, or a zip of several, under a name that tells the topic."""
    name = folder_name(topic)
    if len(files) == 1 and not FORMATS[form].is_folder:
        place = PurePosixPath(files[0].name)
        what = "" if place.stem == WHOLE_RUN else f"-{place.stem}"
        return ExportedFile(f"{name}{what}{place.suffix}", files[0].content)
    if FORMATS[form].is_folder:
        folder = safe_name(topic)
        files = tuple(ExportedFile(f"{folder}/{file.name}", file.content) for file in files)
    return ExportedFile(f"{name}-{form}.zip", zip_files(files))


def content_disposition(name: str) -> str:
    """The header that names a file, in letters that every browser reads, and in its own."""
    stem, dot, ending = name.rpartition(".")
    plain = re.sub(r"[^A-Za-z0-9-]+", "", stem).strip("-") or "research"
    return f"attachment; filename=\"{plain}{dot}{ending}\"; filename*=UTF-8''{percent(name, safe='')}"
