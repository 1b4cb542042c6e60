"""By which names a client may call a book of the shelf: never by its place on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol, TypeVar

from kiwiresearch.ids import BookId
from kiwiresearch.zim.sources import is_address

T = TypeVar("T")


class Called(Protocol):
    """What has names: the data sheet of a book, and its entry on the shelf."""

    @property
    def id(self) -> BookId: ...
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def source(self) -> object: ...


def by_name(books: Iterable[T], wanted: str, sheet: Callable[[T], Called]) -> tuple[T, ...]:
    """The books that go by this name, in any case: of several editions all; none where no book does."""
    folded = wanted.casefold().strip()
    return tuple(book for book in books if folded in _names(sheet(book)))


def _names(book: Called) -> set[str]:
    """UUID, name, title, and what the file or the server calls it."""
    place = str(book.source)
    own = place.rpartition("#")[2] if is_address(place) else Path(place).stem
    return {name.casefold() for name in (book.id, book.name, book.title, own) if name}
