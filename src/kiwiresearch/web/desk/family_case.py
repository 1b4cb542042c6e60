"""A case as a whole: where it stands, what to do next, what happened when, and what was searched."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from kiwiresearch.research import family_told as told
from kiwiresearch.research.family_merges import merges_record
from kiwiresearch.research.job import FamilyWish
from kiwiresearch.web.desk.family_frame import FamilyDesk
from kiwiresearch.web.desk.pages import go_to
from kiwiresearch.web.family import CaseId
from kiwiresearch.web.starting import start

ROWS_A_PAGE = 100
MOST_STEPS = 1_000_000

Offset = Annotated[int, Query(ge=0, le=10_000_000)]
Steps = Annotated[int, Form(ge=0, le=MOST_STEPS)]
Choice = Annotated[str, Form(max_length=8)]
OnlyVain = Annotated[str, Query(max_length=8)]


def add(routes: APIRouter, desk: FamilyDesk) -> None:
    _add_state(routes, desk)
    _add_lists(routes, desk)


def _add_state(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.get("/family/{case}")
    def summary(request: Request, case: CaseId) -> Response:
        job, jobs = desk.job_of(case), desk.jobs_of(case)
        return desk.show(
            request,
            "family_summary.html",
            case,
            "summary",
            job=job,
            last=jobs[0] if jobs and not job else None,
            open=_open_questions(desk, request, case),
            has_model=bool(desk.room.desk.settings.model_url),
        )

    @routes.post("/family/{case}/run")
    def go_on(case: CaseId, steps: Steps = 0, model: Choice = "") -> Response:
        job = start(desk.families.jobs, FamilyWish(case, steps, model == "yes"))
        return go_to(f"/research/{job.id}")


def _open_questions(desk: FamilyDesk, request: Request, case: str) -> dict[str, int]:
    """What waits for a decision of people."""
    with desk.families.seen(request, case, None) as (found, mode):
        conflicts = len(told.conflict_records(found, mode))
        waiting = len(merges_record(found, found.tree(mode), found.mask(mode))["to_review"])
    return {"conflicts": conflicts, "merges": waiting}


def _add_lists(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.get("/family/{case}/timeline")
    def timeline(request: Request, case: CaseId, offset: Offset = 0) -> Response:
        with desk.families.seen(request, case, None) as (found, mode):
            rows = told.timeline_records(found, mode)
        return desk.show(request, "family_timeline.html", case, "timeline", **_some(rows, offset))

    @routes.get("/family/{case}/log")
    def log(request: Request, case: CaseId, offset: Offset = 0, vain: OnlyVain = "") -> Response:
        with desk.families.seen(request, case, None) as (found, mode):
            rows = told.log_records(found, mode)
        in_vain = sum(1 for row in rows if row["negative"])
        shown = [row for row in rows if row["negative"]] if vain else rows
        values = _some(shown, offset)
        return desk.show(request, "family_log.html", case, "log", vain=vain, in_vain=in_vain, all=len(rows), **values)


def _some(rows: list[dict[str, Any]], offset: int) -> dict[str, Any]:
    """The rows of one page, and what a pager needs."""
    return {"rows": rows[offset : offset + ROWS_A_PAGE], "total": len(rows), "offset": offset, "step": ROWS_A_PAGE}
