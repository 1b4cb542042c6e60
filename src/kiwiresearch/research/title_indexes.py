"""Title indexes beside the work: opened if there, built at once for small books, in the background for large ones."""

from __future__ import annotations

import contextlib
from pathlib import Path

from kiwiresearch import background
from kiwiresearch.disk import Lock
from kiwiresearch.errors import IndexStale, KiwiError
from kiwiresearch.search.peer_titles import far_titles
from kiwiresearch.search.title_build import Built, Progress, build_titles, titles_file
from kiwiresearch.search.titles import TitleIndex, Titles, open_titles
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.guarded import GuardedArchive, bare
from kiwiresearch.zim.peer import PeerArchive
from kiwiresearch.zim.sources import is_address

AT_ONCE = 100_000
"""A book with no more entries than this has its index in about a second, so nobody needs to wait for it twice."""


class TitleIndexes:
    """The title indexes of a user's books, in the cache folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def file(self, archive: Archive) -> Path:
        return titles_file(self._folder, archive.book)

    def open(self, archive: Archive) -> Titles | None:
        """The index of a book, without what is hidden of it; without one, search works from what the book offers."""
        return _filtered(self._whole(archive), archive)

    def there(self, archive: Archive) -> Titles | None:
        """The same as it is now on the disk; nothing is built."""
        return _filtered(self._fitting(archive.book), archive)

    def _whole(self, archive: Archive) -> Titles | None:
        if isinstance(far := bare(archive), PeerArchive):
            return far_titles(far)
        if is_address(archive.book.source):
            return None
        index = self._fitting(archive.book)
        if index is not None and index.complete:
            return index
        if archive.book.entries > AT_ONCE:
            self._build_in_background(archive)
            return index
        with contextlib.suppress(KiwiError):  # a folder that cannot be written costs the index, not the search
            if build_titles(archive, self.file(archive)).state != "busy":
                return self._fitting(archive.book) or index
        return index

    def known(self, book: Book) -> int:
        """How many titles of a book are indexed."""
        index = self._fitting(book)
        if index is None:
            return 0
        rows = index.rows
        index.close()
        return rows

    def build(self, archive: Archive, *, limit: int | None = None, progress: Progress | None = None) -> Built:
        return build_titles(archive, self.file(archive), limit=limit, progress=progress)

    def _fitting(self, book: Book) -> TitleIndex | None:
        """The index that is there, unless it was made from another file: that one is built anew."""
        try:
            return open_titles(titles_file(self._folder, book), book)
        except IndexStale:
            return None

    def _build_in_background(self, archive: Archive) -> None:
        file = self.file(archive)
        lock = Lock(file.with_name(f"{file.name}.lock"))
        with contextlib.suppress(OSError):
            if lock.acquire():  # else it is under way
                lock.release()
                background.start("kiwiresearch.research.title_child", archive.book.source, str(self._folder))


def _filtered(index: Titles | None, archive: Archive) -> Titles | None:
    if index is not None and isinstance(archive, GuardedArchive):
        index.leave_out(archive.hides_title)
    return index
