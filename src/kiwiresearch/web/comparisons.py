"""The route that compares two runs, with its models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import Response
from pydantic import BaseModel, Field

from kiwiresearch.diff.run_comparison import DifferenceKind, comparison_record, differences
from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.compare import ComparisonCache
from kiwiresearch.web.desk.run_view import run_views
from kiwiresearch.web.replies import ClaimReply, Json, PlaceReply
from kiwiresearch.web.runs import Limit, Offset

OldRun = Annotated[str, Query(max_length=255, description="The `id` of the run to compare with.")]
NewRun = Annotated[str, Query(max_length=255, description="The `id` of the run whose changes are wanted.")]
OfKind = Annotated[DifferenceKind | None, Query(description="Only differences of this kind.")]


class SettingReply(BaseModel):
    """Something that was set otherwise."""

    name: str
    old: Any
    new: Any


class ComparedBookReply(BaseModel):
    """A book of one of the runs."""

    id: str
    name: str
    title: str
    date: str
    flavour: str
    language: str


class BookPairReply(BaseModel):
    """A book in both runs, in two snapshots, or in one of them only."""

    kind: Literal["same", "snapshot", "only old", "only new"]
    old: ComparedBookReply | None
    new: ComparedBookReply | None


class ComparedPageReply(PlaceReply):
    """A page that only one run has read."""

    title: str


class PagesReply(BaseModel):
    """The pages of two runs."""

    both: int
    new: list[ComparedPageReply]
    gone: list[ComparedPageReply]


class CountsReply(BaseModel):
    """How many claims there are of each kind."""

    numbers: int
    changed: int
    new: int
    gone: int
    same: int


class DifferenceReply(BaseModel):
    """A claim of the old run, of the new one, or of both in other words."""

    kind: DifferenceKind = Field(description="`numbers`: changed, and a number, a measure or a date with it.")
    old: ClaimReply | None
    new: ClaimReply | None
    hedging: bool = Field(description="Whether other words hold it back now, or none.")
    page_in_both: bool = Field(description="Whether both runs have read its page.")


class StatementsReply(BaseModel):
    """The sentences of two briefs."""

    new: list[str]
    gone: list[str]
    same: int


class CompareReply(BaseModel):
    """Two runs side by side; changed numbers come first."""

    old: str
    new: str
    settings: list[SettingReply]
    books: list[BookPairReply]
    pages: PagesReply
    counts: CountsReply
    total: int = Field(description="How many differences fit what was asked for.")
    offset: int
    limit: int
    differences: list[DifferenceReply]
    statements: StatementsReply


def router(room: ServerContext, jobs: JobQueue) -> APIRouter:
    """Comparing; the runs stay as they are."""
    routes = APIRouter(prefix="/api", tags=["research"])
    runs = run_views(room, jobs)
    compared = ComparisonCache()

    @routes.get("/compare", response_class=Json, responses={200: {"model": CompareReply}})
    def compare(old: OldRun, new: NewRun, kind: OfKind = None, limit: Limit = 100, offset: Offset = 0) -> Response:
        """What became of a run's claims in another: with other settings, or in another snapshot of its book."""
        found = compared.get(runs.get(old), runs.get(new))
        rows = differences(found, kind or "")
        shown = {"old": old, "new": new, "total": len(rows), "offset": offset, "limit": limit}
        return Json(shown | comparison_record(found, rows[offset : offset + limit]))

    return routes
