"""The books a run was made from, opened again by their UUIDs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.research.manifest import MANIFEST
from kiwiresearch.research.proof.ledger import Ledger
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.library import Shelf

REMEDY = "Put it on your shelf with 'kiwiresearch books add', or name it with --book, and verify again."


@dataclass(frozen=True, slots=True)
class RunBook:
    """A book as the manifest has it, and the book itself if it is there."""

    id: BookId
    name: str
    language: str
    opens_at: str
    archive: Archive | None


def told_books(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a manifest says of its books; nothing where it was edited into something else."""
    books = manifest.get("books")
    rows = [row for row in books if isinstance(row, dict)] if isinstance(books, list) else []
    return [row for row in rows if all(isinstance(row.get(name), str) for name in ("id", "name", "language"))]


def open_again(manifest: Mapping[str, Any], shelf: Shelf, ledger: Ledger) -> dict[BookId, RunBook]:
    """The books of a run; one that is not there has failed, and what can be proved without it is."""
    found = {}
    for row in told_books(manifest):
        book = BookId(row["id"])
        archive, problem = _opened(book, shelf)
        if archive is None:
            ledger.fail(MANIFEST, f"the book {row.get('title')!r} ({book}) is not there{problem}", remedy=REMEDY)
        elif archive.book.name != row["name"]:
            ledger.fail(MANIFEST, f"the name of the book {book} is {archive.book.name!r}, not {row['name']!r}")
        found[book] = RunBook(book, row["name"], row["language"] or "eng", str(row.get("opens_at", "")), archive)
    return found


def _opened(book: BookId, shelf: Shelf) -> tuple[Archive | None, str]:
    """The first book of that UUID that can be opened; or why none can."""
    problem = ""
    for placed in shelf.books:
        if placed.id != book:
            continue
        try:
            archive = shelf.open(placed)
        except KiwiError as why:
            problem = f": {why.message.rstrip('.')}"
            continue
        if archive.book.id == book:
            return archive, ""
        problem = f": {str(placed.source)!r} holds another book now"
    return None, problem
