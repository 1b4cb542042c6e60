"""What the store has of runs: finished files, growing parts of unfinished ones, and notes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from kiwiresearch.errors import CannotWrite, KiwiError, RunNotFound, StoreDamaged
from kiwiresearch.store.database import Database
from kiwiresearch.store.engine import BACKUP_REMEDY
from kiwiresearch.store.job_row import next_number, require_held_job
from kiwiresearch.store.tables import FILE, NOTE, PART, PIECE, RUN

PIECE_BYTES = 2**20
"""How many bytes a row has at most, before compression."""
COMPRESSION_LEVEL = 1
"""Most of the possible savings, in a fifth of the time."""


def split_pieces(content: bytes | Path) -> Iterator[bytes]:
    """The bytes, or those of a file, in pieces."""
    if isinstance(content, bytes):
        for start in range(0, len(content), PIECE_BYTES):
            yield content[start : start + PIECE_BYTES]
        return
    with content.open("rb") as stream:
        while piece := stream.read(PIECE_BYTES):
            yield piece


def compress_piece(piece: bytes) -> bytes:
    return zlib.compress(piece, COMPRESSION_LEVEL)


def decompress_piece(row: bytes, what: str) -> bytes:
    """A decompressed piece; never longer than `PIECE_BYTES`, whatever the row contains."""
    opened = zlib.decompressobj()
    try:
        # One byte more than a piece may have is enough to notice a row that would fill the memory.
        piece = opened.decompress(row, PIECE_BYTES + 1)
    except zlib.error as problem:
        raise damaged_content(what) from problem
    if len(piece) > PIECE_BYTES or not opened.eof:
        raise damaged_content(what)
    return piece


def piece_hash(piece: bytes) -> str:
    return sha256(piece).hexdigest()


def damaged_content(what: str) -> StoreDamaged:
    return StoreDamaged(f"The store is damaged: {what} was changed.", remedy=BACKUP_REMEDY)


ROWS_PER_READ = 8
"""How many rows, of at most a mebibyte each, are read at a time."""


class UnfinishedFiles:
    """The growing files of unfinished jobs."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def sizes(self, job_id: str) -> dict[str, int]:
        """The size of each file of a job."""
        wanted = select(PART.c.name, func.max(PART.c.start + PART.c.size)).where(PART.c.job_id == job_id)
        with self._db.reading() as connection:
            return {name: int(size) for name, size in connection.execute(wanted.group_by(PART.c.name))}

    def append(self, holder: str, job_id: str, appended: Mapping[str, tuple[int, bytes]]) -> None:
        """Append to files of a job, all or nothing; only its holder can.

        `start` is the size so far. With a smaller one, the file is first cut to that size.
        """
        with self._db.writing() as connection:
            require_held_job(connection, holder, job_id)
            for name, (start, content) in sorted(appended.items()):
                size = _size(connection, job_id, name)
                if start > size:
                    raise ValueError(f"{name!r} of the job {job_id!r} has {size} bytes, so none can go to {start}")
                if start < size:
                    _cut(connection, job_id, name, start)
                _add(connection, job_id, name, start, content)

    def read(self, job_id: str, name: str) -> Iterator[bytes]:
        """The bytes of a file in pieces, each of them checked."""
        place = 0
        wanted = (
            select(PART).where(PART.c.job_id == job_id, PART.c.name == name).order_by(PART.c.start).limit(ROWS_PER_READ)
        )
        while True:
            with self._db.reading() as connection:
                rows = connection.execute(wanted.where(PART.c.start >= place)).all()
            if not rows:
                return
            for row in rows:
                if row.start != place:
                    raise damaged_content(f"{name!r} of the job {job_id!r}")
                yield _content(job_id, name, row.packed, row.size, row.sha256)
                place += row.size

    def drop(self, job_id: str) -> None:
        """Delete all files of a job."""
        with self._db.writing() as connection:
            connection.execute(delete(PART).where(PART.c.job_id == job_id))


def _size(connection: Connection, job_id: str, name: str) -> int:
    wanted = select(func.max(PART.c.start + PART.c.size)).where(PART.c.job_id == job_id, PART.c.name == name)
    return int(connection.execute(wanted).scalar() or 0)


def _cut(connection: Connection, job_id: str, name: str, start: int) -> None:
    """Cut a file to a size; of a piece across the cut, the first bytes stay."""
    of_file = (PART.c.job_id == job_id, PART.c.name == name)
    across = connection.execute(
        select(PART).where(*of_file, PART.c.start < start, PART.c.start + PART.c.size > start)
    ).one_or_none()
    connection.execute(delete(PART).where(*of_file, PART.c.start + PART.c.size > start))
    if across is not None:
        content = _content(job_id, name, across.packed, across.size, across.sha256)
        _add(connection, job_id, name, across.start, content[: start - across.start])


def _add(connection: Connection, job_id: str, name: str, start: int, content: bytes) -> None:
    for piece in split_pieces(content):
        row = {"start": start, "size": len(piece), "sha256": piece_hash(piece), "packed": compress_piece(piece)}
        connection.execute(insert(PART).values(job_id=job_id, name=name, **row))
        start += len(piece)


def _content(job_id: str, name: str, row: bytes, size: int, sha256: str) -> bytes:
    what = f"{name!r} of the job {job_id!r}"
    content = decompress_piece(row, what)
    if len(content) != size or piece_hash(content) != sha256:
        raise damaged_content(what)
    return content


PIECES_PER_WRITE = 4
"""How many pieces are written at a time, so that a large run does not block others for long."""

REMOVED_REVISION = 0
"""The revision of a run that was removed; real revisions start at 1."""


class RunFiles:
    """The finished runs, with all their files."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put(self, holder: str, run_id: str, files: Mapping[str, bytes | Path]) -> None:
        """Store the files of a run, replacing earlier ones: all or none.

        `holder` holds the job of that id; it is empty if a run is stored by hand. A file given as a path is read in
        pieces. If two store the same run at once, the one that started later wins.
        """
        with self._db.writing() as connection:
            _check_holder(connection, holder, run_id)
            revision = next_number(self._db, connection, "revision")
        try:
            self._write_pieces(holder, run_id, revision, files)
        except BaseException:
            with suppress(KiwiError):  # the next one to store the run deletes them
                self._drop(run_id, revision)
            raise

    def runs(self) -> list[tuple[str, int]]:
        """All runs with their revisions: a run that is stored again gets a new one, which no run had before."""
        with self._db.reading() as connection:
            wanted = select(RUN).where(RUN.c.revision != REMOVED_REVISION).order_by(RUN.c.id)
            return [(row.id, row.revision) for row in connection.execute(wanted)]

    def revision(self, run_id: str) -> int | None:
        """The revision of a run; None if the run does not exist."""
        with self._db.reading() as connection:
            return _revision(connection, run_id)

    def names(self, run_id: str) -> dict[str, str]:
        """The names of a run's files with their SHA-256; empty if the run does not exist."""
        with self._db.reading() as connection:
            return {row.name: row.sha256 for row in _files(connection, run_id)}

    def read(self, run_id: str, name: str) -> bytes:
        return b"".join(self.pieces(run_id, name))

    def pieces(self, run_id: str, name: str) -> Iterator[bytes]:
        """A file in pieces; raises StoreDamaged at the end if they differ from what was stored."""
        what = f"the file {name!r} of the run {run_id!r}"
        seen = sha256()
        with self._db.reading() as connection:
            row = next((row for row in _files(connection, run_id) if row.name == name), None)
            if row is None:
                remedy = "To list what there is, open the Research page or run 'kiwiresearch jobs list'."
                raise RunNotFound(f"The store does not have {what}.", remedy=remedy)
            for number in range(-(-row.size // PIECE_BYTES)):
                piece = _piece(connection, row, number, what)
                seen.update(piece)
                yield piece
        if seen.hexdigest() != row.sha256:
            raise damaged_content(what)

    def remove(self, run_id: str, *, keep_id: bool = False) -> None:
        """Delete a run and its files, except one that is just being stored.

        With `keep_id` the id is not used again, and hosts with a copy of the run can see that it was removed.
        """
        of_run = RUN.c.id == run_id
        with self._db.writing() as connection:
            current = connection.execute(select(RUN.c.revision).where(of_run).with_for_update()).scalar()
            if current is None:
                return
            for table in (FILE, PIECE):
                connection.execute(delete(table).where(table.c.run_id == run_id, table.c.revision <= current))
            gone = update(RUN).values(revision=REMOVED_REVISION) if keep_id else delete(RUN)
            connection.execute(gone.where(of_run))

    def remove_all(self, beginning: str) -> None:
        """Delete everything under ids with this prefix, even incomplete runs; nothing may be stored there meanwhile."""
        with self._db.writing() as connection:
            for table, column in ((FILE, FILE.c.run_id), (PIECE, PIECE.c.run_id), (RUN, RUN.c.id)):
                connection.execute(delete(table).where(column.startswith(beginning, autoescape=True)))

    def was_removed(self, run_id: str) -> bool:
        """Whether a run was removed and its id stays reserved."""
        with self._db.reading() as connection:
            return connection.execute(select(RUN.c.revision).where(RUN.c.id == run_id)).scalar() == REMOVED_REVISION

    def _write_pieces(self, holder: str, run_id: str, revision: int, files: Mapping[str, bytes | Path]) -> None:
        """Write all pieces under a new revision while the old ones are read, and switch at the end."""
        rows, waiting = [], []
        of_run = {"run_id": run_id, "revision": revision}
        for name in sorted(files):
            size, seen = 0, sha256()
            for index, piece in enumerate(split_pieces(files[name])):
                waiting.append({**of_run, "name": name, "number": index, "packed": compress_piece(piece)})
                size += len(piece)
                seen.update(piece)
                if len(waiting) == PIECES_PER_WRITE:
                    with self._db.writing() as connection:
                        _check_holder(connection, holder, run_id)
                        connection.execute(insert(PIECE), waiting)
                    waiting = []
            rows.append({**of_run, "name": name, "size": size, "sha256": seen.hexdigest()})
        with self._db.writing() as connection:
            _check_holder(connection, holder, run_id)
            for table, last in ((PIECE, waiting), (FILE, rows)):
                if last:
                    connection.execute(insert(table), last)
            self._switch(connection, run_id, revision)

    def _switch(self, connection: Connection, run_id: str, revision: int) -> None:
        # The higher revision started later and stays, even if this one is completed after it; the delete below then
        # removes what was just written.
        run = self._db.insert(RUN).values(id=run_id, revision=revision)
        newer = {"revision": revision}
        connection.execute(
            run.on_conflict_do_update(index_elements=["id"], set_=newer, where=RUN.c.revision < revision)
        )
        current = _revision(connection, run_id)
        for table in (FILE, PIECE):
            connection.execute(delete(table).where(table.c.run_id == run_id, table.c.revision < current))

    def _drop(self, run_id: str, revision: int) -> None:
        """Delete the pieces of an incomplete run; they stay if it was completed, and only the confirmation was lost."""
        with self._db.writing() as connection:
            if _revision(connection, run_id) != revision:
                of_run = (PIECE.c.run_id == run_id, PIECE.c.revision == revision)
                connection.execute(delete(PIECE).where(*of_run))


def _check_holder(connection: Connection, holder: str, run_id: str) -> None:
    if holder:
        require_held_job(connection, holder, run_id)


def _revision(connection: Connection, run_id: str) -> int | None:
    return connection.execute(
        select(RUN.c.revision).where(RUN.c.id == run_id, RUN.c.revision != REMOVED_REVISION)
    ).scalar()


def _files(connection: Connection, run_id: str) -> list[Row[tuple[object, ...]]]:
    """The rows of a run's current files."""
    current = (FILE.c.run_id == RUN.c.id, FILE.c.revision == RUN.c.revision)
    return list(connection.execute(select(FILE).where(RUN.c.id == run_id, *current).order_by(FILE.c.name)))


def _piece(connection: Connection, file: Row[tuple[object, ...]], number: int, what: str) -> bytes:
    of_file = (PIECE.c.run_id == file.run_id, PIECE.c.revision == file.revision, PIECE.c.name == file.name)
    row = connection.execute(select(PIECE.c.packed).where(*of_file, PIECE.c.number == number)).scalar()
    if row is None:
        raise damaged_content(what)
    return decompress_piece(row, what)


MAX_NOTE_BYTES = 2**25
"""The most bytes that the notes on one run may have."""


class NoteLines:
    """The lines of notes on runs."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def lines(self, run_id: str) -> list[bytes]:
        """All lines on a run, in the order they were added."""
        wanted = select(NOTE.c.line).where(NOTE.c.run_id == run_id).order_by(NOTE.c.number)
        with self._db.reading() as connection:
            return [_bytes(line) for line in connection.scalars(wanted)]

    @contextmanager
    def appending(self, run_id: str) -> Iterator[Callable[[bytes], None]]:
        """Add lines to the notes on a run; nothing else does so meanwhile, on this host or another.

        Others see the lines when the block ends; if it fails, none is added.
        """
        with self._db.writing(f"notes {run_id}") as connection:
            yield lambda line: _append(connection, run_id, line)

    def remove(self, run_id: str) -> None:
        """Delete all lines on a run."""
        with self._db.writing(f"notes {run_id}") as connection:
            connection.execute(delete(NOTE).where(NOTE.c.run_id == run_id))


def _bytes(line: object) -> bytes:
    """A line as bytes; its readers judge whether it is a valid note."""
    return line if isinstance(line, bytes) else str(line).encode("utf-8", "replace")


def _append(connection: Connection, run_id: str, line: bytes) -> None:
    wanted = select(func.coalesce(func.max(NOTE.c.number), 0), func.coalesce(func.sum(func.length(NOTE.c.line)), 0))
    last, size = connection.execute(wanted.where(NOTE.c.run_id == run_id)).one()
    if size + len(line) > MAX_NOTE_BYTES:
        raise CannotWrite(
            "The note was not saved: this run has too many notes.", remedy="Delete some of its notes, then try again."
        )
    connection.execute(insert(NOTE).values(run_id=run_id, number=last + 1, line=line))
