"""Which entries of a ZIM file are articles, and what their titles are."""

from __future__ import annotations

import array
from typing import TYPE_CHECKING

from kiwiresearch.zim.archive import MAX_HOPS
from kiwiresearch.zim.entry import HTML_TYPES, Named, TitleEntry
from kiwiresearch.zim.paths import plain_title, title_of_path

if TYPE_CHECKING:
    from libzim.reader import Archive as RawArchive
    from libzim.reader import Entry as RawEntry

    from kiwiresearch.zim.directory import Numbers

BROKEN = (RuntimeError, IndexError, UnicodeDecodeError)
"""What libzim raises on entries that are damaged."""

TITLE_LISTING = "listing/titleOrdered/v1"


class Listing:
    """The entries of one file; old ones keep articles under 'A/', new ones list them by title."""

    def __init__(self, raw: RawArchive, *, old: bool) -> None:
        self._raw = raw
        self._old = old

    def article_ids(self) -> list[int]:
        listed = self._listed_ids()
        if listed:
            return listed
        return [number for number in range(self._raw.entry_count) if self._is_article(number)]

    def _listed_ids(self) -> list[int]:
        """What a new file itself calls its articles, without looking at each entry."""
        return [int(number) for number in self._listing() if self._is_article(int(number))]

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
        """A mark for each entry that a new file lists as an article: a byte each, as books have millions."""
        listed = self._listing()
        if not listed:
            return None
        marks = bytearray(self._raw.entry_count)
        for number in listed:
            if number < len(marks):
                marks[number] = 1
        return marks

    def front(self) -> Numbers:
        """The numbers that a new file lists as articles."""
        import numpy as np

        return np.frombuffer(self._listing(), dtype=np.uint32)

    def name_at(self, number: int) -> Named:
        raw = self._raw._get_entry_by_id(number)
        if not raw.is_redirect:
            return Named(raw.path, title_of(raw), raw.get_item().mimetype)
        end = _end_of(raw)
        return Named(raw.path, title_of(raw), target=end.path if end else "")

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
        mimetype = target.get_item().mimetype
        if mimetype not in HTML_TYPES and mimetype.partition(";")[0].strip() not in HTML_TYPES:
            return None
        return TitleEntry(number, title_of(raw), path, alias)

    def _is_article(self, number: int) -> bool:
        try:
            raw = self._raw._get_entry_by_id(number)
            if raw.is_redirect or (self._old and not raw.path.startswith("A/")):
                return False
            return raw.get_item().mimetype.partition(";")[0].strip() in HTML_TYPES
        except BROKEN:
            return False


def _end_of(raw: RawEntry) -> RawEntry | None:
    """The page at the end of a chain of redirects; None if it goes on for ever."""
    for _ in range(MAX_HOPS):
        raw = raw.get_redirect_entry()
        if not raw.is_redirect:
            return raw
    return None


def title_of(raw: RawEntry) -> str:
    """The title as people read it; from the path where it is damaged."""
    try:
        return plain_title(raw.title)
    except UnicodeDecodeError:
        return title_of_path(raw.path)
