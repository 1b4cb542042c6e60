"""Books and their entries, and the protocol that every kind of book implements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, Self

from kiwiresearch.ids import BookId
from kiwiresearch.text.languages import three_letter_code

SCHEME = "zim://"


@dataclass(frozen=True, slots=True, order=True)
class EntryRef:
    """The one way pages are named: the book's UUID and the path inside it."""

    book: BookId
    path: str

    def __str__(self) -> str:
        return f"{SCHEME}{self.book}/{self.path}"

    @classmethod
    def parse(cls, name: str) -> Self | None:
        """The reference that `str` wrote; None for any other text."""
        book, _, path = name.removeprefix(SCHEME).partition("/")
        return cls(BookId(book), path) if name.startswith(SCHEME) and book and path else None


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry as read, after its redirects: `via` holds the paths that led here."""

    ref: EntryRef
    title: str
    mimetype: str
    content: bytes
    via: tuple[str, ...] = ()

    @property
    def is_html(self) -> bool:
        return is_html(self.mimetype)


@dataclass(frozen=True, slots=True)
class EntryInfo:
    """What is at a path, without its content."""

    ref: EntryRef
    mimetype: str
    size: int
    via: tuple[str, ...] = ()
    is_packed: bool = False
    """Whether all of it has to be unpacked to get at a part."""

    @property
    def is_html(self) -> bool:
        return is_html(self.mimetype)


HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


def is_html(mimetype: str) -> bool:
    """Whether this is the type of a page, whatever parameters it has."""
    return mimetype.partition(";")[0].strip().lower() in HTML_TYPES


@dataclass(frozen=True, slots=True)
class TitleEntry:
    """A title of a book and the page it leads to, which a redirect's title does under another name."""

    number: int
    """Its place in the file: a listing that was cut short goes on at the next number."""
    title: str
    path: str
    alias: bool = False


@dataclass(frozen=True, slots=True)
class EntryName:
    """What an entry is called, and its type; a redirect has none, but a `target`: the path at its end."""

    path: str
    title: str
    mimetype: str = ""
    target: str = ""

    @property
    def is_html(self) -> bool:
        return is_html(self.mimetype)


@dataclass(frozen=True, slots=True)
class Match:
    """A page that a book's own search or suggestions offered."""

    path: str
    title: str
    snippet: str = ""
    alias: str = ""
    """The title that led here, where it is a redirect's."""


BookKind = Literal["wikipedia", "wiki", "stackexchange", "devdocs", "gutenberg", "ted", "website", "other"]

FLAVOURS = ("mini", "nodet", "nopic", "novid", "maxi")

LEAD_ONLY = frozenset({"mini", "nodet"})
"""Flavours whose pages end with the introduction."""

SISTERS = ("wikibooks", "wikinews", "wikiquote", "wikisource", "wikispecies", "wikiversity",
           "wikivoyage", "wiktionary", "wikimedia", "vikidia", "wikem", "wiki")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Indexes:
    """What the book can look up by itself."""

    full_text: bool
    titles: bool


@dataclass(frozen=True, slots=True)
class Book:
    """The data sheet of a book."""

    id: BookId
    source: str
    name: str
    title: str
    description: str
    date: str
    languages: tuple[str, ...]
    flavour: str
    creator: str
    publisher: str
    scraper: str
    tags: tuple[str, ...]
    articles: int
    entries: int
    media: int
    size_bytes: int
    indexes: Indexes
    kind: BookKind
    main_page: str
    old_namespaces: bool

    @property
    def is_wikipedia(self) -> bool:
        return self.kind == "wikipedia"

    @property
    def lead_only(self) -> bool:
        """The pages hold introductions only, so what they lack is no gap in knowledge."""
        return self.flavour in LEAD_ONLY

    @property
    def language(self) -> str:
        """The first language, as an ISO 639-3 code; empty where the book tells none."""
        return self.languages[0] if self.languages else ""


def clean_metadata(value: str) -> str:
    """Metadata as people meant it: no control characters, no lone '=' of broken scrapers."""
    value = re.sub(r"[\x00-\x1f\x7f]+", " ", value).strip()
    return value.removeprefix("=").strip()


def languages_of(value: str) -> tuple[str, ...]:
    """'en', 'eng', '=en', 'eng,fra' and 'en-GB' all become three-letter codes."""
    codes = (three_letter_code(part) for part in re.split(r"[,;\s]+", clean_metadata(value)))
    return tuple(dict.fromkeys(code for code in codes if code))


def flavour_of(value: str, tags: tuple[str, ...], filename: str) -> str:
    """The flavour from its metadata, else from the tags, else from the file's name."""
    named = clean_metadata(value).lower().strip("_")
    if named:
        return named
    if "_pictures:no" in tags and "_details:no" in tags:
        return "mini"
    for word in (*tags, *re.split(r"[_.]", filename.lower())):
        if word in FLAVOURS:
            return word
    return ""


def kind_of(metadata: Mapping[str, str], filename: str) -> BookKind:
    """Which family of site a book was made from."""
    name = clean_metadata(metadata.get("Name", "")).lower() or filename.lower()
    creator = clean_metadata(metadata.get("Creator", "")).lower()
    source = metadata.get("Source", "").lower()
    tags = metadata.get("Tags", "").lower()
    scraper = metadata.get("Scraper", "").lower()
    if "_category:wikipedia" in tags or ".wikipedia.org" in source:
        return "wikipedia"
    if name.startswith("wikipedia") or creator.startswith("wikipedia"):
        return "wikipedia"
    if "stack exchange" in creator or "stackexchange" in name or "sotoki" in scraper:
        return "stackexchange"
    if "devdocs" in (tags + name + scraper + creator):
        return "devdocs"
    if "gutenberg" in (name + creator):
        return "gutenberg"
    if name.startswith("ted_") or scraper.startswith("ted2zim"):
        return "ted"
    if any(sister in name or sister in creator for sister in SISTERS) or "mwoffliner" in scraper:
        return "wiki"
    if "zimit" in scraper or "warc2zim" in scraper:
        return "website"
    return "other"


def tags_of(value: str) -> tuple[str, ...]:
    return tuple(tag for part in value.split(";") if (tag := clean_metadata(part)))


MAX_HOPS = 32
"""Longer chains of redirects are taken for a loop."""


class Archive(Protocol):
    """A book that can be opened at any page.

    Paths are those of the book itself, after percent-decoding; old files spell
    them `A/Ray_Charles`, new ones `Ray_Charles`. A path that is not there
    raises PageNotFound, a chain of redirects without end RedirectLoop.
    """

    @property
    def book(self) -> Book: ...

    def read(self, path: str) -> Entry:
        """The entry at a path, with redirects followed."""
        ...

    def look(self, path: str) -> EntryInfo:
        """What is at a path, its type and its size, with redirects followed and nothing of it read."""
        ...

    def part(self, path: str, start: int, end: int) -> bytes:
        """The bytes from one place to another of what is at a path; what it costs does not grow with the rest.

        Of something packed, all has to be unpacked. Behind the end there are no bytes.
        """
        ...

    def resolve(self, path: str) -> str | None:
        """Where a path leads after redirects, or None if the book does not have it."""
        ...

    def by_title(self, title: str) -> str | None:
        """The path of the page with exactly this title, redirects followed."""
        ...

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        """The book's own full-text search, which wants every word to occur; empty without index."""
        ...

    def holding(self, words: str, limit: int) -> tuple[str, ...]:
        """Paths of pages that hold all the words, as `search` gives them, without a look at the pages."""
        ...

    def title(self, path: str) -> str:
        """The title of the page at a path, without reading it; of a redirect, its own."""
        ...

    def estimate(self, words: str) -> int:
        """About how many pages hold all these words; 0 without an index."""
        ...

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        """Pages whose titles start with or hold the text, as the book offers them."""
        ...

    def articles(self) -> Iterator[str]:
        """Paths of all articles in the order that reads fastest; NotOffered by a server or another host."""
        ...

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        """Titles of articles and of redirects to them, numbered `start` and up; NotOffered by a server or another host.

        The order is the same each time. Redirects that lead nowhere are left out.
        """
        ...

    def url(self, path: str) -> str:
        """An address that opens the page for a reader of this book."""
        ...

    def close(self) -> None: ...
