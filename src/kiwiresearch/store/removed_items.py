"""Runs and families that were archived or deleted on any host of a store."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sqlalchemy import delete, select

from kiwiresearch.errors import WrongJobState
from kiwiresearch.store.database import Database
from kiwiresearch.store.job_row import OPEN_STATES
from kiwiresearch.store.jobs import QUEUE_LOCK
from kiwiresearch.store.tables import JOB, REMOVED

DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class RemovedRow:
    """A run or a family that was archived or deleted; it stays where it is, and is hidden from lists."""

    kind: str
    id: str
    state: str
    at: str
    title: str
    user: str
    made: str


class RemovedRows:
    """What was archived or deleted, for all hosts."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def all(self) -> list[RemovedRow]:
        """Everything that is archived or deleted, by kind and id."""
        with self._db.reading() as connection:
            rows = connection.execute(select(REMOVED).order_by(REMOVED.c.kind, REMOVED.c.id))
            return [RemovedRow(**row._mapping) for row in rows]

    def deleted(self, kind: str) -> frozenset[str]:
        """The ids of the deleted runs, or families."""
        wanted = select(REMOVED.c.id).where(REMOVED.c.kind == kind, REMOVED.c.state == DELETED)
        with self._db.reading() as connection:
            return frozenset(connection.scalars(wanted))

    def put(self, row: RemovedRow) -> None:
        """Archive or delete something; refused if a worker could have started its job meanwhile."""
        with self._db.writing(QUEUE_LOCK) as connection:
            state = connection.execute(select(JOB.c.state).where(JOB.c.id == row.id)).scalar()
            if row.kind == "run" and state in OPEN_STATES:
                raise WrongJobState(f"The job {row.id!r} is running or queued.", remedy="Stop it first.")
            connection.execute(self._db.upsert(REMOVED, asdict(row)))

    def drop(self, kind: str, item_id: str, state: str) -> bool:
        """Take something off the list; False if another host was first, or it is in another state by now."""
        where = (REMOVED.c.kind == kind, REMOVED.c.id == item_id, REMOVED.c.state == state)
        with self._db.writing() as connection:
            gone = connection.execute(delete(REMOVED).where(*where).returning(REMOVED.c.id))
            return gone.one_or_none() is not None
