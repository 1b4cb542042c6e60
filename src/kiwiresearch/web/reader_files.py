"""Bytes of books as answers: their types, parts of them, and what browsers may do with them."""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from starlette.responses import Response, StreamingResponse

from kiwiresearch.zim.entry import Item

TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)
RANGE = re.compile(r"bytes=(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))")
SHOWN = ("image/", "audio/", "video/", "font/", "text/")
"""Types that a browser shows by itself; a page's link to any other is a file to keep."""

ALSO_SHOWN = frozenset({"application/javascript", "application/json", "application/xml", "application/ogg"})
BY_ENDING = {
    "css": "text/css", "js": "text/javascript", "mjs": "text/javascript", "html": "text/html", "htm": "text/html",
    "svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
    "webp": "image/webp", "ico": "image/x-icon", "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf",
    "otf": "font/otf", "mp3": "audio/mpeg", "ogg": "audio/ogg", "oga": "audio/ogg", "ogv": "video/ogg",
    "webm": "video/webm", "mp4": "video/mp4", "vtt": "text/vtt", "txt": "text/plain", "json": "application/json",
    "pdf": "application/pdf", "epub": "application/epub+zip",
}  # fmt: skip
"""For the files whose makers named no type that helps."""

UNKNOWN = "application/octet-stream"
PIECE_BYTES = 2**20
"""How much of a file is in memory at once; a larger one is sent piece by piece."""

SNIFFED_BYTES = 64 * 1024
FONTS = ("font/", "application/font", "application/x-font", "application/vnd.ms-fontobject")


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file: how many there are, and how to get those from one place to another."""

    size: int
    part: Callable[[int, int], bytes]


def whole(content: bytes) -> Content:
    """Bytes that are here already."""
    return Content(len(content), lambda start, end: content[start:end])


OUT_OF_A_FRAME = " allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"
"""A page without scripts leaves a frame by a reader's click on a link that says so, and only we write those."""


def policy(*, scripts: bool, is_framed: bool = False) -> str:
    """What pages of books may do: be looked at.

    The sandbox takes them out of our origin, so that nothing in them can use the server as its user does;
    'self' still means the server's address, from which their pictures and styles come.
    """
    plain = f"sandbox allow-downloads{OUT_OF_A_FRAME if is_framed else ''}"
    sandbox = "sandbox allow-scripts" if scripts else plain
    run = "script-src 'self' 'unsafe-inline'; " if scripts else ""
    return (
        f"{sandbox}; default-src 'none'; {run}img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
        "font-src 'self' data:; media-src 'self'; form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
    )


def headers_of(*, scripts: bool, is_framed: bool = False) -> dict[str, str]:
    """What goes with every answer that holds something of a book."""
    return {
        "Content-Security-Policy": policy(scripts=scripts, is_framed=is_framed),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def type_of(item: Item) -> str:
    """The type of a file without parameters; what makes no sense is only bytes."""
    named = item.mimetype.partition(";")[0].strip().lower()
    if not TYPE.fullmatch(named) or named == UNKNOWN:
        return BY_ENDING.get(item.ref.path.rpartition(".")[2].lower(), UNKNOWN)
    return named


def file_response(item: Item, content: Content, asked: str, *, scripts: bool, is_head: bool = False) -> Response:
    """A file of a book that is no page, or the part of it that was asked for."""
    kind = type_of(item)
    headers = headers_of(scripts=scripts) | {
        # A sandboxed page has no origin, so to a browser even the files of its own book come from elsewhere.
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, max-age=86400",
        "ETag": etag(item, scripts=scripts),
        "Content-Type": f"{kind}; charset=utf-8" if kind.startswith("text/") and _is_utf8(content) else kind,
    }
    if kind.startswith(FONTS):
        headers["Access-Control-Allow-Origin"] = "null"  # browsers ask for fonts in the name of their page's origin
    if not kind.startswith((*SHOWN, *FONTS)) and kind not in ALSO_SHOWN:
        headers["Content-Disposition"] = "attachment"
    size = content.size
    if is_head:
        return Response(b"", headers=headers | {"Content-Length": str(size)})
    found = RANGE.fullmatch(asked.replace(" ", ""))
    if found is None or (found[1] and found[2] and int(found[2]) < int(found[1])):  # no range, which is overlooked
        return _sent(content, 0, size, 200, headers)
    start = int(found[1]) if found[1] else max(size - int(found[3]), 0)
    end = min(int(found[2]) + 1, size) if found[2] else size
    if start >= end or found[3] == "0":
        return Response(b"", 416, headers | {"Content-Range": f"bytes */{size}"})
    return _sent(content, start, end, 206, headers | {"Content-Range": f"bytes {start}-{end - 1}/{size}"})


def _sent(content: Content, start: int, end: int, status: int, headers: dict[str, str]) -> Response:
    """Bytes on their way; the first are read at once, so that what is wrong with them still has a status of its own."""
    behind = min(start + PIECE_BYTES, end)
    first = content.part(start, behind)
    if behind == end:
        return Response(first, status, headers)

    def pieces() -> Iterator[bytes]:
        yield first
        for place in range(behind, end, PIECE_BYTES):
            yield content.part(place, min(place + PIECE_BYTES, end))

    return StreamingResponse(pieces(), status, headers | {"Content-Length": str(end - start)})


def etag(item: Item, *, scripts: bool) -> str:
    """A book never changes, so what names its file names the bytes."""
    named = f"{item.ref} {scripts}"
    return f'"{hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()[:20]}"'


def _is_utf8(content: Content) -> bool:
    """Whether a text begins as UTF-8 does; a letter may be cut where the look at it ends."""
    beginning = content.part(0, SNIFFED_BYTES)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(beginning, final=content.size <= SNIFFED_BYTES)
    except UnicodeDecodeError:
        return False
    return True
