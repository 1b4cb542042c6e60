"""A book that obeys a policy: whoever reads it, by whatever way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from kiwiresearch.errors import KiwiError, PageHidden, PageNotFound, RedirectLoop
from kiwiresearch.text.fold import fold
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import Entry, Item, Match, TitleEntry
from kiwiresearch.zim.lookup import find_path
from kiwiresearch.zim.paths import title_of_path
from kiwiresearch.zim.policy import NONE_HIDDEN, Hidden, Policy, Titles, book_hidden
from kiwiresearch.zim.sources import Source, is_address

BESIDES = 20
"""How many pages more a book is asked for than are wanted, as some may be hidden."""

KEPT_PATHS = 32_768
REMEDY = "Who runs this desk can show it: its titles are below [policy] in the settings."


class GuardedArchive:
    """A book without its hidden pages: they are found by no search, and read as PageHidden.

    What counts is the page that a path leads to, by its own title and by its path: no spelling
    of an address, no redirect and no other name leads round it. A hidden title that only
    redirects hides that name, and not the page behind it.
    """

    def __init__(self, archive: Archive, titles: Titles, policy: Policy) -> None:
        self.bare = archive
        """The book as it is, for what is made of it once for all policies, such as its title index."""
        self._titles = titles
        self._policy = policy
        self._is_served = is_address(archive.book.source)
        self._is_here = not self._is_served and not Source(archive.book.source).is_far
        self._hides = lru_cache(maxsize=KEPT_PATHS)(self._looked_up)

    @property
    def book(self) -> Book:
        return self.bare.book

    @property
    def whose(self) -> str:
        """The policy, as readers hear of it."""
        return self._policy.whose

    def read(self, path: str) -> Entry:
        entry = self.bare.read(path)
        self._let(path, entry.ref.path, entry.title, *map(title_of_path, entry.via))
        return entry

    def look(self, path: str) -> Item:
        item = self.bare.look(path)
        self._let(path, item.ref.path, *map(title_of_path, item.via))
        if self._is_served and item.is_html:
            self._let(path, item.ref.path, self.bare.title(item.ref.path))
        return item

    def part(self, path: str, start: int, end: int) -> bytes:
        return self.bare.part(self.look(path).ref.path, start, end)

    def resolve(self, path: str) -> str | None:
        final = self.bare.resolve(path)
        return None if final is None or self._hides(path) or self._hides(final) else final

    def by_title(self, title: str) -> str | None:
        path = None if self._titles.has(title) else self.bare.by_title(title)
        return None if path is None or self._hides(path) else path

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        return self._shown(self.bare.search(words, limit + BESIDES))[:limit]

    def holding(self, words: str, limit: int) -> tuple[str, ...]:
        found = self.bare.holding(words, limit + BESIDES)
        return tuple(path for path in found if not self._hides(path))[:limit]

    def title(self, path: str) -> str:
        title = self.bare.title(path)
        self._let(path, path, title)
        return title

    def estimate(self, words: str) -> int:
        return self.bare.estimate(words)

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        return self._shown(self.bare.suggest(text, limit + BESIDES))[:limit]

    def articles(self) -> Iterator[str]:
        return (path for path in self.bare.articles() if not self._hides(path))

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        return (one for one in self.bare.titles(start) if not self.hides_title(one.title, one.path))

    def url(self, path: str) -> str:
        return self.bare.url(path)

    def close(self) -> None:
        self.bare.close()

    def hides_title(self, title: str, path: str) -> bool:
        """Whether a title is hidden, or the page it leads to."""
        return self._titles.has(title) or self._hides(path)

    def hidden_name(self, name: str) -> PageHidden | None:
        """What to say of a name that is hidden, whatever page goes by it; None where it is not."""
        return self._refusal(name) if self._titles.has(name) else None

    def hidden_at(self, path: str) -> PageHidden | None:
        """What to say of a path that leads to a hidden page, or is one; None where nothing is hidden there."""
        final = self.bare.resolve(path)
        is_hidden = final is not None and (self._hides(path) or self._hides(final))
        return self._refused(path, final or path) if is_hidden else None

    def offers_hidden(self, phrases: Iterable[str], names: Iterable[str], limit: int) -> Hidden:
        """The hidden pages among those that the book itself offers first for phrases, or that go by hidden names."""
        found = {
            match.path
            for words in phrases
            for match in (*self.bare.search(words, limit), *self.bare.suggest(words, limit))
        }
        called = filter(self._titles.has, names)
        found |= {path for name in called if (path := find_path(self.bare, name))}
        return Hidden(sum(map(self._hides, found)), self._policy.whose)

    def hidden_titled(self, name: str) -> str:
        """The title of the hidden page that goes by just this name; empty where the page itself is shown."""
        if not self._is_here and not self._titles.has(name):
            return ""  # each look takes a request
        path = find_path(self.bare, name)
        if path is None:  # as somebody types it, without brackets and accents
            folded = fold(name)
            path = next((one.path for one in self.bare.suggest(name, BESIDES) if fold(one.title) == folded), None)
        title = self.bare.title(path) if path else ""
        return title if path and (self._hides(path) or self._titles.has(title)) else ""

    def shows(self, name: str) -> bool:
        """Whether a page that is not hidden goes by this name; of a book elsewhere nobody asks."""
        return self._is_here and find_path(self, name) is not None

    def _shown(self, matches: Iterable[Match]) -> tuple[Match, ...]:
        kept = (match for match in matches if not self.hides_title(match.title, match.path))
        return tuple(replace(match, alias="") if self._titles.has(match.alias) else match for match in kept)

    def _let(self, path: str, final: str, *titles: str) -> None:
        if self._hides(path) or self._hides(final) or any(map(self._titles.has, titles)):
            raise self._refused(path, final)

    def _refused(self, path: str, final: str) -> PageHidden:
        """What to say of a path: that the page is hidden, or where it is not, the name that leads to it."""
        return self._refusal(final if self._hides(final) else path)

    def _refusal(self, path: str) -> PageHidden:
        name = title_of_path(path)
        return PageHidden(f"The page {name!r} is hidden by {self._policy.whose}.", remedy=REMEDY)

    def _looked_up(self, path: str) -> bool:
        """Whether the page at a path is hidden, or its path; on a server, where each look takes a request, its path."""
        if self._titles.has(title_of_path(path)):
            return True
        try:
            return not self._is_served and self._titles.has(self.bare.title(path))
        except (PageNotFound, RedirectLoop):
            return False


def names_of(book: Book) -> tuple[str, ...]:
    """What a policy may call a book."""
    stem = "" if is_address(book.source) else re.split(r"[/\\]", book.source)[-1]
    return (book.id, book.name, book.title, stem, stem.removesuffix(".zim"))


def guarded(archive: Archive, policy: Policy) -> Archive:
    """A book as a policy lets it be read; one that it does not allow is closed again."""
    names = names_of(archive.book)
    if not policy.allows(names):
        archive.close()
        raise book_hidden(archive.book.title or archive.book.name, policy)
    titles = policy.titles_of(names)
    return GuardedArchive(archive, titles, policy) if titles else archive


def bare(archive: Archive) -> Archive:
    """The book as it is, for what is made of it once for all policies and never shown without a look at one."""
    return archive.bare if isinstance(archive, GuardedArchive) else archive


def hidden_at(archive: Archive, path: str) -> PageHidden | None:
    """What to say of a path of a book whose page is hidden; None where it is not."""
    return archive.hidden_at(path) if isinstance(archive, GuardedArchive) else None


def hidden_named(archives: Iterable[Archive], words: str) -> PageHidden | None:
    """What to say to who asks for a page by its name, if one of the books hides it; None where none does."""
    for archive in archives:
        if isinstance(archive, GuardedArchive):
            try:
                path = find_path(archive.bare, words)
            except KiwiError:
                continue
            if path and (hidden := archive.hidden_at(path) or archive.hidden_at(words) or archive.hidden_name(words)):
                return hidden
    return None


@dataclass(frozen=True, slots=True)
class HiddenName:
    """A name for which somebody asked, and the title of the page that goes by it, which is hidden."""

    name: str
    title: str
    whose: str


def hidden_among(archives: Iterable[Archive], names: Iterable[str]) -> HiddenName | None:
    """The longest of some names whose page a book hides, unless it is part of the name of a page that is shown."""
    guards = [archive for archive in archives if isinstance(archive, GuardedArchive)]
    wanted = list(dict.fromkeys(filter(None, names))) if guards else []
    shown: list[str] = []
    for name in sorted(wanted, key=len, reverse=True):
        if any(f" {fold(name)} " in f" {longer} " for longer in shown):
            continue
        for archive in guards:
            try:
                title = archive.hidden_titled(name)
                is_shown = not title and archive.shows(name)
            except KiwiError:
                continue
            if title:
                return HiddenName(name, title, archive.whose)
            if is_shown:
                shown.append(fold(name))
    return None


def hidden_offers(archives: Iterable[Archive], phrases: Iterable[str], names: Iterable[str], limit: int) -> Hidden:
    """The pages that are hidden among those that books offer first for phrases, or that go by one of the names."""
    said, named = list(dict.fromkeys(filter(None, phrases))), list(dict.fromkeys(filter(None, names)))
    guards = (archive for archive in archives if isinstance(archive, GuardedArchive))
    return sum((archive.offers_hidden(said, named, limit) for archive in guards), NONE_HIDDEN)
