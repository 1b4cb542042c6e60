"""Books and their entries, and the protocol that every kind of book implements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, Self

from kiwiresearch.ids import BookId
from kiwiresearch.text import three_letter_code

SCHEME = "zim://"


@dataclass(frozen=True, slots=True, order=True)
class EntryRef:
    """How pages are identified everywhere: the book's UUID and the path inside it."""

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
    """An entry with its content, redirects followed: `via` holds the paths that led here."""

    ref: EntryRef
    title: str
    mimetype: str
    content: bytes
    via: tuple[str, ...] = ()
    is_cut: bool = False
    """Whether this is only the beginning of a page that is too large."""

    @property
    def is_html(self) -> bool:
        return is_html(self.mimetype)


@dataclass(frozen=True, slots=True)
class EntryInfo:
    """An entry without its content."""

    ref: EntryRef
    mimetype: str
    size: int
    via: tuple[str, ...] = ()
    is_packed: bool = False
    """Whether it is compressed, so that reading a part means unpacking all of it."""

    @property
    def is_html(self) -> bool:
        return is_html(self.mimetype)


HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


def is_html(mimetype: str) -> bool:
    """Whether a MIME type is that of a page, with or without parameters such as a charset."""
    return mimetype.partition(";")[0].strip().lower() in HTML_TYPES


@dataclass(frozen=True, slots=True)
class TitleEntry:
    """A title of a book and the path of its page; `alias` if it is the title of a redirect to that page."""

    number: int
    """The entry's number in the file: an interrupted listing resumes at the next one."""
    title: str
    path: str
    alias: bool = False


@dataclass(frozen=True, slots=True)
class EntryName:
    """Path, title and type of an entry; a redirect has no type, but a `target`: the path at the end of its chain."""

    path: str
    title: str
    mimetype: str = ""
    target: str = ""

    @property
    def is_html(self) -> bool:
        return is_html(self.mimetype)


@dataclass(frozen=True, slots=True)
class Match:
    """A page found by a book's own search or suggestions."""

    path: str
    title: str
    snippet: str = ""
    alias: str = ""
    """The title of the redirect that led here, if one did."""


BookKind = Literal["wikipedia", "wiki", "stackexchange", "devdocs", "gutenberg", "ted", "website", "other"]

FLAVOURS = ("mini", "nodet", "nopic", "novid", "maxi")

LEAD_ONLY = frozenset({"mini", "nodet"})
"""Flavours whose pages are cut off after the introduction."""

SISTERS = ("wikibooks", "wikinews", "wikiquote", "wikisource", "wikispecies", "wikiversity",
           "wikivoyage", "wiktionary", "wikimedia", "vikidia", "wikem", "wiki")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Indexes:
    """The search indexes that a book may have."""

    full_text: bool
    titles: bool


@dataclass(frozen=True, slots=True)
class Book:
    """A description of a book: its metadata, counts and search indexes."""

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
        """Whether pages hold introductions only, so that something missing from one is not a gap in knowledge."""
        return self.flavour in LEAD_ONLY

    @property
    def language(self) -> str:
        """The first language, as an ISO 639-3 code; empty if the book names none."""
        return self.languages[0] if self.languages else ""


def clean_metadata(value: str) -> str:
    """Metadata without control characters, and without the '=' that some broken scrapers put in front."""
    value = re.sub(r"[\x00-\x1f\x7f]+", " ", value).strip()
    return value.removeprefix("=").strip()


def languages_of(value: str) -> tuple[str, ...]:
    """'en', 'eng', '=en', 'eng,fra' and 'en-GB' all become three-letter codes."""
    codes = (three_letter_code(part) for part in re.split(r"[,;\s]+", clean_metadata(value)))
    return tuple(dict.fromkeys(code for code in codes if code))


def flavour_of(value: str, tags: tuple[str, ...], filename: str) -> str:
    """The flavour from the metadata, else from the tags, else from the file name."""
    named = clean_metadata(value).lower().strip("_")
    if named:
        return named
    if "_pictures:no" in tags and "_details:no" in tags:
        return "mini"
    for word in (*tags, *re.split(r"[_.]", filename.lower())):
        if word in FLAVOURS:
            return word
    return ""


def book_kind(metadata: Mapping[str, str], filename: str) -> BookKind:
    """Which kind of site a book was made from."""
    name = clean_metadata(metadata.get("Name", "")).lower() or filename.lower()
    creator = clean_metadata(metadata.get("Creator", "")).lower()
    source = metadata.get("Source", "").lower()
    tags = metadata.get("Tags", "").lower()
    scraper = metadata.get("Scraper", "").lower()
    # From the most reliable sign to the least; 'wiki' is in many names, so it comes late.
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
"""Longer chains of redirects are treated as a loop."""


class Archive(Protocol):
    """A book whose pages can be read by path.

    Paths are those of the book itself, percent-decoded: `A/Ray_Charles` in old
    files, `Ray_Charles` in new ones. An unknown path raises PageNotFound, an
    endless chain of redirects RedirectLoop.
    """

    @property
    def book(self) -> Book: ...

    def read(self, path: str) -> Entry:
        """The entry at a path, with redirects followed."""
        ...

    def info(self, path: str) -> EntryInfo:
        """Type and size of the entry at a path, with redirects followed, without reading its content."""
        ...

    def part(self, path: str, start: int, end: int) -> bytes:
        """The bytes from `start` to `end` of an entry; fewer if it ends before.

        The cost does not depend on the size of the entry, unless it is compressed.
        """
        ...

    def resolve(self, path: str) -> str | None:
        """The path at the end of the redirects, or None if the book does not have the path."""
        ...

    def by_title(self, title: str) -> str | None:
        """The path of the page with exactly this title, with redirects followed."""
        ...

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        """Results of the book's own full-text search, which requires every word; none without an index."""
        ...

    def paths_with(self, words: str, limit: int) -> tuple[str, ...]:
        """The paths that `search` would return, without looking up their titles."""
        ...

    def title(self, path: str) -> str:
        """The title of the entry at a path, without reading it; for a redirect, its own title."""
        ...

    def estimate(self, words: str) -> int:
        """Roughly how many pages contain all these words; 0 without an index."""
        ...

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        """Pages whose titles start with or contain the text, in the book's own order."""
        ...

    def articles(self) -> Iterator[str]:
        """Paths of all articles in the order that reads fastest; a server or another host raises NotOffered."""
        ...

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:
        """Titles of articles and of redirects to them, from number `start` on, always in the same order.

        Redirects that lead nowhere are left out. A server or another host raises NotOffered.
        """
        ...

    def url(self, path: str) -> str:
        """An address at which a reader can open the page."""
        ...

    def close(self) -> None: ...
