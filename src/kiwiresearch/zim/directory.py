"""Which entries of a ZIM file are articles, and in which order they read fastest, as arrays: books have millions.

The directory is read in blocks of some thousand entries, straight from the file,
so that what it takes is a few bytes an entry, and a second for a million of them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kiwiresearch.zim.archive import MAX_HOPS, is_html
from kiwiresearch.zim.listing import MAGIC, REDIRECT, WITHOUT_CONTENT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint32]
    Flags = NDArray[np.bool_]

HEADER = struct.Struct("<IHH16sIIQQQQIIQ")
ENTRY = np.dtype([("type", "<u2"), ("more", "u1"), ("space", "u1"), ("edit", "<u4"), ("at", "<u4"), ("blob", "<u4")])
BLOCK = 2**15
"""So many entries are looked at together."""

LONGEST_BLOCK = 2**26
"""Entries that lie farther apart than this many bytes are read one by one."""

TYPES_BYTES = 2**16
OTHER, HTML, REDIRECTS, DAMAGED = range(4)
OLD_ARTICLE_NAMESPACE = ord("A")

ReadBytes = Callable[[int, int], bytes]
"""Gives so many bytes from a place of the book on."""


@dataclass(frozen=True, slots=True, eq=False)
class Directory:
    """The numbers of a book's entries that stand for articles."""

    articles: Numbers
    """In the order of their clusters. Among them are entries that should be articles and cannot be read as such."""
    redirects: Numbers
    """Other names of articles, in the order of their numbers."""


def directory_of(read: ReadBytes, size: int, front: Numbers, *, count: int, old: bool) -> Directory:
    """Look at the first `count` entries of a book; `front` are those that a new file itself lists as articles."""
    kinds, spaces, places = _looked_at(read, size, count)
    articles = _articles(kinds, spaces, front, old=old)
    numbers = np.flatnonzero(articles).astype(np.uint32)
    order = np.argsort(places[numbers], kind="stable")
    redirects = _redirects(kinds, places, articles & (kinds == HTML))
    if old:
        redirects = redirects[spaces[redirects] == OLD_ARTICLE_NAMESPACE]
    return Directory(numbers[order], redirects)


def _articles(kinds: NDArray[np.uint8], spaces: NDArray[np.uint8], front: Numbers, *, old: bool) -> Flags:
    damaged: Flags = kinds == DAMAGED
    if old:
        inside: Flags = (spaces == OLD_ARTICLE_NAMESPACE) & (kinds != REDIRECTS)
        return inside | damaged
    listed: Flags = np.zeros(len(kinds), dtype=np.bool_)
    listed[front[front < len(kinds)]] = True
    listed &= kinds != REDIRECTS
    if not (listed & (kinds == HTML)).any():
        listed = kinds == HTML
    return listed | damaged


def _redirects(kinds: NDArray[np.uint8], places: NDArray[np.uint64], articles: Flags) -> Numbers:
    """Redirects that end at an article."""
    numbers = np.flatnonzero(kinds == REDIRECTS).astype(np.uint32)
    ends = places[numbers]
    for _ in range(MAX_HOPS):
        inside = ends < len(kinds)
        going = np.flatnonzero(inside)[kinds[ends[inside]] == REDIRECTS]
        if not len(going):
            break
        ends[going] = places[ends[going]]
    inside = ends < len(kinds)
    arrived = np.zeros(len(numbers), dtype=np.bool_)
    arrived[inside] = articles[ends[inside]]
    return numbers[arrived]


def _looked_at(
    read: ReadBytes, size: int, count: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint64]]:
    """Of each entry its kind, its namespace, and where its content lies or, of a redirect, the number it leads to."""
    kinds = np.full(count, DAMAGED, dtype=np.uint8)
    spaces = np.zeros(count, dtype=np.uint8)
    places = np.zeros(count, dtype=np.uint64)
    magic, _, _, _, entries, _, pointers, _, _, types, _, _, _ = HEADER.unpack(read(0, HEADER.size))
    if magic != MAGIC or count > entries:
        return kinds, spaces, places
    pages = _page_types(read(types, TYPES_BYTES))
    for start in range(0, count, BLOCK):
        many = min(BLOCK, count - start)
        told = np.frombuffer(read(pointers + 8 * start, 8 * many).ljust(8 * many, b"\xff"), dtype="<u8")
        whole = np.flatnonzero(told.astype(np.float64) + ENTRY.itemsize <= size)
        found = _entries(read, told[whole])
        here = whole + start
        kinds[here] = OTHER
        kinds[here[np.isin(found["type"], pages)]] = HTML
        kinds[here[found["type"] == REDIRECT]] = REDIRECTS
        spaces[here] = found["space"]
        leads = found["type"] >= WITHOUT_CONTENT
        at, blob = found["at"].astype(np.uint64), found["blob"].astype(np.uint64)
        places[here] = np.where(leads, at, (at << np.uint64(32)) | blob)
    return kinds, spaces, places


def _entries(read: ReadBytes, told: NDArray[np.uint64]) -> NDArray[np.void]:
    """The heads of some entries, which mostly lie behind each other."""
    if not len(told):
        return np.zeros(0, dtype=ENTRY)
    first, last = int(told.min()), int(told.max()) + ENTRY.itemsize
    if last - first > LONGEST_BLOCK:
        return np.frombuffer(b"".join(read(int(place), ENTRY.itemsize) for place in told), dtype=ENTRY)
    block = np.frombuffer(read(first, last - first), dtype=np.uint8)
    offsets = (told - np.uint64(first)).astype(np.int64)
    return np.ascontiguousarray(block[offsets[:, None] + np.arange(ENTRY.itemsize)]).view(ENTRY).reshape(-1)


def _page_types(listed: bytes) -> list[int]:
    """The numbers of the types that pages have, from the list of types that ends with an empty one."""
    names = listed.split(b"\0\0", 1)[0].split(b"\0")
    return [number for number, name in enumerate(names) if is_html(name.decode("utf-8", "replace"))]
