"""A book without one of its articles and without the links to it, so that a crawl cannot see the answer."""

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
"""An opening or closing tag of a link; comments and scripts match as a whole, so that nothing in them does."""

ALL_PAGES = 2_000_000_000
"""So large a cache keeps the text of all pages while evaluating. It does not change what is found."""
CACHED_PAGES = 1_500

ATTRIBUTE = re.compile(r"""([^\s"'>/=]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?""")


class LinkTargets:
    """The pages that the links of a book lead to, after redirects, cached for all articles that are hidden in turn."""

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
        """The page that an opening tag on the page `base` leads to; None if it leads to no page of the book."""
        key = (base.rpartition("/")[0], tag)
        if key not in self._tags:
            href = _href(tag)
            # A link within its own page leads to no other page, and must not be cached for other pages.
            target = resolve_href(base, href) if href and not href.startswith("#") else None
            self._tags[key] = self.of_path(target.path) if target else None
        return self._tags[key]

    def of_page_path(self, path: str) -> frozenset[str]:
        return self._pages[path] if path in self._pages else self.of_page(self._archive.read(path))

    def of_page(self, entry: Entry) -> frozenset[str]:
        """All pages that an entry links to."""
        base = entry.ref.path
        if base not in self._pages:
            tags = (found[0] for found in LINK_TAG.finditer(_text(entry.content))) if entry.is_html else ()
            targets = {self.of_tag(base, tag) for tag in tags if tag[1] in "aA"}
            self._pages[base] = frozenset(target for target in targets if target is not None)
        return self._pages[base]


class HiddenArchive:
    """An archive without one of its articles: no list, search, redirect or link leads to it.

    Only the estimate of how many pages have a word still includes the article.
    """

    def __init__(self, archive: Archive, path: str, targets: LinkTargets | None = None) -> None:
        self._archive = archive
        self._targets = targets or LinkTargets(archive)
        hidden_path = self._targets.of_path(path)
        if hidden_path is None:
            raise PageNotFound(f"{archive.book.title!r} has no page {path!r} to hide.")
        self.hidden_path: str = hidden_path

    @property
    def book(self) -> Book:
        return self._archive.book

    def read(self, path: str) -> Entry:
        self._check(path)
        entry = self._archive.read(path)
        if self.hidden_path not in self._targets.of_page(entry):
            return entry
        return replace(entry, content=self._without_links(entry))

    def links_to_hidden(self, path: str) -> bool:
        """Whether a page links to the hidden article, so that it differs from the one in the whole book."""
        self._check(path)
        return self.hidden_path in self._targets.of_page_path(path)

    def info(self, path: str) -> EntryInfo:
        entry = self.read(path)
        return EntryInfo(entry.ref, entry.mimetype, len(entry.content), entry.via)

    def part(self, path: str, start: int, end: int) -> bytes:
        return self.read(path).content[start:end]

    def resolve(self, path: str) -> str | None:
        target = self._targets.of_path(path)
        return target if target != self.hidden_path else None

    def by_title(self, title: str) -> str | None:
        path = self._archive.by_title(title)
        return path if path != self.hidden_path else None

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        return self._matches(self._archive.search(words, limit + 1))[:limit]

    def paths_with(self, words: str, limit: int) -> tuple[str, ...]:
        found = self._archive.paths_with(words, limit + 1)
        return tuple(path for path in found if self._targets.of_path(path) != self.hidden_path)[:limit]

    def title(self, path: str) -> str:
        self._check(path)
        return self._archive.title(path)

    def estimate(self, words: str) -> int:
        return self._archive.estimate(words)

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        return self._matches(self._archive.suggest(text, limit + 1))[:limit]

    def articles(self) -> Iterator[str]:
        return (path for path in self._archive.articles() if path != self.hidden_path)

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        return (entry for entry in self._archive.titles(start) if entry.path != self.hidden_path)

    def url(self, path: str) -> str:
        return self._archive.url(path)

    def close(self) -> None:
        self._archive.close()

    def _check(self, path: str) -> None:
        if self._targets.of_path(path) == self.hidden_path:
            raise PageNotFound(f"{self.book.title!r} has no page {path!r}.")

    def _matches(self, found: tuple[Match, ...]) -> tuple[Match, ...]:
        return tuple(match for match in found if self._targets.of_path(match.path) != self.hidden_path)

    def _without_links(self, entry: Entry) -> bytes:
        """The page with the links to the hidden article replaced by their words, and nothing else changed."""
        open_link = ""

        def replacement(found: re.Match[str]) -> str:
            nonlocal open_link
            tag, previous_link = found[0], open_link
            if tag[1] == "/":
                open_link = ""
                return tag if previous_link != "removed" else ""
            if tag[1] not in "aA":
                return tag
            open_link = "removed" if self._targets.of_tag(entry.ref.path, tag) == self.hidden_path else "kept"
            if open_link == "kept":
                return tag
            # A link ends where the next one opens. If that one is removed, the first must be closed here.
            return "</a>" if previous_link == "kept" else ""

        return LINK_TAG.sub(replacement, _text(entry.content)).encode("utf-8", "surrogateescape")


class CachedBook(OpenBook):
    """A book that caches the pages read last, because several crawls visit the same ones."""

    def __init__(self, archive: Archive, titles: TitleIndex | None) -> None:
        super().__init__(archive, titles, cached_chars=ALL_PAGES)
        self._cached_page = lru_cache(maxsize=CACHED_PAGES)(super().page)

    def page(self, path: str) -> PageDoc:
        return self._cached_page(path)


class BookWithoutArticle(OpenBook):
    """A book with one article hidden; the words of its pages come from the whole book."""

    def __init__(self, archive: HiddenArchive, titles: TitleIndex | None, whole: OpenBook) -> None:
        super().__init__(archive, titles)
        self.archive: HiddenArchive = archive
        self._whole = whole
        self.frequency = whole.frequency

    def page(self, path: str) -> PageDoc:
        whole = None if self.archive.links_to_hidden(path) else self._whole.page(path)
        # A redirect is read here, because it may lead to the hidden article.
        return whole if whole and whole.ref.path == path else super().page(path)

    def text(self, path: str) -> PageText | None:
        return self._whole.text(path) if self.archive.resolve(path) else None


def _text(content: bytes) -> str:
    """The markup, decoded so that encoding it gives the same bytes again."""
    return content.decode("utf-8", "surrogateescape")


def _href(tag: str) -> str:
    """The target of a link's tag as the page spells it; the first of several `href` attributes counts."""
    for name, double, single, bare in ATTRIBUTE.findall(tag[2:-1]):
        if name.lower() == "href":
            return unescape(double or single or bare).strip()
    return ""
