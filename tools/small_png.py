"""Small PNG files for pictures of pages: with a palette, because pages of text have few colours."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

MAX_COLOURS = 256
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def small_png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """A PNG of RGB pixels. If there are too many colours for a palette, similar ones are merged."""
    height, width, _ = pixels.shape
    flat = pixels.reshape(-1, 3)
    for bits in (8, 7, 6, 5, 4, 3, 2):
        palette, indexes = np.unique(flat >> (8 - bits), axis=0, return_inverse=True)
        if len(palette) <= MAX_COLOURS:
            break
    counts = np.maximum(np.bincount(indexes.ravel(), minlength=len(palette)), 1)
    sums = [np.bincount(indexes.ravel(), weights=flat[:, channel], minlength=len(palette)) for channel in range(3)]
    colours = np.rint(np.stack(sums, axis=1) / counts[:, None]).astype(np.uint8)
    rows = indexes.reshape(height, width).astype(np.uint8)
    lines = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1)  # each line starts with its filter: none
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = [
        (b"IHDR", header),
        (b"PLTE", colours.tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    ]
    return SIGNATURE + b"".join(_chunk(name, content) for name, content in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
