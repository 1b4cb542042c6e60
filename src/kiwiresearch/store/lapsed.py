"""Jobs whose worker was not heard of: they wait again, or fail when that happened too often."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, Row, Select, select, update

from kiwiresearch.store.job import JobRow, damaged, is_count, job_of, time_text, to_remove
from kiwiresearch.store.leftovers import drop_unfinished
from kiwiresearch.store.tables import JOB

UNHEARD = "its worker was not heard of in time"
DEAD = "the process of its worker ended"
KILLED = "its process was killed"
KEPT = 20
"""How many times that a job was lost are told of, and how many that it was given back: the latest of each."""
WORKERS = select(JOB.c.worker, JOB.c.lease_until).where(JOB.c.state == "running")
RUNNING = select(JOB).where(JOB.c.state == "running").order_by(JOB.c.turn)


def reaped(connection: Connection, now: float, most_tries: int, is_dead: Callable[[str], bool]) -> list[JobRow]:
    """Take back the jobs of workers that are gone. A row that is being written has a worker that lives."""
    found = _gone(connection, RUNNING.with_for_update(skip_locked=True), now, is_dead)
    return [lost(connection, row, why, time_text(now), most_tries) for row, why in found if job_of(row).id]


def is_any(connection: Connection, now: float, is_dead: Callable[[str], bool]) -> bool:
    """Whether it seems that a worker is gone."""
    return bool(_gone(connection, WORKERS, now, is_dead))


def _gone(
    connection: Connection, running: Select[Any], now: float, is_dead: Callable[[str], bool]
) -> list[tuple[Row[Any], str]]:
    """The jobs whose worker is gone, and why one thinks so."""
    whys = ((row, _why(row, now, is_dead)) for row in connection.execute(running).all())
    return [(row, why) for row, why in whys if why]


def _why(row: Row[Any], now: float, is_dead: Callable[[str], bool]) -> str:
    is_lease = isinstance(row.lease_until, int | float) and math.isfinite(row.lease_until)
    if not is_lease or row.lease_until < now:
        return UNHEARD
    return DEAD if is_dead(row.worker) else ""


def lost(connection: Connection, row: Row[Any], why: str, at: str, most_tries: int) -> JobRow:
    """Count a try of a job that is held: it waits again, is cancelled if it was to stop, or fails."""
    losses = losses_of(row, why, at)
    tries = row.tries + 1 if is_count(row.tries) else 1
    values: dict[str, Any] = {"losses": losses, "tries": tries, "state": "queued"}
    if row.stop_wanted:
        values |= {"state": "cancelled", "ended_at": at}
    elif tries >= most_tries:
        tried = [one for one in losses if _is_try(one)][-tries:]
        reasons = "; ".join(f"{one.get('at')}: {one['why']}" for one in tried)
        problem = f"It was lost {tries} times ({reasons})."
        remedy = "Look into the logs of the workers, then start it again: it goes on where it stopped."
        values |= {"state": "failed", "ended_at": at, "told": {**told_of(row), "problem": problem, "remedy": remedy}}
    return changed(connection, row.id, values)


def losses_of(row: Row[Any], why: str, at: str) -> list[Mapping[str, Any]]:
    """The latest losses of a job, this one last; however often it is given back, those that were tries are told."""
    job = job_of(row)
    losses = [*job.losses, {"worker": job.worker, "at": at, "why": why}]
    tries = [number for number, one in enumerate(losses) if _is_try(one)]
    others = [number for number, one in enumerate(losses) if not _is_try(one)]
    return [losses[number] for number in sorted((*tries[-KEPT:], *others[-KEPT:]))]


def told_of(row: Row[Any]) -> Mapping[str, Any]:
    """What a job told so far; nothing where that cannot be read."""
    return job_of(row).told


def fail_damaged(connection: Connection, job: JobRow, at: str) -> None:
    """End a job in line that nobody can read, if it can be named at all; what was wished for stays as it stands."""
    if job.id:
        told = {**job.told, "problem": damaged(job.id, job.damage), "remedy": to_remove(job.id)}
        values = {"state": "failed", "ended_at": at, "told": told, "losses": [dict(one) for one in job.losses]}
        changed(connection, job.id, values)


def _is_try(one: Mapping[str, Any]) -> bool:
    return one.get("why") in (UNHEARD, DEAD, KILLED)


def changed(connection: Connection, job_id: str, values: dict[str, Any]) -> JobRow:
    """Change a row that is locked already; of a job that nobody holds any more, no half of its files stays."""
    if values.get("state", "running") != "running":
        drop_unfinished(connection, job_id)
    return job_of(connection.execute(update(JOB).where(JOB.c.id == job_id).values(values).returning(JOB)).one())
