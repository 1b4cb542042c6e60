"""Builds the title index of a book: rows are gathered in batches, then sorted into the index in one go.

Gathered rows are in a file of their own next to the index, with the number of the last one. A build that was killed,
or had a lower limit, continues from there. The index itself is built from them under another name and renamed when
it is complete, so it is never seen half-built.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Literal

from kiwiresearch.errors import BadSettings, BadUsage, IndexStale, KiwiError
from kiwiresearch.search.titles import INDEX_VERSION, MIN_RIGHT_LETTERS, IndexStamp, open_titles, read_stamp
from kiwiresearch.system import FileLock
from kiwiresearch.text import encodable, fold
from kiwiresearch.zim import Archive, Book, TitleEntry, without_policy

TITLES_PER_BATCH = 20_000
CACHE_KIB = 64 * 1024

ReportProgress = Callable[[int, int], None]
GatheredRow = tuple[int, str, str, str | None, bool]

GATHERED = """
CREATE TABLE stamp (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE gathered (number INTEGER PRIMARY KEY, folded TEXT, title TEXT, path TEXT, alias INTEGER);
"""

STEPS = (
    "CREATE TABLE stamp (name TEXT PRIMARY KEY, value TEXT)",
    "CREATE TEMP TABLE place (id INTEGER PRIMARY KEY, number INTEGER)",
    # The shortest titles get the lowest ids: the full-text index lists them first, and a search stops early.
    "INSERT INTO place (number) SELECT number FROM gathered ORDER BY length(folded), number",
    "CREATE TABLE titles (id INTEGER PRIMARY KEY, title TEXT, path TEXT, alias INTEGER)",
    "INSERT INTO titles SELECT id, title, path, alias FROM place CROSS JOIN gathered USING (number) ORDER BY id",
    "CREATE TABLE names (key TEXT, id INTEGER, PRIMARY KEY (key, id)) WITHOUT ROWID",
    "INSERT INTO names SELECT replace(folded, ' ', ''), id FROM place CROSS JOIN gathered USING (number) ORDER BY 1, 2",
    # In folded text only spaces separate words, and every other character counts: that is what 'ascii' does.
    "CREATE VIRTUAL TABLE held USING fts5"
    "(folded, content='', detail=none, columnsize=0, tokenize=\"ascii tokenchars '+#'\")",
    # 32 MiB before FTS5 writes a segment, so there are few of them to merge.
    "INSERT INTO held (held, rank) VALUES ('hashsize', 33554432)",
    "INSERT INTO held (rowid, folded) SELECT id, folded FROM place CROSS JOIN gathered USING (number) ORDER BY id",
    "INSERT INTO held (held) VALUES ('optimize')",
    "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, held, row)",
    "CREATE TABLE words (word TEXT PRIMARY KEY, count INTEGER) WITHOUT ROWID",
    "INSERT INTO words SELECT term, doc FROM vocabulary",
    f"CREATE INDEX heads ON words (substr(word, 1, {MIN_RIGHT_LETTERS}), length(word), count DESC)",
    f"CREATE INDEX tails ON words (substr(word, -{MIN_RIGHT_LETTERS}), length(word), count DESC)",
)


@dataclass(frozen=True, slots=True)
class IndexBuild:
    """The result of a build: built now, already complete, or being built by another process."""

    file: Path
    rows: int
    complete: bool
    state: Literal["built", "kept", "busy"]


def titles_file(folder: Path, book: Book) -> Path:
    """The file of a book's title index, named by its UUID."""
    return folder / f"titles-{book.id}.sqlite"


def build_titles(
    archive: Archive, file: Path, *, limit: int | None = None, progress: ReportProgress | None = None
) -> IndexBuild:
    """Build the title index of a book, or continue a build; with a limit, only for its first titles.

    `progress` is called with the amount done and the total. If another process is building the same index,
    nothing is done and the state is 'busy'.
    """
    if limit is not None and limit < 1:
        raise BadUsage(f"Cannot index {limit} titles.", remedy="Set a limit of 1 or more.")
    archive = without_policy(archive)  # one index for all; what a policy hides is filtered on reading
    with _clear_errors(file, archive.book):
        # The lock of a process that was killed is released by the system, so no lock file has to be removed by hand.
        lock = FileLock(_with_suffix(file, "lock"))
        if not lock.acquire():
            return IndexBuild(file, 0, complete=False, state="busy")
        try:
            existing = _existing(file, archive.book, limit)
            return existing or _built(archive, file, limit, progress or (lambda _done, _of: None))
        finally:
            lock.release()


def _built(archive: Archive, file: Path, limit: int | None, progress: ReportProgress) -> IndexBuild:
    gathered = _with_suffix(file, "rows")
    try:
        stamp = _gather(archive, gathered, limit, progress)
        _finish(gathered, file, stamp, progress)
    except sqlite3.DatabaseError as problem:
        if _code(problem) not in DAMAGE_CODES:
            raise
        gathered.unlink(missing_ok=True)  # the gathered rows are damaged: start over, once
        stamp = _gather(archive, gathered, limit, progress)
        _finish(gathered, file, stamp, progress)
    if stamp.complete:
        gathered.unlink()
    return IndexBuild(file, stamp.rows, stamp.complete, "built")


DAMAGE_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _existing(file: Path, book: Book, limit: int | None) -> IndexBuild | None:
    """The existing index, if it has enough titles."""
    try:
        index = open_titles(file, book)
    except IndexStale:
        return None
    if index is None:
        return None
    rows, complete = index.rows, index.complete
    index.close()
    enough = complete or (limit is not None and rows >= limit)
    return IndexBuild(file, rows, complete, "kept") if enough else None


def _gather(archive: Archive, gathered: Path, limit: int | None, progress: ReportProgress) -> IndexStamp:
    book = archive.book
    connection = _gathering(gathered, book)
    with contextlib.closing(connection):
        stamp = read_stamp(connection)
        start = int(connection.execute("SELECT value FROM stamp WHERE name = 'next'").fetchone()[0])
        rows, entries = stamp.rows, archive.titles(start)
        while not stamp.complete and (limit is None or rows < limit):
            batch = list(islice(entries, TITLES_PER_BATCH if limit is None else min(TITLES_PER_BATCH, limit - rows)))
            ready = [row for entry in batch if (row := _row(entry, stamp.head))]
            rows += len(ready)
            start = batch[-1].number + 1 if batch else start
            # Only an empty batch means that all titles were read: a full one may have been cut by the limit.
            stamp = IndexStamp(INDEX_VERSION, book.id, book.entries, rows, not batch, stamp.head)
            # Rows and the number to continue from are written together, so that a killed build has no row twice.
            with connection:
                connection.execute("BEGIN")
                connection.executemany("INSERT INTO gathered VALUES (?, ?, ?, ?, ?)", ready)
                _write_stamp(connection, stamp, start)
            _report(progress, start / max(book.entries, 1) if limit is None else rows / limit, 0, book)
    return stamp


def _gathering(gathered: Path, book: Book) -> sqlite3.Connection:
    """The file of gathered rows; a new one if it is of another book or version, or damaged."""
    if gathered.exists():
        connection = sqlite3.connect(gathered, isolation_level=None)
        try:
            if read_stamp(connection).fits(book):
                return connection
        except (sqlite3.DatabaseError, KeyError, ValueError):
            pass
        connection.close()
        gathered.unlink()
        _with_suffix(gathered, "journal", "-").unlink(missing_ok=True)
    connection = sqlite3.connect(gathered, isolation_level=None)
    connection.executescript(GATHERED)
    head = "A/" if book.old_namespaces else ""
    _write_stamp(connection, IndexStamp(INDEX_VERSION, book.id, book.entries, 0, complete=False, head=head), 0)
    return connection


def _row(entry: TitleEntry, head: str) -> GatheredRow | None:
    """A row of the index, without a path that can be made from the title; None if it cannot be stored."""
    title = encodable(entry.title)
    folded = fold(title)
    path = None if entry.path == head + title.replace(" ", "_") else entry.path
    if not folded or (path and encodable(path) != path):
        return None
    return entry.number, folded, title, path, entry.alias


def _finish(gathered: Path, file: Path, stamp: IndexStamp, progress: ReportProgress) -> None:
    """Build the index from all gathered rows under another name, and rename it."""
    new = _with_suffix(file, "new")
    new.unlink(missing_ok=True)
    try:
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
            # Safe without a journal: nothing reads the file before it is complete, and a partial one is deleted.
            connection.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-{CACHE_KIB}")
            connection.execute("ATTACH ? AS gathering", (str(gathered),))
            connection.set_progress_handler(lambda: 0, 1_000_000)  # lets Python see Ctrl-C
            connection.execute("BEGIN")
            for done, step in enumerate(STEPS, 1):
                connection.execute(step)
                _report(progress, 1, done / len(STEPS), stamp)
            _write_stamp(connection, stamp, 0)
            connection.execute("COMMIT")
        with new.open("rb+") as stream:
            # Before the rename, or a power cut could leave a complete name with an incomplete file.
            os.fsync(stream.fileno())
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)


def _write_stamp(connection: sqlite3.Connection, stamp: IndexStamp, start: int) -> None:
    values = asdict(stamp) | {"next": start}
    connection.executemany("INSERT OR REPLACE INTO stamp VALUES (?, ?)", values.items())


def _report(progress: ReportProgress, gathered: float, sorted_in: float, book: Book | IndexStamp) -> None:
    """Report progress; gathering and sorting take about the same time."""
    progress(int(book.entries * (gathered + sorted_in)), 2 * book.entries)


def _code(problem: Exception) -> int:
    """SQLite's primary error code."""
    return getattr(problem, "sqlite_errorcode", 0) & 0xFF


def _with_suffix(file: Path, what: str, mark: str = ".") -> Path:
    return file.with_name(f"{file.name}{mark}{what}")


@contextlib.contextmanager
def _clear_errors(file: Path, book: Book) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as problem:
        if _code(problem) == sqlite3.SQLITE_INTERRUPT:
            raise KeyboardInterrupt from problem
        reason = problem.strerror if isinstance(problem, OSError) else str(problem)
        raise BadSettings(
            f"The title index {str(file)!r} cannot be written: {reason}.",
            remedy="Free up space there or check the folder's permissions, "
            f"then run 'kiwiresearch books index {book.name}' again; it resumes where it stopped.",
        ) from problem


def main(arguments: list[str]) -> None:
    """Build in a background process: `python -m kiwiresearch.search.title_index_builder FILE FOLDER [report]`.

    With `report`, lines with the amount done and the total are printed, and an error ends it with code 1.
    """
    from kiwiresearch.zim import LibzimArchive

    source, folder, *options = arguments
    with contextlib.suppress(AttributeError, OSError):
        # Titles can wait; the requests of users cannot.
        os.nice(10)
    progress = _print_progress if "report" in options else None
    try:
        archive = LibzimArchive(Path(source))
        build_titles(archive, titles_file(Path(folder), archive.book), progress=progress)
    except KiwiError as problem:  # without a reader there is no one to report to; the next search tries again
        if progress:
            sys.exit(problem.message)


def _print_progress(done: int, total: int) -> None:
    print(done, total, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
