"""The job queue: jobs are rows that workers claim, hold by a lease, report on and end exactly once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select, and_, delete, func, insert, or_, select, update

from kiwiresearch.errors import BadUsage, FolderTaken, StoreDamaged
from kiwiresearch.store import job_row
from kiwiresearch.store.database import Database
from kiwiresearch.store.job_row import (
    ENDED,
    OPEN,
    JobRow,
    damage_message,
    drop_unfinished,
    is_holder,
    job_columns,
    job_from_row,
    lock_job,
    next_number,
    removal_remedy,
    require_held_job,
    require_job,
    timestamp,
    unused_id,
)
from kiwiresearch.store.tables import EVENT, JOB, PART, SHARE

JobEventRow = tuple[int, int, Mapping[str, Any]]
"""An event after its attempt and number."""
MAX_EVENTS = 1_000
"""How many events of a job are kept, the latest."""

MAX_JOBS_WITH_EVENTS = 100
"""Of how many jobs events are kept, those that came last; of one that has not ended they always are."""


def add_events(connection: Connection, job_id: str, attempt: int, rows: Sequence[Mapping[str, Any]]) -> None:
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
    connection.execute(insert(EVENT), new[-MAX_EVENTS:])
    newest = select(EVENT.c.attempt, EVENT.c.number).where(of_job)
    newest = newest.order_by(EVENT.c.attempt.desc(), EVENT.c.number.desc()).offset(MAX_EVENTS).limit(1)
    oldest = connection.execute(newest).one_or_none()
    if oldest is not None:
        place = (oldest.attempt, oldest.number)
        connection.execute(delete(EVENT).where(of_job, ~_is_after(place)))


def events_after(connection: Connection, job_id: str, place: tuple[int, int], limit: int) -> list[JobEventRow]:
    """The events after a place, in the order in which they were told."""
    wanted = select(EVENT).where(EVENT.c.job_id == job_id, _is_after(place))
    rows = connection.execute(wanted.order_by(EVENT.c.attempt, EVENT.c.number).limit(limit))
    return [(row.attempt, row.number, _readable_event(row._mapping["row"])) for row in rows]


def delete_old_events(connection: Connection) -> None:
    """Drop the events of jobs that ended long ago: what they led to is in their runs."""
    newest = select(JOB.c.turn).order_by(JOB.c.turn.desc()).offset(MAX_JOBS_WITH_EVENTS).limit(1)
    turn = connection.execute(newest).scalar()
    if turn is not None:
        old = select(JOB.c.id).where(JOB.c.turn <= turn, JOB.c.state.in_(ENDED))
        connection.execute(delete(EVENT).where(EVENT.c.job_id.in_(old)))


def _readable_event(row: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """An event; one that is not what was written is told as such."""
    return {"event": "damaged"} if row is None else row


def _is_after(place: tuple[int, int]) -> Any:
    attempt, number = place
    return or_(EVENT.c.attempt > attempt, and_(EVENT.c.attempt == attempt, EVENT.c.number > number))


CANDIDATES_PER_READ = 50
"""How many rows are looked at together: the first mostly fits."""


def claim_next(
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
    for row in _candidates(connection, kinds):
        job = job_from_row(row)
        if job.damage:
            damaged.append(job)
        elif fits(job):
            given = _start_job(db, connection, row, worker, lease_s)
            break
    for job in damaged:
        job_row.fail_damaged(connection, job, timestamp(db.now(connection)))
    return given


def any_waiting(connection: Connection, kinds: Collection[str]) -> bool:
    """Whether a job of these kinds waits."""
    waiting = select(JOB.c.id).where(JOB.c.state == "queued", JOB.c.kind.in_(sorted(kinds)))
    return connection.execute(waiting.limit(1)).one_or_none() is not None


def _candidates(connection: Connection, kinds: Collection[str]) -> Iterator[Row[Any]]:
    """The jobs that wait, the next one first."""
    wanted, start = _waiting(kinds).limit(CANDIDATES_PER_READ), 0
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


def _start_job(db: Database, connection: Connection, row: Row[Any], worker: str, lease_s: float) -> JobRow:
    now = db.now(connection)
    values = {
        "state": "running",
        "worker": worker,
        "attempt": row.attempt + 1,
        "started_at": timestamp(now),
        "lease_until": now + lease_s,
        "stop_wanted": False,
    }
    given = connection.execute(update(JOB).where(JOB.c.id == row.id).values(values).returning(JOB)).one()
    start = next_number(db, connection, "start")
    share = db.insert(SHARE).values(user=row.user, last_start=start)
    connection.execute(share.on_conflict_do_update(index_elements=["user"], set_={"last_start": start}))
    delete_old_events(connection)
    return job_from_row(given)


QUEUE_LOCK = "queue"
"""The lock of whoever changes which jobs are in line."""
NEW_JOB = {"tries": 0, "lease_until": 0.0}
LeaseState = Literal["ours", "stop", "lost"]


def _always(job: JobRow) -> bool:  # noqa: ARG001
    return True


def _never(text: str) -> bool:  # noqa: ARG001
    return False


class Jobs:
    """All jobs of a store.

    A `worker` is the name that claimed a job, or the `holder` of the row that was claimed: the latter
    tells apart two attempts of one worker. What a worker writes that has lost the job is refused with LeaseLost.
    """

    def __init__(self, database: Database) -> None:
        self._db = database

    def add(
        self,
        name: str,
        kind: str,
        wish: Mapping[str, Any],
        *,
        user: str = "",
        priority: int = 0,
        asked_at: str = "",
        is_taken: Callable[[str], bool] = _never,
    ) -> JobRow:
        """Put a job in line; its id is "name-N" with the first N that no job, no run and no `is_taken` has."""
        with self._db.writing(QUEUE_LOCK) as connection:
            row = JobRow(
                id=unused_id(connection, name, is_taken),
                kind=kind,
                wish=wish,
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
        return job_from_row(row) if row is not None else None

    def all(self, *, user: str | None = None, states: Collection[str] | None = None) -> list[JobRow]:
        """All jobs, or those of one user, or in some states: the newest turn first."""
        wanted = select(JOB).order_by(JOB.c.turn.desc(), JOB.c.id)
        if states is not None:
            wanted = wanted.where(JOB.c.state.in_(sorted(states)))
        if user is not None:
            wanted = wanted.where(JOB.c.user == user)
        with self._db.reading() as connection:
            return [job_from_row(row) for row in connection.execute(wanted)]

    def claim(
        self, worker: str, kinds: Collection[str], *, lease_s: float, fits: Callable[[JobRow], bool] = _always
    ) -> JobRow | None:
        """Take the next job that `fits`: no job is taken by two.

        The highest priority comes first; then the user with the fewest running jobs, then the one whose last
        start is longest ago; then who asked earlier. `fits` should be quick: nobody else claims meanwhile.
        """
        with self._db.reading() as connection:
            if not any_waiting(connection, kinds):  # who only looks keeps nobody waiting
                return None
        with self._db.writing(QUEUE_LOCK) as connection:
            return claim_next(self._db, connection, worker, kinds, lease_s, fits)

    def renew(self, worker: str, job_id: str, *, lease_s: float) -> LeaseState:
        """Say that the worker lives: whether the job is still its own, and whether it is to stop."""
        with self._db.writing() as connection:
            row = lock_job(connection, job_id)
            if row is None or not is_holder(row, worker):
                return "lost"
            until = self._db.now(connection) + lease_s
            connection.execute(update(JOB).where(JOB.c.id == job_id).values(lease_until=until))
            return "stop" if row.stop_wanted else "ours"

    def tell(self, worker: str, job_id: str, told: Mapping[str, Any]) -> None:
        """Note how far a job is; what it told before under other names stays."""
        with self._db.writing() as connection:
            row = require_held_job(connection, worker, job_id)
            job_row.update_job(connection, job_id, {"told": {**job_row.progress_of(row), **told}})

    def end(self, worker: str, job_id: str, state: str, told: Mapping[str, Any], *, ended_at: str = "") -> None:
        """End a job, once: whoever comes second has lost it."""
        if state not in ENDED:
            raise BadUsage(f"{state!r} is no way for a job to end.", remedy=f"Say one of {', '.join(ENDED)}.")
        with self._db.writing() as connection:
            row = require_held_job(connection, worker, job_id)
            at = ended_at or timestamp(self._db.now(connection))
            all_told = {**job_row.progress_of(row), **told}
            job_row.update_job(connection, job_id, {"state": state, "told": all_told, "ended_at": at})

    def give_back(self, worker: str, job_id: str, why: str) -> None:
        """Put a job in line again at its old turn, since its worker stops; that counts as no try."""
        with self._db.writing(QUEUE_LOCK) as connection:
            row = require_held_job(connection, worker, job_id)
            at = timestamp(self._db.now(connection))
            state: dict[str, Any] = {"state": "cancelled", "ended_at": at} if row.stop_wanted else {"state": "queued"}
            job_row.update_job(connection, job_id, {**state, "losses": job_row.losses_with(row, why, at)})

    def lose(self, worker: str, job_id: str, *, most_tries: int) -> JobRow:
        """Put a job in line again whose process was killed; that counts as a try, and after so many it fails."""
        with self._db.writing(QUEUE_LOCK) as connection:
            row = require_held_job(connection, worker, job_id)
            return job_row.lose_job(
                connection, row, job_row.PROCESS_KILLED, timestamp(self._db.now(connection)), most_tries
            )

    def reap(self, *, most_tries: int, is_dead: Callable[[str], bool] = _never) -> list[JobRow]:
        """Put the jobs of workers that are gone in line again, with the reason; after `most_tries` losses they fail.

        A worker is gone whose lease lapsed, or of which `is_dead` says so at once. A job that was to stop is cancelled.
        """
        with self._db.reading() as connection:
            if not job_row.any_worker_gone(connection, self._db.now(connection), is_dead):
                return []
        with self._db.writing(QUEUE_LOCK) as connection:
            return job_row.reap_jobs(connection, self._db.now(connection), most_tries, is_dead)

    def cancel(self, job_id: str) -> JobRow:
        """Stop a job: one in line ends at once, one that runs is asked to; what has ended stays as it is."""
        with self._db.writing(QUEUE_LOCK) as connection:
            row = require_job(connection, job_id)
            if row.state == "queued":
                at = timestamp(self._db.now(connection))
                return job_row.update_job(connection, job_id, {"state": "cancelled", "ended_at": at})
            if row.state == "running":
                return job_row.update_job(connection, job_id, {"stop_wanted": True})
            return job_from_row(row)

    def again(self, job_id: str) -> JobRow:
        """Put a job that ended before it was done in line again, at a new turn."""
        with self._db.writing(QUEUE_LOCK) as connection:
            job = job_from_row(require_job(connection, job_id))
            if job.damage:
                raise StoreDamaged(damage_message(job_id, job.damage), remedy=removal_remedy(job_id))
            if job.state in (*OPEN, "done"):
                state = "done" if job.state == "done" else "in line, or runs"
                raise FolderTaken(f"The job {job_id!r} is {state}.", remedy="There is nothing to start again.")
            told = {key: value for key, value in job.told.items() if key not in ("problem", "remedy")}
            turn = next_number(self._db, connection, "turn")
            fresh = {"state": "queued", "turn": turn, "tries": 0, "stop_wanted": False, "ended_at": "", "told": told}
            return job_row.update_job(connection, job_id, fresh)

    def remove(self, job_id: str) -> None:
        """Forget a job that is not running, its events and its parts; the files of its run stay."""
        with self._db.writing(QUEUE_LOCK) as connection:
            if require_job(connection, job_id).state == "running":
                raise FolderTaken(f"The job {job_id!r} runs.", remedy="Cancel it first.")
            for table in (EVENT, PART):
                connection.execute(delete(table).where(table.c.job_id == job_id))
            drop_unfinished(connection, job_id)
            connection.execute(delete(JOB).where(JOB.c.id == job_id))

    def counts(self, user: str | None = None) -> tuple[int, int]:
        """How many jobs of a user, or of all, are in line, and how many run."""
        wanted = select(JOB.c.state, func.count().label("number")).where(JOB.c.state.in_(OPEN)).group_by(JOB.c.state)
        if user is not None:
            wanted = wanted.where(JOB.c.user == user)
        with self._db.reading() as connection:
            found = {row.state: int(row.number) for row in connection.execute(wanted)}
        return found.get("queued", 0), found.get("running", 0)

    def add_events(self, worker: str, job_id: str, attempt: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Note what a job told, numbered on from the last of this attempt; the latest are kept."""
        with self._db.writing() as connection:
            require_held_job(connection, worker, job_id)
            add_events(connection, job_id, attempt, rows)

    def events(self, job_id: str, after: tuple[int, int] = (0, 0), limit: int = MAX_EVENTS) -> list[JobEventRow]:
        """What a job told after a place (attempt, number): each with its place."""
        with self._db.reading() as connection:
            return events_after(connection, job_id, after, limit)
