"""Pieces of files that somebody began to put, and was killed before they became a run."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, select

from kiwiresearch.store.tables import PIECE, RUN


def drop_unfinished(connection: Connection, job_id: str) -> None:
    """Take away what a worker of a job has put that never became whole; nobody may hold the job just then.

    Whoever put it has lost the job, and is refused before the next piece.
    """
    now = select(RUN.c.revision).where(RUN.c.id == job_id).scalar_subquery()
    connection.execute(delete(PIECE).where(PIECE.c.run_id == job_id, PIECE.c.revision > func.coalesce(now, 0)))
