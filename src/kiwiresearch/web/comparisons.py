"""The route that compares two runs; recent comparisons are cached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query

from kiwiresearch.codec import extend
from kiwiresearch.diff import Comparison, ComparisonRecord, DifferenceKind, compare_runs, comparison_record, differences
from kiwiresearch.jobs import JobQueue
from kiwiresearch.runs import BRIEF, CLAIMS, MANIFEST
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.web.replies import JsonRoute
from kiwiresearch.web.run_view import RunView, run_views
from kiwiresearch.web.runs import Limit, Offset
from kiwiresearch.workspace import FileStamp, RecentCache, file_stamp

OldRun = Annotated[str, Query(max_length=255, description="The `id` of the older run, to compare with.")]
NewRun = Annotated[str, Query(max_length=255, description="The `id` of the newer run.")]
OfKind = Annotated[DifferenceKind | None, Query(description="Only differences of this kind.")]


@dataclass(frozen=True, slots=True)
class CompareReply(ComparisonRecord):
    """Two runs side by side; changed numbers come first."""

    total: int
    """How many differences match."""
    offset: int
    limit: int


MAX_COMPARISONS = 4
Stamps = tuple[tuple[str, ...], tuple[FileStamp, ...]]


class ComparisonCache:
    """The most recent comparisons."""

    def __init__(self) -> None:
        self._recent: RecentCache[Stamps, Comparison] = RecentCache(MAX_COMPARISONS)

    def get(self, old: RunView, new: RunView) -> Comparison:
        """The outcome of the old run's claims in the new one."""
        return self._recent.get(_stamps(old, new), lambda: compare_runs(old, new))


def _stamps(*runs: RunView) -> Stamps:
    # All files that a comparison reads.
    files = [run.path / name for run in runs for name in (MANIFEST, CLAIMS, BRIEF)]
    return tuple(run.id for run in runs), tuple(file_stamp(file.stat()) for file in files if file.exists())


def router(context: ServerContext, jobs: JobQueue) -> APIRouter:
    """Routes that compare runs; nothing is written."""
    routes = RoleRouter("reader", prefix="/api", tags=["research"], route_class=JsonRoute)
    runs = run_views(context, jobs)
    cache = ComparisonCache()

    @routes.get("/compare")
    def compare(old: OldRun, new: NewRun, kind: OfKind = None, limit: Limit = 100, offset: Offset = 0) -> CompareReply:
        """How the claims of two runs differ, with different settings or two editions of a book."""
        found = cache.get(runs.get(old), runs.get(new))
        rows = differences(found, kind or "")
        shown = comparison_record(old, new, found, rows[offset : offset + limit])
        return extend(CompareReply, shown, total=len(rows), offset=offset, limit=limit)

    return routes
