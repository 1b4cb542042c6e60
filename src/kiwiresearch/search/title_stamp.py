"""What a title index says of itself, and what is said of one that does not fit."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from kiwiresearch.errors import IndexStale
from kiwiresearch.zim.book import Book

VERSION = "1"
"""Of the tables and of the folding: an index of another version is built again."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What an index says of itself: which book it was made from, and how far."""

    version: str
    book: str
    entries: int
    rows: int
    complete: bool
    head: str
    """What stands before a title in its path, in most paths of the book."""

    def fits(self, book: Book) -> bool:
        return (self.version, self.book, self.entries) == (VERSION, book.id, book.entries)


def read_stamp(connection: sqlite3.Connection) -> Stamp:
    values = dict(connection.execute("SELECT name, value FROM stamp").fetchall())
    return Stamp(
        version=str(values["version"]),
        book=str(values["book"]),
        entries=int(values["entries"]),
        rows=int(values["rows"]),
        complete=bool(int(values["complete"])),
        head=str(values["head"]),
    )


def damaged(book: Book, problem: Exception) -> IndexStale:
    return IndexStale(f"The title index of {book.title!r} is damaged: {problem}.", remedy=rebuild(book))


def rebuild(book: Book) -> str:
    return f"Build it again with 'kiwiresearch books index {book.name}'."
