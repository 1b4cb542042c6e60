"""Write a ZIM file: for the sample book, and for test books made of readable HTML."""

from __future__ import annotations

import hashlib
import os
import re
import struct
import tempfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from libzim.writer import ContentProvider, Creator, Hint, Item, StringProvider

from kiwiresearch.zim.quiet import quiet


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page to be written."""

    path: str
    title: str
    content: bytes
    mimetype: str = "text/html"
    is_article: bool = True
    is_packed: bool = True
    """Whether it is compressed; scrapers leave films, sounds and pictures as they are."""


@dataclass(frozen=True, slots=True)
class NewRedirect:
    """A second path, with a title of its own, for a page."""

    path: str
    title: str
    target: str


class _Item(Item):  # type: ignore[misc]
    def __init__(self, page: NewPage) -> None:
        super().__init__()
        self._page = page

    def get_path(self) -> str:
        return self._page.path

    def get_title(self) -> str:
        return self._page.title

    def get_mimetype(self) -> str:
        return self._page.mimetype

    def get_contentprovider(self) -> ContentProvider:
        return StringProvider(self._page.content)

    def get_hints(self) -> dict[Hint, int]:
        return {Hint.FRONT_ARTICLE: self._page.is_article, Hint.COMPRESS: self._page.is_packed}


def write_book(
    target: Path,
    pages: Iterable[NewPage],
    redirects: Iterable[NewRedirect] = (),
    *,
    metadata: Mapping[str, str],
    language: str = "eng",
    main_path: str = "",
    index: bool = True,
) -> None:
    """Write a book; the file appears whole or not at all.

    The same pages give the same bytes, UUID included, on every run.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".", suffix=".zim")
    os.close(handle)
    part = Path(name)
    try:
        with quiet():
            creator = Creator(part).config_indexing(index, language).config_nbworkers(1)
            if main_path:
                creator.set_mainpath(main_path)
            with creator:
                for key, value in sorted(metadata.items()):
                    creator.add_metadata(key, value)
                creator.add_illustration(48, plain_png(48))
                for page in pages:
                    creator.add_item(_Item(page))
                for redirect in redirects:
                    hints = {Hint.FRONT_ARTICLE: True}
                    creator.add_redirection(redirect.path, redirect.title, redirect.target, hints)
        make_reproducible(part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


XAPIAN_HEADER = re.compile(rb"\x0f\rXapian Glass..", re.DOTALL)
CHECKSUM_BYTES = 16


def make_reproducible(file: Path) -> None:
    """Replace what libzim draws at random: the book's UUID and those of its two search indexes.

    They are taken from the content instead, and the checksum at the end of the
    file is computed anew. Nothing else differs between two builds.
    """
    data = bytearray(file.read_bytes())
    places = [8, *(found.end() for found in XAPIAN_HEADER.finditer(data))]
    for place in places:
        data[place : place + 16] = bytes(16)
    content = hashlib.sha256(data[:-CHECKSUM_BYTES]).digest()[:16]
    for place in places:
        data[place : place + 16] = content
    data[-CHECKSUM_BYTES:] = hashlib.md5(data[:-CHECKSUM_BYTES], usedforsecurity=False).digest()
    file.write_bytes(data)


def plain_png(size: int) -> bytes:
    """A square of one colour, since a ZIM file must carry a picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    rows = (b"\x00" + b"\x2d\x6a\x4f" * size) * size
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
