"""Pictures as bytes: which kinds a brief shows, and how a run keeps them in one file."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal

from kiwiresearch.ids import canonical_json

MediaType = Literal["image/gif", "image/jpeg", "image/png", "image/webp"]
Images = Mapping[str, bytes]
"""The bytes of pictures by their SHA-256."""

BEGINNINGS: tuple[tuple[bytes, MediaType], ...] = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_type_of(content: bytes) -> MediaType | None:
    """What a picture is by its first bytes, whatever its name says; None for what browsers may run, such as SVG."""
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for beginning, kind in BEGINNINGS if content.startswith(beginning)), None)


def file_name(sha: str, media_type: MediaType) -> str:
    """The name of a picture where it is a file of its own."""
    return f"pictures/{sha}.{media_type.partition('/')[2]}"


def data_address(content: bytes, media_type: MediaType) -> str:
    """The picture as an address that holds it."""
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def images_text(images: Images) -> str:
    """What `pictures.json` holds."""
    return canonical_json({sha: b64encode(content).decode() for sha, content in images.items()}, indent=1) + "\n"


def images_of(record: Mapping[str, Any]) -> dict[str, bytes]:
    """The pictures of a `pictures.json`; ValueError if it is none, or if a picture does not have its hash."""
    images = {sha: b64decode(str(row), validate=True) for sha, row in record.items()}
    for sha, content in images.items():
        if sha256(content).hexdigest() != sha:
            raise ValueError(f"the picture {sha[:80]!r} does not have the hash that it is named by")
    return images
