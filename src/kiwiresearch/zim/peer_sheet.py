"""The data sheet of a book as a host announces it to others, and as they read it: nothing in it is taken on trust."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import PurePath
from typing import Any, get_args

from kiwiresearch.ids import BookId
from kiwiresearch.zim.book import Book, Indexes, Kind
from kiwiresearch.zim.peer import count, text, texts
from kiwiresearch.zim.sources import Source, far_source

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MOST_LETTERS = 4_096
TEXTS = ("name", "title", "description", "date", "flavour", "creator", "publisher", "scraper", "main_page")
COUNTS = ("articles", "entries", "media", "size_bytes")


@dataclass(frozen=True, slots=True)
class FarBook:
    """A book that another host has, and what is known of its title index there."""

    book: Book
    titles: tuple[int, bool] | None = None
    """How many titles are indexed, and whether these are all; None without an index."""

    @property
    def source(self) -> Source:
        return Source(self.book.source)


def sheet_of(book: Book, titles: tuple[int, bool] | None) -> dict[str, Any]:
    """What a host says of a book of its own: the name of the file, and not where it is."""
    record: dict[str, Any] = asdict(book) | {"titles": list(titles) if titles else None}
    record["source"] = PurePath(book.source).name
    return {key: _proper(value) for key, value in record.items()}


def far_book(record: Mapping[str, Any]) -> FarBook:
    """The book that another host announced; ValueError or TypeError for what is no data sheet."""
    known: dict[str, Any] = {field.name: record.get(field.name) for field in fields(Book)}
    if not UUID.fullmatch(text(known["id"])):
        raise ValueError("a book has a UUID")
    if known["kind"] not in get_args(Kind) or type(known["old_namespaces"]) is not bool:
        raise ValueError("there is no such kind of book")
    for name in TEXTS:
        if len(text(known[name])) > MOST_LETTERS:
            raise ValueError("it says too much of itself")
    for name in COUNTS:
        count(known[name])
    indexes = known["indexes"]
    if not isinstance(indexes, dict):
        raise TypeError("it has no indexes")
    known |= {
        "id": BookId(known["id"]),
        "languages": texts(known["languages"]),
        "tags": texts(known["tags"]),
        "indexes": Indexes(full_text=indexes.get("full_text") is True, titles=indexes.get("titles") is True),
        "source": str(far_source(known["id"], text(known["source"])[:255])),
    }
    return FarBook(Book(**known), _titles(record.get("titles")))


def _titles(value: Any) -> tuple[int, bool] | None:
    if value is None:
        return None
    rows, complete = value
    return count(rows), complete is True


def _proper(value: Any) -> Any:
    """Text that any database takes."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", " ")
    if isinstance(value, tuple | list):
        return [_proper(one) for one in value]
    return value
