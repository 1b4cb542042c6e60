"""Pages of the desk: the timeline of a run, drawn and listed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.brief.timeline_picture import timeline_picture
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk.list_part import both_choices, part_of
from kiwiresearch.web.desk.moments import MomentQuery, dated
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.retold import relabelled
from kiwiresearch.web.desk.run_frame import RunName, frames_of
from kiwiresearch.web.desk.words import words_for
from kiwiresearch.web.room import Room


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    runs = frames_of(room, jobs)

    @routes.get("/runs/{run_id}/timeline")
    def timeline(request: Request, run_id: RunName, query: Annotated[MomentQuery, Query()]) -> Response:
        run = runs.get(run_id)
        shown = part_of(dated(run, query), query.n, run.url("timeline"), query.wish())
        # It has those moments that are listed below it, by their numbers there.
        words = words_for(request)
        picture = relabelled(timeline_picture([one.drawn(words) for one in shown.rows]), words)
        return pages.show(
            request,
            "timeline.html",
            run=run,
            tab="timeline",
            query=query,
            shown=shown,
            picture=picture,
            choices=both_choices(run.url("timeline"), query),
        )

    return routes
