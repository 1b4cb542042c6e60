"""Leases on jobs: granted to one worker at a time, renewed while it works, and expired once it is gone."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select, func, select, update

from kiwiresearch.store.database import Database
from kiwiresearch.store.job_row import (
    LEASE_EXPIRED,
    PROCESS_ENDED,
    PROCESS_KILLED,
    JobRow,
    fail_damaged,
    is_holder,
    job_row_from_sql,
    lock_job,
    losses_with,
    next_number,
    require_held_job,
    settle_lost_job,
    timestamp,
    update_job,
)
from kiwiresearch.store.jobs import QUEUE_LOCK, delete_old_events
from kiwiresearch.store.tables import JOB, LAST_START

CANDIDATES_PER_READ = 50
"""Rows read at a time while looking for the next job: usually the first one fits."""
LeaseState = Literal["held", "stop", "lost"]
SELECT_LEASES = select(JOB.c.worker, JOB.c.lease_until).where(JOB.c.state == "running")
SELECT_RUNNING = select(JOB).where(JOB.c.state == "running").order_by(JOB.c.turn)


class Leases:
    """The leases on a store's jobs; a job that is running is leased to exactly one worker.

    A `holder` is the name of a worker, or "worker#attempt" (`JobRow.holder`), which also distinguishes two attempts
    of the same worker. Anything a holder writes after it lost its lease is refused with LeaseLost.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def lease_next(
        self,
        worker: str,
        kinds: Collection[str],
        *,
        lease_s: float,
        can_do: Callable[[JobRow], bool] = lambda _: True,
    ) -> JobRow | None:
        """Grant a worker the lease on the next job that it `can_do`; no job is leased twice.

        The highest priority comes first, then the user with the fewest running jobs, then the one whose last
        start is longest ago, then the earliest request. `can_do` should be quick: the queue is locked meanwhile.
        """
        # Most calls find nothing, and need no lock for that. The read ends before the write begins: on a disk without
        # write-ahead logging, a file that is being read cannot be written.
        with self._db.reading() as connection:
            waiting = select(JOB.c.id).where(JOB.c.state == "queued", JOB.c.kind.in_(sorted(kinds)))
            if connection.execute(waiting.limit(1)).one_or_none() is None:
                return None
        with self._db.writing(QUEUE_LOCK) as connection:
            return self._lease_first(connection, worker, kinds, lease_s, can_do)

    def _lease_first(
        self,
        connection: Connection,
        worker: str,
        kinds: Collection[str],
        lease_s: float,
        can_do: Callable[[JobRow], bool],
    ) -> JobRow | None:
        damaged, leased = list[JobRow](), None
        for row in _waiting_jobs(connection, kinds):
            job = job_row_from_sql(row)
            if job.damage:
                damaged.append(job)
            elif can_do(job):
                leased = self._grant(connection, row, worker, lease_s)
                break
        # Only now: failing a row while the rows after it are being read would shift their offsets.
        for job in damaged:
            fail_damaged(connection, job, timestamp(self._db.now(connection)))
        return leased

    def _grant(self, connection: Connection, row: Row[Any], worker: str, lease_s: float) -> JobRow:
        now = self._db.now(connection)
        values = {
            "state": "running",
            "worker": worker,
            "attempt": row.attempt + 1,
            "started_at": timestamp(now),
            "lease_until": now + lease_s,
            "stop_wanted": False,
        }
        leased = connection.execute(update(JOB).where(JOB.c.id == row.id).values(values).returning(JOB)).one()
        start = next_number(self._db, connection, "start")
        connection.execute(self._db.upsert(LAST_START, {"user": row.user, "last_start": start}))
        delete_old_events(connection)
        return job_row_from_sql(leased)

    def renew(self, holder: str, job_id: str, *, lease_s: float) -> LeaseState:
        """Extend a lease; returns whether the job is still held, and whether it should stop."""
        with self._db.writing() as connection:
            row = lock_job(connection, job_id)
            if row is None or not is_holder(row, holder):
                return "lost"
            until = self._db.now(connection) + lease_s
            connection.execute(update(JOB).where(JOB.c.id == job_id).values(lease_until=until))
            return "stop" if row.stop_wanted else "held"

    def requeue(self, holder: str, job_id: str, why: str) -> None:
        """Return a job to its old place in the queue because its worker cannot continue; this is not a lost start."""
        with self._db.writing(QUEUE_LOCK) as connection:
            row = require_held_job(connection, holder, job_id)
            at = timestamp(self._db.now(connection))
            state: dict[str, Any] = {"state": "cancelled", "ended_at": at} if row.stop_wanted else {"state": "queued"}
            update_job(connection, job_id, {**state, "losses": losses_with(row, why, at)})

    def requeue_killed(self, holder: str, job_id: str, *, max_lost_starts: int) -> JobRow:
        """Return a job whose process was killed: a lost start. After the last one the job fails."""
        with self._db.writing(QUEUE_LOCK) as connection:
            row = require_held_job(connection, holder, job_id)
            return settle_lost_job(
                connection, row, PROCESS_KILLED, timestamp(self._db.now(connection)), max_lost_starts
            )

    def expire(self, *, max_lost_starts: int, is_dead: Callable[[str], bool] = lambda _: False) -> list[JobRow]:
        """Requeue the jobs of workers that are gone, with the reason; after `max_lost_starts` lost starts they fail.

        A worker is gone if it did not renew its lease in time, or if `is_dead` says so of its name.
        A job that was to stop is cancelled.
        """
        # Most calls find nothing, and need no lock for that.
        with self._db.reading() as connection:
            if not _jobs_of_gone_workers(connection, SELECT_LEASES, self._db.now(connection), is_dead):
                return []
        with self._db.writing(QUEUE_LOCK) as connection:
            now = self._db.now(connection)
            # A row that is locked is being written right now, so its worker is alive.
            gone = _jobs_of_gone_workers(connection, SELECT_RUNNING.with_for_update(skip_locked=True), now, is_dead)
            # A damaged row without an id could not be updated.
            rows = [(row, why) for row, why in gone if job_row_from_sql(row).id]
            return [settle_lost_job(connection, row, why, timestamp(now), max_lost_starts) for row, why in rows]


def _waiting_jobs(connection: Connection, kinds: Collection[str]) -> Iterator[Row[Any]]:
    """The queued jobs of these kinds, the next one first."""
    running = (
        select(JOB.c.user, func.count().label("running"))
        .where(JOB.c.state == "running")
        .group_by(JOB.c.user)
        .subquery()
    )
    wanted = (
        select(JOB)
        .outerjoin(running, running.c.user == JOB.c.user)
        .outerjoin(LAST_START, LAST_START.c.user == JOB.c.user)
        .where(JOB.c.state == "queued", JOB.c.kind.in_(sorted(kinds)))
        .order_by(
            JOB.c.priority.desc(),
            func.coalesce(running.c.running, 0),
            func.coalesce(LAST_START.c.last_start, 0),
            JOB.c.turn,
        )
        .limit(CANDIDATES_PER_READ)
    )
    start = 0
    while rows := connection.execute(wanted.offset(start)).all():
        yield from rows
        start += len(rows)


def _jobs_of_gone_workers(
    connection: Connection, running: Select[Any], now: float, is_dead: Callable[[str], bool]
) -> list[tuple[Row[Any], str]]:
    """The rows of running jobs whose worker is gone, each with the reason for assuming so."""
    reasons = ((row, _why_gone(row, now, is_dead)) for row in connection.execute(running).all())
    return [(row, why) for row, why in reasons if why]


def _why_gone(row: Row[Any], now: float, is_dead: Callable[[str], bool]) -> str:
    has_lease = isinstance(row.lease_until, int | float) and math.isfinite(row.lease_until)
    if not has_lease or row.lease_until < now:
        return LEASE_EXPIRED
    return PROCESS_ENDED if is_dead(row.worker) else ""
