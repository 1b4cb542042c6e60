"""Jobs as rows of the store, and back; a row that is not as it was written is a job that failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kiwiresearch.research.job import KINDS, STATES, Job, UnreadWish, Wish, wish_of, wish_record
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


def job_of(row: JobRow) -> Job:
    """The job of a row; one that is damaged has failed, and says what is wrong with it and what to do."""
    from kiwiresearch.store.job import damaged, to_remove

    wish, told = _wish_of(row), _told_of(row)
    wrong = row.damage or _wrong(row, wish, told)
    if wrong:
        told = {**(told or {}), "problem": damaged(row.id, wrong), "remedy": to_remove(row.id)}
    return Job(
        row.id,
        UnreadWish(row.id) if wrong or wish is None else wish,
        state=next((state for state in STATES if state == row.state and not wrong), "failed"),
        turn=row.turn,
        attempt=row.attempt,
        asked_at=row.asked_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        user=row.user,
        priority=row.priority,
        worker=row.worker,
        losses=tuple(map(_loss, row.losses)),
        **(told or {}),
    )


def _wrong(row: JobRow, wish: Wish | None, told: dict[str, Any] | None) -> str:
    """Why a row whose columns are as they should be is no job of ours; empty where it is one."""
    if not is_id(row.id):  # an id names a folder
        return "its 'id' is none"
    if row.kind not in KINDS:
        return f"its kind is {row.kind[:40]!r}, which there is not"
    if wish is None or wish.kind != row.kind:
        return "its 'wish' is not what was written"
    return "its 'told' is not what was written" if told is None else ""


def _wish_of(row: JobRow) -> Wish | None:
    try:
        return wish_of(row.wish)
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def _told_of(row: JobRow) -> dict[str, Any] | None:
    try:
        told: dict[str, Any] = {name: int(row.told.get(name) or 0) for name in NUMBERS}
    except (ValueError, TypeError, OverflowError):
        return None
    return told | {name: str(row.told.get(name) or "") for name in WORDS}


def _loss(row: Mapping[str, Any]) -> str:
    return str(row.get("why") or "")
