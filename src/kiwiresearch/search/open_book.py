"""One book ready to be searched, on this host or another."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kiwiresearch.errors import KiwiError
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.html import bare_text
from kiwiresearch.page.read import open_page
from kiwiresearch.search.titles import Correction, TitleLookup, TitleRow
from kiwiresearch.text.words import fold, plain_lower
from kiwiresearch.zim.archive import Archive, EntryRef
from kiwiresearch.zim.paths import title_of_path
from kiwiresearch.zim.peer import PeerArchive, SimpleCall
from kiwiresearch.zim.peer_protocol import (
    BadCall,
    Call,
    CallHandler,
    ListLimit,
    checked_count,
    checked_list,
    checked_text,
)
from kiwiresearch.zim.policy import SPARE_RESULTS, without_policy
from kiwiresearch.zim.sources import is_address

MAX_ROWS = 1_024


def _rows(rows: Sequence[TitleRow]) -> tuple[Any, bytes]:
    return [[row.path, row.title, row.alias] for row in rows], b""


def _by_words(titles: TitleLookup, wanted: list[Any], limit: int) -> tuple[Any, bytes]:
    if all(isinstance(word, str) for word in wanted):
        return _rows(titles.by_words(wanted, limit))
    try:
        weights = {str(word): float(weight) for word, weight in wanted}
    except (TypeError, ValueError, OverflowError) as problem:
        raise BadCall("these are no words with weights") from problem
    return _rows(titles.by_words(weights, limit))


def _correct(titles: TitleLookup, word: str, limit: int) -> tuple[Any, bytes]:
    return [[one.word, one.distance, one.count] for one in titles.correct(word, limit)], b""


TITLE_CALLS: Mapping[str, CallHandler] = {
    "titles.joined": CallHandler((str,), lambda titles, title: _rows(titles.joined(title))),
    "titles.prefix": CallHandler((str, ListLimit), lambda titles, words, limit: _rows(titles.prefix(words, limit))),
    "titles.by_words": CallHandler((list, ListLimit), _by_words),
    "titles.correct": CallHandler((str, ListLimit), _correct),
    "titles.frequency": CallHandler((str,), lambda titles, word: (titles.frequency(word), b"")),
}
"""What can be asked of a book's title index."""


class PeerTitles:
    """A title index on the host that has its book."""

    def __init__(self, archive: PeerArchive, rows: int, *, complete: bool) -> None:
        self._archive = archive
        self.rows = rows
        self.complete = complete
        self._hides: Callable[[str, str], bool] | None = None

    def set_filter(self, hides: Callable[[str, str], bool]) -> None:
        """Offer no row whose title and path are hidden here; the other host may hide others."""
        self._hides = hides

    def exact(self, title: str) -> tuple[TitleRow, ...]:
        wanted = fold(title)
        return tuple(row for row in self.joined(title) if fold(row.title) == wanted)

    def joined(self, title: str) -> tuple[TitleRow, ...]:
        return self._shown(self._archive.ask(_joined(title)), MAX_ROWS)

    def prefetch(self, titles: Iterable[str]) -> None:
        """Ask at once for titles that will be looked up one by one."""
        self._archive.prefetch(map(_joined, titles))

    def prefix(self, text: str, limit: int) -> tuple[TitleRow, ...]:
        return self._shown(self._archive.ask(_listed("titles.prefix", text, self._most(limit))), limit)

    def by_words(self, wanted: Mapping[str, float] | Sequence[str], limit: int) -> tuple[TitleRow, ...]:
        words = tuple(wanted.items() if isinstance(wanted, Mapping) else wanted)
        return self._shown(self._archive.ask(_listed("titles.by_words", words, self._most(limit))), limit)

    def correct(self, word: str, limit: int = 5) -> tuple[Correction, ...]:
        return self._archive.ask(Call("titles.correct", (word, limit), checked_list(limit, _corrections)))

    def frequency(self, word: str) -> int:
        return self._archive.ask(Call("titles.frequency", (word,), lambda value, _: checked_count(value)))

    def close(self) -> None:
        """Nothing is held open."""

    def _most(self, limit: int) -> int:
        return limit + SPARE_RESULTS if self._hides and limit > 0 else limit

    def _shown(self, rows: tuple[TitleRow, ...], limit: int) -> tuple[TitleRow, ...]:
        hides = self._hides
        return tuple(row for row in rows if not hides or not hides(row.title, row.path))[: max(limit, 0)]


def peer_titles(archive: PeerArchive) -> PeerTitles | None:
    """The title index of a book on another host; None where it has none there."""
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


KEPT_CHARS = 24_000_000
"""Pages kept at hand for the next query, counted in characters; each takes about two bytes."""

KEPT_LISTS = 4_096
KEPT_PATHS = 32_768


@dataclass(frozen=True, slots=True)
class PageText:
    """The words of a page, as they are and levelled: the same offsets in both."""

    title: str
    text: str
    lowered: str
    boxes: int
    """Where infoboxes and categories begin, which come last."""
    lead: int = 0


@dataclass(frozen=True, slots=True)
class SearchEffort:
    """How much is asked of a book for one query."""

    words: int = 10
    """Rare words that are searched one by one."""
    pages: int = 100
    """Pages taken for one word; further down a list, hardly any page is the one."""
    word_groups: int = 24
    """Words that are searched together, so many times."""
    group_pages: int = 20
    read: int = 40
    """Pages that are read, the most promising ones."""


SERVED_EFFORT = SearchEffort(words=4, pages=20, word_groups=4, group_pages=15, read=12)
"""A server takes about 50 ms for a list, and 5 ms more for each page on it."""


class Prefetcher:
    """What a book on another host was already asked for: nothing that is kept here is sent for twice."""

    def __init__(self, far: PeerArchive) -> None:
        self._far = far
        self._sent: set[tuple[SimpleCall, str]] = set()

    def once(self, name: SimpleCall, of: Iterable[str]) -> None:
        fresh = [one for one in dict.fromkeys(of) if (name, one) not in self._sent]
        if len(self._sent) + len(fresh) > KEPT_PATHS:
            self._sent.clear()
        self.each(name, fresh)
        self._sent.update((name, one) for one in fresh)

    def each(self, name: SimpleCall, of: Iterable[str]) -> None:
        self._far.prefetch_simple(name, of)


class OpenBook:
    """A book, with what was already asked of it kept for a while."""

    def __init__(self, archive: Archive, titles: TitleLookup | None = None, *, kept_chars: int = KEPT_CHARS) -> None:
        self.archive = archive
        self.book = archive.book
        self.titles = titles
        self.language = archive.book.language or "eng"
        self.is_served = is_address(archive.book.source)
        self.effort = SERVED_EFFORT if self.is_served else SearchEffort()
        self._texts: OrderedDict[str, PageText | None] = OrderedDict()
        self._chars = 0
        self._kept_chars = kept_chars
        self.frequency = lru_cache(maxsize=KEPT_LISTS)(archive.estimate)
        self.pages_with = lru_cache(maxsize=KEPT_LISTS)(self._pages_with)
        self.title = lru_cache(maxsize=KEPT_PATHS)(self._title)
        self.resolve = lru_cache(maxsize=KEPT_PATHS)(archive.resolve)
        far = without_policy(archive)
        self._ahead = Prefetcher(far) if isinstance(far, PeerArchive) else None

    def prefetch_titles(self, paths: Iterable[str]) -> None:
        """Say whose titles will be asked for: a book on another host is asked for all of them at once."""
        if self._ahead:
            self._ahead.once("title", paths)

    def prefetch_targets(self, paths: Iterable[str]) -> None:
        """The same for paths that will be followed."""
        if self._ahead:
            self._ahead.once("resolve", paths)

    def prefetch_texts(self, paths: Iterable[str]) -> None:
        """The same for pages whose words will be read."""
        if self._ahead:
            self.prefetch_pages(path for path in paths if path not in self._texts)

    def prefetch_pages(self, paths: Iterable[str]) -> None:
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
        return PageText(entry.title, bare.text, plain_lower(bare.text), bare.boxes, bare.lead)


def _size(page: PageText | None) -> int:
    """A page that cannot be read takes some room as well."""
    return len(page.text) + SMALLEST if page else SMALLEST


SMALLEST = 500
