"""A snapshot as `kiwiresearch bulk` has written it: claims that need not be read from pages again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from pathlib import Path

from kiwiresearch.bulk.parquet import unpacked
from kiwiresearch.bulk.reading import BulkFolder
from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.record import claim_of
from kiwiresearch.errors import BookDamaged, KiwiError, PageNotFound, RunDamaged
from kiwiresearch.ids import canonical_json
from kiwiresearch.research.book_pairs import BookSeen
from kiwiresearch.research.snapshots_sides import PageSeen
from kiwiresearch.zim.book import LEAD_ONLY, flavour_of

SHARDS_KEPT = 4
"""Pages that stand near each other in one snapshot mostly do in the other."""

BROKEN = (ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError, RecursionError, KiwiError)
"""What a row that is no claim of ours may lead to."""


class FolderSide:
    """A snapshot in a folder of claims, with the index of its pages."""

    def __init__(self, folder: BulkFolder, index: Path) -> None:
        told = folder.manifest.book
        flavour = flavour_of("", (), told.file)
        self.book = BookSeen(told.id, told.name, told.title, told.date, flavour, told.language)
        self.language = told.language or "eng"
        self.lead_only = flavour in LEAD_ONLY
        self.knows_all = folder.has("pages")
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

    def look(self, path: str) -> PageSeen | None:
        query = "SELECT title, digest, telling, shard, first, rows, problem FROM page WHERE path = ?"
        row = self._index.execute(query, (path,)).fetchone()
        if row is None:
            raise PageNotFound(f"The folder {str(self._folder)!r} has no page {path!r}.")
        title, digest, telling, shard, first, rows, problem = row
        if problem:
            raise BookDamaged(problem)
        return PageSeen(path, title, digest, bool(telling), partial(self._claims, path, shard, first, rows))

    def raw(self, path: str) -> bytes | None:  # noqa: ARG002  a folder has what pages claim, not the pages
        return None

    def said(self) -> Iterator[Claim]:
        for shard in self._shards:
            for path, value, date, record in unpacked("claims", shard, ("path", "value", "earliest", "record")):
                if (value is not None or date is not None) and self.resolve(str(path)) == path:
                    try:
                        yield _claim(str(record))
                    except BROKEN:
                        continue  # its page is told as one that cannot be read

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
        except BROKEN as problem:
            raise RunDamaged(
                f"The file {str(self._shards[shard])!r} has rows of {path!r} that are no claims.",
                remedy="Remove the folder, and make it again with 'kiwiresearch bulk'.",
            ) from problem
        return claims

    def _read(self, shard: int) -> list[str]:
        return [str(row[0]) for row in unpacked("claims", self._shards[shard], ("record",))]

    def _one(self, query: str, value: str) -> str:
        row = self._index.execute(query, (value,)).fetchone()
        return str(row[0]) if row else ""


def _claim(record: str) -> Claim:
    """The claim of a row, which may come from anybody: half a pair of surrogates is no character."""
    told = json.loads(record)
    if "\\u" in record:
        canonical_json(told).encode()
    return claim_of(told)
