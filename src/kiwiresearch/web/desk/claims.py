"""Pages of the desk: the claims of a run as a table to filter, and one claim whole."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from kiwiresearch.claims.claim import CLAIM_TYPES
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk.claim_story import story_of
from kiwiresearch.web.desk.claim_table import COLUMNS, LEAST, ClaimQuery, page_choices, wanted
from kiwiresearch.web.desk.list_part import address, part_of
from kiwiresearch.web.desk.note_forms import notes_for, on_claim
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.run_frame import RunFrames, RunName, frames_of
from kiwiresearch.web.room import Room

ClaimName = Annotated[str, Path(max_length=100)]


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    _add_table(routes, frames_of(room, jobs), pages)
    _add_claim(routes, frames_of(room, jobs), pages)
    return routes


def _add_table(routes: APIRouter, runs: RunFrames, pages: Pages) -> None:
    @routes.get("/runs/{run_id}/claims")
    def table(request: Request, run_id: RunName, query: Annotated[ClaimQuery, Query()]) -> Response:
        run = runs.get(run_id)
        return pages.show(
            request,
            "claims.html",
            run=run,
            tab="claims",
            query=query,
            shown=part_of(wanted(run.claims, query), query.n, run.url("claims"), query.wish()),
            columns=[(name, address(run.url("claims"), query.sorted_by(name))) for name in COLUMNS],
            types=CLAIM_TYPES,
            choices=page_choices(run.claims),
            least=sorted({*LEAST, query.least}),
        )


def _add_claim(routes: APIRouter, runs: RunFrames, pages: Pages) -> None:
    @routes.get("/runs/{run_id}/claims/{claim_id}")
    def claim(request: Request, run_id: RunName, claim_id: ClaimName) -> Response:
        run = runs.get(run_id)
        found = run.claim(claim_id)
        target = on_claim(run, found)
        return pages.show(
            request,
            "claims_one.html",
            run=run,
            tab="claims",
            claim=found,
            story=story_of(run, found),
            of_page=address(run.url("claims"), {"page": found.ref.path}),
            notes_target=target,
            notes=notes_for(run, target),
        )
