"""Tags that are put into a shown page: around words to be marked, and where sections and claims are to be found."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from typing import NamedTuple

from kiwiresearch.page.doc import PageDoc, Section
from kiwiresearch.page.laid import Extent
from kiwiresearch.page.marked import Places

ID = re.compile(r' id="([^"]*)"')
LINK_NAME = re.compile(r'<a [^>]*?\bname="([^"]*)"')

MARK_ID = "mark"
CLAIM_ID = "kiwi-claim"
CLAIMED_CLASS = "kiwi-claimed"


class Insertion(NamedTuple):
    """Tags to be put at a place of some markup; of those at one place, the lowest in order comes first."""

    place: int
    order: int
    tags: str


def mark_tags(found: Sequence[tuple[Extent, ...]]) -> Iterator[Insertion]:
    """Opening and closing tags around what is marked, by their place; spans that overlap are one."""
    last = -1
    firsts = [extents[0].start for extents in found if extents]
    names = {start: number for number, start in reversed(list(enumerate(firsts, start=1)))}
    for start, end in sorted({extent for extents in found for extent in extents}):
        begin = max(start, last)
        if begin >= end:
            continue
        number = names.pop(start, 0)
        yield Insertion(begin, 2, f'<mark{_name(number)} class="kiwi-mark">')
        yield Insertion(end, 0, "</mark>")
        last = end
    for start, number in names.items():  # these stand within others
        yield Insertion(start, 1, f"<span{_name(number)}></span>")


def _name(number: int) -> str:
    """The id of a mark, which addresses lead to; 0 has none."""
    return f' id="{MARK_ID if number == 1 else f"{MARK_ID}-{number}"}"' if number else ""


def claim_tags(claimed: Sequence[tuple[Extent, ...]], found: Sequence[tuple[Extent, ...]]) -> Iterator[Insertion]:
    """Anchors where claims begin, and tags around what they say, as far as it is not marked for its own sake."""
    for number, extents in enumerate(claimed, start=1):
        if extents:
            yield Insertion(extents[0].start, 1, f'<span id="{CLAIM_ID}-{number}" class="{CLAIM_ID}"></span>')
    taken = sorted({extent for extents in found for extent in extents})
    last = -1
    for extent in sorted({extent for extents in claimed for extent in extents}):
        for start, end in _left_of(Extent(max(extent.start, last), extent.end), taken):
            yield Insertion(start, 2, f'<mark class="{CLAIMED_CLASS}">')
            yield Insertion(end, 0, "</mark>")
        last = max(last, extent.end)


def _left_of(extent: Extent, taken: Sequence[Extent]) -> Iterator[Extent]:
    """The parts of an extent that none of those taken holds, which are sorted."""
    start, end = extent
    for other in taken:
        if other.end > start and other.start < end:
            if start < other.start:
                yield Extent(start, other.start)
            start = other.end
    if start < end:
        yield Extent(start, end)


def lost_anchors(page: PageDoc, body: str) -> dict[str, Section]:
    """Sections that a fragment would not find, by the anchor of the PageDoc, or by the one MediaWiki would give."""
    known = set(map(unescape, ID.findall(body)))
    if ' name="' in body:
        known.update(map(unescape, LINK_NAME.findall(body)))
    lost: dict[str, Section] = {}
    for section in page.sections[1:]:
        anchor = section.anchor or "_".join(section.heading.split())
        if anchor and anchor not in known and anchor != MARK_ID:
            lost.setdefault(anchor, section)
    return lost


def anchors(lost: Mapping[str, Section], places: Places) -> Iterator[Insertion]:
    for anchor, section in lost.items():
        extents = places.find(section.heading_start, section.heading_start + len(section.heading))
        if extents:
            yield Insertion(extents[0].start, 1, f'<span id="{escape(anchor)}"></span>')
