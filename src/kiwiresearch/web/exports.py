"""Routes that export a run, as files for programs and browsers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import quote as percent

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from kiwiresearch.codec import Record
from kiwiresearch.export import (
    EXERCISE_KINDS,
    FORMATS,
    MAX_WANTED,
    ExerciseKind,
    ExportedFile,
    WorksheetChoice,
    choice_of,
    make_files,
    safe_name,
    zip_files,
)
from kiwiresearch.jobs import JobQueue
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import RoleRouter, current_visitor, refuse_without_role, requires_role
from kiwiresearch.web.job_requests import run_url
from kiwiresearch.web.replies import JsonRoute
from kiwiresearch.web.run_view import RunView, run_views
from kiwiresearch.web.runs import RunId
from kiwiresearch.workspace import folder_name

# The content comes from books: it may be saved, but not shown as a page of this server.
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}
WHOLE_RUN = "brief"

FormatName = Annotated[str, Path(max_length=40, description="The `name` of a format.", examples=["epub"])]
Questions = Annotated[
    int,
    Query(
        ge=0,
        le=MAX_WANTED,
        description="How many questions a worksheet has, from 3; 0 for as many good ones as the page yields.",
    ),
]
Kinds = Annotated[
    list[ExerciseKind],
    Query(max_length=len(EXERCISE_KINDS), description="The kinds of questions of a worksheet; none for all."),
]
EXPORT_TYPES = [export_format.media_type for export_format in sorted(FORMATS.values(), key=attrgetter("suffix"))]
EXPORT_DOC: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind.partition(";")[0]: {} for kind in EXPORT_TYPES}, "description": "The file."}
}


@dataclass(frozen=True, slots=True)
class FormatReply(Record):
    """An export format of a run."""

    name: str
    ending: str
    """The ending of its file, such as `.epub`; several files come as one `.zip`."""
    readers: str
    """The programs it is for."""
    with_notes: bool
    """Whether notes are included."""
    url: str
    """The address of the run in this format."""


@dataclass(frozen=True, slots=True)
class FormatsReply(Record):
    """All formats of a run."""

    run: str
    formats: tuple[FormatReply, ...]


def router(context: ServerContext, jobs: JobQueue) -> APIRouter:
    """Routes that export runs; nothing is written on the server."""
    routes = RoleRouter("reader", prefix="/api/runs/{run_id}/export", tags=["research"], route_class=JsonRoute)
    runs = run_views(context, jobs)

    @routes.get("")
    def formats(run_id: RunId) -> FormatsReply:
        """The export formats of a run."""
        place = f"{run_url(runs.get(run_id).id)}/export"
        return FormatsReply(
            run_id,
            tuple(
                FormatReply(
                    export_format.name,
                    export_format.suffix,
                    export_format.programs,
                    export_format.with_notes,
                    f"{place}/{export_format.name}",
                )
                for export_format in FORMATS.values()
                if current_visitor().may("researcher") or not is_for_teachers(export_format.name)
            ),
        )

    @routes.get("/{form}", response_class=Response, responses=EXPORT_DOC)
    @requires_role("reader", "export")
    def file(
        run_id: RunId,
        form: FormatName,
        questions: Questions = 0,
        kind: Kinds = [],  # noqa: B006
    ) -> Response:
        """A run in one format, created on request: the same run with the same notes gives the same bytes."""
        choice = choice_of(questions, kind)
        return download_response(runs.get(run_id), form, context.workspace.settings.browser, choice)

    return routes


def is_for_teachers(format_name: str) -> bool:
    """Whether a format is a worksheet, which has its answers: readers, who may be pupils, do not get it."""
    return format_name in FORMATS and FORMATS[format_name].content == "worksheet"


def download_response(
    run: RunView, format_name: str, browser: str = "", choice: WorksheetChoice | None = None
) -> Response:
    """A run in a format, as a download; `browser` is the setting of that name, and `choice` is for worksheets."""
    if is_for_teachers(format_name):
        refuse_without_role("researcher")
    choice = choice or WorksheetChoice()
    file = _one_file(format_name, run.topic, make_files(run.path, format_name, browser=browser, choice=choice))
    headers = HEADERS | {"Content-Disposition": content_disposition(file.name)}
    return Response(file.content, headers=headers, media_type=FORMATS[format_name].media_type)


def _one_file(format_name: str, topic: str, files: tuple[ExportedFile, ...]) -> ExportedFile:
    """The file, or a zip of several, with a name made from the topic."""
    name = folder_name(topic)
    if len(files) == 1 and not FORMATS[format_name].is_folder:
        place = PurePosixPath(files[0].name)
        # A page with the name of the topic has a worksheet, too.
        of = f"-{WHOLE_RUN}" if FORMATS[format_name].content == "worksheet" else ""
        what = "" if place.stem == WHOLE_RUN else f"{of}-{place.stem}"
        return ExportedFile(f"{name}{what}{place.suffix}", files[0].content)
    if FORMATS[format_name].is_folder:
        folder = safe_name(topic)
        files = tuple(ExportedFile(f"{folder}/{file.name}", file.content) for file in files)
    return ExportedFile(f"{name}-{format_name}.zip", zip_files(files))


def content_disposition(name: str) -> str:
    """The header that names a file: in ASCII for every browser, and exactly (RFC 5987)."""
    stem, dot, suffix = name.rpartition(".")
    plain = re.sub(r"[^A-Za-z0-9-]+", "", stem).strip("-") or "research"
    return f"attachment; filename=\"{plain}{dot}{suffix}\"; filename*=UTF-8''{percent(name, safe='')}"
