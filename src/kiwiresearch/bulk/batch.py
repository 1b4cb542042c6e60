"""Reads a batch of entries into rows and packs them into shards; every engine runs this."""

from __future__ import annotations

import contextlib
import re
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kiwiresearch.bulk.tables import TABLES, PathResolver, Row, RowTally, link_rows, page_row, page_tally, to_parquet
from kiwiresearch.errors import BookChanged, BookDamaged, KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.page import PageDoc, read_page
from kiwiresearch.zim import Entry, LibzimArchive, set_cluster_cache

if TYPE_CHECKING:
    from kiwiresearch.zim import Numbers

PAGE_TIMEOUT_S = 120.0
"""Pages take less than a second; one that takes this long would never end."""


class PageTimeout(BaseException):
    """Not an Exception, so that no handler in between takes it for an unreadable page."""


@contextlib.contextmanager
def time_limit(seconds: float = PAGE_TIMEOUT_S) -> Iterator[None]:
    """Raise PageTimeout in the block after some time, where the system can: in the main thread, and not on Windows."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise PageTimeout

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


CACHE_BYTES = 8 * 2**20
"""Clusters are read one after the other, so few need to be cached."""

MAX_CACHED_TARGETS = 2**15
MAX_ACCEPTED_PAGE_BYTES = 2**25
"""Larger pages are errors: no hand-written page is so large. `page/html.py` reads the first 4 MiB of the others."""

MAX_PROBLEM_CHARS = 300
# The end of '<generator object f at 0x7f3a21>', which differs from process to process.
ADDRESS = re.compile(r" at 0x[0-9a-f]+")

T = TypeVar("T")
TableRows = dict[str, list[Row]]
"""The rows of each table, sorted by entry and number."""


class EntryReader:
    """Reads entries of one book into rows; `on_entry` is called with the number of each entry before it is read."""

    def __init__(
        self, file: Path, book: BookId, tables: Sequence[str], on_entry: Callable[[int], None] | None = None
    ) -> None:
        opened = _open_book(file, book)
        self._archive, self._resolve = opened.archive, opened.resolve
        self._tables = tables
        self._on_entry = on_entry or (lambda _: None)

    def rows(self, ids: Sequence[int], crashed_entries: Iterable[int] = ()) -> TableRows:
        """The rows of these entries, with those that cannot be read in the table `errors`.

        The same entries give the same rows, whatever was read before. `crashed_entries`
        crashed a process and must not be read.
        """
        crashed = set(crashed_entries)
        found: dict[int, TableRows] = {}
        for number in ids:
            if number in crashed:
                found[number] = {
                    "errors": [(number, self._path(number), "read", "The process that was reading it crashed.")]
                }
            else:
                self._on_entry(number)
                found[number] = self._entry(number)
        tables: TableRows = {table: [] for table in (*self._tables, "errors")}
        # Entries come in the order in which they lie in the file, and are written in the order of their numbers.
        for number in sorted(found):
            for table, rows in found[number].items():
                tables[table] += rows
        return tables

    def _entry(self, number: int) -> TableRows:
        try:
            named = self._archive.name_at(number)
        except BookDamaged as problem:
            return {"errors": [(number, self._path(number), "read", _reason(problem))]}
        tables: TableRows = {"errors": []}
        if named.target or named.is_html:
            if "titles" in self._tables:
                tables["titles"] = [(number, named.path, named.title, named.target)]
            if named.is_html and tuple(self._tables) != ("titles",):
                self._read(number, named.path, tables)
        else:
            what = f"a file of type {named.mimetype!r}" if named.mimetype else "a redirect to nothing"
            tables["errors"].append((number, named.path, "read", f"It is not a page but {what}."))
        return tables

    def _path(self, number: int) -> str:
        try:
            return self._archive.path_at(number)
        except BookDamaged:
            return ""

    def _read(self, number: int, path: str, tables: TableRows) -> None:
        errors = tables["errors"]
        page = _attempt(partial(self._page, number))
        if isinstance(page, PageProblem):
            errors.append((number, path, "read", page))
            return
        for table in self._tables:
            if table != "titles":
                rows = _attempt(partial(self._checked_rows, table, page, (number, path)))
                if isinstance(rows, PageProblem):
                    errors.append((number, path, table, rows))
                else:
                    tables[table] = rows

    def _page(self, number: int) -> PageDoc:
        entry: Entry = self._archive.read_at(number)
        if len(entry.content) > MAX_ACCEPTED_PAGE_BYTES:
            raise BookDamaged(f"The page is too large ({len(entry.content):,} bytes).")
        book = self._archive.book
        url = self._archive.url(entry.ref.path)
        return read_page(entry, language=book.language or "eng", url=url, lead_only=book.lead_only)

    def _checked_rows(self, table: str, page: PageDoc, first: Row) -> list[Row]:
        found = [_plain((*first, *row)) for row in self._rows_of_table(table, page)]
        size = len(TABLES[table])
        if any(len(row) != size for row in found):
            raise ValueError(f"a row of {table!r} has not {size} values")
        return found

    def _rows_of_table(self, table: str, page: PageDoc) -> Iterator[Row]:
        if table == "pages":
            yield page_row(page)
        elif table == "links":
            yield from link_rows(page, self._resolve)
        else:
            from kiwiresearch.bulk.claim_rows import claim_rows, people_rows

            if table == "claims":
                yield from claim_rows(page, self._archive.book.name)
            else:
                yield from people_rows(page, self._resolve)


class _OpenBook:
    """An open book, with a cache of where its links lead."""

    def __init__(self, file: Path) -> None:
        set_cluster_cache(CACHE_BYTES)
        self.archive = LibzimArchive(file)
        self.resolve: PathResolver = lru_cache(maxsize=MAX_CACHED_TARGETS)(self._resolve)

    def _resolve(self, path: str) -> str:
        try:
            return self.archive.resolve(path) or ""
        except BookDamaged:
            return ""


@lru_cache(maxsize=1)
def _open_book(file: Path, book: BookId) -> _OpenBook:
    """Open a book, once per process, however many batches it reads."""
    found = _OpenBook(file)
    if found.archive.book.id != book:
        raise BookChanged(
            f"The file {str(file)!r} is not the book that the work was started with.",
            remedy="Every machine must have the same file at the same path.",
        )
    return found


class PageProblem(str):
    """The error of a page that cannot be read."""

    __slots__ = ()


def _attempt(work: Callable[[], T]) -> T | PageProblem:
    """The result of work on one page, or the error of the page."""
    try:
        with time_limit():
            return work()
    except BookChanged:
        raise
    except PageTimeout:
        return PageProblem(f"It took more than {PAGE_TIMEOUT_S:.0f} seconds.")
    except Exception as problem:  # an error in one page must not affect the others
        return _reason(problem)


def _reason(problem: Exception) -> PageProblem:
    """A description of the error that is the same on every machine: without memory addresses and file paths."""
    if isinstance(problem, BookDamaged) and problem.__cause__:
        text = f"It cannot be read: {problem.__cause__}"
    elif isinstance(problem, KiwiError):
        text = problem.message
    else:
        text = f"{type(problem).__name__}: {problem}"
    line = " ".join(ADDRESS.sub("", text).split())[:MAX_PROBLEM_CHARS].rstrip(". :") + "."
    return PageProblem(line.encode("utf-8", "replace").decode())


def _plain(row: Row) -> Row:
    """The row with lone surrogates replaced, which cannot be written; OverflowError for too large a number."""
    for value in row:
        if isinstance(value, str) and not value.isascii() and not _is_text(value):
            return tuple(v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for v in row)
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise OverflowError(f"{value} is too large a number")
    return row


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Shard:
    """Some rows of a table as a Parquet file; without rows it is empty, except for the first of a table."""

    table: str
    tally: RowTally
    content: bytes


@dataclass(frozen=True, slots=True)
class FinishedBatch:
    """The shards of a batch, one per table."""

    number: int
    shards: tuple[Shard, ...]


Batches = Generator[FinishedBatch, None, None]
"""Batches as an engine finishes them; closing the generator stops the work."""


@dataclass(frozen=True, slots=True, eq=False)
class BulkWork:
    """The work to do: a book, its entries in reading order, the batch size, and the tables to make."""

    file: Path
    book: BookId
    tables: tuple[str, ...]
    entries: Numbers
    batch_size: int

    @property
    def batch_count(self) -> int:
        """The number of batches: at least one, so that every table has a shard."""
        return max(-(-len(self.entries) // self.batch_size), 1)

    def ids(self, number: int) -> list[int]:
        """The entries of a batch."""
        return [int(entry) for entry in self.entries[number * self.batch_size : (number + 1) * self.batch_size]]

    def count(self, number: int) -> int:
        return max(min(self.batch_size, len(self.entries) - number * self.batch_size), 0)


def pack_batch(number: int, tables: TableRows) -> FinishedBatch:
    """Pack the rows of a batch into shards."""
    shards = (
        Shard(table, rows_tally(rows), to_parquet(table, rows) if rows or not number else b"")
        for table, rows in tables.items()
    )
    return FinishedBatch(number, tuple(shards))


def rows_tally(rows: Iterable[Row]) -> RowTally:
    """The tally of rows of one table, which are sorted by entry."""
    by_entry = groupby(rows, key=lambda row: row[0])
    return sum((page_tally(of_entry) for _, of_entry in by_entry), RowTally())
