"""What a book is made of: entries, named by book and path."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.ids import BookId


@dataclass(frozen=True, slots=True, order=True)
class EntryRef:
    """The one way pages are named: the book's UUID and the path inside it."""

    book: BookId
    path: str

    def __str__(self) -> str:
        return f"zim://{self.book}/{self.path}"


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
class Item:
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
class Named:
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
