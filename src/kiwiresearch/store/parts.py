"""Copies of files that only grow, byte for byte: what a worker has done of a job so far."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlalchemy import Connection, delete, func, insert, select

from kiwiresearch.store.database import Database
from kiwiresearch.store.holding import held
from kiwiresearch.store.packing import damaged, hash_of, packed, pieces_of, unpacked
from kiwiresearch.store.tables import PART

AT_ONCE = 8
"""How many rows are read together, of at most a mebibyte each."""


class Parts:
    """The growing files of jobs that are not done."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def sizes(self, job_id: str) -> dict[str, int]:
        """How much there is of each file of a job."""
        wanted = select(PART.c.name, func.max(PART.c.start + PART.c.size)).where(PART.c.job_id == job_id)
        with self._db.reading() as connection:
            return {name: int(size) for name, size in connection.execute(wanted.group_by(PART.c.name))}

    def append(self, worker: str, job_id: str, pieces: Mapping[str, tuple[int, bytes]]) -> None:
        """Add to files of a job, each from `start` on: all of it or nothing, and only by the one who holds the job.

        `start` is the size so far. With a smaller one, what was there from `start` on is cut off first.
        """
        with self._db.writing() as connection:
            held(connection, worker, job_id)
            for name, (start, content) in sorted(pieces.items()):
                size = _size(connection, job_id, name)
                if start > size:
                    raise ValueError(f"{name!r} of the job {job_id!r} has {size} bytes, so none can go to {start}")
                if start < size:
                    _cut(connection, job_id, name, start)
                _add(connection, job_id, name, start, content)

    def read(self, job_id: str, name: str) -> Iterator[bytes]:
        """The bytes of a file, piece after piece, each checked."""
        place = 0
        wanted = select(PART).where(PART.c.job_id == job_id, PART.c.name == name).order_by(PART.c.start).limit(AT_ONCE)
        while True:
            with self._db.reading() as connection:
                rows = connection.execute(wanted.where(PART.c.start >= place)).all()
            if not rows:
                return
            for row in rows:
                if row.start != place:
                    raise damaged(f"{name!r} of the job {job_id!r}")
                yield _content(job_id, name, row.packed, row.size, row.sha256)
                place += row.size

    def drop(self, job_id: str) -> None:
        """Forget all files of a job."""
        with self._db.writing() as connection:
            connection.execute(delete(PART).where(PART.c.job_id == job_id))


def _size(connection: Connection, job_id: str, name: str) -> int:
    wanted = select(func.max(PART.c.start + PART.c.size)).where(PART.c.job_id == job_id, PART.c.name == name)
    return int(connection.execute(wanted).scalar() or 0)


def _cut(connection: Connection, job_id: str, name: str, start: int) -> None:
    """Cut a file to a size; of the piece across the cut, the first bytes stay."""
    of_file = (PART.c.job_id == job_id, PART.c.name == name)
    across = connection.execute(
        select(PART).where(*of_file, PART.c.start < start, PART.c.start + PART.c.size > start)
    ).one_or_none()
    connection.execute(delete(PART).where(*of_file, PART.c.start + PART.c.size > start))
    if across is not None:
        content = _content(job_id, name, across.packed, across.size, across.sha256)
        _add(connection, job_id, name, across.start, content[: start - across.start])


def _add(connection: Connection, job_id: str, name: str, start: int, content: bytes) -> None:
    for piece in pieces_of(content):
        row = {"start": start, "size": len(piece), "sha256": hash_of(piece), "packed": packed(piece)}
        connection.execute(insert(PART).values(job_id=job_id, name=name, **row))
        start += len(piece)


def _content(job_id: str, name: str, row: bytes, size: int, sha256: str) -> bytes:
    what = f"{name!r} of the job {job_id!r}"
    content = unpacked(row, what)
    if len(content) != size or hash_of(content) != sha256:
        raise damaged(what)
    return content
