"""The books of two runs: which are the same, and which are two snapshots of one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kiwiresearch.zim.entry import EntryRef

OLD_NAMESPACE = "A/"
"""Older books keep their articles below this, newer snapshots of them do not."""

OLD_ENDING = ".html"
"""Of the paths of still older ones."""

NAME = re.compile(r"(?:kiwix\.)?(?P<stem>.+?)(?:_(?:maxi|mini|nodet|nopic|novid))?(?:_\d{4}-\d{2}(?:-\d{2})?)?")
"""A book's name, around which some makers put their own, the selection and the day."""

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
    """What two snapshots of a book share: name and language.

    Where one run has two books of a name, the selection (flavour) tells them apart;
    where that is the same too, each book is only itself.
    """
    found: dict[str, BookKey] = {}
    sides = [list(old), list(new)]
    for key_of in (_stem, _named):
        twice = {key for books in sides for key, count in Counter(map(key_of, books)).items() if count > 1}
        found |= {book.id: key_of(book) for books in sides for book in books if key_of(book) not in twice}
        sides = [[book for book in books if key_of(book) in twice] for books in sides]
    return found | {book.id: (book.id,) for books in sides for book in books}


def _stem(book: BookSeen) -> BookKey:
    plain = NAME.fullmatch(book.name)
    name = plain["stem"] if plain else book.title
    return (name, book.language) if name else (book.id,)


def _named(book: BookSeen) -> BookKey:
    return book.name or book.title, book.flavour, book.language


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
    return keys.get(ref.book, (ref.book,)), plain_path(ref.path)


def plain_path(path: str) -> str:
    """A path without what older books put before and behind it."""
    return path.removeprefix(OLD_NAMESPACE).removesuffix(OLD_ENDING)
