"""A snapshot read from a folder that `kiwiresearch bulk` has written, with an index of its pages."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import lru_cache, partial
from itertools import groupby
from pathlib import Path

from kiwiresearch.bulk import BulkFolder, Row, from_parquet
from kiwiresearch.claims import Claim, claim_from_record
from kiwiresearch.diff.snapshot import DISTINCTIVE_CHARS, SnapshotPage, digest
from kiwiresearch.errors import BookDamaged, CannotWrite, KiwiError, PageNotFound, RunDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.runs import BookEdition
from kiwiresearch.zim import LEAD_ONLY, HiddenTitles, flavour_of, title_of_path

# `telling` says whether the text is distinctive; `shard`, `first` and `rows` say where the claims of a page are.
TABLES = """
CREATE TABLE page (path TEXT PRIMARY KEY, title TEXT, digest TEXT, telling INTEGER, shard INTEGER, first INTEGER,
                   rows INTEGER, problem TEXT) WITHOUT ROWID;
CREATE TABLE redirect (path TEXT PRIMARY KEY, title TEXT, target TEXT) WITHOUT ROWID;
CREATE TABLE hidden (path TEXT PRIMARY KEY) WITHOUT ROWID;
"""
FINISH = """
DROP TABLE hidden;
CREATE INDEX page_title ON page (title);
CREATE INDEX redirect_title ON redirect (title);
CREATE INDEX page_place ON page (shard, first, path);
"""
SHOWN = "WHERE ?1 NOT IN (SELECT path FROM hidden)"
PAGE = f"INSERT OR IGNORE INTO page SELECT ?1, ?2, ?3, ?4, -1, 0, 0, '' {SHOWN}"
CLAIMED = f"""
INSERT INTO page SELECT ?1, ?2, '', 0, ?3, ?4, ?5, '' {SHOWN}
ON CONFLICT (path) DO UPDATE SET shard = ?3, first = ?4, rows = ?5
"""
# A page that could not be read has no digest, so it never counts as unchanged.
FAILED = f"""
INSERT INTO page SELECT ?1, ?2, '', 0, -1, 0, 0, ?3 {SHOWN} ON CONFLICT (path) DO UPDATE SET digest = '', problem = ?3
"""
REDIRECT = f"INSERT OR IGNORE INTO redirect SELECT ?1, ?2, ?3 {SHOWN}"


def build_index(folder: BulkFolder, hidden: HiddenTitles, file: Path) -> None:
    """Write the index of a folder, without pages that a policy hides by title or by path."""
    try:
        with closing(sqlite3.connect(file, isolation_level=None)) as index:
            # No journal and no sync: if this process dies, nobody uses what it has written so far.
            index.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + TABLES)
            index.execute("BEGIN")
            if hidden:
                index.executemany("INSERT OR IGNORE INTO hidden VALUES (?)", _hidden(folder, hidden))
            index.executemany(PAGE, _pages(folder))
            index.executemany(CLAIMED, _claim_places(folder))
            index.executemany(FAILED, _failed(folder))
            redirects = _rows(folder, "titles", ("path", "title", "redirect_to"))
            index.executemany(REDIRECT, (row for row in redirects if row[2]))
            index.execute("COMMIT")
            index.executescript(FINISH)
    except sqlite3.Error as problem:
        raise CannotWrite(
            f"The index of {str(folder.folder)!r} cannot be saved in {str(file.parent)!r}: {problem}.",
            remedy="Free up space there, or set TMPDIR to another folder.",
        ) from problem


def _hidden(folder: BulkFolder, hidden: HiddenTitles) -> Iterator[Row]:
    """The paths of hidden pages, possibly repeated: hidden by path, or by title."""
    for path, title in _named(folder):
        if hidden.has(str(title)) or hidden.has(title_of_path(str(path))):
            yield (path,)


def _named(folder: BulkFolder) -> Iterator[Row]:
    """Every path in a table of the folder, with its title there."""
    named = {"titles": "title", "pages": "title", "errors": "path"}
    named["claims"] = "path" if folder.has_table("pages") else "record"
    for table, name in named.items():
        for path, title in _rows(folder, table, ("path", name)):
            yield path, _title_in(str(title)) if name == "record" else title


def _rows(folder: BulkFolder, table: str, columns: Sequence[str]) -> Iterator[Row]:
    """The rows of a table, if the folder has it."""
    for shard in folder.shards(table) if folder.has_table(table) else ():
        yield from from_parquet(table, shard, columns)


def _title_in(record: str) -> str:
    """The title of the page that a claim is from; empty if the record is not a claim."""
    try:
        return str(json.loads(record)["page_title"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _pages(folder: BulkFolder) -> Iterator[Row]:
    """Each real page: path, title, digest, and whether its text is distinctive."""
    names = ("path", "title", "kind", "text_sha", "disputed", "citation_needed", "chars")
    for path, title, kind, sha, disputed, needed, chars in _rows(folder, "pages", names):
        if kind != "redirect":
            known = digest(str(sha), disputed=bool(disputed), citation_needed=int(needed or 0))
            yield path, title, known, int(chars or 0) >= DISTINCTIVE_CHARS


def _claim_places(folder: BulkFolder) -> Iterator[Row]:
    """Where the claims of each page are: path, title, shard, first row, number of rows."""
    for index, shard in enumerate(folder.shards("claims")):
        rows = enumerate(from_parquet("claims", shard, ("path",)))
        # Relies on the claims of a page being next to each other, as bulk writes them.
        for path, of_page in groupby(rows, key=lambda row: str(row[1][0])):
            places = [place for place, _ in of_page]
            yield path, title_of_path(path), index, places[0], len(places)


def _failed(folder: BulkFolder) -> Iterator[Row]:
    """Pages that could not be read when the folder was made."""
    for path, what, problem in _rows(folder, "errors", ("path", "what", "problem")):
        if path and what in ("read", "pages", "claims"):
            yield path, title_of_path(str(path)), problem


SHARDS_KEPT = 4
"""The size of the shard cache: pages close together in one snapshot are mostly close together in the other."""

BROKEN_ROW_ERRORS = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    ArithmeticError,
    RecursionError,
    KiwiError,
)
"""The exceptions that a row that is not a claim may raise."""


class BulkSnapshot:
    """A snapshot in a folder of claims, with an index of its pages."""

    def __init__(self, folder: BulkFolder, index: Path) -> None:
        book = folder.manifest.book
        flavour = flavour_of("", (), book.file)
        self.book = BookEdition(book.id, book.name, book.title, book.date, flavour, book.language)
        self.language = book.language or "eng"
        self.lead_only = flavour in LEAD_ONLY
        self.has_all_pages = folder.has_table("pages")
        self._folder = folder.folder
        self._shards = folder.shards("claims")
        self._index = sqlite3.connect(f"{index.as_uri()}?mode=ro&immutable=1", uri=True)
        self._records = lru_cache(maxsize=SHARDS_KEPT)(self._read)

    @property
    def pages(self) -> int:
        return int(self._index.execute("SELECT count(*) FROM page").fetchone()[0])

    def paths(self) -> Iterator[str]:
        for (path,) in self._index.execute("SELECT path FROM page ORDER BY shard, first, path"):
            yield path

    def resolve(self, path: str) -> str | None:
        end = self._one("SELECT target FROM redirect WHERE path = ?", path) or path
        return self._one("SELECT path FROM page WHERE path = ?", end) or None

    def by_title(self, title: str) -> str | None:
        found = self._one("SELECT path FROM page WHERE title = ? ORDER BY path", title)
        if found:
            return found
        target = self._one("SELECT target FROM redirect WHERE title = ? ORDER BY path", title)
        return self.resolve(target) if target else None

    def title(self, path: str) -> str:
        return self._one("SELECT title FROM page WHERE path = ?", path)

    def find(self, words: str) -> str | None:
        name = " ".join(words.replace("_", " ").split())
        for title in dict.fromkeys((words, name, name[:1].upper() + name[1:])):
            found = self.by_title(title) or self.resolve(title.replace(" ", "_"))
            if found:
                return found
        return self.resolve(words)

    def read(self, path: str) -> SnapshotPage | None:
        query = "SELECT title, digest, telling, shard, first, rows, problem FROM page WHERE path = ?"
        row = self._index.execute(query, (path,)).fetchone()
        if row is None:
            raise PageNotFound(f"The folder {str(self._folder)!r} has no page named {path!r}.")
        title, digest, telling, shard, first, rows, problem = row
        if problem:
            raise BookDamaged(problem)
        return SnapshotPage(path, title, digest, bool(telling), partial(self._claims, path, shard, first, rows))

    def raw(self, path: str) -> bytes | None:  # noqa: ARG002  a folder has what pages claim, not the pages
        return None

    def dated_or_measured(self) -> Iterator[Claim]:
        for shard in self._shards:
            for path, value, date, record in from_parquet("claims", shard, ("path", "value", "earliest", "record")):
                if (value is not None or date is not None) and self.resolve(str(path)) == path:
                    try:
                        yield _claim(str(record))
                    except BROKEN_ROW_ERRORS:
                        continue  # its page is reported as unreadable

    def close(self) -> None:
        self._index.close()

    def _claims(self, path: str, shard: int, first: int, rows: int) -> Sequence[Claim]:
        if not rows:
            return ()
        try:
            claims = [_claim(record) for record in self._records(shard)[first : first + rows]]
            if any(claim.ref.path != path for claim in claims):
                raise ValueError("claims of another page")
        except RunDamaged:
            raise
        except BROKEN_ROW_ERRORS as problem:
            raise RunDamaged(
                f"The file {str(self._shards[shard])!r} has rows for {path!r} that are not valid claims of that page.",
                remedy="Delete the folder and create it again with 'kiwiresearch bulk'.",
            ) from problem
        return claims

    def _read(self, shard: int) -> list[str]:
        return [str(row[0]) for row in from_parquet("claims", self._shards[shard], ("record",))]

    def _one(self, query: str, value: str) -> str:
        row = self._index.execute(query, (value,)).fetchone()
        return str(row[0]) if row else ""


def _claim(record: str) -> Claim:
    """The claim of a row; ValueError also for half a surrogate pair, which is not a character."""
    found = json.loads(record)
    # Only an escape can hide half of a pair, and encoding it raises UnicodeEncodeError, a ValueError.
    if "\\u" in record:
        canonical_json(found).encode()
    return claim_from_record(found)
