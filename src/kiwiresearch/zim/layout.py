"""Where entries lie in a ZIM file: reading in the order of clusters is 20 to 30 times faster.

libzim decompresses a cluster of about 2 MiB for any page in it, and its Python
binding does not tell which page is in which cluster. What is not compressed it
maps and fills to the last byte before it gives the first. The header, the
directory and the heads of clusters are simple enough to read that here, and
nothing else.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

HEADER = struct.Struct("<IHH16sIIQQ")
"""Behind it stands the pointer to the pointers to clusters."""

POINTER = struct.Struct("<Q")
ENTRY = struct.Struct("<HBcIII")
MAGIC = 72_173_914
REDIRECT = 0xFFFF
WITHOUT_CONTENT = 0xFFFD
"""From here on, the number of a type stands for a redirect or for something deleted."""

PACKING = 0x0F
NOT_PACKED = (0, 1)
WIDE = 0x10
"""A mark in the first byte of a cluster: its offsets have eight bytes, not four."""

Reading = Callable[[int, int], bytes]
"""Gives so many bytes from a place of the book on."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Where the bytes of an entry lie in its book, just as they are."""

    place: int
    size: int


def stored_at(read: Reading, number: int) -> Stored | None:
    """Where the content of an entry lies; None where it is compressed, or where that cannot be told."""
    try:
        return _stored(read, number)
    except (struct.error, ValueError):
        return None


def _stored(read: Reading, number: int) -> Stored | None:
    magic, _, _, _, entries, clusters, paths, _ = HEADER.unpack(read(0, HEADER.size))
    (heads,) = POINTER.unpack(read(HEADER.size, POINTER.size))
    if magic != MAGIC or number >= entries:
        raise ValueError("no such entry of a ZIM file")
    (place,) = POINTER.unpack(read(paths + POINTER.size * number, POINTER.size))
    mimetype, _, _, _, cluster, blob = ENTRY.unpack(read(place, ENTRY.size))
    if mimetype >= WITHOUT_CONTENT or cluster >= clusters:
        raise ValueError("an entry without content")
    (head,) = POINTER.unpack(read(heads + POINTER.size * cluster, POINTER.size))
    (marks,) = read(head, 1)
    if marks & PACKING not in NOT_PACKED:
        return None
    offsets = struct.Struct("<QQ" if marks & WIDE else "<II")
    start, end = offsets.unpack(read(head + 1 + blob * offsets.size // 2, offsets.size))
    if start > end:
        raise ValueError("offsets out of order")
    return Stored(head + 1 + start, end - start)


def in_cluster_order(file: Path, ids: Iterable[int]) -> list[int]:
    """The same entry ids, sorted by where their content lies; as given if that cannot be told."""
    ids = list(ids)
    if not ids:
        return ids
    try:
        with file.open("rb") as stream:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return ids
    with data:
        try:
            return _sorted(data, ids)
        except (struct.error, IndexError, ValueError, OverflowError):
            return ids  # split or damaged: the order is a matter of speed only


def _sorted(data: mmap.mmap, ids: list[int]) -> list[int]:
    magic, _, _, _, count, _, pointers, _ = HEADER.unpack_from(data, 0)
    if magic != MAGIC or max(ids) >= count:
        raise ValueError("not a single ZIM file")
    places = []
    for number in ids:
        (offset,) = POINTER.unpack_from(data, pointers + POINTER.size * number)
        mimetype, _, _, _, cluster, blob = ENTRY.unpack_from(data, offset)
        if mimetype == REDIRECT:
            cluster = blob = 0
        places.append((cluster, blob, number))
    places.sort()
    return [number for _, _, number in places]
