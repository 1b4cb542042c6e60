"""The route that compares two runs, with its models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query

from kiwiresearch.codec import extend
from kiwiresearch.diff.run_comparison import ComparisonRecord, DifferenceKind, comparison_record, differences
from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.compare import ComparisonCache
from kiwiresearch.web.desk.run_view import run_views
from kiwiresearch.web.guard.roles import RoleRouter
from kiwiresearch.web.replies import JsonRoute
from kiwiresearch.web.runs import Limit, Offset

OldRun = Annotated[str, Query(max_length=255, description="The `id` of the run to compare with.")]
NewRun = Annotated[str, Query(max_length=255, description="The `id` of the run whose changes are wanted.")]
OfKind = Annotated[DifferenceKind | None, Query(description="Only differences of this kind.")]


@dataclass(frozen=True, slots=True)
class CompareReply(ComparisonRecord):
    """Two runs side by side; changed numbers come first."""

    total: int
    """How many differences fit what was asked for."""
    offset: int
    limit: int


def router(room: ServerContext, jobs: JobQueue) -> APIRouter:
    """Comparing; the runs stay as they are."""
    routes = RoleRouter("reader", prefix="/api", tags=["research"], route_class=JsonRoute)
    runs = run_views(room, jobs)
    compared = ComparisonCache()

    @routes.get("/compare")
    def compare(old: OldRun, new: NewRun, kind: OfKind = None, limit: Limit = 100, offset: Offset = 0) -> CompareReply:
        """What became of a run's claims in another: with other settings, or in another snapshot of its book."""
        found = compared.get(runs.get(old), runs.get(new))
        rows = differences(found, kind or "")
        shown = comparison_record(old, new, found, rows[offset : offset + limit])
        return extend(CompareReply, shown, total=len(rows), offset=offset, limit=limit)

    return routes
