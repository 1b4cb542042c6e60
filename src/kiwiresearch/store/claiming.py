"""Whose turn it is: priority, then fair shares between users, then the order in which jobs were asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select, update

from kiwiresearch.store import events, lapsed
from kiwiresearch.store.counters import next_number
from kiwiresearch.store.database import Database
from kiwiresearch.store.job import JobRow, job_of, time_text
from kiwiresearch.store.tables import JOB, SHARE

AT_ONCE = 50
"""How many rows are looked at together: the first mostly fits."""


def claimed(
    db: Database,
    connection: Connection,
    worker: str,
    kinds: Collection[str],
    lease_s: float,
    fits: Callable[[JobRow], bool],
) -> JobRow | None:
    """Give the first job in line that fits to a worker; nobody else claims one meanwhile.

    What is damaged fails, and those behind it come.
    """
    damaged, given = list[JobRow](), None
    for row in _line(connection, kinds):
        job = job_of(row)
        if job.damage:
            damaged.append(job)
        elif fits(job):
            given = _given(db, connection, row, worker, lease_s)
            break
    for job in damaged:
        lapsed.fail_damaged(connection, job, time_text(db.now(connection)))
    return given


def is_any(connection: Connection, kinds: Collection[str]) -> bool:
    """Whether a job of these kinds waits."""
    waiting = select(JOB.c.id).where(JOB.c.state == "queued", JOB.c.kind.in_(sorted(kinds)))
    return connection.execute(waiting.limit(1)).one_or_none() is not None


def _line(connection: Connection, kinds: Collection[str]) -> Iterator[Row[Any]]:
    """The jobs that wait, the next one first."""
    wanted, start = _waiting(kinds).limit(AT_ONCE), 0
    while rows := connection.execute(wanted.offset(start)).all():
        yield from rows
        start += len(rows)


def _waiting(kinds: Collection[str]) -> Select[Any]:
    running = (
        select(JOB.c.user, func.count().label("running"))
        .where(JOB.c.state == "running")
        .group_by(JOB.c.user)
        .subquery()
    )
    return (
        select(JOB)
        .outerjoin(running, running.c.user == JOB.c.user)
        .outerjoin(SHARE, SHARE.c.user == JOB.c.user)
        .where(JOB.c.state == "queued", JOB.c.kind.in_(sorted(kinds)))
        .order_by(
            JOB.c.priority.desc(),
            func.coalesce(running.c.running, 0),
            func.coalesce(SHARE.c.last_start, 0),
            JOB.c.turn,
        )
    )


def _given(db: Database, connection: Connection, row: Row[Any], worker: str, lease_s: float) -> JobRow:
    now = db.now(connection)
    values = {
        "state": "running",
        "worker": worker,
        "attempt": row.attempt + 1,
        "started_at": time_text(now),
        "lease_until": now + lease_s,
        "stop_wanted": False,
    }
    given = connection.execute(update(JOB).where(JOB.c.id == row.id).values(values).returning(JOB)).one()
    start = next_number(db, connection, "start")
    share = db.insert(SHARE).values(user=row.user, last_start=start)
    connection.execute(share.on_conflict_do_update(index_elements=["user"], set_={"last_start": start}))
    events.forget_old(connection)
    return job_of(given)
