"""The structure of a ZIM file: where its entries are stored, which are articles, and its metadata."""

from __future__ import annotations

import array
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import (
    MAX_HOPS,
    Book,
    EntryName,
    Indexes,
    TitleEntry,
    book_kind,
    clean_metadata,
    flavour_of,
    is_html,
    languages_of,
    tags_of,
)
from kiwiresearch.zim.files import ZIM_MAGIC
from kiwiresearch.zim.paths import plain_title, title_of_path

if TYPE_CHECKING:
    from libzim.reader import Archive as RawArchive
    from libzim.reader import Entry as RawEntry

    from kiwiresearch.zim.directory import Numbers

HEADER = struct.Struct("<IHH16sIIQQ")
"""The header up to the title pointers; after it comes the position of the list of cluster pointers."""

POINTER = struct.Struct("<Q")
ENTRY = struct.Struct("<HBcIII")
MAGIC = int.from_bytes(ZIM_MAGIC, "little")
REDIRECT_TYPE = 0xFFFF
WITHOUT_CONTENT = 0xFFFD
"""MIME type numbers from here on mark redirects and deleted entries."""

PACKING_MASK = 0x0F
NOT_PACKED = (0, 1)
WIDE_OFFSETS_FLAG = 0x10
"""A flag in the first byte of a cluster: its offsets have eight bytes, not four."""

ReadBytes = Callable[[int, int], bytes]
"""Reads a number of bytes from an offset of the file."""


@dataclass(frozen=True, slots=True)
class StoredBytes:
    """Where in the file the uncompressed bytes of an entry are."""

    place: int
    size: int


def stored_at(read: ReadBytes, number: int) -> StoredBytes | None:
    """Where the content of an entry is stored; None if it is compressed, or if the file is damaged there."""
    try:
        return _stored(read, number)
    except (struct.error, ValueError):
        return None


def _stored(read: ReadBytes, number: int) -> StoredBytes | None:
    magic, _, _, _, entries, clusters, paths, _ = HEADER.unpack(read(0, HEADER.size))
    (heads,) = POINTER.unpack(read(HEADER.size, POINTER.size))
    if magic != MAGIC or number >= entries:
        raise ValueError("the ZIM file has no such entry")
    (place,) = POINTER.unpack(read(paths + POINTER.size * number, POINTER.size))
    mimetype, _, _, _, cluster, blob = ENTRY.unpack(read(place, ENTRY.size))
    if mimetype >= WITHOUT_CONTENT or cluster >= clusters:
        raise ValueError("an entry without content")
    (head,) = POINTER.unpack(read(heads + POINTER.size * cluster, POINTER.size))
    (marks,) = read(head, 1)
    if marks & PACKING_MASK not in NOT_PACKED:
        return None
    offsets = struct.Struct("<QQ" if marks & WIDE_OFFSETS_FLAG else "<II")
    # Two neighbouring offsets, of this blob and the next; `size // 2` is the width of one.
    start, end = offsets.unpack(read(head + 1 + blob * offsets.size // 2, offsets.size))
    if start > end:
        raise ValueError("offsets out of order")
    return StoredBytes(head + 1 + start, end - start)


DAMAGED_ENTRY_ERRORS = (RuntimeError, IndexError, UnicodeDecodeError)
"""The exceptions that libzim raises for damaged entries."""

TITLE_LISTING = "listing/titleOrdered/v1"


class Listing:
    """The entries of one file; old ones keep articles under 'A/', new ones list them by title."""

    def __init__(self, raw: RawArchive, *, old: bool) -> None:
        self._raw = raw
        self._old = old

    def article_ids(self) -> list[int]:
        """The entries that the file lists as articles, else all that are pages."""
        return [*filter(self.is_article, self._listing())] or [*filter(self.is_article, range(self._raw.entry_count))]

    def _listing(self) -> array.array[int]:
        listed = array.array("I")
        if not self._old:
            for number in range(self._raw.entry_count, self._raw.all_entry_count):
                raw = self._raw._get_entry_by_id(number)
                if raw.path == TITLE_LISTING:
                    listed.frombytes(bytes(raw.get_item().content))
                    break
        return listed

    def front_entries(self) -> bytearray | None:
        """For each entry 1 if a new file lists it as an article: a byte per entry, since books have millions."""
        listed = self._listing()
        if not listed:
            return None
        marks = bytearray(self._raw.entry_count)
        for number in listed:
            if number < len(marks):
                marks[number] = 1
        return marks

    def front(self) -> Numbers:
        """The numbers of the entries that a new file lists as articles."""
        import numpy as np

        return np.frombuffer(self._listing(), dtype=np.uint32)

    def name_at(self, number: int) -> EntryName:
        raw = self._raw._get_entry_by_id(number)
        if not raw.is_redirect:
            return EntryName(raw.path, title_of(raw), raw.get_item().mimetype)
        end = _end_of(raw)
        return EntryName(raw.path, title_of(raw), target=end.path if end else "")

    def title_at(self, number: int, front: bytearray | None) -> TitleEntry | None:
        raw = target = self._raw._get_entry_by_id(number)
        alias = raw.is_redirect
        if alias:
            target = _end_of(raw)
            if target is None or (self._old and not raw.path.startswith("A/")):
                return None
        if front and not front[target._index]:
            return None
        path = target.path
        if self._old and not path.startswith("A/"):
            return None
        if not is_html(target.get_item().mimetype):
            return None
        return TitleEntry(number, title_of(raw), path, alias)

    def is_article(self, number: int) -> bool:
        try:
            raw = self._raw._get_entry_by_id(number)
            if raw.is_redirect or (self._old and not raw.path.startswith("A/")):
                return False
            return is_html(raw.get_item().mimetype)
        except DAMAGED_ENTRY_ERRORS:
            return False


def _end_of(raw: RawEntry) -> RawEntry | None:
    """The page at the end of a chain of redirects; None for a loop."""
    for _ in range(MAX_HOPS):
        raw = raw.get_redirect_entry()
        if not raw.is_redirect:
            return raw
    return None


def title_of(raw: RawEntry) -> str:
    """The title without markup; derived from the path if the title is damaged."""
    try:
        return plain_title(raw.title)
    except UnicodeDecodeError:
        return title_of_path(raw.path)


METADATA = ("Name", "Title", "Description", "Date", "Language", "Flavour", "Creator",
            "Publisher", "Scraper", "Source", "Tags")  # fmt: skip

COUNTED_ENTRIES = 10_000
"""In books with up to this many entries articles are counted one by one, which takes milliseconds."""

AnyArchive = Any
"""libzim's own archive, which has no types."""


def book_from_zim(raw: AnyArchive, path: Path, parts: Sequence[Path]) -> Book:
    """A book described by its metadata; `path` is how the user named the file."""
    metadata = {key: _metadata(raw, key) for key in METADATA}
    tags = tags_of(metadata["Tags"])
    stem = parts[0].stem
    return Book(
        id=BookId(str(raw.uuid)),
        source=str(path),
        name=clean_metadata(metadata["Name"]) or stem,
        title=clean_metadata(metadata["Title"]).replace("_", " ") or stem,
        description=clean_metadata(metadata["Description"]),
        date=clean_metadata(metadata["Date"]),
        languages=languages_of(metadata["Language"]),
        flavour=flavour_of(metadata["Flavour"], tags, stem),
        creator=clean_metadata(metadata["Creator"]),
        publisher=clean_metadata(metadata["Publisher"]),
        scraper=clean_metadata(metadata["Scraper"]),
        tags=tags,
        articles=_count_articles(raw),
        entries=raw.entry_count,
        media=raw.media_count,
        size_bytes=sum(part.stat().st_size for part in parts),
        indexes=Indexes(full_text=raw.has_fulltext_index, titles=raw.has_title_index),
        kind=book_kind(metadata, stem),
        main_page=_main_page(raw),
        old_namespaces=not raw.has_new_namespace_scheme,
    )


def _metadata(raw: AnyArchive, key: str) -> str:
    try:
        return cast("bytes", raw.get_metadata(key)).decode("utf-8", "replace")
    except (RuntimeError, KeyError):
        return ""


def _count_articles(raw: AnyArchive) -> int:
    if raw.entry_count <= COUNTED_ENTRIES:
        return len(Listing(raw, old=not raw.has_new_namespace_scheme).article_ids())
    # The article count of new files includes redirects; their count of entries by type does not.
    pages = re.search(r"text/html(?:;[^=;]*)?=(\d+)", _metadata(raw, "Counter"))
    listed = int(raw.article_count)
    return min(listed, int(pages[1])) if pages and listed else listed


def _main_page(raw: AnyArchive) -> str:
    try:
        found = raw.main_entry
        end = _end_of(found) if found.is_redirect else found
    except (RuntimeError, KeyError, IndexError):
        return ""
    return str(end.path) if end else ""
