"""A book in memory, for tests and benchmarks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from uuid import UUID

from kiwiresearch.errors import PageNotFound, RedirectLoop
from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import MAX_HOPS, Book, Entry, EntryInfo, EntryRef, Indexes, Match, TitleEntry
from kiwiresearch.zim.paths import plain_title, title_of_path

TAGS = re.compile(rb"<[^>]*>")
TITLE = re.compile(rb"<title>(.*?)</title>", re.DOTALL)


class MemoryArchive:
    """Pages given as path and HTML, redirects as path and path."""

    def __init__(
        self,
        pages: Mapping[str, str | bytes],
        redirects: Mapping[str, str] | None = None,
        *,
        title: str = "Memory",
        language: str = "eng",
        main_page: str = "",
        date: str = "",
    ) -> None:
        self._pages = {
            path: content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
            for path, content in pages.items()
        }
        self._redirects = dict(redirects or {})
        self._titles = {path: _title(path, content) for path, content in self._pages.items()}
        self._words = {path: _words(TAGS.sub(b" ", content)) for path, content in self._pages.items()}
        digest = hashlib.sha256(repr((sorted(self._pages.items()), sorted(self._redirects.items()))).encode())
        self._book = Book(
            id=BookId(str(UUID(bytes=digest.digest()[:16]))),
            source="memory",
            name=title.casefold().replace(" ", "_"),
            title=title,
            description="",
            date=date,
            languages=(language,) if language else (),
            flavour="",
            creator="",
            publisher="",
            scraper="",
            tags=(),
            articles=len(self._pages),
            entries=len(self._pages) + len(self._redirects),
            media=0,
            size_bytes=sum(map(len, self._pages.values())),
            indexes=Indexes(full_text=True, titles=True),
            kind="other",
            main_page=main_page,
            old_namespaces=False,
        )

    @property
    def book(self) -> Book:
        return self._book

    def read(self, path: str) -> Entry:
        item = self.info(path)
        final = item.ref.path
        return Entry(item.ref, self._titles[final], item.mimetype, self._pages[final], item.via)

    def info(self, path: str) -> EntryInfo:
        final, via = self._follow(path)
        if final not in self._pages:
            raise PageNotFound(f"{self._book.title!r} has no page at {path!r}.")
        return EntryInfo(EntryRef(self._book.id, final), "text/html", len(self._pages[final]), via)

    def part(self, path: str, start: int, end: int) -> bytes:
        return self._pages[self.info(path).ref.path][start:end]

    def resolve(self, path: str) -> str | None:
        try:
            final, _ = self._follow(path)
        except RedirectLoop:
            return None
        return final if final in self._pages else None

    def by_title(self, title: str) -> str | None:
        for path, known in self._titles.items():
            if known == title:
                return path
        redirect = next((path for path in self._redirects if title_of_path(path) == title), None)
        return self.resolve(redirect) if redirect else None

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        wanted = _words(words.encode("utf-8", "replace"))
        hits = [path for path, known in self._words.items() if wanted and wanted <= known]
        return tuple(Match(path, self._titles[path]) for path in hits[:limit])

    def paths_with(self, words: str, limit: int) -> tuple[str, ...]:
        return tuple(match.path for match in self.search(words, limit))

    def title(self, path: str) -> str:
        if path in self._titles:
            return self._titles[path]
        if path in self._redirects:
            return title_of_path(path)
        raise PageNotFound(f"{self.book.title!r} has no page at {path!r}.")

    def estimate(self, words: str) -> int:
        return len(self.search(words, len(self._pages)))

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        wanted = _words(text.encode("utf-8", "replace"))
        titles = {**self._titles, **{path: title_of_path(path) for path in self._redirects}}
        found: dict[str, Match] = {}
        for path, title in titles.items():
            words = _words(title.encode())
            final = self.resolve(path)
            if wanted and final and all(any(word.startswith(w) for word in words) for w in wanted):
                alias = title if path in self._redirects else ""
                found.setdefault(final, Match(final, self._titles[final], alias=alias))
        return tuple(found.values())[:limit]

    def articles(self) -> Iterator[str]:
        return iter(tuple(self._pages))

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        for number, path in enumerate((*self._pages, *self._redirects)):
            target = self.resolve(path) if number >= start else None
            if target is not None:
                alias = path in self._redirects
                title = title_of_path(path) if alias else self._titles[path]
                yield TitleEntry(number, title, target, alias)

    def url(self, path: str) -> str:
        return str(EntryRef(self._book.id, path))

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _follow(self, path: str) -> tuple[str, tuple[str, ...]]:
        via: list[str] = []
        while path in self._redirects:
            via.append(path)
            path = self._redirects[path]
            if path in via or len(via) > MAX_HOPS:
                raise RedirectLoop(f"The page {path!r} of {self._book.title!r} redirects in a loop.")
        return path, tuple(via)


def _title(path: str, content: bytes) -> str:
    found = TITLE.search(content)
    return plain_title(found[1].decode("utf-8", "replace")) if found else title_of_path(path)


def _words(content: bytes) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", content.decode("utf-8", "replace").casefold()))
