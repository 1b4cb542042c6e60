"""Pages of the desk: the numbers of a run by subject, and where they do not agree."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk.figures import FigureQuery, disagreements, rows_of
from kiwiresearch.web.desk.list_part import both_choices, part_of
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.run_frame import RunName, frames_of
from kiwiresearch.web.room import Room


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    runs = frames_of(room, jobs)

    @routes.get("/runs/{run_id}/numbers")
    def numbers(request: Request, run_id: RunName, query: Annotated[FigureQuery, Query()]) -> Response:
        run = runs.get(run_id)
        return pages.show(
            request,
            "numbers.html",
            run=run,
            tab="numbers",
            query=query,
            shown=part_of(rows_of(run, query), query.n, run.url("numbers"), query.wish()),
            against=disagreements(run),
            choices=both_choices(run.url("numbers"), query),
        )

    return routes
