"""One book ready to be searched, on this host or another."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.page import PageDoc, bare_text, open_page
from kiwiresearch.search.alphabetical_titles import TitleRow
from kiwiresearch.search.titles import Correction, TitleLookup
from kiwiresearch.text import fold, plain_lower
from kiwiresearch.zim import (
    SPARE_RESULTS,
    Archive,
    BadCall,
    Call,
    CallHandler,
    EntryRef,
    ListLimit,
    PeerArchive,
    SimpleCall,
    checked_count,
    checked_list,
    checked_text,
    is_address,
    title_of_path,
    without_policy,
)

MAX_ROWS = 1_024


def _rows(rows: Sequence[TitleRow]) -> tuple[Any, bytes]:
    return [[row.path, row.title, row.alias] for row in rows], b""


def _by_words(titles: TitleLookup, wanted: list[Any], limit: int) -> tuple[Any, bytes]:
    if all(isinstance(word, str) for word in wanted):
        return _rows(titles.by_words(wanted, limit))
    try:
        weights = {str(word): float(weight) for word, weight in wanted}
    except (TypeError, ValueError, OverflowError) as problem:
        raise BadCall("these are not words with weights") from problem
    return _rows(titles.by_words(weights, limit))


def _correct(titles: TitleLookup, word: str, limit: int) -> tuple[Any, bytes]:
    return [[correction.word, correction.distance, correction.count] for correction in titles.correct(word, limit)], b""


TITLE_CALLS: Mapping[str, CallHandler] = {
    "titles.joined": CallHandler((str,), lambda titles, title: _rows(titles.ignoring_spaces(title))),
    "titles.prefix": CallHandler((str, ListLimit), lambda titles, words, limit: _rows(titles.prefix(words, limit))),
    "titles.by_words": CallHandler((list, ListLimit), _by_words),
    "titles.correct": CallHandler((str, ListLimit), _correct),
    "titles.frequency": CallHandler((str,), lambda titles, word: (titles.frequency(word), b"")),
}
"""The calls of another host to a book's title index."""


class PeerTitles:
    """A title index on the host that has its book."""

    def __init__(self, archive: PeerArchive, rows: int, *, complete: bool) -> None:
        self._archive = archive
        self.rows = rows
        self.complete = complete
        self._hides: Callable[[str, str], bool] | None = None

    def set_filter(self, hides: Callable[[str, str], bool]) -> None:
        """Leave out rows that are hidden here; the other host may hide different ones."""
        self._hides = hides

    def exact(self, title: str) -> tuple[TitleRow, ...]:
        wanted = fold(title)
        return tuple(row for row in self.ignoring_spaces(title) if fold(row.title) == wanted)

    def ignoring_spaces(self, title: str) -> tuple[TitleRow, ...]:
        return self._visible(self._archive.ask(_joined(title)), MAX_ROWS)

    def prefetch(self, titles: Iterable[str]) -> None:
        """Request in one go the titles that will be looked up one by one."""
        self._archive.prefetch(map(_joined, titles))

    def prefix(self, text: str, limit: int) -> tuple[TitleRow, ...]:
        return self._visible(self._archive.ask(_listed("titles.prefix", text, self._with_spare(limit))), limit)

    def by_words(self, wanted: Mapping[str, float] | Sequence[str], limit: int) -> tuple[TitleRow, ...]:
        words = tuple(wanted.items() if isinstance(wanted, Mapping) else wanted)
        return self._visible(self._archive.ask(_listed("titles.by_words", words, self._with_spare(limit))), limit)

    def correct(self, word: str, limit: int = 5) -> tuple[Correction, ...]:
        return self._archive.ask(Call("titles.correct", (word, limit), checked_list(limit, _corrections)))

    def frequency(self, word: str) -> int:
        return self._archive.ask(Call("titles.frequency", (word,), lambda value, _: checked_count(value)))

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _with_spare(self, limit: int) -> int:
        """The limit with some spare rows, since some may turn out to be hidden."""
        return limit + SPARE_RESULTS if self._hides and limit > 0 else limit

    def _visible(self, rows: tuple[TitleRow, ...], limit: int) -> tuple[TitleRow, ...]:
        hides = self._hides
        return tuple(row for row in rows if not hides or not hides(row.title, row.path))[: max(limit, 0)]


def peer_titles(archive: PeerArchive) -> PeerTitles | None:
    """The title index of a book on another host; None if it has none there."""
    if archive.title_index_size is None:
        return None
    rows, complete = archive.title_index_size
    return PeerTitles(archive, rows, complete=complete)


def _joined(title: str) -> Call[tuple[TitleRow, ...]]:
    return Call("titles.joined", (title,), checked_list(MAX_ROWS, _title_rows))


def _listed(name: str, wanted: Any, limit: int) -> Call[tuple[TitleRow, ...]]:
    return Call(name, (wanted, limit), checked_list(max(limit, 0), _title_rows))


def _title_rows(value: Any) -> tuple[TitleRow, ...]:
    return tuple(_row(*row) for row in value)


def _row(path: Any, title: Any, alias: Any) -> TitleRow:
    if type(alias) is not bool:
        raise TypeError("alias or not")
    return TitleRow(checked_text(path), checked_text(title), alias)


def _corrections(value: Any) -> tuple[Correction, ...]:
    return tuple(
        Correction(checked_text(word), checked_count(distance), checked_count(titles))
        for word, distance, titles in value
    )


CACHED_CHARS = 24_000_000
"""How many characters of pages are cached; each takes about two bytes."""

CACHED_LISTS = 4_096
CACHED_PATHS = 32_768
MIN_PAGE_SIZE = 500
"""The overhead of a cached page, in characters."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page, as written and in plain lower case, with the same offsets."""

    title: str
    text: str
    lowered: str
    boxes: int
    """Where infoboxes and categories start, which come last."""
    lead: int = 0
    """Where the article starts."""


@dataclass(frozen=True, slots=True)
class SearchEffort:
    """How much work a book does for one query."""

    words: int = 10
    """How many rare words are searched one by one."""
    pages: int = 100
    """How many pages are considered for one word; further down the list, hardly any is relevant."""
    word_groups: int = 24
    """How many groups of words are searched."""
    group_pages: int = 20
    read: int = 40
    """How many of the most promising pages are read."""


SERVED_EFFORT = SearchEffort(words=4, pages=20, word_groups=4, group_pages=15, read=12)
"""A server takes about 50 ms for a list, and 5 ms more for each page on it."""


class Prefetcher:
    """Prefetches data of a book on another host, and requests nothing twice."""

    def __init__(self, archive: PeerArchive) -> None:
        self._archive = archive
        self._requested: set[tuple[SimpleCall, str]] = set()

    def once(self, name: SimpleCall, arguments: Iterable[str]) -> None:
        new = [argument for argument in dict.fromkeys(arguments) if (name, argument) not in self._requested]
        # Forgetting everything only costs a request that was made before.
        if len(self._requested) + len(new) > CACHED_PATHS:
            self._requested.clear()
        self.each(name, new)
        self._requested.update((name, item) for item in new)

    def each(self, name: SimpleCall, arguments: Iterable[str]) -> None:
        self._archive.prefetch_simple(name, arguments)


class OpenBook:
    """A book with caches of what was read and looked up in it."""

    def __init__(
        self, archive: Archive, titles: TitleLookup | None = None, *, cached_chars: int = CACHED_CHARS
    ) -> None:
        self.archive = archive
        self.book = archive.book
        self.titles = titles
        self.language = archive.book.language or "eng"
        self.is_served = is_address(archive.book.source)
        self.effort = SERVED_EFFORT if self.is_served else SearchEffort()
        self._texts: OrderedDict[str, PageText | None] = OrderedDict()
        self._chars = 0
        self._max_chars = cached_chars
        self.frequency = lru_cache(maxsize=CACHED_LISTS)(archive.estimate)
        self.pages_with = lru_cache(maxsize=CACHED_LISTS)(self._pages_with)
        self.title = lru_cache(maxsize=CACHED_PATHS)(self._title)
        self.resolve = lru_cache(maxsize=CACHED_PATHS)(archive.resolve)
        unfiltered = without_policy(archive)
        self._prefetcher = Prefetcher(unfiltered) if isinstance(unfiltered, PeerArchive) else None

    @property
    def id(self) -> BookId:
        return self.book.id

    def prefetch_titles(self, paths: Iterable[str]) -> None:
        """Announce whose titles will be needed, so that another host can send them together."""
        if self._prefetcher:
            self._prefetcher.once("title", paths)

    def prefetch_targets(self, paths: Iterable[str]) -> None:
        """Announce paths that will be resolved."""
        if self._prefetcher:
            self._prefetcher.once("resolve", paths)

    def prefetch_texts(self, paths: Iterable[str]) -> None:
        """Announce pages that will be read for their text only."""
        if self._prefetcher:
            self.prefetch_pages(path for path in paths if path not in self._texts)

    def prefetch_pages(self, paths: Iterable[str]) -> None:
        """Announce pages that will be read completely."""
        if self._prefetcher:
            self._prefetcher.each("read", paths)

    def ref(self, path: str) -> EntryRef:
        return EntryRef(self.book.id, path)

    def rarity(self, word: str) -> float:
        """How rare a word is: the fewer pages have it, the higher. Without an index it is the same for all words."""
        pages = max(self.book.articles, 1)
        # Inverse document frequency, smoothed so that a word on no page is as rare as one on a single page.
        count = self.frequency(word) if self.book.indexes.full_text else 0
        return math.log(1 + pages / (max(count, 1) + 0.5))

    def _pages_with(self, words: str, limit: int) -> tuple[str, ...]:
        """Pages that have all the words, best first, without the main page, which mentions everything."""
        return tuple(path for path in self.archive.paths_with(words, limit) if path != self.book.main_page)

    def knows(self, word: str) -> bool:
        """Whether a word is in any title or on any page, according to the book's indexes."""
        in_titles = self.titles is not None and self.titles.frequency(word) > 0
        return in_titles or self.frequency(word) > 0

    def _title(self, path: str) -> str:
        try:
            return self.archive.title(path)
        except KiwiError:
            return title_of_path(path)

    def page(self, path: str) -> PageDoc:
        return open_page(self.archive, path)

    def text(self, path: str) -> PageText | None:
        """The text of a page; None if it is missing or unreadable."""
        if path in self._texts:
            self._texts.move_to_end(path)
            return self._texts[path]
        found = self._read(path)
        self._texts[path] = found
        self._chars += _size(found)
        # The last one stays even if it is larger than the limit: it has just been asked for.
        while self._chars > self._max_chars and len(self._texts) > 1:
            _, dropped = self._texts.popitem(last=False)
            self._chars -= _size(dropped)
        return found

    def _read(self, path: str) -> PageText | None:
        try:
            entry = self.archive.read(path)
        except KiwiError:
            return None  # just not a hit; the damage is reported when the page is opened
        if not entry.is_html:
            return None
        bare = bare_text(entry.content)
        return PageText(entry.title, bare.text, plain_lower(bare.text), bare.boxes, bare.lead)


def _size(page: PageText | None) -> int:
    return MIN_PAGE_SIZE + (len(page.text) if page else 0)
