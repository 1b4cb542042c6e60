"""Who holds a job: every write of a worker asks that first, in the same transaction."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, Row, select

from kiwiresearch.errors import LeaseLost, RunNotFound
from kiwiresearch.store.tables import JOB


def is_holder(row: Row[Any] | None, holder: str) -> bool:
    """Whether a worker, or one attempt of a worker ("worker#attempt"), has the job now."""
    if row is None or row.state != "running":
        return False
    return holder in (row.worker, f"{row.worker}#{row.attempt}")


def held(connection: Connection, holder: str, job_id: str) -> Row[Any]:
    """The row of a job that stays the holder's until the transaction ends; LeaseLost if it is not theirs."""
    row = locked(connection, job_id)
    if row is None or not is_holder(row, holder):
        raise LeaseLost(
            f"The job {job_id!r} is no longer held by this worker.", remedy="Leave it to whoever has it now."
        )
    return row


def locked(connection: Connection, job_id: str) -> Row[Any] | None:
    """The row of a job, which nobody else changes until the transaction ends."""
    return connection.execute(select(JOB).where(JOB.c.id == job_id).with_for_update()).one_or_none()


def known(connection: Connection, job_id: str) -> Row[Any]:
    """The row of a job that there is, locked."""
    row = locked(connection, job_id)
    if row is None:
        raise RunNotFound(f"There is no job {job_id[:200]!r}.", remedy="'kiwiresearch jobs list' names all of them.")
    return row
