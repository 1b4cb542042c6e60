"""The row of a job: its values, who holds it, and what happens when its worker is lost."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, func, select, update

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import LeaseLost, RunNotFound
from kiwiresearch.messages import message_fields
from kiwiresearch.store.database import Database
from kiwiresearch.store.engine import BACKUP_REMEDY
from kiwiresearch.store.tables import COUNTER, JOB, PIECE, RUN, is_storable

OPEN_STATES = ("queued", "running")
ENDED_STATES = ("done", "failed", "cancelled", "interrupted")
"""`jobs.job` has the same states as a type: it is imported where the store and its libraries are not loaded."""
ColumnCheck = tuple[tuple[str, ...], Callable[[Any], bool], Any]


def is_count(value: object) -> bool:
    """Whether it is an integer that can safely be incremented."""
    return type(value) is int and abs(value) < 2**62


def _is_present(value: object) -> bool:
    return value is not None


COLUMN_CHECKS: tuple[ColumnCheck, ...] = (
    (("id", "kind", "user", "asked_at", "started_at", "ended_at", "worker"), is_storable, ""),
    (("state",), is_storable, "failed"),
    (("priority", "turn", "attempt"), is_count, 0),
    (("request", "report"), _is_present, {}),
    (("losses",), _is_present, []),
)
"""How each column of a job is checked, and the default for an invalid value."""


@dataclass(frozen=True, slots=True)
class JobRow:
    """A row of the queue: what to do, for whom, and how far it has got."""

    id: str
    kind: str
    request: Mapping[str, Any]
    user: str = ""
    priority: int = 0
    state: str = "queued"
    turn: int = 0
    """Its place in the queue: earlier jobs have smaller numbers."""
    attempt: int = 0
    """How many times it was started."""
    asked_at: str = ""
    started_at: str = ""
    ended_at: str = ""
    report: Mapping[str, Any] = field(default_factory=dict)
    """What it has reported: pages, story, problem, remedy, …"""
    worker: str = ""
    """The worker that runs it, or the last one that did."""
    stop_wanted: bool = False
    losses: tuple[Mapping[str, Any], ...] = ()
    """Each time it was lost or given back: "worker", "at" and "why". Only the lost starts count towards its failure."""
    damage: str = ""
    """What in its row is damaged; empty if nothing is. Damaged columns have their defaults in the other fields."""

    @property
    def holder(self) -> str:
        """The worker and the attempt: an earlier attempt of the same worker no longer holds the job."""
        return f"{self.worker}#{self.attempt}"


COLUMNS = tuple(column.name for column in fields(JobRow) if column.name != "damage")


def job_columns(job: JobRow) -> JsonDict:
    values: JsonDict = {name: getattr(job, name) for name in COLUMNS}
    return values | {"request": dict(job.request), "report": dict(job.report), "losses": [dict(x) for x in job.losses]}


def job_row_from_sql(row: Row[Any]) -> JobRow:
    """The job of a row; values that we never write mark it as damaged."""
    found, wrong = dict(row._mapping), list[str]()
    for names, is_right, instead in COLUMN_CHECKS:
        for name in names:
            if not is_right(found[name]):
                wrong.append(f"its {name!r} was changed")
                found[name] = instead
    if found["state"] not in (*OPEN_STATES, *ENDED_STATES):
        wrong.append(f"its state {found['state'][:40]!r} is unknown")
        found["state"] = "failed"
    values = {name: found[name] for name in COLUMNS}
    return JobRow(**values | {"losses": tuple(found["losses"])}, damage="; ".join(wrong))


def damage_message(job_id: str, damage: str) -> str:
    """A sentence about the damage to a row."""
    return f"The row of the job {job_id!r} in the store is damaged: {damage}."


def removal_remedy(job_id: str) -> str:
    """How to remove a damaged job; one without an id needs a backup of the store."""
    if not job_id:
        return BACKUP_REMEDY
    return f"Start it again as a new job, and remove this one: kiwiresearch jobs remove {shlex.quote(job_id)}"


def timestamp(moment: float) -> str:
    """Seconds since 1970 as an ISO timestamp."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")


def is_holder(row: Row[Any] | None, holder: str) -> bool:
    """Whether a worker, or one attempt of it ("worker#attempt"), holds the job now."""
    if row is None or row.state != "running":
        return False
    return holder in (row.worker, f"{row.worker}#{row.attempt}")


def require_held_job(connection: Connection, holder: str, job_id: str) -> Row[Any]:
    """The row of a job, locked until the transaction ends; LeaseLost if the holder does not hold it."""
    row = lock_job(connection, job_id)
    if row is None or not is_holder(row, holder):
        raise LeaseLost(f"Another worker has taken over the job {job_id!r}.", remedy="You do not need to do anything.")
    return row


def lock_job(connection: Connection, job_id: str) -> Row[Any] | None:
    """The row of a job, locked until the transaction ends."""
    return connection.execute(select(JOB).where(JOB.c.id == job_id).with_for_update()).one_or_none()


def require_job(connection: Connection, job_id: str) -> Row[Any]:
    """The row of a job, locked; RunNotFound if there is none."""
    row = lock_job(connection, job_id)
    if row is None:
        raise RunNotFound(
            f"No job has the ID {job_id[:200]!r}.", remedy="To list all jobs, run 'kiwiresearch jobs list'."
        )
    return row


def drop_incomplete_run(connection: Connection, job_id: str) -> None:
    """Delete the pieces of a run whose next revision a worker did not complete; the job must not be held.

    A worker that was still writing them has lost the job, and is refused before its next piece.
    """
    # An earlier revision of the same run stays readable; a run that was never completed counts as revision 0.
    current = select(RUN.c.revision).where(RUN.c.id == job_id).scalar_subquery()
    connection.execute(delete(PIECE).where(PIECE.c.run_id == job_id, PIECE.c.revision > func.coalesce(current, 0)))


LEASE_EXPIRED = "its worker did not report back in time"
PROCESS_ENDED = "the process of its worker ended"
PROCESS_KILLED = "its process was killed"
MAX_STORED_LOSSES = 20
"""How many lost starts are stored in `losses`, and how many times it was given back: the latest of each."""


def settle_lost_job(connection: Connection, row: Row[Any], why: str, at: str, max_lost_starts: int) -> JobRow:
    """Count a lost start of a leased job: it is queued again, cancelled if it was to stop, or failed."""
    losses = losses_with(row, why, at)
    lost_starts = row.lost_starts + 1 if is_count(row.lost_starts) else 1
    values: dict[str, Any] = {"losses": losses, "lost_starts": lost_starts, "state": "queued"}
    # Before the limit of lost starts, so that a job whose user cancelled it never counts as failed.
    if row.stop_wanted:
        values |= {"state": "cancelled", "ended_at": at}
    elif lost_starts >= max_lost_starts:
        # The count starts at 0 with each restart, so lost starts from before the last one are not listed.
        counted = [loss for loss in losses if _is_lost_start(loss)][-lost_starts:]
        reasons = "; ".join(f"{item.get('at')}: {item['why']}" for item in counted)
        problem = f"It failed {lost_starts} times ({reasons})."
        remedy = "Check the logs of the workers, then resume it. It continues where it stopped."
        values |= {
            "state": "failed",
            "ended_at": at,
            "report": {**progress_of(row), "problem": problem, "remedy": remedy},
        }
    return update_job(connection, row.id, values)


def losses_with(row: Row[Any], why: str, at: str) -> list[Mapping[str, object]]:
    """The latest losses of a job, this one last; giving it back often does not push out its lost starts."""
    job = job_row_from_sql(row)
    losses = [*job.losses, {"worker": job.worker, "at": at, **message_fields("why", why)}]
    lost_starts = [index for index, loss in enumerate(losses) if _is_lost_start(loss)]
    given_back = [index for index, loss in enumerate(losses) if not _is_lost_start(loss)]
    return [losses[index] for index in sorted((*lost_starts[-MAX_STORED_LOSSES:], *given_back[-MAX_STORED_LOSSES:]))]


def progress_of(row: Row[Any]) -> Mapping[str, object]:
    """The progress that a job has reported; empty if it is damaged."""
    return job_row_from_sql(row).report


def fail_damaged(connection: Connection, job: JobRow, at: str) -> None:
    """End a queued job whose row is damaged, if it has an id; its request stays unchanged."""
    if job.id:
        report = {**job.report, "problem": damage_message(job.id, job.damage), "remedy": removal_remedy(job.id)}
        values = {"state": "failed", "ended_at": at, "report": report, "losses": [dict(loss) for loss in job.losses]}
        update_job(connection, job.id, values)


def _is_lost_start(loss: Mapping[str, Any]) -> bool:
    # Stored as text: if these constants change, lost starts from before no longer count.
    return loss.get("why") in (LEASE_EXPIRED, PROCESS_ENDED, PROCESS_KILLED)


def update_job(connection: Connection, job_id: str, values: dict[str, Any]) -> JobRow:
    """Change a row that is already locked; once a job is no longer running, its incomplete files are deleted."""
    if values.get("state", "running") != "running":
        drop_incomplete_run(connection, job_id)
    return job_row_from_sql(
        connection.execute(update(JOB).where(JOB.c.id == job_id).values(values).returning(JOB)).one()
    )


def next_number(db: Database, connection: Connection, name: str) -> int:
    """The next number of a kind; concurrent callers wait until the transaction ends."""
    first = db.insert(COUNTER).values(name=name, value=1)
    counted = first.on_conflict_do_update(index_elements=["name"], set_={"value": COUNTER.c.value + 1})
    return int(connection.execute(counted.returning(COUNTER.c.value)).scalar_one())


def unused_id(connection: Connection, name: str, is_taken: Callable[[str], bool]) -> str:
    """The first "name-N" that is not used."""
    used: set[str] = set()
    for column in (JOB.c.id, RUN.c.id):
        used.update(connection.scalars(select(column).where(column.startswith(f"{name}-", autoescape=True))))
    number = 1
    while (found := f"{name}-{number}") in used or is_taken(found):
        number += 1
    return found
