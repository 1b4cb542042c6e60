"""One shelf over several hosts: our own books, and those of the others that we do not have ourselves."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from kiwiresearch.ids import BookId
from kiwiresearch.research.neighbours import Neighbours
from kiwiresearch.research.policy import left_out
from kiwiresearch.zim.guarded import bare
from kiwiresearch.zim.library import Opener, Placed, Shelf, placed
from kiwiresearch.zim.peer import Missing, PeerArchive


def in_order(books: Sequence[Placed]) -> tuple[Placed, ...]:
    """Each book once, our own file first; by UUID, so that all hosts have the same order."""
    found: dict[BookId, Placed] = {}
    for book in sorted(books, key=lambda one: one.source.is_far):
        found.setdefault(book.id, book)
    return tuple(found[book] for book in sorted(found))


class SharedShelf(Shelf):
    """The books of all hosts of a store that are up; it changes only when it is told to look again."""

    def __init__(
        self,
        own: Sequence[Placed],
        neighbours: Neighbours,
        opener: Opener,
        *,
        only: Collection[BookId] | None = None,
        sample: Callable[[], Placed] | None = None,
    ) -> None:
        """`only` are the books a user named; `sample` stands in where no host has any book."""
        self.own = tuple(own)
        """The books whose files are here."""
        self._neighbours = neighbours
        self._only = only
        self._sample = sample
        self._failures = neighbours.failures
        self._missing: tuple[Missing, ...] = ()
        super().__init__((), opener)
        self._look()

    @property
    def missing(self) -> tuple[Missing, ...]:
        return self._missing

    @property
    def failures(self) -> int:
        return self._neighbours.failures

    def refresh(self) -> bool:
        """Take the books as they are now; of a host that failed, nothing is kept that was read meanwhile."""
        has_failed = self._failures != self._neighbours.failures
        if has_failed:
            self._failures = self._neighbours.failures
            for book in [one for one in self._archives if one.source.is_far]:
                self._archives.pop(book).close()
        has_changed = self._drop_reindexed() or has_failed
        before = self.books
        self._look()
        for gone in self._archives.keys() - set(self.books):
            self._archives.pop(gone).close()
        return has_changed or before != self.books

    def _drop_reindexed(self) -> bool:
        """Close the books whose host has another index of their titles by now, to open them with it."""
        known = self._neighbours.books()
        old = []
        for book, archive in self._archives.items():
            far = bare(archive)
            if isinstance(far, PeerArchive) and book.id in known and far.titles_there != known[book.id].titles:
                old.append(book)
        for book in old:
            self._archives.pop(book).close()
        return bool(old)

    def host_of(self, book: Placed) -> str:
        """The other host that has a book; empty for one of our own."""
        return self._neighbours.host_of(book.id) if book.source.is_far else ""

    def missing_now(self) -> tuple[Missing, ...]:
        known = [placed(one.book, one.source) for host in self._neighbours.all() for one in host.books.values()]
        hidden = left_out(known, self._opener.policy)  # what may not be read is missed by nobody
        return self._neighbours.missing([book.id for book in (*self.own, *hidden)], self._only)

    def books_now(self) -> tuple[Placed, ...]:
        self._neighbours.look_if_old()
        far = [placed(one.book, one.source) for one in self._neighbours.books().values()]
        hidden = set(left_out(far, self._opener.policy))
        books = in_order([*self.own, *(book for book in far if book not in hidden)])
        return tuple(book for book in books if self._only is None or book.id in self._only)

    def _look(self) -> None:
        books = self.books_now()
        self._missing = self.missing_now()
        self.is_sample = self._sample is not None and not books and not self._missing
        self.books = (self._sample(),) if self._sample and self.is_sample else books
