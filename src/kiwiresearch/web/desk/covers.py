"""Covers of books and lead pictures of pages: pictures that strangers made, sent as nothing but pictures."""

from __future__ import annotations

import struct
import zlib
from base64 import b64decode
from dataclasses import dataclass

from starlette.responses import Response

from kiwiresearch.brief import media_type_of
from kiwiresearch.errors import BookNotFound, KiwiError
from kiwiresearch.page import PagePicture, pictures_in
from kiwiresearch.text import words_in
from kiwiresearch.web.addresses import page_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.workspace import Finder, RecentCache
from kiwiresearch.zim import Archive, EntryRef, LibzimArchive, ListedBook, without_policy

MAX_COVERS = 500
MAX_KNOWN = 4_000
TIMEOUT_S = 1.0
"""How long a page waits for books that are in use before it goes without a picture."""

LOOKED_AT_BYTES = 128 * 1024
"""The lead picture of a page is near its beginning; long pages would take a tenth of a second to parse."""
MIN_BYTES = 1_000
"""Smaller pictures are icons."""
MAX_BYTES = 400_000
CANDIDATES = 3

HEADERS = {
    "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, max-age=86400",
}
NOTHING = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
"""A transparent GIF of one pixel: the place that a list reserves for a picture stays empty."""


@dataclass(frozen=True, slots=True)
class PictureReply:
    """A picture and its type, which its first bytes show."""

    content: bytes
    media_type: str

    def response(self) -> Response:
        return Response(self.content, headers=HEADERS, media_type=self.media_type)


class BooksBusy(Exception):
    """The books are in use, so whether there is a picture is not known yet."""


class Covers:
    """The covers of a server's books, each read once."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._recent: RecentCache[str, PictureReply | None] = RecentCache(MAX_COVERS)

    def of(self, book: ListedBook) -> PictureReply | None:
        """The cover of a book; None if it has none, is on another server, or cannot be read now."""
        try:
            return self._recent.get(book.id, lambda: self._read(book))
        except BooksBusy:
            return None

    def address(self, book_id: str) -> str:
        """Where the cover of a book is; empty if it has none."""
        book = next((listed_book for listed_book in self._context.shelf.books if listed_book.id == book_id), None)
        return f"/books/{book_id}/cover" if book and self.of(book) else ""

    def _read(self, book: ListedBook) -> PictureReply | None:
        with self._context.try_locked_finder(TIMEOUT_S) as finder:
            if finder is None:
                raise BooksBusy
            try:
                archive = without_policy(self._context.shelf.open(book))
            except KiwiError:
                return None
            content = archive.illustration() if isinstance(archive, LibzimArchive) else b""
        kind = media_type_of(content)
        return PictureReply(content, kind) if kind and not is_blank(content) else None


def is_blank(png: bytes) -> bool:
    """Whether a PNG shows nothing: a plain square, as programs store that must store some cover, or damaged data.

    Each row of a plain square is one pixel repeated, as one of the filters of PNG writes that.
    """
    if not png.startswith(b"\x89PNG"):
        return False
    try:
        width, height, depth, colours, _, _, interlaced = struct.unpack(">IIBBBBB", png[16:29])
        channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colours]
        if not width or not height:  # nothing to see, and the limit below would be none
            return True
        size = -(-width * channels * depth // 8)
        if interlaced or height * (size + 1) > MAX_BYTES:
            return False
        data = zlib.decompressobj().decompress(b"".join(_pixels(png)), height * (size + 1) + 1)
    except (KeyError, struct.error, zlib.error):
        return True
    rows = [data[at : at + size + 1] for at in range(0, len(data), size + 1)]
    pixel = rows[0][1 : 1 + max(1, channels * depth // 8)] if rows else b""
    repeated, first, same = pixel * width, pixel.ljust(size, b"\0"), bytes(size)
    # What a plain square has in a row, by the filter that begins it: 0 is none, 1 subtracts the pixel on the left,
    # 2 the one above, and 4 (Paeth) the most similar of the neighbours.
    top = {0: repeated[:size], 1: first, 2: repeated[:size], 4: first}
    below = {0: repeated[:size], 1: first, 2: same, 4: same}
    return len(rows) == height and all(
        row[1:] == (below if index else top).get(row[0]) for index, row in enumerate(rows)
    )


def _pixels(png: bytes) -> list[bytes]:
    """The compressed parts of a PNG."""
    found, at = [], 8
    while at + 8 <= len(png):
        length = int.from_bytes(png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            found.append(png[at + 8 : at + 8 + length])
        # The length, the name and the checksum of a part have four bytes each.
        at += length + 12
    return found


def initials(title: str) -> str:
    """The letters of a drawn cover."""
    return "".join(word[0] for word in words_in(title)[:2]).upper()


def picture_address(ref: EntryRef) -> str:
    """Where the lead picture of a page is; whether it has one is found out when a browser asks for it."""
    return f"/picture{page_address(ref).removeprefix('/page')}"


class LeadPictures:
    """The first picture of each page: that of its infobox, or else the first one with a caption."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._recent: RecentCache[EntryRef, PagePicture | None] = RecentCache(MAX_KNOWN)

    def of(self, ref: EntryRef) -> PagePicture | None:
        """The lead picture of a page; None if it has none, or if the books are in use."""
        try:
            return self._recent.get(ref, lambda: self._find(ref))
        except BooksBusy:
            return None

    def content_of(self, ref: EntryRef) -> bytes:
        """The bytes of the lead picture of a page; none if it has none, or if the books are in use."""
        try:
            return self._lead(ref)
        except BooksBusy:
            return b""

    def _lead(self, ref: EntryRef) -> bytes:
        picture = self._recent.get(ref, lambda: self._find(ref))
        return self._content(EntryRef(ref.book, picture.path)) if picture else b""

    def response(self, ref: EntryRef) -> Response:
        """The lead picture itself; a transparent pixel if there is none."""
        try:
            content = self._lead(ref)
        except BooksBusy:
            return Response(NOTHING, headers=HEADERS | {"Cache-Control": "no-store"}, media_type="image/gif")
        kind = media_type_of(content)
        return (PictureReply(content, kind) if kind else PictureReply(NOTHING, "image/gif")).response()

    def _find(self, ref: EntryRef) -> PagePicture | None:
        with self._context.try_locked_finder(TIMEOUT_S) as finder:
            if finder is None:
                raise BooksBusy
            content, title = _page(finder, ref)
        # Parsed without the lock, so that a list with twenty pictures does not keep others from searching.
        found = sorted(pictures_in(content[:LOOKED_AT_BYTES], ref.path, title), key=lambda picture: not picture.in_box)
        return next(
            (picture for picture in found[:CANDIDATES] if self._content(EntryRef(ref.book, picture.path))), None
        )

    def _content(self, ref: EntryRef) -> bytes:
        """The bytes of a picture; none if it is missing, too small or too large, or no picture."""
        with self._context.try_locked_finder(TIMEOUT_S) as finder:
            if finder is None:
                raise BooksBusy
            try:
                archive = _archive(finder, ref)
                size = archive.info(ref.path).size
                content = archive.read(ref.path).content if MIN_BYTES <= size <= MAX_BYTES else b""
            except KiwiError:
                return b""
        return content if media_type_of(content) else b""


def _archive(finder: Finder, ref: EntryRef) -> Archive:
    """The book of a page, as the policy shows it; the address may name any book."""
    found = next((book for book in finder.books if book.id == ref.book), None)
    if found is None:
        raise BookNotFound("The library does not have this book.")
    return found.archive


def _page(finder: Finder, ref: EntryRef) -> tuple[bytes, str]:
    try:
        entry = _archive(finder, ref).read(ref.path)
    except KiwiError:
        return b"", ""
    return (entry.content, entry.title) if entry.is_html else (b"", "")
