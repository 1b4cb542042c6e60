"""Jobs as rows of the store, and back; a row that is not as it was written is no job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kiwiresearch.research.job import STATES, Job, wish_of, wish_record
from kiwiresearch.research.job_places import is_id

if TYPE_CHECKING:
    from kiwiresearch.store.jobs import JobRow

NUMBERS, WORDS = ("pages", "kept"), ("story", "problem", "remedy")
"""What a job tells of itself."""


def told_of(job: Job) -> dict[str, Any]:
    return {name: getattr(job, name) for name in (*NUMBERS, *WORDS)}


def row_of(job: Job) -> JobRow:
    """A job of before, as the store keeps it."""
    from kiwiresearch.store.jobs import JobRow

    return JobRow(
        id=job.id,
        kind=job.wish.kind,
        wish=wish_record(job.wish),
        user=job.user,
        priority=job.priority,
        state=job.state,
        turn=job.turn,
        attempt=job.attempt,
        asked_at=job.asked_at,
        started_at=job.started_at,
        ended_at=job.ended_at,
        told=told_of(job),
        worker="",
        stop_wanted=False,
        losses=(),
    )


def job_of(row: JobRow) -> Job | None:
    """The job of a row; None if it is none of ours."""
    try:
        wish = wish_of(row.wish)
        if row.state not in STATES or row.kind != wish.kind or not is_id(row.id):  # an id names a folder
            return None
        told: dict[str, Any] = {name: int(row.told.get(name) or 0) for name in NUMBERS}
        told |= {name: str(row.told.get(name) or "") for name in WORDS}
        return Job(
            row.id,
            wish,
            state=next(state for state in STATES if state == row.state),
            turn=row.turn,
            attempt=row.attempt,
            asked_at=row.asked_at,
            started_at=row.started_at,
            ended_at=row.ended_at,
            user=row.user,
            priority=row.priority,
            worker=row.worker,
            losses=tuple(map(_loss, row.losses)),
            **told,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _loss(row: Mapping[str, Any]) -> str:
    return str(row.get("why") or "")
