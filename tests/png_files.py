"""Small pictures for tests: real PNGs, each with other bytes."""

from __future__ import annotations

import struct
import zlib
from hashlib import sha256

WIDTH, HEIGHT = 60, 40


def a_png(name: str, *, width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """A picture of dots that are as good as random; the same name gives the same bytes."""
    rows = []
    for row in range(height):
        dots = b"".join(sha256(f"{name} {row} {block}".encode()).digest() for block in range(-(-3 * width // 32)))
        rows.append(b"\x00" + dots[: 3 * width])
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
