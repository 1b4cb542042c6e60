"""Bytes in rows: cut into pieces, packed, and checked when they are read."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from kiwiresearch.errors import StoreDamaged
from kiwiresearch.store.problems import BACKUP

PIECE = 2**20
"""How many bytes a row holds at most, before they are packed."""
QUICK = 1
"""Most of what packing can save, in a fifth of the time."""


def pieces_of(content: bytes | Path) -> Iterator[bytes]:
    """The bytes, or those of a file, a piece at a time."""
    if isinstance(content, bytes):
        for start in range(0, len(content), PIECE):
            yield content[start : start + PIECE]
        return
    with content.open("rb") as stream:
        while piece := stream.read(PIECE):
            yield piece


def packed(piece: bytes) -> bytes:
    return zlib.compress(piece, QUICK)


def unpacked(row: bytes, what: str) -> bytes:
    """A piece as it was packed. It is never longer than one may be, whatever the row says."""
    opened = zlib.decompressobj()
    try:
        piece = opened.decompress(row, PIECE + 1)
    except zlib.error as problem:
        raise damaged(what) from problem
    if len(piece) > PIECE or not opened.eof:
        raise damaged(what)
    return piece


def hash_of(piece: bytes) -> str:
    return sha256(piece).hexdigest()


def damaged(what: str) -> StoreDamaged:
    return StoreDamaged(f"The store is damaged: {what} is not as it was written.", remedy=BACKUP)
