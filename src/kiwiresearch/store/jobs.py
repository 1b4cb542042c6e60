"""The queue: jobs as rows, which workers take, hold by a lease, and end exactly once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from sqlalchemy import delete, func, insert, select, update

from kiwiresearch.errors import BadUsage, FolderTaken, StoreDamaged
from kiwiresearch.store import claiming, events, lapsed
from kiwiresearch.store.counters import free_id, next_number, raise_to
from kiwiresearch.store.database import Database
from kiwiresearch.store.holding import held, is_holder, known, locked
from kiwiresearch.store.job import ENDED, OPEN, JobKind, JobRow, damaged, job_of, time_text, to_remove, values_of
from kiwiresearch.store.leftovers import drop_unfinished
from kiwiresearch.store.tables import EVENT, JOB, PART

__all__ = ["JobKind", "JobRow", "Jobs"]

QUEUE = "queue"
"""The lock of whoever changes which jobs are in line."""
NEW = {"tries": 0, "lease_until": 0.0}
Holding = Literal["ours", "stop", "lost"]


def _any(job: JobRow) -> bool:  # noqa: ARG001
    return True


def _none(text: str) -> bool:  # noqa: ARG001
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
        is_taken: Callable[[str], bool] = _none,
    ) -> JobRow:
        """Put a job in line; its id is "name-N" with the first N that no job, no run and no `is_taken` has."""
        with self._db.writing(QUEUE) as connection:
            row = JobRow(
                id=free_id(connection, name, is_taken),
                kind=kind,
                wish=wish,
                user=user,
                priority=priority,
                turn=next_number(self._db, connection, "turn"),
                asked_at=asked_at or time_text(self._db.now(connection)),
            )
            connection.execute(insert(JOB).values({**values_of(row), **NEW}))
        return row

    def put(self, row: JobRow) -> bool:
        """Take over a job of elsewhere as it is; False if its id is taken. It must not be running."""
        if row.state == "running":
            raise BadUsage(f"The job {row.id!r} runs elsewhere.", remedy="Wait until it has ended.")
        with self._db.writing(QUEUE) as connection:
            raise_to(self._db, connection, "turn", row.turn)
            put = self._db.insert(JOB).values({**values_of(row), **NEW}).on_conflict_do_nothing()
            return connection.execute(put.returning(JOB.c.id)).one_or_none() is not None

    def get(self, job_id: str) -> JobRow | None:
        with self._db.reading() as connection:
            row = connection.execute(select(JOB).where(JOB.c.id == job_id)).one_or_none()
        return job_of(row) if row is not None else None

    def all(self, *, user: str | None = None, states: Collection[str] | None = None) -> list[JobRow]:
        """All jobs, or those of one user, or in some states: the newest turn first."""
        wanted = select(JOB).order_by(JOB.c.turn.desc(), JOB.c.id)
        if states is not None:
            wanted = wanted.where(JOB.c.state.in_(sorted(states)))
        if user is not None:
            wanted = wanted.where(JOB.c.user == user)
        with self._db.reading() as connection:
            return [job_of(row) for row in connection.execute(wanted)]

    def claim(
        self, worker: str, kinds: Collection[str], *, lease_s: float, fits: Callable[[JobRow], bool] = _any
    ) -> JobRow | None:
        """Take the next job that `fits`: no job is taken by two.

        The highest priority comes first; then the user with the fewest running jobs, then the one whose last
        start is longest ago; then who asked earlier. `fits` should be quick: nobody else claims meanwhile.
        """
        with self._db.reading() as connection:
            if not claiming.is_any(connection, kinds):  # who only looks keeps nobody waiting
                return None
        with self._db.writing(QUEUE) as connection:
            return claiming.claimed(self._db, connection, worker, kinds, lease_s, fits)

    def renew(self, worker: str, job_id: str, *, lease_s: float) -> Holding:
        """Say that the worker lives: whether the job is still its own, and whether it is to stop."""
        with self._db.writing() as connection:
            row = locked(connection, job_id)
            if row is None or not is_holder(row, worker):
                return "lost"
            until = self._db.now(connection) + lease_s
            connection.execute(update(JOB).where(JOB.c.id == job_id).values(lease_until=until))
            return "stop" if row.stop_wanted else "ours"

    def tell(self, worker: str, job_id: str, told: Mapping[str, Any]) -> None:
        """Note how far a job is; what it told before under other names stays."""
        with self._db.writing() as connection:
            row = held(connection, worker, job_id)
            lapsed.changed(connection, job_id, {"told": {**lapsed.told_of(row), **told}})

    def end(self, worker: str, job_id: str, state: str, told: Mapping[str, Any], *, ended_at: str = "") -> None:
        """End a job, once: whoever comes second has lost it."""
        if state not in ENDED:
            raise BadUsage(f"{state!r} is no way for a job to end.", remedy=f"Say one of {', '.join(ENDED)}.")
        with self._db.writing() as connection:
            row = held(connection, worker, job_id)
            at = ended_at or time_text(self._db.now(connection))
            all_told = {**lapsed.told_of(row), **told}
            lapsed.changed(connection, job_id, {"state": state, "told": all_told, "ended_at": at})

    def give_back(self, worker: str, job_id: str, why: str) -> None:
        """Put a job in line again at its old turn, since its worker stops; that counts as no try."""
        with self._db.writing(QUEUE) as connection:
            row = held(connection, worker, job_id)
            at = time_text(self._db.now(connection))
            state: dict[str, Any] = {"state": "cancelled", "ended_at": at} if row.stop_wanted else {"state": "queued"}
            lapsed.changed(connection, job_id, {**state, "losses": lapsed.losses_of(row, why, at)})

    def lose(self, worker: str, job_id: str, *, most_tries: int) -> JobRow:
        """Put a job in line again whose process was killed; that counts as a try, and after so many it fails."""
        with self._db.writing(QUEUE) as connection:
            row = held(connection, worker, job_id)
            return lapsed.lost(connection, row, lapsed.KILLED, time_text(self._db.now(connection)), most_tries)

    def reap(self, *, most_tries: int, is_dead: Callable[[str], bool] = _none) -> list[JobRow]:
        """Put the jobs of workers that are gone in line again, with the reason; after `most_tries` losses they fail.

        A worker is gone whose lease lapsed, or of which `is_dead` says so at once. A job that was to stop is cancelled.
        """
        with self._db.reading() as connection:
            if not lapsed.is_any(connection, self._db.now(connection), is_dead):
                return []
        with self._db.writing(QUEUE) as connection:
            return lapsed.reaped(connection, self._db.now(connection), most_tries, is_dead)

    def cancel(self, job_id: str) -> JobRow:
        """Stop a job: one in line ends at once, one that runs is asked to; what has ended stays as it is."""
        with self._db.writing(QUEUE) as connection:
            row = known(connection, job_id)
            if row.state == "queued":
                at = time_text(self._db.now(connection))
                return lapsed.changed(connection, job_id, {"state": "cancelled", "ended_at": at})
            if row.state == "running":
                return lapsed.changed(connection, job_id, {"stop_wanted": True})
            return job_of(row)

    def again(self, job_id: str) -> JobRow:
        """Put a job that ended before it was done in line again, at a new turn."""
        with self._db.writing(QUEUE) as connection:
            job = job_of(known(connection, job_id))
            if job.damage:
                raise StoreDamaged(damaged(job_id, job.damage), remedy=to_remove(job_id))
            if job.state in (*OPEN, "done"):
                state = "done" if job.state == "done" else "in line, or runs"
                raise FolderTaken(f"The job {job_id!r} is {state}.", remedy="There is nothing to start again.")
            told = {key: value for key, value in job.told.items() if key not in ("problem", "remedy")}
            turn = next_number(self._db, connection, "turn")
            fresh = {"state": "queued", "turn": turn, "tries": 0, "stop_wanted": False, "ended_at": "", "told": told}
            return lapsed.changed(connection, job_id, fresh)

    def remove(self, job_id: str) -> None:
        """Forget a job that is not running, its events and its parts; the files of its run stay."""
        with self._db.writing(QUEUE) as connection:
            if known(connection, job_id).state == "running":
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
            held(connection, worker, job_id)
            events.add(connection, job_id, attempt, rows)

    def events(self, job_id: str, after: tuple[int, int] = (0, 0), limit: int = events.KEPT) -> list[events.Told]:
        """What a job told after a place (attempt, number): each with its place."""
        with self._db.reading() as connection:
            return events.after(connection, job_id, after, limit)
