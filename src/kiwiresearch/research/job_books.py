"""The books of jobs: named as they are on a shelf, and, where several hosts may do a job, by what they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kiwiresearch.research.book_names import by_name
from kiwiresearch.research.job import BulkWish, FamilyWish, Wish, wish_record
from kiwiresearch.zim.library import Placed, unknown_book
from kiwiresearch.zim.peer import Missing


class JobBooks:
    """The books that are here now, those of other hosts too: they come and go."""

    def __init__(
        self,
        here: Sequence[Placed] | Callable[[], Sequence[Placed]],
        missing: Callable[[], Sequence[Missing]],
        *,
        all_books: bool,
    ) -> None:
        self._here: Callable[[], Sequence[Placed]] = here if callable(here) else lambda: here
        self._missing = missing
        self._all_books = all_books

    def chosen(self, wish: Wish) -> tuple[Placed, ...]:
        """The books of a wish; the names are those of books on this shelf, never of other files."""
        here, chosen = tuple(self._here()), list[Placed]()
        for name in wish.books:
            found = by_name(here, name, lambda book: book)
            if not found:
                raise unknown_book(name, here)
            chosen += found
        return tuple(dict.fromkeys(chosen)) or here

    def record(self, wish: Wish, *, by_id: bool) -> dict[str, Any]:
        """A wish as it is written down; `by_id` names the very books with it, as others may do it elsewhere.

        So does who has only some of the shelf: others of this machine have the others.
        """
        chosen, record = self.chosen(wish), wish_record(wish)
        if (by_id or self._all_books) and not isinstance(wish, FamilyWish):  # a case knows its books itself
            record |= {"on": [book.id for book in chosen], "all_books": self._are_all(wish)}
            if not wish.books and (missing := self._missing()):
                record["missing"] = [one.record() for one in missing]
        return record

    def of(self, record: Mapping[str, Any], wish: Wish) -> tuple[Placed, ...] | None:
        """The books of a wish that was written down; None if one of them is not here.

        Tables are made of a file, so a book that another host has will not do for them.
        """
        is_bulk = isinstance(wish, BulkWish)
        here = {str(book.id): book for book in reversed(self._here()) if not (is_bulk and book.source.is_far)}
        if isinstance(record.get("on"), list):
            ids = [str(one) for one in record["on"]]
            return tuple(here[one] for one in ids) if set(ids) <= set(here) else None
        is_whole_shelf = not wish.books and not isinstance(wish, FamilyWish)
        if is_whole_shelf and self._all_books:  # who has only some of it leaves that to others
            return None
        if not all(by_name(here.values(), name, lambda book: book) for name in wish.books):
            return None
        return self.chosen(wish)

    def are_all(self, record: Mapping[str, Any], wish: Wish) -> bool:
        """Whether each of them is searched in full."""
        return bool(record.get("all_books", self._are_all(wish)))

    def _are_all(self, wish: Wish) -> bool:
        return bool(wish.books) or self._all_books
