"""Pages of the desk: the timeline of a run, drawn and listed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from markupsafe import Markup
from starlette.responses import Response

from kiwiresearch.brief.timeline_picture import timeline_picture
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk.list_part import address, part_of
from kiwiresearch.web.desk.moments import MomentQuery, dated
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.run_frame import frames_of
from kiwiresearch.web.room import Room


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    runs = frames_of(room, jobs)

    @routes.get("/runs/{run_id}/timeline")
    def timeline(
        request: Request, run_id: Annotated[str, Path(max_length=255)], query: Annotated[MomentQuery, Query()]
    ) -> Response:
        run = runs.get(run_id)
        shown = part_of(dated(run, query), query.n, run.url("timeline"), query.wish())
        # The picture escapes what it shows; it has those moments that are listed below it, by their numbers there.
        picture = Markup(timeline_picture([one.moment for one in shown.rows]))  # noqa: S704
        return pages.show(
            request,
            "timeline.html",
            run=run,
            tab="timeline",
            query=query,
            shown=shown,
            picture=picture,
            choices=[
                (which, address(run.url("timeline"), query.model_copy(update={"which": which}).wish()))
                for which in ("brief", "all")
            ],
        )

    return routes
