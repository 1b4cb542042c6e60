"""Pages of a finished run: its brief, and the pages it is made from."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from kiwiresearch.brief.images import media_type_of
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk.brief_view import BriefView
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.run_frame import RunName, frames_of
from kiwiresearch.web.room import Room

ROWS = 100

PICTURE_HEADERS = {"Cache-Control": "private, max-age=86400", "X-Content-Type-Options": "nosniff"}
"""The address of a picture has its hash, so what is there never changes."""

PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:
    """The brief at the run's own address, and its pages beside it."""
    routes = APIRouter(include_in_schema=False)
    frames = frames_of(room, jobs)

    @routes.get("/runs/{run_id}")
    def brief(request: Request, run_id: RunName) -> Response:
        run = frames.get(run_id)
        return pages.show(request, "brief.html", run=run, tab="brief", view=BriefView(run))

    @routes.get("/runs/{run_id}/pictures/{sha256}")
    def picture(run_id: RunName, sha256: Annotated[str, Path(max_length=64)]) -> Response:
        content = frames.get(run_id).image(sha256)
        kind = media_type_of(content) or "application/octet-stream"
        return Response(content, headers=PICTURE_HEADERS, media_type=kind)

    @routes.get("/runs/{run_id}/pages")
    def pages_taken(request: Request, run_id: RunName, page: PageNumber = 1) -> Response:
        run = frames.get(run_id)
        taken = run.pages
        first = (page - 1) * ROWS
        return pages.show(
            request,
            "run_pages.html",
            run=run,
            tab="pages",
            taken=taken[first : first + ROWS],
            page=page,
            last_page=max(1, -(-len(taken) // ROWS)),
        )

    return routes
