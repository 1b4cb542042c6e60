"""How large a picture is, read from the first bytes of its file."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple


class PictureSize(NamedTuple):
    """Width and height in pixels."""

    width: int
    height: int


def picture_size(content: bytes) -> PictureSize | None:
    """The size of a PNG, GIF, JPEG or WebP picture; None if its header cannot be read."""
    try:
        found = _read(content)
    except (struct.error, IndexError):
        return None
    return found if found and found.width > 0 and found.height > 0 else None


def _read(content: bytes) -> PictureSize | None:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        # After the signature of 8 bytes, and the length and name of the first chunk.
        return PictureSize(*struct.unpack_from(">II", content, 16))
    if content.startswith((b"GIF87a", b"GIF89a")):
        return PictureSize(*struct.unpack_from("<HH", content, 6))
    if content.startswith(b"\xff\xd8"):
        return next(_jpeg_sizes(content), None)
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return _webp_size(content)
    return None


FILL_BYTE = 0xFF
"""May be repeated before any marker."""
NOT_FRAMES = frozenset({0xC4, 0xC8, 0xCC})
"""Segments among those of frames that have no size: tables, and one that is reserved."""


def _jpeg_sizes(content: bytes) -> Iterator[PictureSize]:
    at = 2
    while at + 4 <= len(content) and content[at] == 0xFF:
        kind = content[at + 1]
        if kind == FILL_BYTE:
            at += 1
            continue
        if 0xC0 <= kind <= 0xCF and kind not in NOT_FRAMES:
            # After the marker, the length of the segment and the bits per sample.
            height, width = struct.unpack_from(">HH", content, at + 5)
            yield PictureSize(width, height)
        at += 2 + int(struct.unpack_from(">H", content, at + 2)[0])


def _webp_size(content: bytes) -> PictureSize | None:
    """The three forms of WebP: lossy, lossless, and extended with a canvas."""
    kind = content[12:16]
    if kind == b"VP8 ":
        width, height = struct.unpack_from("<HH", content, 26)
        return PictureSize(width & 0x3FFF, height & 0x3FFF)
    if kind == b"VP8L":
        # Width and height, each less one, in 14 bits.
        bits = struct.unpack_from("<I", content, 21)[0]
        return PictureSize((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
    if kind == b"VP8X":
        width, height = (int.from_bytes(content[at : at + 3], "little") + 1 for at in (24, 27))
        return PictureSize(width, height)
    return None
