"""Books in memory that know what kind they are and note what is asked of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.zim.memory import MemoryArchive

from kiwiresearch.search.query import Hit, Score
from kiwiresearch.zim.archive import Book, BookKind, Entry, EntryRef, Match

PLANET = "<p>Mercury is the smallest planet and the closest to the Sun.</p>"
ELEMENT = "<p>Mercury is a metal, the only one that is liquid in a warm room.</p>"
GOD = "<p>Mercury was the Roman god of trade and of thieves.</p>"


class Noting(MemoryArchive):
    """A book of titles and what their pages say, with a list of the pages read and the words searched."""

    def __init__(
        self,
        pages: Mapping[str, str],
        aliases: Mapping[str, str] | None = None,
        *,
        kind: BookKind = "wikipedia",
        title: str = "Memory",
        language: str = "eng",
    ) -> None:
        paths = {name.replace(" ", "_"): html for name, html in pages.items()}
        leading = {name.replace(" ", "_"): to.replace(" ", "_") for name, to in (aliases or {}).items()}
        super().__init__(paths, leading, title=title, language=language)
        self._sheet = replace(super().book, kind=kind)
        self.pages_read: list[str] = []
        self.searched: list[str] = []

    @property
    def book(self) -> Book:
        return self._sheet

    def read(self, path: str) -> Entry:
        self.pages_read.append(path)
        return super().read(path)

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        self.searched.append(words)
        return super().search(words, limit)


def a_hit(book: Book, title: str, points: float) -> Hit:
    """A page of a book with a score of one line."""
    return Hit(EntryRef(book.id, title.replace(" ", "_")), title, Score().plus("points", points))


def titles(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.title for hit in hits]
