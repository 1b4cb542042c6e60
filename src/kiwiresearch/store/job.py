"""A job as it stands in the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Row

JobKind = Literal["research", "ask", "bulk", "kin"]
State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
OPEN = ("queued", "running")
ENDED = ("done", "failed", "cancelled", "interrupted")


@dataclass(frozen=True, slots=True)
class JobRow:
    """What is to be done, whose it is, and how far it is."""

    id: str
    kind: str
    wish: Mapping[str, Any]
    user: str = ""
    priority: int = 0
    state: str = "queued"
    turn: int = 0
    """Its place in the line: who came earlier has a smaller one."""
    attempt: int = 0
    """How often it was started."""
    asked_at: str = ""
    started_at: str = ""
    ended_at: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)
    """What it told of itself: pages, story, problem, remedy, …"""
    worker: str = ""
    """Who works on it, or did last."""
    stop_wanted: bool = False
    losses: tuple[Mapping[str, Any], ...] = ()
    """Each time it was lost or given back: "worker", "at" and "why"."""

    @property
    def holder(self) -> str:
        """The worker and the attempt, by which a job is held even against an earlier attempt of the same worker."""
        return f"{self.worker}#{self.attempt}"


def values_of(job: JobRow) -> dict[str, Any]:
    """The columns of a job."""
    values = {field.name: getattr(job, field.name) for field in fields(job)}
    return {**values, "wish": dict(job.wish), "told": dict(job.told), "losses": [dict(one) for one in job.losses]}


def job_of(row: Row[Any]) -> JobRow:
    return JobRow(
        id=row.id,
        kind=row.kind,
        wish=row.wish,
        user=row.user,
        priority=row.priority,
        state=row.state,
        turn=row.turn,
        attempt=row.attempt,
        asked_at=row.asked_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        told=row.told,
        worker=row.worker,
        stop_wanted=row.stop_wanted,
        losses=tuple(row.losses),
    )


def time_text(moment: float) -> str:
    """Seconds since 1970 as people write them."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
