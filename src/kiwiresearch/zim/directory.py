"""Which entries of a ZIM file are articles, and in which order they read fastest, as arrays.

Books have millions of entries. The directory is read straight from the file in blocks of
some thousand, so it takes a few bytes per entry and about a second per million.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kiwiresearch.zim.archive import MAX_HOPS, is_html
from kiwiresearch.zim.listing import MAGIC, REDIRECT_TYPE, WITHOUT_CONTENT, ReadBytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint32]
    Flags = NDArray[np.bool_]

HEADER = struct.Struct("<IHH16sIIQQQQIIQ")
ENTRY = np.dtype([("type", "<u2"), ("more", "u1"), ("space", "u1"), ("edit", "<u4"), ("at", "<u4"), ("blob", "<u4")])
ENTRIES_PER_BLOCK = 2**15
"""How many entries are read at a time."""

MAX_BLOCK_BYTES = 2**26
"""If the entries of a block are spread over more bytes than this, they are read one by one."""

TYPES_BYTES = 2**16
OTHER, HTML, REDIRECTS, DAMAGED = range(4)
OLD_ARTICLE_NAMESPACE = ord("A")


@dataclass(frozen=True, slots=True, eq=False)
class Directory:
    """The numbers of the entries that are articles, and of the redirects to them."""

    articles: Numbers
    """By cluster, so that each is unpacked once. Includes damaged entries, which may have been articles."""
    redirects: Numbers
    """In ascending order."""


def directory_of(read: ReadBytes, size: int, front: Numbers, *, count: int, old: bool) -> Directory:
    """Classify the first `count` entries of a book; `front` are those that a new file itself lists as articles."""
    kinds, namespaces, places = _classify(read, size, count)
    articles = _articles(kinds, namespaces, front, old=old)
    numbers = np.flatnonzero(articles).astype(np.uint32)
    order = np.argsort(places[numbers], kind="stable")
    redirects = _redirects(kinds, places, articles & (kinds == HTML))
    if old:
        redirects = redirects[namespaces[redirects] == OLD_ARTICLE_NAMESPACE]
    return Directory(numbers[order], redirects)


def _articles(kinds: NDArray[np.uint8], namespaces: NDArray[np.uint8], front: Numbers, *, old: bool) -> Flags:
    damaged: Flags = kinds == DAMAGED
    if old:
        inside: Flags = (namespaces == OLD_ARTICLE_NAMESPACE) & (kinds != REDIRECTS)
        return inside | damaged
    listed: Flags = np.zeros(len(kinds), dtype=np.bool_)
    listed[front[front < len(kinds)]] = True
    listed &= kinds != REDIRECTS
    if not (listed & (kinds == HTML)).any():  # a file without a usable list: every page counts
        listed = kinds == HTML
    return listed | damaged


def _redirects(kinds: NDArray[np.uint8], places: NDArray[np.uint64], articles: Flags) -> Numbers:
    """The numbers of the redirects that end at an article."""
    numbers = np.flatnonzero(kinds == REDIRECTS).astype(np.uint32)
    # All chains at once: each round moves every redirect one step, until none leads to a redirect.
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


def _classify(
    read: ReadBytes, size: int, count: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint64]]:
    """For each entry its kind, its namespace, and the position of its content or, for a redirect, its target."""
    kinds = np.full(count, DAMAGED, dtype=np.uint8)
    namespaces = np.zeros(count, dtype=np.uint8)
    places = np.zeros(count, dtype=np.uint64)
    magic, _, _, _, entries, _, pointers, _, _, types, _, _, _ = HEADER.unpack(read(0, HEADER.size))
    if magic != MAGIC or count > entries:
        return kinds, namespaces, places
    page_types = _page_types(read(types, TYPES_BYTES))
    for start in range(0, count, ENTRIES_PER_BLOCK):
        many = min(ENTRIES_PER_BLOCK, count - start)
        # A table that is cut short is padded with pointers beyond the end, which are dropped as damaged.
        offsets = np.frombuffer(read(pointers + 8 * start, 8 * many).ljust(8 * many, b"\xff"), dtype="<u8")
        # As floats, because adding to the largest integers would wrap around.
        inside = np.flatnonzero(offsets.astype(np.float64) + ENTRY.itemsize <= size)
        found = _entries(read, offsets[inside])
        here = inside + start
        kinds[here] = OTHER
        kinds[here[np.isin(found["type"], page_types)]] = HTML
        kinds[here[found["type"] == REDIRECT_TYPE]] = REDIRECTS
        namespaces[here] = found["space"]
        leads = found["type"] >= WITHOUT_CONTENT
        at, blob = found["at"].astype(np.uint64), found["blob"].astype(np.uint64)
        # Cluster and blob in one number: sorting by it puts the entries of a cluster next to each other.
        places[here] = np.where(leads, at, (at << np.uint64(32)) | blob)
    return kinds, namespaces, places


def _entries(read: ReadBytes, offsets: NDArray[np.uint64]) -> NDArray[np.void]:
    """The headers of the entries at some offsets, which are usually close together."""
    if not len(offsets):
        return np.zeros(0, dtype=ENTRY)
    first, last = int(offsets.min()), int(offsets.max()) + ENTRY.itemsize
    if last - first > MAX_BLOCK_BYTES:
        return np.frombuffer(b"".join(read(int(offset), ENTRY.itemsize) for offset in offsets), dtype=ENTRY)
    block = np.frombuffer(read(first, last - first), dtype=np.uint8)
    within = (offsets - np.uint64(first)).astype(np.int64)
    return np.ascontiguousarray(block[within[:, None] + np.arange(ENTRY.itemsize)]).view(ENTRY).reshape(-1)


def _page_types(listed: bytes) -> list[int]:
    """The numbers of the MIME types of pages; the list of types ends with an empty one."""
    names = listed.split(b"\0\0", 1)[0].split(b"\0")
    return [index for index, name in enumerate(names) if is_html(name.decode("utf-8", "replace"))]
