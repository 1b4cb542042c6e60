"""The pages of a folder of claims by path and title, in a file beside the work: a book has millions of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

from kiwiresearch.bulk.parquet import unpacked
from kiwiresearch.bulk.reading import BulkFolder
from kiwiresearch.bulk.tables import Row
from kiwiresearch.errors import CannotWrite
from kiwiresearch.research.snapshots_sides import TELLING_CHARS, digest
from kiwiresearch.zim.paths import title_of_path
from kiwiresearch.zim.policy import Titles

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
FAILED = f"""
INSERT INTO page SELECT ?1, ?2, '', 0, -1, 0, 0, ?3 {SHOWN} ON CONFLICT (path) DO UPDATE SET digest = '', problem = ?3
"""
REDIRECT = f"INSERT OR IGNORE INTO redirect SELECT ?1, ?2, ?3 {SHOWN}"


def build_index(folder: BulkFolder, hidden: Titles, file: Path) -> None:
    """Write the index of a folder; of pages that a policy hides, by title or by path, nothing is kept."""
    try:
        with closing(sqlite3.connect(file, isolation_level=None)) as index:
            index.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;" + TABLES)
            index.execute("BEGIN")
            if hidden:
                index.executemany("INSERT OR IGNORE INTO hidden VALUES (?)", _hidden(folder, hidden))
            index.executemany(PAGE, _pages(folder))
            index.executemany(CLAIMED, _claimed(folder))
            index.executemany(FAILED, _failed(folder))
            index.executemany(REDIRECT, _redirects(folder))
            index.execute("COMMIT")
            index.executescript(FINISH)
    except sqlite3.Error as problem:
        raise CannotWrite(
            f"The index of {str(folder.folder)!r} cannot be written to {str(file.parent)!r}: {problem}.",
            remedy="Make room there, or name another place for such files in TMPDIR.",
        ) from problem


def _hidden(folder: BulkFolder, hidden: Titles) -> Iterator[Row]:
    """The paths of what is hidden, each as often as it is met: such a path, or the path of such a title."""
    for path, title in _named(folder):
        if hidden.has(str(title)) or hidden.has(title_of_path(str(path))):
            yield (path,)


def _named(folder: BulkFolder) -> Iterator[Row]:
    """Every path that a table of the folder has, with what the table calls it."""
    named = {"titles": "title", "pages": "title", "errors": "path"}
    named["claims"] = "path" if folder.has("pages") else "record"
    for table, name in named.items():
        for shard in folder.shards(table) if folder.has(table) else ():
            for path, told in unpacked(table, shard, ("path", name)):
                yield path, _title_in(str(told)) if name == "record" else told


def _title_in(record: str) -> str:
    """The title of the page that a claim is from; empty if it is no claim of ours."""
    try:
        return str(json.loads(record)["page_title"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _pages(folder: BulkFolder) -> Iterator[Row]:
    """What is known of each page that is one: path, title, digest, and whether it can be known by its text."""
    names = ("path", "title", "kind", "text_sha", "disputed", "citation_needed", "chars")
    for shard in folder.shards("pages") if folder.has("pages") else ():
        for path, title, kind, sha, disputed, needed, chars in unpacked("pages", shard, names):
            if kind != "redirect":
                known = digest(str(sha), disputed=bool(disputed), citation_needed=int(needed or 0))
                yield path, title, known, int(chars or 0) >= TELLING_CHARS


def _claimed(folder: BulkFolder) -> Iterator[Row]:
    """Where the claims of each page are: path, title, shard, first row, how many rows."""
    for number, shard in enumerate(folder.shards("claims")):
        rows = enumerate(unpacked("claims", shard, ("path",)))
        for path, of_page in groupby(rows, key=lambda row: str(row[1][0])):
            places = [place for place, _ in of_page]
            yield path, title_of_path(path), number, places[0], len(places)


def _failed(folder: BulkFolder) -> Iterator[Row]:
    """Pages that could not be read when the folder was made."""
    for shard in folder.shards("errors") if folder.has("errors") else ():
        for path, what, problem in unpacked("errors", shard, ("path", "what", "problem")):
            if path and what in ("read", "pages", "claims"):
                yield path, title_of_path(str(path)), problem


def _redirects(folder: BulkFolder) -> Iterator[Row]:
    for shard in folder.shards("titles") if folder.has("titles") else ():
        for path, title, target in unpacked("titles", shard, ("path", "title", "redirect_to")):
            if target:
                yield path, title, target
