"""The files of finished runs, whole and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from sqlalchemy import Connection, Row, delete, insert, select, update

from kiwiresearch.errors import KiwiError, RunNotFound
from kiwiresearch.store import packing
from kiwiresearch.store.counters import next_number
from kiwiresearch.store.database import Database
from kiwiresearch.store.holding import held
from kiwiresearch.store.tables import FILE, PIECE, RUN

AT_ONCE = 4
"""How many pieces are written together: a large run keeps nobody else waiting for long."""

GONE = 0
"""The revision of a run that was removed; revisions are counted from 1."""


class Files:
    """All runs that are done, with all their files."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put(self, worker: str, run_id: str, files: Mapping[str, bytes | Path]) -> None:
        """Keep the files of a run in place of any of before: all or none.

        `worker` holds the job of that id; '' stands for nobody, where a run is put by hand.
        A file that is given as a path is read a piece at a time. Of two who put the same run at once,
        the one who began later is heard.
        """
        revision = self._begun(worker, run_id)
        try:
            self._fill(worker, run_id, revision, files)
        except BaseException:
            with suppress(KiwiError):  # whoever puts the run next takes them away
                self._drop(run_id, revision)
            raise

    def runs(self) -> list[tuple[str, int]]:
        """All runs with their revisions: a run that was put again has a new one, which no run ever had."""
        with self._db.reading() as connection:
            wanted = select(RUN).where(RUN.c.revision != GONE).order_by(RUN.c.id)
            return [(row.id, row.revision) for row in connection.execute(wanted)]

    def revision(self, run_id: str) -> int | None:
        """The revision of a run; None if there is no such run."""
        with self._db.reading() as connection:
            return _revision(connection, run_id)

    def names(self, run_id: str) -> dict[str, str]:
        """The names of a run's files, and the sha256 of each; none if there is no such run."""
        with self._db.reading() as connection:
            return {row.name: row.sha256 for row in _files(connection, run_id)}

    def read(self, run_id: str, name: str) -> bytes:
        """A file as it was put."""
        return b"".join(self.pieces(run_id, name))

    def pieces(self, run_id: str, name: str) -> Iterator[bytes]:
        """A file piece after piece; an error at its end if they are not what was put."""
        what = f"the file {name!r} of the run {run_id!r}"
        seen = sha256()
        with self._db.reading() as connection:
            row = next((row for row in _files(connection, run_id) if row.name == name), None)
            if row is None:
                raise RunNotFound(f"The store does not have {what}.", remedy="Look which runs it has.")
            for number in range(-(-row.size // packing.PIECE)):
                piece = _piece(connection, row, number, what)
                seen.update(piece)
                yield piece
        if seen.hexdigest() != row.sha256:
            raise packing.damaged(what)

    def remove(self, run_id: str, *, keep_id: bool = False) -> None:
        """Forget a run and all its files; one that is being put meanwhile becomes whole.

        With `keep_id` nobody else gets the id, and who has a copy of the run can learn that it was removed.
        """
        of_run = RUN.c.id == run_id
        with self._db.writing() as connection:
            now = connection.execute(select(RUN.c.revision).where(of_run).with_for_update()).scalar()
            if now is None:
                return
            for table in (FILE, PIECE):
                connection.execute(delete(table).where(table.c.run_id == run_id, table.c.revision <= now))
            gone = update(RUN).values(revision=GONE) if keep_id else delete(RUN)
            connection.execute(gone.where(of_run))

    def remove_all(self, beginning: str) -> None:
        """Forget whatever was put under ids that begin so, also what never became whole; nobody puts any meanwhile."""
        with self._db.writing() as connection:
            for table, column in ((FILE, FILE.c.run_id), (PIECE, PIECE.c.run_id), (RUN, RUN.c.id)):
                connection.execute(delete(table).where(column.startswith(beginning, autoescape=True)))

    def was_removed(self, run_id: str) -> bool:
        """Whether a run was removed, and its id kept."""
        with self._db.reading() as connection:
            return connection.execute(select(RUN.c.revision).where(RUN.c.id == run_id)).scalar() == GONE

    def _begun(self, worker: str, run_id: str) -> int:
        with self._db.writing() as connection:
            _check(connection, worker, run_id)
            return next_number(self._db, connection, "revision")

    def _fill(self, worker: str, run_id: str, revision: int, files: Mapping[str, bytes | Path]) -> None:
        """Write all pieces beside those that are read, and let them be the run at last."""
        rows, waiting = [], []
        of_run = {"run_id": run_id, "revision": revision}
        for name in sorted(files):
            size, seen = 0, sha256()
            for number, piece in enumerate(packing.pieces_of(files[name])):
                waiting.append({**of_run, "name": name, "number": number, "packed": packing.packed(piece)})
                size += len(piece)
                seen.update(piece)
                if len(waiting) == AT_ONCE:
                    with self._db.writing() as connection:
                        _check(connection, worker, run_id)
                        connection.execute(insert(PIECE), waiting)
                    waiting = []
            rows.append({**of_run, "name": name, "size": size, "sha256": seen.hexdigest()})
        with self._db.writing() as connection:
            _check(connection, worker, run_id)
            for table, last in ((PIECE, waiting), (FILE, rows)):
                if last:
                    connection.execute(insert(table), last)
            self._switch(connection, run_id, revision)

    def _switch(self, connection: Connection, run_id: str, revision: int) -> None:
        run = self._db.insert(RUN).values(id=run_id, revision=revision)
        newer = {"revision": revision}
        connection.execute(
            run.on_conflict_do_update(index_elements=["id"], set_=newer, where=RUN.c.revision < revision)
        )
        now = _revision(connection, run_id)
        for table in (FILE, PIECE):
            connection.execute(delete(table).where(table.c.run_id == run_id, table.c.revision < now))

    def _drop(self, run_id: str, revision: int) -> None:
        """Take back the pieces of a run that did not become whole; if it did and only the word was lost, they stay."""
        with self._db.writing() as connection:
            if _revision(connection, run_id) != revision:
                of_run = (PIECE.c.run_id == run_id, PIECE.c.revision == revision)
                connection.execute(delete(PIECE).where(*of_run))


def _check(connection: Connection, worker: str, run_id: str) -> None:
    if worker:
        held(connection, worker, run_id)


def _revision(connection: Connection, run_id: str) -> int | None:
    return connection.execute(select(RUN.c.revision).where(RUN.c.id == run_id, RUN.c.revision != GONE)).scalar()


def _files(connection: Connection, run_id: str) -> list[Row[tuple[object, ...]]]:
    """The rows of the files that a run has now."""
    now = (FILE.c.run_id == RUN.c.id, FILE.c.revision == RUN.c.revision)
    return list(connection.execute(select(FILE).where(RUN.c.id == run_id, *now).order_by(FILE.c.name)))


def _piece(connection: Connection, file: Row[tuple[object, ...]], number: int, what: str) -> bytes:
    of_file = (PIECE.c.run_id == file.run_id, PIECE.c.revision == file.revision, PIECE.c.name == file.name)
    row = connection.execute(select(PIECE.c.packed).where(*of_file, PIECE.c.number == number)).scalar()
    if row is None:
        raise packing.damaged(what)
    return packing.unpacked(row, what)
