"""Where everything is put together: settings, shelf, books, pages."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kiwiresearch.errors import BookNotFound, KiwiError, PageNotFound
from kiwiresearch.ids import BookId
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.read import open_page
from kiwiresearch.research import settings as settings_module
from kiwiresearch.research.policy import allowed, left_out
from kiwiresearch.research.settings import Folders, Settings
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.guarded import hidden_named
from kiwiresearch.zim.integrity import Verdicts
from kiwiresearch.zim.library import Opener, Placed, Shelf, ShelfFile, pick, placed, unknown_book
from kiwiresearch.zim.lookup import find_path, near_titles
from kiwiresearch.zim.sources import Source, files_in, is_address
from kiwiresearch.zim.witness import Witness

SAMPLE_NOTICE = "Your shelf is empty, so this is the sample book. Add your own with: kiwiresearch books add FILE.zim"


@dataclass(frozen=True, slots=True)
class Desk:
    """What every command works with."""

    folders: Folders
    settings: Settings
    shelf_file: ShelfFile
    opener: Opener

    def shelf(self, wanted: Sequence[str] = (), *, trusting: bool = False) -> Shelf:
        """The books a user named, else all on the shelf, else the sample book.

        `trusting` takes a file as a book without opening it, for a check that is about to do so.
        """
        books = self.shelf_file.books()
        if self.settings.store.strip():
            return self._shared(books, wanted, trusting=trusting)
        if wanted:
            chosen = [book for name in wanted for book in self._pick(books, name, trusting=trusting)]
            return Shelf(list(dict.fromkeys(chosen)), self.opener)
        if books:
            return Shelf(allowed(books, self.settings.policy), self.opener)
        return Shelf([self.sample()], self.opener, is_sample=True)

    def _shared(self, own: Sequence[Placed], wanted: Sequence[str], *, trusting: bool) -> Shelf:
        """The same over all hosts of the store that the settings name."""
        from kiwiresearch.research import hosts

        if not wanted:
            hidden = set(left_out(own, self.settings.policy))
            return hosts.whole_shelf(self, [book for book in own if book not in hidden])
        known = hosts.all_placed(self, own)
        chosen: list[Placed] = []
        for name in wanted:
            try:
                chosen += self._pick(known, name, trusting=trusting)
            except BookNotFound as problem:
                raise hosts.away(self, name) or problem from None
        return hosts.some_of(self, chosen)

    def sample(self) -> Placed:
        """The sample book, built if need be."""
        from kiwiresearch.zim.sample import sample_file

        source = Source(str(sample_file(self.folders.cache)))
        archive = self.opener.open(source)
        archive.close()
        return placed(archive.book, source)

    def check(self, book: Placed) -> tuple[str, str]:
        """Compare a book with its checksum: its state and the reason; a file that is not there is one of them."""
        if book.source.is_served or book.source.is_far:
            return "served", ""
        try:
            verdict = self.opener.check(book.source)
        except KiwiError as problem:
            return "unopenable", problem.message.rstrip(".")
        return verdict.state, verdict.reason

    def on_shelf(self, wanted: Sequence[str]) -> list[Placed]:
        """The books on the shelf that a user named."""
        books = self.shelf_file.books()
        found = []
        for name in wanted:
            matching = [book for book in books if book.answers_to(name)]
            if not matching:
                raise unknown_book(name, books)
            found += matching
        return list(dict.fromkeys(found))

    def look_up_each(self, text: str, problems: list[KiwiError]) -> list[tuple[Book, Source]]:
        """What a user's words stand for; a file among several that cannot be used is put to the problems."""
        if is_address(text):
            return self.opener.look_up(text)
        found = []
        for file in files_in(Path(text)):
            try:
                found += self.opener.look_up(str(file))
            except KiwiError as problem:
                problems.append(problem)
        return found

    def _pick(self, books: Sequence[Placed], name: str, *, trusting: bool) -> list[Placed]:
        if name.casefold() == "sample":
            return [self.sample()]
        path = Path(name).expanduser()
        if trusting and path.is_file():
            known = [book for book in books if book.answers_to(name)]
            return known or [Placed(BookId(""), path.stem, path.name, Source(str(path.absolute())))]
        return pick(books, name, self.opener)


def open_desk(environment: Mapping[str, str] = os.environ, *, say: Callable[[str], None] | None = None) -> Desk:
    """Put the desk together; `say` hears what a user should know on the way."""
    where = settings_module.folders(environment)
    settings = settings_module.load(where, environment)
    witness = Witness(where.state / "open")
    for accident in witness.accidents():
        if say:
            say(str(accident))
    _size_cache(settings)
    opener = Opener(
        Verdicts(where.cache / "checks"),
        witness,
        allow_damaged=settings.allow_damaged,
        timeout_s=settings.serve_timeout_s,
        say=say,
        policy=settings.policy,
    )
    return Desk(where, settings, ShelfFile(where.shelf_file), opener)


def _size_cache(settings: Settings) -> None:
    from kiwiresearch.zim.libzim import set_cluster_cache

    set_cluster_cache(settings.cluster_cache_mb * 2**20)


@dataclass(frozen=True, slots=True)
class Found:
    """A page, and the book it was found in."""

    book: Book
    page: PageDoc
    archive: Archive


def find_page(shelf: Shelf, words: str) -> Found:
    """The page of this title or path, in the first book of the shelf that has it."""
    archives = shelf.archives()
    for archive in archives:
        path = find_path(archive, words)
        if path:
            return Found(archive.book, open_page(archive, path), archive)
    raise hidden_named(archives, words) or PageNotFound(
        f"There is no page {words!r} in {named(shelf)}.", remedy=near_it(archives, words) or "Try another title."
    )


def named(shelf: Shelf) -> str:
    """The book of a shelf, or how many there are."""
    count = len(shelf.books)
    return repr(shelf.books[0].title) if count == 1 else f"your {count} books"


def near_it(archives: Sequence[Archive], words: str) -> str:
    """Titles a person may have meant, as a sentence; empty where there are none."""
    near = dict.fromkeys(title for archive in archives for title in near_titles(archive, words))
    titles = ", ".join(repr(title) for title in list(near)[:3])
    return f"Near it are: {titles}." if titles else ""
