"""The job queue: jobs are rows that workers lease (see `leases`), report on and end exactly once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from sqlalchemy import Connection, and_, delete, func, insert, or_, select

from kiwiresearch.errors import BadUsage, StoreDamaged, WrongJobState
from kiwiresearch.store.database import Database
from kiwiresearch.store.job_row import (
    ENDED_STATES,
    OPEN_STATES,
    JobRow,
    damage_message,
    drop_incomplete_run,
    job_columns,
    job_row_from_sql,
    next_number,
    progress_of,
    removal_remedy,
    require_held_job,
    require_job,
    timestamp,
    unused_id,
    update_job,
)
from kiwiresearch.store.tables import EVENT, JOB, PART, REMOVED

JobEventRow = tuple[int, int, Mapping[str, object]]
"""Attempt, number and the event itself."""
MAX_EVENTS = 1_000
"""How many of a job's latest events are stored."""
MAX_JOBS_WITH_EVENTS = 100
"""How many of the latest jobs retain their events; unfinished jobs always do."""
QUEUE_LOCK = "queue"
"""Held while the set of queued jobs changes."""
NEW_JOB = {"lost_starts": 0, "lease_until": 0.0}


class JobCounts(NamedTuple):
    """How many jobs are unfinished."""

    queued: int
    running: int


class Jobs:
    """All jobs of a store; a `holder` is a worker that has leased a job, as in `Leases`."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(
        self,
        name: str,
        kind: str,
        request: Mapping[str, Any],
        *,
        user: str = "",
        priority: int = 0,
        asked_at: str = "",
        is_taken: Callable[[str], bool] = lambda _: False,
    ) -> JobRow:
        """Queue a job; its id is "name-N" with the first N that no job, no run and no `is_taken` has."""
        with self._db.writing(QUEUE_LOCK) as connection:
            row = JobRow(
                id=unused_id(connection, name, is_taken),
                kind=kind,
                request=request,
                user=user,
                priority=priority,
                turn=next_number(self._db, connection, "turn"),
                asked_at=asked_at or timestamp(self._db.now(connection)),
            )
            connection.execute(insert(JOB).values({**job_columns(row), **NEW_JOB}))
        return row

    def get(self, job_id: str) -> JobRow | None:
        with self._db.reading() as connection:
            row = connection.execute(select(JOB).where(JOB.c.id == job_id)).one_or_none()
        return job_row_from_sql(row) if row is not None else None

    def all(self, *, states: Collection[str] | None = None) -> list[JobRow]:
        """All jobs, or those in some states, newest first."""
        wanted = select(JOB).order_by(JOB.c.turn.desc(), JOB.c.id)
        if states is not None:
            wanted = wanted.where(JOB.c.state.in_(sorted(states)))
        with self._db.reading() as connection:
            return [job_row_from_sql(row) for row in connection.execute(wanted)]

    def counts(self, user: str | None = None) -> JobCounts:
        """The unfinished jobs of one user, or of all."""
        wanted = (
            select(JOB.c.state, func.count().label("number")).where(JOB.c.state.in_(OPEN_STATES)).group_by(JOB.c.state)
        )
        if user is not None:
            wanted = wanted.where(JOB.c.user == user)
        with self._db.reading() as connection:
            found = {row.state: int(row.number) for row in connection.execute(wanted)}
        return JobCounts(found.get("queued", 0), found.get("running", 0))

    def report_progress(self, holder: str, job_id: str, progress: Mapping[str, Any]) -> None:
        """Store a job's progress; earlier values under other keys stay."""
        with self._db.writing() as connection:
            row = require_held_job(connection, holder, job_id)
            update_job(connection, job_id, {"report": {**progress_of(row), **progress}})

    def end(self, holder: str, job_id: str, state: str, progress: Mapping[str, Any], *, ended_at: str = "") -> None:
        """End a job; a second call raises LeaseLost."""
        if state not in ENDED_STATES:
            raise BadUsage(f"A job cannot end as {state!r}.", remedy=f"Choose one of: {', '.join(ENDED_STATES)}.")
        with self._db.writing() as connection:
            row = require_held_job(connection, holder, job_id)
            at = ended_at or timestamp(self._db.now(connection))
            update_job(connection, job_id, {"state": state, "report": {**progress_of(row), **progress}, "ended_at": at})

    def cancel(self, job_id: str) -> JobRow:
        """Cancel a queued job at once and ask a running one to stop; an ended job is unchanged."""
        with self._db.writing(QUEUE_LOCK) as connection:
            row = require_job(connection, job_id)
            if row.state == "queued":
                at = timestamp(self._db.now(connection))
                return update_job(connection, job_id, {"state": "cancelled", "ended_at": at})
            if row.state == "running":
                return update_job(connection, job_id, {"stop_wanted": True})
            return job_row_from_sql(row)

    def restart(self, job_id: str, changes: Mapping[str, Any] = MappingProxyType({})) -> JobRow:
        """Put a job that ended unfinished at the end of the queue, with changes to its request."""
        with self._db.writing(QUEUE_LOCK) as connection:
            job = job_row_from_sql(require_job(connection, job_id))
            if job.damage:
                raise StoreDamaged(damage_message(job_id, job.damage), remedy=removal_remedy(job_id))
            deleted = select(REMOVED.c.id).where(REMOVED.c.kind == "run", REMOVED.c.state == "deleted")
            if connection.execute(deleted.where(REMOVED.c.id == job_id)).one_or_none() is not None:
                raise WrongJobState(f"The job {job_id!r} was deleted.", remedy="Restore it from the trash first.")
            if job.state in (*OPEN_STATES, "done"):
                state = "done" if job.state == "done" else "queued or running"
                raise WrongJobState(
                    f"The job {job_id!r} is {state}.", remedy="Only stopped or failed jobs can be resumed."
                )
            report = {key: value for key, value in job.report.items() if key not in ("problem", "remedy")}
            turn = next_number(self._db, connection, "turn")
            fresh = {
                "state": "queued",
                "turn": turn,
                "lost_starts": 0,
                "stop_wanted": False,
                "ended_at": "",
                "report": report,
            }
            if changes:
                fresh["request"] = {**job.request, **changes}
            return update_job(connection, job_id, fresh)

    def remove(self, job_id: str) -> None:
        """Delete a job that is not running, its events and its parts; the files of its run stay."""
        with self._db.writing(QUEUE_LOCK) as connection:
            if require_job(connection, job_id).state == "running":
                raise WrongJobState(f"The job {job_id!r} is running.", remedy="Cancel it first.")
            for table in (EVENT, PART):
                connection.execute(delete(table).where(table.c.job_id == job_id))
            drop_incomplete_run(connection, job_id)
            connection.execute(delete(JOB).where(JOB.c.id == job_id))

    def add_events(self, holder: str, job_id: str, attempt: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append a job's events, numbered within their attempt, and drop the oldest beyond `MAX_EVENTS`."""
        of_job = EVENT.c.job_id == job_id
        with self._db.writing() as connection:
            require_held_job(connection, holder, job_id)
            last = connection.execute(
                select(func.coalesce(func.max(EVENT.c.number), 0)).where(of_job, EVENT.c.attempt == attempt)
            ).scalar_one()
            new = [
                {"job_id": job_id, "attempt": attempt, "number": last + number, "row": dict(row)}
                for number, row in enumerate(rows, start=1)
            ]
            if not new:
                return
            # The numbers of events that are dropped here are still used up, so readers never see a number twice.
            connection.execute(insert(EVENT), new[-MAX_EVENTS:])
            newest_first = select(EVENT).where(of_job).order_by(EVENT.c.attempt.desc(), EVENT.c.number.desc())
            cutoff = connection.execute(newest_first.offset(MAX_EVENTS).limit(1)).one_or_none()
            if cutoff is not None:
                connection.execute(delete(EVENT).where(of_job, ~_is_after((cutoff.attempt, cutoff.number))))

    def events(self, job_id: str, after: tuple[int, int] = (0, 0)) -> list[JobEventRow]:
        """The events after a position (attempt, number), in the order they were reported."""
        wanted = select(EVENT).where(EVENT.c.job_id == job_id, _is_after(after))
        with self._db.reading() as connection:
            rows = connection.execute(wanted.order_by(EVENT.c.attempt, EVENT.c.number))
            # The column type reads a damaged event as None; an empty mapping is valid.
            events = [(row, row._mapping["row"]) for row in rows]
        return [(row.attempt, row.number, {"event": "damaged"} if seen is None else seen) for row, seen in events]


def delete_old_events(connection: Connection) -> None:
    """Delete the events of jobs that ended long ago: their results are in their runs."""
    newest_first = select(JOB.c.turn).order_by(JOB.c.turn.desc())
    cutoff = connection.execute(newest_first.offset(MAX_JOBS_WITH_EVENTS).limit(1)).scalar()
    if cutoff is not None:
        old = select(JOB.c.id).where(JOB.c.turn <= cutoff, JOB.c.state.in_(ENDED_STATES))
        connection.execute(delete(EVENT).where(EVENT.c.job_id.in_(old)))


def _is_after(position: tuple[int, int]) -> Any:
    attempt, number = position
    return or_(EVENT.c.attempt > attempt, and_(EVENT.c.attempt == attempt, EVENT.c.number > number))
