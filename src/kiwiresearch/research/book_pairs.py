"""The books of two runs: which are the same, and which are two snapshots of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kiwiresearch.zim.entry import EntryRef

OLD_NAMESPACE = "A/"
"""Older books keep their articles below this, newer snapshots of them do not."""

BookKey = tuple[str, ...]
PageKey = tuple[BookKey, str]


@dataclass(frozen=True, slots=True)
class BookSeen:
    """A book as a manifest names it."""

    id: str
    name: str
    title: str
    date: str
    flavour: str
    language: str


@dataclass(frozen=True, slots=True)
class BookPair:
    """A book in both runs, in two snapshots, or in one of them only."""

    kind: Literal["same", "snapshot", "only old", "only new"]
    old: BookSeen | None
    new: BookSeen | None


def books_in(manifest: Mapping[str, Any]) -> list[BookSeen]:
    """The books that a manifest names."""
    rows = manifest.get("books")
    names = ("id", "name", "title", "date", "flavour", "language")
    found = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return [BookSeen(*(str(row.get(name) or "") for name in names)) for row in found]


def book_keys(old: Sequence[BookSeen], new: Sequence[BookSeen]) -> dict[str, BookKey]:
    """What two snapshots of a book share: name and flavour; where one run has two of them, each is itself."""
    twice = {key for books in (old, new) for key, count in Counter(map(_named, books)).items() if count > 1}
    return {book.id: (book.id,) if (key := _named(book)) in twice else key for book in (*old, *new)}


def _named(book: BookSeen) -> BookKey:
    if name := book.name or book.title:
        return name, book.flavour, book.language
    return (book.id,)


def book_pairs(old: Sequence[BookSeen], new: Sequence[BookSeen], keys: Mapping[str, BookKey]) -> tuple[BookPair, ...]:
    """Each book once, those of the old run first."""
    found: list[BookPair] = []
    others = {keys[book.id]: book for book in new}
    for book in old:
        other = others.pop(keys[book.id], None)
        kind: Literal["same", "snapshot", "only old"] = "only old"
        if other is not None:
            kind = "same" if other.id == book.id else "snapshot"
        found.append(BookPair(kind, book, other))
    return (*found, *(BookPair("only new", None, book) for book in others.values()))


def page_key(ref: EntryRef, keys: Mapping[str, BookKey]) -> PageKey:
    """What a page has in common with itself in another snapshot."""
    return keys.get(ref.book, (ref.book,)), ref.path.removeprefix(OLD_NAMESPACE)
