"""The page of export formats, and the files that it offers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated
from urllib.parse import quote as percent

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from kiwiresearch.export.exporter import FORMATS, make_files
from kiwiresearch.export.packing import ExportedFile, safe_name, zip_files
from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.run_view import RunView, run_views
from kiwiresearch.workspace.places import folder_name

GROUPS: Mapping[str, tuple[str, ...]] = {
    "read": ("html", "epub", "markdown"),
    "keep": ("zim", "obsidian", "kiwix-bookmarks"),
    "cite": ("bibtex", "ris", "csl-json"),
    "count": ("claims-csv", "csv", "graphml", "gexf"),
}
"""The formats by purpose, as keys of the catalogue; each format is in one group."""

WITH_NOTES = frozenset({"markdown", "html", "obsidian", "epub", "zim", "claims-csv"})

TYPES = {
    ".bib": "application/x-bibtex; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".epub": "application/epub+zip",
    ".gexf": "application/gexf+xml",
    ".graphml": "application/graphml+xml",
    ".html": "text/html; charset=utf-8",
    ".json": "application/vnd.citationstyles.csl+json",
    ".md": "text/markdown; charset=utf-8",
    ".ris": "application/x-research-info-systems; charset=utf-8",
    ".xml": "application/xml",
    ".zim": "application/x-zim",
    ".zip": "application/zip",
}
# The content comes from books: a browser may save it, but not show it as a page of this server.
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
WHOLE_RUN = "brief"

RunId = Annotated[str, Path(max_length=255)]
FormatName = Annotated[str, Path(max_length=40)]


@dataclass(frozen=True, slots=True)
class FormatChoice:
    """A format as the page offers it."""

    name: str
    ending: str
    with_notes: bool


def router(room: ServerContext, jobs: JobQueue, pages: Pages) -> APIRouter:
    """The page of formats, and the files."""
    routes = APIRouter(include_in_schema=False)
    runs = run_views(room, jobs)
    groups = {group: [format_choice(name) for name in names] for group, names in GROUPS.items()}

    @routes.get("/runs/{run_id}/export")
    def formats(request: Request, run_id: RunId) -> Response:
        run = runs.get(run_id)
        notes = len(run.notes.notes)
        return pages.show(request, "export.html", run=run, tab="export", groups=groups, notes=notes)

    # Not a coroutine: making a file takes time, and must not hold up other requests.
    @routes.get("/runs/{run_id}/export/{form}")
    def download(run_id: RunId, form: FormatName) -> Response:
        return download_response(runs.get(run_id), form)

    return routes


def download_response(run: RunView, form: str) -> Response:
    """A run in a format, as a file to save."""
    file = _one_file(form, run.topic, make_files(run.path, form))
    kind = TYPES.get(PurePosixPath(file.name).suffix, "application/octet-stream")
    return Response(
        file.content, headers=HEADERS | {"Content-Disposition": content_disposition(file.name)}, media_type=kind
    )


def format_choice(name: str) -> FormatChoice:
    form = FORMATS[name]
    several = form.is_folder or len(form.names) > 1
    ending = ".zip" if several else PurePosixPath(form.names[0]).suffix
    return FormatChoice(name, ending, name in WITH_NOTES)


def _one_file(form: str, topic: str, files: tuple[ExportedFile, ...]) -> ExportedFile:
    """The file to save, or a zip of several, named after the topic."""
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
    """The header that names a file, in ASCII for old browsers and in full."""
    stem, dot, ending = name.rpartition(".")
    plain = re.sub(r"[^A-Za-z0-9-]+", "", stem).strip("-") or "research"
    return f"attachment; filename=\"{plain}{dot}{ending}\"; filename*=UTF-8''{percent(name, safe='')}"
