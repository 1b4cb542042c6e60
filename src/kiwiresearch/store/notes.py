"""The notes on runs: lines that are only ever added, by one writer at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, delete, func, insert, select

from kiwiresearch.errors import CannotWrite
from kiwiresearch.store.database import Database
from kiwiresearch.store.tables import NOTE

MOST_BYTES = 2**25
"""No run has more notes than that."""


class NoteLines:
    """The lines of notes, run by run."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def lines(self, run_id: str) -> list[bytes]:
        """All lines on a run, in the order in which they were added."""
        wanted = select(NOTE.c.line).where(NOTE.c.run_id == run_id).order_by(NOTE.c.number)
        with self._db.reading() as connection:
            return [_bytes(line) for line in connection.scalars(wanted)]

    @contextmanager
    def appending(self, run_id: str) -> Iterator[Callable[[bytes], None]]:
        """Adds lines to a run; nobody else does so meanwhile, on this host or another.

        The lines are there for others when the block ends, and none is if it fails.
        """
        with self._db.writing(f"notes {run_id}") as connection:
            yield lambda line: _append(connection, run_id, line)

    def remove(self, run_id: str) -> None:
        """Forget all lines on a run."""
        with self._db.writing(f"notes {run_id}") as connection:
            connection.execute(delete(NOTE).where(NOTE.c.run_id == run_id))


def _bytes(line: object) -> bytes:
    """A line as it stands, on one line; what somebody else put there is for its readers to judge."""
    return line if isinstance(line, bytes) else str(line).encode("utf-8", "replace")


def _append(connection: Connection, run_id: str, line: bytes) -> None:
    wanted = select(func.coalesce(func.max(NOTE.c.number), 0), func.coalesce(func.sum(func.length(NOTE.c.line)), 0))
    last, size = connection.execute(wanted.where(NOTE.c.run_id == run_id)).one()
    if size + len(line) > MOST_BYTES:
        raise CannotWrite(
            "The note cannot be kept: there are too many on this run.", remedy="Take its notes away, then write again."
        )
    connection.execute(insert(NOTE).values(run_id=run_id, number=last + 1, line=line))
