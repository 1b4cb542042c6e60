"""Where the words of a PageDoc stand in its markup, so that they can be marked there."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from html import unescape
from itertools import accumulate
from typing import NamedTuple

from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.laid import Extent, Piece, folded, lay

CHARACTER = re.compile(r"&[a-zA-Z0-9#]+;|.", re.DOTALL)
CONTEXT = 48
"""So many characters before and behind tell one place from another with the same words."""

EDGE = 24
"""Where a quote is not found as a whole, its first and last characters tell where it is."""

STRIDE = 2_048
"""So many characters of a page are counted at once."""


class _Region(NamedTuple):
    """A part of a page's text that the markup has in one piece, folded: `base` is its place in the laid text."""

    extent: Extent
    text: str
    counts: tuple[int, ...]
    base: int

    def count_before(self, offset: int, text: str) -> int:
        """How many folded characters of the region stand before an offset of the page's text."""
        strides = (offset - self.extent.start) // STRIDE
        return self.counts[strides] + len(folded(text[self.extent.start + strides * STRIDE : offset]))


class Places:
    """Finds words of a page in its markup."""

    def __init__(self, page: PageDoc, markup: str) -> None:
        self._page = page
        self._laid = lay(markup)
        self.markup = self._laid.markup
        """The markup with comments and notes of editors blanked, every other character at its place."""
        self._starts = [piece.at for piece in self._laid.pieces]
        self._regions = [Extent(0, page.sections[-1].end), *(Extent(box.start, box.end) for box in page.infoboxes)]
        self._known: dict[Extent, _Region] = {}

    def find(self, start: int, end: int) -> tuple[Extent, ...]:
        """The parts of the markup that hold `page.text[start:end]`, each without a tag in it; none if not found."""
        words = folded(self._page.text[start:end])
        if not words or not 0 <= start < end <= len(self._page.text):
            return ()
        at = self._aligned(start, words)
        if at is not None:
            return tuple(self._extents(at.start, at.end))
        return ()

    def _aligned(self, start: int, words: str) -> Extent | None:
        """Where the words are in the laid text."""
        region = self._region(start)
        before = region.count_before(start, self._page.text)
        if region.base >= 0:
            return Extent(region.base + before, region.base + before + len(words))
        text = region.text
        return self._nearest(words, text[max(before - CONTEXT, 0) : before], text[before + len(words) :][:CONTEXT])

    def _region(self, start: int) -> _Region:
        """The box, or else the article, that an offset is in."""
        extent = next((r for r in self._regions[1:] if r.start <= start < r.end), self._regions[0])
        if extent not in self._known:
            parts = [folded(self._page.text[at : min(at + STRIDE, extent.end)]) for at in range(*extent, STRIDE)]
            text = "".join(parts)
            counts = tuple(accumulate(map(len, parts), initial=0))
            self._known[extent] = _Region(extent, text, counts, self._laid.text.find(text))
        return self._known[extent]

    def _nearest(self, words: str, before: str, behind: str) -> Extent | None:
        """The place of the words whose surroundings are most like theirs."""
        text = self._laid.text
        places = [Extent(at, at + len(words)) for at in _all(words, text)] or _by_edges(words, text)
        if not places:
            return None
        return max(places, key=lambda place: _likeness(text, place, before, behind))

    def _extents(self, start: int, end: int) -> Iterator[Extent]:
        """The markup behind a part of the laid text, in as few parts as there is markup between them."""
        open_from = open_to = -1
        for extent, whole in self._covered(start, end):
            if extent.start == open_to and not whole:
                open_to = extent.end
                continue
            if open_from >= 0:
                yield self._trimmed(open_from, open_to)
            open_from, open_to = (-1, -1) if whole else extent
            if whole:
                yield extent
        if open_from >= 0:
            yield self._trimmed(open_from, open_to)

    def _covered(self, start: int, end: int) -> Iterator[tuple[Extent, bool]]:
        pieces = self._laid.pieces
        number = max(bisect_right(self._starts, start) - 1, 0)
        while number < len(pieces) and pieces[number].at < end:
            piece = pieces[number]
            following = pieces[number + 1].at if number + 1 < len(pieces) else len(self._laid.text)
            first, last = piece.source
            if not piece.whole:
                first = self._offset(piece, start - piece.at) if start > piece.at else first
                last = self._offset(piece, end - piece.at) if end < following else last
            yield Extent(first, last), piece.whole
            number += 1

    def _offset(self, piece: Piece, count: int) -> int:
        """Where in the markup so many characters of a piece end."""
        for found in CHARACTER.finditer(self.markup, *piece.source):
            if count <= 0:
                return found.start()
            count -= len(folded(unescape(found[0])))
        return piece.source.end

    def _trimmed(self, start: int, end: int) -> Extent:
        text = self.markup[start:end]
        return Extent(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


def _all(words: str, text: str) -> Iterator[int]:
    at = text.find(words)
    while at >= 0:
        yield at
        at = text.find(words, at + 1)


def _by_edges(words: str, text: str) -> list[Extent]:
    """Places that begin and end as the words do, and are about as long: something in between is spelled differently."""
    edge = min(EDGE, len(words) // 3)
    if edge < EDGE // 3:
        return []
    longest = len(words) * 5 // 4 + EDGE
    found = []
    for start in _all(words[:edge], text):
        end = text.find(words[-edge:], start + edge, start + longest)
        if end >= 0:
            found.append(Extent(start, end + edge))
    return found


def _likeness(text: str, place: Extent, before: str, behind: str) -> tuple[int, int]:
    """How many characters on both sides are the same; of equals, the first."""
    alike = 0
    for number in range(1, min(len(before), place.start) + 1):
        if text[place.start - number] != before[-number]:
            break
        alike += 1
    for character, expected in zip(text[place.end : place.end + CONTEXT], behind, strict=False):
        if character != expected:
            break
        alike += 1
    return alike, -place.start
