"""Bytes of books as answers: their types, parts of them, and what browsers may do with them."""

from __future__ import annotations

import hashlib
import re

from starlette.responses import Response

from kiwiresearch.zim.entry import Entry

TYPE = re.compile(r"[\w.+-]{1,60}/[\w.+-]{1,60}")
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
FONTS = ("font/", "application/font", "application/x-font", "application/vnd.ms-fontobject")


def policy(*, scripts: bool) -> str:
    """What pages of books may do: be looked at.

    The sandbox takes them out of our origin, so that nothing in them can use the server as its user does;
    'self' still means the server's address, from which their pictures and styles come.
    """
    sandbox = "sandbox allow-scripts" if scripts else "sandbox allow-downloads"
    run = "script-src 'self' 'unsafe-inline'; " if scripts else ""
    return (
        f"{sandbox}; default-src 'none'; {run}img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
        "font-src 'self' data:; media-src 'self'; form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
    )


def headers_of(*, scripts: bool) -> dict[str, str]:
    """What goes with every answer that holds something of a book."""
    return {
        "Content-Security-Policy": policy(scripts=scripts),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


def type_of(entry: Entry) -> str:
    """The type of a file without parameters; what makes no sense is only bytes."""
    named = entry.mimetype.partition(";")[0].strip().lower()
    if not TYPE.fullmatch(named) or named == UNKNOWN:
        return BY_ENDING.get(entry.ref.path.rpartition(".")[2].lower(), UNKNOWN)
    return named


def file_response(entry: Entry, content: bytes, asked: str, *, scripts: bool) -> Response:
    """A file of a book that is no page, or the part of it that was asked for."""
    kind = type_of(entry)
    headers = headers_of(scripts=scripts) | {
        # A sandboxed page has no origin, so to a browser even the files of its own book come from elsewhere.
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, max-age=86400",
        "ETag": etag(entry, scripts=scripts),
        "Content-Type": f"{kind}; charset=utf-8" if kind.startswith("text/") and _is_utf8(content) else kind,
    }
    if kind.startswith(FONTS):
        headers["Access-Control-Allow-Origin"] = "null"  # browsers ask for fonts in the name of their page's origin
    if not kind.startswith((*SHOWN, *FONTS)) and kind not in ALSO_SHOWN:
        headers["Content-Disposition"] = "attachment"
    found = RANGE.fullmatch(asked.replace(" ", ""))
    if found is None:
        return Response(content, headers=headers)
    size = len(content)
    start = int(found[1]) if found[1] else max(size - int(found[3]), 0)
    end = min(int(found[2]), size - 1) if found[2] else size - 1
    if found[1] and found[2] and int(found[2]) < start:
        return Response(content, headers=headers)  # no range at all, which is to be overlooked
    if start > end or found[3] == "0":
        return Response(b"", 416, headers | {"Content-Range": f"bytes */{size}"})
    return Response(content[start : end + 1], 206, headers | {"Content-Range": f"bytes {start}-{end}/{size}"})


def etag(entry: Entry, *, scripts: bool) -> str:
    """A book never changes, so what names its file names the bytes."""
    named = f"{entry.ref} {scripts}"
    return f'"{hashlib.sha256(named.encode("utf-8", "replace")).hexdigest()[:20]}"'


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
