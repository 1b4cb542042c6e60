"""Files that people attach: their kinds, their limits, and what a telephone writes into a picture."""

from __future__ import annotations

import struct
import zlib

import pytest

from kiwiresearch.cases.attached_files import MAX_ATTACHMENT_BYTES, checked_file
from kiwiresearch.errors import BadUsage

SECRET = b"GPS 51.5 N 0.1 W"


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def _exif(orientation: int) -> bytes:
    entry = struct.pack("<HHIHH", 0x0112, 3, 1, orientation, 0)
    return b"Exif\0\0" + struct.pack("<2sHIH", b"II", 42, 8, 1) + entry + struct.pack("<I", 0) + SECRET


def _webp(kind: bytes, data: bytes) -> bytes:
    return struct.pack("<4sI", kind, len(data)) + data + b"\0" * (len(data) % 2)


PNG_PARTS = (_chunk(b"IHDR", b"x" * 13), _chunk(b"IDAT", b"data"), _chunk(b"IEND", b""))
PNG = b"\x89PNG\r\n\x1a\n" + PNG_PARTS[0] + _chunk(b"eXIf", SECRET) + _chunk(b"tEXt", SECRET) + b"".join(PNG_PARTS[1:])
SCAN = _segment(0xDA, b"scan") + b"pixels\xff\x00more\xff\xd0"
JFIF = b"JFIF\0\1\1\1\0\x48\0\x48"
ICC = _segment(0xE2, b"ICC_PROFILE\0\1\1colours")
JPEG = (
    b"\xff\xd8"
    + _segment(0xE0, JFIF + b"\1\1" + SECRET)
    + _segment(0xE0, b"JFXX\0\x10\xff\xd8" + SECRET)
    + _segment(0xE2, b"FPXR\0" + SECRET)
    + ICC
    + _segment(0xE1, _exif(6))
    + _segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0" + SECRET)
    + _segment(0xFE, SECRET)
    + SCAN
    + _segment(0xC4, b"table \xff\xd9")
    + SCAN
    + b"\xff\xd9"
    + b"\xff\xd8"
    + _segment(0xE1, _exif(1))
)
WEBP_BODY = _webp(b"VP8X", bytes([0x0C]) + b"\0" * 9) + _webp(b"VP8 ", b"pixels") + _webp(b"EXIF", SECRET)
WEBP = struct.pack("<4sI4s", b"RIFF", len(WEBP_BODY) + 4, b"WEBP") + WEBP_BODY
LOOP = b"\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"
IMAGE = b"\x2c" + b"\0" * 9 + b"\x02\x03abc\x00"
COMMENT = b"\x21\xfe" + bytes([len(SECRET)]) + SECRET + b"\0"
GIF = b"GIF89a" + b"\1\0\1\0\x80\0\0" + b"\0" * 6 + COMMENT + LOOP + IMAGE + b"\x3b"


@pytest.mark.parametrize(
    ("body", "kind"), [(PNG, "image/png"), (JPEG, "image/jpeg"), (WEBP, "image/webp"), (GIF, "image/gif")]
)
def test_where_a_picture_was_taken_is_not_stored(body: bytes, kind: str) -> None:
    """Positions, comments and further pictures are left out of each format, and what is seen is kept."""
    file = checked_file(body)
    assert file.media_type == kind
    assert SECRET in body
    assert SECRET not in file.body
    assert checked_file(file.body) == file, "what is left is a complete file of the same kind"
    kept = {"image/png": PNG_PARTS, "image/jpeg": (SCAN, ICC), "image/webp": (b"pixels",), "image/gif": (LOOP, IMAGE)}
    assert all(part in file.body for part in kept[kind])


def test_a_picture_has_no_smaller_one_inside() -> None:
    """The thumbnails of JFIF show what was later cut off; its resolution stays."""
    body = checked_file(JPEG).body
    assert body[2:20] == _segment(0xE0, JFIF + b"\0\0")
    assert (b"JFXX" in body, b"FPXR" in body) == (False, False)


def test_a_picture_stays_the_right_way_up() -> None:
    """Of what a camera notes, only the side that is up is kept: without it, a portrait would lie on its side."""
    body = checked_file(JPEG).body
    at = body.index(b"Exif\0\0") + 6
    assert struct.unpack_from(">HHIH", body, at + 10) == (0x0112, 3, 1, 6)
    assert b"Exif" not in checked_file(JPEG.replace(_exif(6), _exif(1))).body


@pytest.mark.parametrize("body", [b"%PDF-1.4 words", "Née à Genève.\n".encode(), b"<html><script>alert(1)</script>"])
def test_documents_are_kept_as_they_are(body: bytes) -> None:
    """A PDF is a PDF, and everything that is text is plain text, also if it is written as a web page."""
    file = checked_file(body)
    assert file.body == body
    assert file.media_type == ("application/pdf" if body.startswith(b"%PDF") else "text/plain")


@pytest.mark.parametrize("body", [b"", b"MZ\x90\x00", b"PK\x03\x04zip", b"\x00\x01", "é".encode("latin-1")])
def test_other_files_are_refused(body: bytes) -> None:
    """A program, an archive or anything unknown is not stored, whatever it is called."""
    with pytest.raises(BadUsage, match=r"cannot be attached|is empty"):
        checked_file(body)


@pytest.mark.parametrize("body", [PNG[:-20], JPEG[:40], WEBP[:-9], GIF[:30]])
def test_a_damaged_picture_is_refused(body: bytes) -> None:
    """A picture that ends too early is refused rather than stored with what could not be read."""
    with pytest.raises(BadUsage, match="damaged"):
        checked_file(body)


def test_the_largest_file() -> None:
    """A file larger than 20 MB is refused with its size."""
    with pytest.raises(BadUsage, match="21 MB"):
        checked_file(b"a" * (MAX_ATTACHMENT_BYTES + 2**20))
