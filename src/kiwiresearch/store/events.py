"""What jobs told while they ran, the latest of it, for hosts that did not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, and_, delete, func, insert, or_, select

from kiwiresearch.store.job import ENDED
from kiwiresearch.store.tables import EVENT, JOB

Told = tuple[int, int, Mapping[str, Any]]
"""An event after its attempt and number."""
KEPT = 1_000
"""How many events of a job are kept, the latest."""

KEPT_JOBS = 100
"""Of how many jobs events are kept, those that came last; of one that has not ended they always are."""


def add(connection: Connection, job_id: str, attempt: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Number the rows on from the last of this attempt, and drop what is too old."""
    of_job = EVENT.c.job_id == job_id
    last = connection.execute(
        select(func.coalesce(func.max(EVENT.c.number), 0)).where(of_job, EVENT.c.attempt == attempt)
    ).scalar_one()
    new = [
        {"job_id": job_id, "attempt": attempt, "number": last + number, "row": dict(row)}
        for number, row in enumerate(rows, start=1)
    ]
    if not new:
        return
    connection.execute(insert(EVENT), new[-KEPT:])
    newest = select(EVENT.c.attempt, EVENT.c.number).where(of_job)
    newest = newest.order_by(EVENT.c.attempt.desc(), EVENT.c.number.desc()).offset(KEPT).limit(1)
    oldest = connection.execute(newest).one_or_none()
    if oldest is not None:
        place = (oldest.attempt, oldest.number)
        connection.execute(delete(EVENT).where(of_job, ~_after(place)))


def after(connection: Connection, job_id: str, place: tuple[int, int], limit: int) -> list[Told]:
    """The events after a place, in the order in which they were told."""
    wanted = select(EVENT).where(EVENT.c.job_id == job_id, _after(place))
    rows = connection.execute(wanted.order_by(EVENT.c.attempt, EVENT.c.number).limit(limit))
    return [(row.attempt, row.number, _told(row._mapping["row"])) for row in rows]


def forget_old(connection: Connection) -> None:
    """Drop the events of jobs that ended long ago: what they led to is in their runs."""
    newest = select(JOB.c.turn).order_by(JOB.c.turn.desc()).offset(KEPT_JOBS).limit(1)
    turn = connection.execute(newest).scalar()
    if turn is not None:
        old = select(JOB.c.id).where(JOB.c.turn <= turn, JOB.c.state.in_(ENDED))
        connection.execute(delete(EVENT).where(EVENT.c.job_id.in_(old)))


def _told(row: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """An event; one that is not what was written is told as such."""
    return {"event": "damaged"} if row is None else row


def _after(place: tuple[int, int]) -> Any:
    attempt, number = place
    return or_(EVENT.c.attempt > attempt, and_(EVENT.c.attempt == attempt, EVENT.c.number > number))
