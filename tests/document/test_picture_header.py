"""The size of a picture comes from its first bytes, and a file that is cut or forged has none."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.document.picture_header import PictureSize, picture_size

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 30, 20)
GIF = b"GIF89a" + struct.pack("<HH", 30, 20)
JPEG = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc4\x00\x04ab\xff\xc2\x00\x11\x08" + struct.pack(">HH", 20, 30)
LOSSY = b"RIFF\0\0\0\0WEBPVP8 " + bytes(10) + struct.pack("<HH", 30, 20 | 0x4000)
LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L" + bytes(4) + b"\x2f" + struct.pack("<I", 29 | 19 << 14)
EXTENDED = b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x1d\0\0\x13\0\0"
ALL = (PNG, GIF, JPEG, LOSSY, LOSSLESS, EXTENDED)


@pytest.mark.parametrize("content", ALL, ids=["png", "gif", "jpeg", "lossy", "lossless", "extended"])
def test_the_size_of_every_kind_of_picture_is_read(content: bytes) -> None:
    """Width first."""
    assert picture_size(content) == PictureSize(30, 20)


def test_fill_bytes_before_a_marker_are_skipped() -> None:
    """A JPEG may repeat the first byte of a marker, also many times."""
    assert picture_size(JPEG.replace(b"\xff\xe0", b"\xff\xff\xe0").replace(b"\xff\xc2", b"\xff" * 9 + b"\xc2")) == (
        30,
        20,
    )


@pytest.mark.parametrize("content", [b"", b"<svg/>", PNG[:20], JPEG[:14], LOSSY[:20], GIF[:6] + bytes(4)])
def test_a_header_that_is_cut_has_no_size(content: bytes) -> None:
    assert picture_size(content) is None


@given(start=st.sampled_from(ALL), cut=st.integers(0, 40), rest=st.binary(max_size=30))
def test_no_bytes_raise_an_error(start: bytes, cut: int, rest: bytes) -> None:
    """Pictures come from books of others."""
    picture_size(start[:cut] + rest)
