"""A book from which one article is gone, and with it every link there: a crawl must not see the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from html import unescape

from kiwiresearch.errors import PageNotFound
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.search.open_book import OpenBook, PageText
from kiwiresearch.search.titles import TitleIndex
from kiwiresearch.zim.archive import Archive, Book, Entry, EntryInfo, Match, TitleEntry
from kiwiresearch.zim.paths import resolve_href

LINK_TAG = re.compile(
    r"""<!--.*?-->|<(?P<code>script|style)\b.*?</(?P=code)\s*>"""
    r"""|</a\s*>|<a(?=[\s/>])(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')|=)*+>""",
    re.IGNORECASE | re.DOTALL,
)
"""Where a link opens or closes; comments and scripts are passed over whole."""

ALL_PAGES = 2_000_000_000
"""The words of all pages are kept at hand while evaluating. What is found does not depend on it."""
KEPT_PAGES = 1_500

ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?""")


class Ends:
    """Where the links of a book end, after redirects: each is looked up once, whichever article is hidden."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._paths: dict[str, str | None] = {}
        self._tags: dict[tuple[str, str], str | None] = {}
        self._pages: dict[str, frozenset[str]] = {}

    def of_path(self, path: str) -> str | None:
        if path not in self._paths:
            self._paths[path] = self._archive.resolve(path)
        return self._paths[path]

    def of_tag(self, base: str, tag: str) -> str | None:
        """The page that an opening tag in the page `base` leads to; None for one that is no link in the book."""
        key = (base.rpartition("/")[0], tag)
        if key not in self._tags:
            href = _href(tag)
            # What stands for the page itself is no way to another, and must not be kept for other pages.
            target = resolve_href(base, href) if href and not href.startswith("#") else None
            self._tags[key] = self.of_path(target.path) if target else None
        return self._tags[key]

    def of_page_at(self, path: str) -> frozenset[str]:
        return self._pages[path] if path in self._pages else self.of_page(self._archive.read(path))

    def of_page(self, entry: Entry) -> frozenset[str]:
        """All pages that an entry links to."""
        base = entry.ref.path
        if base not in self._pages:
            tags = (found[0] for found in LINK_TAG.finditer(_text(entry.content))) if entry.is_html else ()
            ends = {self.of_tag(base, tag) for tag in tags if tag[1] in "aA"}
            self._pages[base] = frozenset(end for end in ends if end is not None)
        return self._pages[base]


class HiddenArchive:
    """An archive without one of its articles: no list, search or redirect leads there, and no link.

    How many pages hold a word is told as if the article were there.
    """

    def __init__(self, archive: Archive, path: str, ends: Ends | None = None) -> None:
        self._archive = archive
        self._ends = ends or Ends(archive)
        gone = self._ends.of_path(path)
        if gone is None:
            raise PageNotFound(f"{archive.book.title!r} has no page {path!r} that could be hidden.")
        self.gone: str = gone

    @property
    def book(self) -> Book:
        return self._archive.book

    def read(self, path: str) -> Entry:
        self._check(path)
        entry = self._archive.read(path)
        if self.gone not in self._ends.of_page(entry):
            return entry
        return replace(entry, content=self._without_links(entry))

    def touches(self, path: str) -> bool:
        """Whether a page is another than in the whole book, since it links to what is gone."""
        self._check(path)
        return self.gone in self._ends.of_page_at(path)

    def info(self, path: str) -> EntryInfo:
        entry = self.read(path)
        return EntryInfo(entry.ref, entry.mimetype, len(entry.content), entry.via)

    def part(self, path: str, start: int, end: int) -> bytes:
        return self.read(path).content[start:end]

    def resolve(self, path: str) -> str | None:
        end = self._ends.of_path(path)
        return end if end != self.gone else None

    def by_title(self, title: str) -> str | None:
        path = self._archive.by_title(title)
        return path if path != self.gone else None

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        return self._matches(self._archive.search(words, limit + 1))[:limit]

    def paths_with(self, words: str, limit: int) -> tuple[str, ...]:
        found = self._archive.paths_with(words, limit + 1)
        return tuple(path for path in found if self._ends.of_path(path) != self.gone)[:limit]

    def title(self, path: str) -> str:
        self._check(path)
        return self._archive.title(path)

    def estimate(self, words: str) -> int:
        return self._archive.estimate(words)

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        return self._matches(self._archive.suggest(text, limit + 1))[:limit]

    def articles(self) -> Iterator[str]:
        return (path for path in self._archive.articles() if path != self.gone)

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        return (entry for entry in self._archive.titles(start) if entry.path != self.gone)

    def url(self, path: str) -> str:
        return self._archive.url(path)

    def close(self) -> None:
        self._archive.close()

    def _check(self, path: str) -> None:
        if self._ends.of_path(path) == self.gone:
            raise PageNotFound(f"{self.book.title!r} has no page {path!r}.")

    def _matches(self, found: tuple[Match, ...]) -> tuple[Match, ...]:
        return tuple(match for match in found if self._ends.of_path(match.path) != self.gone)

    def _without_links(self, entry: Entry) -> bytes:
        """The page with the words of such links, but not the links; nothing else is touched."""
        inside = ""

        def kept(found: re.Match[str]) -> str:
            nonlocal inside
            tag, before = found[0], inside
            if tag[1] == "/":
                inside = ""
                return tag if before != "gone" else ""
            if tag[1] not in "aA":
                return tag
            inside = "gone" if self._ends.of_tag(entry.ref.path, tag) == self.gone else "kept"
            if inside == "kept":
                return tag
            # A link ends where the next one opens; without that one it would go on.
            return "</a>" if before == "kept" else ""

        return LINK_TAG.sub(kept, _text(entry.content)).encode("utf-8", "surrogateescape")


class BookAtHand(OpenBook):
    """A book whose last pages are kept as they were read, since walks come to the same ones again."""

    def __init__(self, archive: Archive, titles: TitleIndex | None) -> None:
        super().__init__(archive, titles, cached_chars=ALL_PAGES)
        self._kept = lru_cache(maxsize=KEPT_PAGES)(super().page)

    def page(self, path: str) -> PageDoc:
        return self._kept(path)


class BookWithout(OpenBook):
    """A book to search with one article hidden; the words of its pages are those of the whole book."""

    def __init__(self, archive: HiddenArchive, titles: TitleIndex | None, whole: OpenBook) -> None:
        super().__init__(archive, titles)
        self.archive: HiddenArchive = archive
        self._whole = whole
        self.frequency = whole.frequency

    def page(self, path: str) -> PageDoc:
        whole = None if self.archive.touches(path) else self._whole.page(path)
        # A page that only leads elsewhere is read here, for it may lead to what is gone.
        return whole if whole and whole.ref.path == path else super().page(path)

    def text(self, path: str) -> PageText | None:
        return self._whole.text(path) if self.archive.resolve(path) else None


def _text(content: bytes) -> str:
    """The markup, such that the same bytes can be made of it again."""
    return content.decode("utf-8", "surrogateescape")


def _href(tag: str) -> str:
    """Where a tag points, as the page spells it; the first attribute of a name counts."""
    for name, double, single, bare in ATTRIBUTE.findall(tag[2:-1]):
        if name.lower() == "href":
            return unescape(double or single or bare).strip()
    return ""
