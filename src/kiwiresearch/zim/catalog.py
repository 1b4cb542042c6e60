"""The catalogue of a kiwix-serve: OPDS, that is Atom with a few elements more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree import ElementTree

from kiwiresearch.ids import BookId
from kiwiresearch.zim.book import Book, Indexes, clean, flavour_of, kind_of, languages_of, tags_of

ATOM = "{http://www.w3.org/2005/Atom}"
DC = "{http://purl.org/dc/terms/}"
BARE_AMPERSAND = re.compile(rb"&(?!#?\w+;)")


@dataclass(frozen=True, slots=True)
class Served:
    """A book in a server's catalogue, and the base of its pages' addresses."""

    book: Book
    base: str

    @property
    def name(self) -> str:
        """What the server calls the book in its addresses."""
        return unquote(self.base.rpartition("/")[2])


def served_book(entry: ElementTree.Element, root: str) -> Served | None:
    """A book of a catalogue; None if the entry does not lead to one."""
    link = next((e.get("href") for e in entry.iter(f"{ATOM}link") if e.get("type") == "text/html"), None)
    uuid = (entry.findtext(f"{ATOM}id") or "").rpartition(":")[2]
    if not link or not uuid:
        return None
    try:
        base = urlsplit(urljoin(root + "/", link)).path.rstrip("/")
    except ValueError:
        return None

    def text(tag: str) -> str:
        return clean(entry.findtext(f"{ATOM}{tag}") or "")

    url_name = unquote(base.rpartition("/")[2])
    metadata = {
        "Name": text("name"),
        "Creator": clean(entry.findtext(f"{ATOM}author/{ATOM}name") or ""),
        "Tags": text("tags"),
    }
    tags = tags_of(metadata["Tags"])
    issued = entry.findtext(f"{DC}issued") or text("updated")
    size = next((number(e.get("length")) for e in entry.iter(f"{ATOM}link") if e.get("length")), 0)
    book = Book(
        id=BookId(uuid),
        source=f"{root}#{url_name}",
        name=metadata["Name"] or url_name,
        title=text("title") or url_name,
        description=text("summary"),
        date=issued[:10],
        languages=languages_of(text("language")),
        flavour=flavour_of(text("flavour"), tags, url_name),
        creator=metadata["Creator"],
        publisher=clean(entry.findtext(f"{ATOM}publisher/{ATOM}name") or ""),
        scraper="",
        tags=tags,
        articles=number(text("articleCount")),
        entries=0,
        media=number(text("mediaCount")),
        size_bytes=size,
        indexes=Indexes(full_text=True, titles=True),
        kind=kind_of(metadata, url_name),
        main_page="",
        old_namespaces=False,
    )
    return Served(book, base)


def parse_xml(content: bytes) -> ElementTree.Element:
    """XML from a server we do not control: no document types, so no entities that explode.

    kiwix-serve 3.3 writes addresses with a bare '&' into its catalogue, which is mended.
    """
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ValueError("XML with a document type")
    try:
        return ElementTree.fromstring(BARE_AMPERSAND.sub(b"&amp;", content))  # noqa: S314
    except (ElementTree.ParseError, LookupError) as problem:  # an encoding may be unknown
        raise ValueError(str(problem)) from problem


def number(text: str | None) -> int:
    """The number in a text; word counts come as '1,146'."""
    digits = re.sub(r"\D", "", text or "")
    return int(digits) if digits else 0
