"""Files that people attach: only known kinds, known by their content, and without where and when a picture was taken.

A picture from a telephone says where it was taken, so this is removed before it is stored, and nothing can pass it on.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from kiwiresearch.errors import BadUsage

MAX_ATTACHMENT_BYTES = 20 * 2**20
MAX_ALL_ATTACHMENTS_BYTES = 1024 * 2**20
"""How much all files of a family may take up: they are in its database, which is copied and backed up as a whole."""
PICTURES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)
TEXT = "text/plain"
# A file with any other control character is binary, even if it happens to be valid UTF-8.
CONTROLS = frozenset(map(chr, range(32))) - set("\t\n\r\f")


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """A file as it is stored."""

    media_type: str
    body: bytes


def checked_file(body: bytes) -> AttachedFile:
    """A file to attach, without the metadata of a picture; refused if it is of another kind, empty or too large."""
    if not body:
        raise BadUsage("The file is empty.", remedy="Choose another file.")
    if len(body) > MAX_ATTACHMENT_BYTES:
        raise BadUsage(
            f"The file is too large: {len(body) / 2**20:.0f} MB.",
            remedy=f"Use a file of at most {MAX_ATTACHMENT_BYTES // 2**20} MB.",
        )
    kind = media_type_of(body)
    clean = CLEANERS.get(kind)
    try:
        return AttachedFile(kind, b"".join(clean(body)) if clean else body)
    except (IndexError, ValueError, struct.error) as problem:
        raise BadUsage("The picture is damaged.", remedy="Save it again, or choose another file.") from problem


def require_room(stored: int, size: int) -> None:
    """Refuse a file that would make the files of a family too large together."""
    if stored + size > MAX_ALL_ATTACHMENTS_BYTES:
        raise BadUsage(
            f"The files of this family would take up more than {MAX_ALL_ATTACHMENTS_BYTES // 2**20:,} MB.",
            remedy="Attach a smaller file, or keep the others outside the family and name them as sources.",
        )


def media_type_of(body: bytes) -> str:
    """The kind of a file by its content; its name says nothing."""
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return "image/webp"
    found = next((kind for signature, kind in SIGNATURES if body.startswith(signature)), "")
    if not found and not _is_text(body):
        raise BadUsage("Files of this kind cannot be attached.", remedy="Use a PNG, JPEG, WebP, GIF, PDF or text file.")
    return found or TEXT


def _is_text(body: bytes) -> bool:
    try:
        return CONTROLS.isdisjoint(body.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return False


def _part(body: bytes, start: int, size: int) -> bytes:
    """A part of a file, which must be there completely."""
    part = body[start : start + size]
    if size < 0 or len(part) != size:
        raise ValueError(f"the file ends at {len(body)}")
    return part


# Chunks of PNG for EXIF, texts (one of them may be XMP) and the time of the last change.
PNG_METADATA = frozenset({b"eXIf", b"tEXt", b"iTXt", b"zTXt", b"tIME"})


def _clean_png(body: bytes) -> Iterator[bytes]:
    yield body[:8]
    at, kind = 8, b""
    while kind != b"IEND":
        # A chunk is its size, its kind, the data and a checksum of four bytes.
        size, kind = struct.unpack(">I4s", _part(body, at, 8))
        chunk = _part(body, at, size + 12)
        at += len(chunk)
        if kind not in PNG_METADATA:
            yield chunk


WEBP_METADATA = frozenset({b"EXIF", b"XMP "})
# The bits of the header VP8X that announce EXIF and XMP.
WEBP_METADATA_FLAGS = 0x08 | 0x04


def _clean_webp(body: bytes) -> Iterator[bytes]:
    kept = b"".join(_webp_chunks(body))
    yield struct.pack("<4sI4s", b"RIFF", len(kept) + 4, b"WEBP") + kept


def _webp_chunks(body: bytes) -> Iterator[bytes]:
    at = 12
    while at < len(body):
        kind, size = struct.unpack("<4sI", _part(body, at, 8))
        # Chunks have an even length, and the last one may lack its padding.
        chunk = _part(body, at, 8 + size) + b"\0" * (size % 2)
        at += len(chunk)
        if kind == b"VP8X":
            chunk = chunk[:8] + bytes([chunk[8] & ~WEBP_METADATA_FLAGS]) + chunk[9:]
        if kind not in WEBP_METADATA:
            yield chunk


# The two application blocks that say how often an animation repeats; XMP, for example, is another.
GIF_LOOP = (b"NETSCAPE2.0", b"ANIMEXTS1.0")
EXTENSION, IMAGE, END = 0x21, 0x2C, 0x3B
COMMENT, APPLICATION = 0xFE, 0xFF


def _clean_gif(body: bytes) -> Iterator[bytes]:
    # The header has six bytes and the screen descriptor seven; the fifth of those has the flags of the colour table.
    at = 13 + _color_table_size(_part(body, 0, 13)[10])
    yield _part(body, 0, at)
    while body[at] != END:
        start = at
        if body[at] == IMAGE:
            # The descriptor of an image has ten bytes, and one more gives the code size of its data.
            at += 11 + _color_table_size(body[at + 9])
        elif body[at] == EXTENSION:
            at += 2
        else:
            raise ValueError(f"unknown block {body[at]}")
        at = _after_blocks(body, at)
        block = _part(body, start, at - start)
        is_metadata = block[0] == EXTENSION and (
            block[1] == COMMENT or (block[1] == APPLICATION and block[3:14] not in GIF_LOOP)
        )
        if not is_metadata:
            yield block
    yield bytes([END])


def _color_table_size(flags: int) -> int:
    return 3 * 2 ** ((flags & 7) + 1) if flags & 0x80 else 0


def _after_blocks(body: bytes, at: int) -> int:
    while body[at]:
        at += 1 + body[at]
    return at + 1


SOS, EOI, COM = 0xDA, 0xD9, 0xFE
JFIF = 0xE0
KEPT_APPS = {JFIF: b"JFIF\0", 0xE2: b"ICC_PROFILE\0", 0xEE: b"Adobe"}
"""The application blocks without which a picture looks different: resolution, colours, and how Adobe stores them."""
JFIF_BYTES = 18
"""The length of the JFIF block with its marker, up to the thumbnail, whose size is in the last two bytes."""
APPS = range(0xE0, 0xF0)
EXIF = b"Exif\0\0"
ORIENTATION = 0x0112


def _clean_jpeg(body: bytes) -> Iterator[bytes]:
    """The picture up to its end: cameras append further pictures, each with metadata of its own."""
    yield body[:2]
    at = 2
    while True:
        if body[at] != 0xFF:
            raise ValueError(f"no marker at {at}")
        marker = body[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
            continue
        if marker == EOI:
            yield body[at : at + 2]
            return
        size = 2 + int(struct.unpack(">H", _part(body, at + 2, 2))[0])
        segment = _part(body, at, size)
        at += size
        if marker == SOS:
            end = _end_of_scan(body, at)
            segment, at = segment + body[at:end], end
        # Without its orientation, a picture taken with the camera held upright would be shown lying on its side.
        if marker == 0xE1 and segment[4:10] == EXIF:
            yield _only_orientation(segment[10:])
        elif marker in KEPT_APPS and segment.startswith(KEPT_APPS[marker], 4):
            yield _without_thumbnail(segment) if marker == JFIF else segment
        elif marker != COM and marker not in APPS:
            yield segment


def _without_thumbnail(jfif: bytes) -> bytes:
    if len(jfif) <= JFIF_BYTES:
        return jfif
    return jfif[:2] + struct.pack(">H", JFIF_BYTES - 2) + jfif[4 : JFIF_BYTES - 2] + b"\0\0"


def _end_of_scan(body: bytes, at: int) -> int:
    """Where the next marker is; within the data of a picture, some look like one."""
    while True:
        at = body.index(b"\xff", at)
        # FF 00 is a byte FF of the picture, and FF D0 to FF D7 restart the decoder within the data.
        if body[at + 1] != 0 and not 0xD0 <= body[at + 1] <= 0xD7:
            return at
        at += 2


def _only_orientation(tiff: bytes) -> bytes:
    """EXIF that says only which side of a picture is up."""
    order = "<" if tiff[:2] == b"II" else ">"
    try:
        [start] = struct.unpack_from(f"{order}I", tiff, 4)
        [count] = struct.unpack_from(f"{order}H", tiff, start)
        entries = (struct.unpack_from(f"{order}HHIH", tiff, start + 2 + 12 * number) for number in range(count))
        value = next((entry[3] for entry in entries if entry[0] == ORIENTATION), 1)
    except struct.error:
        value = 1
    if not 1 < value <= 8:
        return b""
    # A TIFF header, and one directory with one entry: the orientation, a short integer.
    data = EXIF + struct.pack(">2sHIHHHIHHI", b"MM", 42, 8, 1, ORIENTATION, 3, 1, value, 0, 0)
    return struct.pack(">HH", 0xFFE1, len(data) + 2) + data


CLEANERS = {
    "image/png": _clean_png,
    "image/webp": _clean_webp,
    "image/gif": _clean_gif,
    "image/jpeg": _clean_jpeg,
}
