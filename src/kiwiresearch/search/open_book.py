"""One book ready to be searched: its own index, the title index if there is one, and pages at hand."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kiwiresearch.errors import KiwiError
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.html import bare_text
from kiwiresearch.page.read import open_page
from kiwiresearch.search.titles import Titles
from kiwiresearch.text.words import level
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.entry import EntryRef
from kiwiresearch.zim.guarded import bare
from kiwiresearch.zim.paths import title_of_path
from kiwiresearch.zim.peer import PeerArchive, Simple
from kiwiresearch.zim.sources import is_address

KEPT_CHARS = 24_000_000
"""Pages kept at hand for the next query, counted in characters; each takes about two bytes."""

KEPT_LISTS = 4_096
KEPT_PATHS = 32_768


@dataclass(frozen=True, slots=True)
class PageText:
    """The words of a page, as they are and levelled: the same offsets in both."""

    title: str
    text: str
    levelled: str
    boxes: int
    """Where infoboxes and categories begin, which come last."""
    lead: int = 0


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is asked of a book for one query."""

    words: int = 10
    """Rare words that are searched one by one."""
    pages: int = 100
    """Pages taken for one word; further down a list, hardly any page is the one."""
    companies: int = 24
    """Words that are searched together, so many times."""
    company_pages: int = 20
    read: int = 40
    """Pages that are read, the most promising ones."""


SERVED = Effort(words=4, pages=20, companies=4, company_pages=15, read=12)
"""A server takes about 50 ms for a list, and 5 ms more for each page on it."""


class Ahead:
    """What a book on another host was already asked for: nothing that is kept here is sent for twice."""

    def __init__(self, far: PeerArchive) -> None:
        self._far = far
        self._sent: set[tuple[Simple, str]] = set()

    def once(self, name: Simple, of: Iterable[str]) -> None:
        fresh = [one for one in dict.fromkeys(of) if (name, one) not in self._sent]
        if len(self._sent) + len(fresh) > KEPT_PATHS:
            self._sent.clear()
        self.each(name, fresh)
        self._sent.update((name, one) for one in fresh)

    def each(self, name: Simple, of: Iterable[str]) -> None:
        self._far.ahead_simple(name, of)


class OpenBook:
    """A book, with what was already asked of it kept for a while."""

    def __init__(self, archive: Archive, titles: Titles | None = None, *, kept_chars: int = KEPT_CHARS) -> None:
        self.archive = archive
        self.book = archive.book
        self.titles = titles
        self.language = archive.book.language or "eng"
        self.is_served = is_address(archive.book.source)
        self.effort = SERVED if self.is_served else Effort()
        self._texts: OrderedDict[str, PageText | None] = OrderedDict()
        self._chars = 0
        self._kept_chars = kept_chars
        self.frequency = lru_cache(maxsize=KEPT_LISTS)(archive.estimate)
        self.pages_with = lru_cache(maxsize=KEPT_LISTS)(self._pages_with)
        self.title = lru_cache(maxsize=KEPT_PATHS)(self._title)
        self.resolve = lru_cache(maxsize=KEPT_PATHS)(archive.resolve)
        far = bare(archive)
        self._ahead = Ahead(far) if isinstance(far, PeerArchive) else None

    def titles_ahead(self, paths: Iterable[str]) -> None:
        """Say whose titles will be asked for: a book on another host is asked for all of them at once."""
        if self._ahead:
            self._ahead.once("title", paths)

    def resolve_ahead(self, paths: Iterable[str]) -> None:
        """The same for paths that will be followed."""
        if self._ahead:
            self._ahead.once("resolve", paths)

    def texts_ahead(self, paths: Iterable[str]) -> None:
        """The same for pages whose words will be read."""
        if self._ahead:
            self.pages_ahead(path for path in paths if path not in self._texts)

    def pages_ahead(self, paths: Iterable[str]) -> None:
        """The same for pages that will be read with all that is in them."""
        if self._ahead:
            self._ahead.each("read", paths)

    def ref(self, path: str) -> EntryRef:
        return EntryRef(self.book.id, path)

    def rarity(self, word: str) -> float:
        """How much a word tells: the fewer pages hold it, the more. Without an index all tell the same."""
        pages = max(self.book.articles, 1)
        count = self.frequency(word) if self.book.indexes.full_text else 0
        return math.log(1 + pages / (max(count, 1) + 0.5))

    def _pages_with(self, words: str, limit: int) -> tuple[str, ...]:
        """Pages that hold all the words, best first; the book's start page says nothing and is left out."""
        return tuple(path for path in self.archive.holding(words, limit) if path != self.book.main_page)

    def knows(self, word: str) -> bool:
        """Whether a word is in any title or on any page, as far as the book's indexes tell."""
        in_titles = self.titles is not None and self.titles.frequency(word) > 0
        return in_titles or self.frequency(word) > 0

    def _title(self, path: str) -> str:
        try:
            return self.archive.title(path)
        except KiwiError:
            return title_of_path(path)

    def page(self, path: str) -> PageDoc:
        """The page at a path, read with all that is in it."""
        return open_page(self.archive, path)

    def text(self, path: str) -> PageText | None:
        """The words of a page; None where it cannot be read as one."""
        if path in self._texts:
            self._texts.move_to_end(path)
            return self._texts[path]
        found = self._read(path)
        self._texts[path] = found
        self._chars += _size(found)
        while self._chars > self._kept_chars and len(self._texts) > 1:
            _, dropped = self._texts.popitem(last=False)
            self._chars -= _size(dropped)
        return found

    def _read(self, path: str) -> PageText | None:
        try:
            entry = self.archive.read(path)
        except KiwiError:
            return None  # a page that cannot be read is no result; what is wrong with the book shows when it is opened
        if not entry.is_html:
            return None
        bare = bare_text(entry.content)
        return PageText(entry.title, bare.text, level(bare.text), bare.boxes, bare.lead)


def _size(page: PageText | None) -> int:
    """A page that cannot be read takes some room as well."""
    return len(page.text) + SMALLEST if page else SMALLEST


SMALLEST = 500
