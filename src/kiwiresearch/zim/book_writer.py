"""Writing ZIM files, in this process or a child of it, and the sample book."""

from __future__ import annotations

import contextlib
import hashlib
import html
import json
import os
import re
import struct
import sys
import tempfile
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from libzim.writer import ContentProvider, Creator, Hint, Item, StringProvider

from kiwiresearch.errors import BadSettings
from kiwiresearch.zim.libzim import quiet


@dataclass(frozen=True, slots=True)
class NewPage:
    """A page to write."""

    path: str
    title: str
    content: bytes
    mimetype: str = "text/html"
    is_article: bool = True
    is_packed: bool = True
    """Whether to compress it; scrapers store videos, sounds and pictures uncompressed."""


@dataclass(frozen=True, slots=True)
class NewRedirect:
    """Another path for a page, with a title of its own."""

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
    """Write a book; the file appears complete or not at all.

    The same pages give the same bytes every time, including the UUID.
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
    """Replace the UUIDs that libzim draws at random, of the book and its two search indexes.

    They are derived from the content instead, and the checksum at the end of the
    file is updated. Nothing else differs between two builds.
    """
    data = bytearray(file.read_bytes())
    # Byte 8 of a ZIM file starts its UUID; a Xapian database has its own right after its header.
    places = [8, *(found.end() for found in XAPIAN_HEADER.finditer(data))]
    for place in places:
        # Zeros while the hash is computed, or the random UUIDs would be part of it.
        data[place : place + 16] = bytes(16)
    content = hashlib.sha256(data[:-CHECKSUM_BYTES]).digest()[:16]
    for place in places:
        data[place : place + 16] = content
    data[-CHECKSUM_BYTES:] = hashlib.md5(data[:-CHECKSUM_BYTES], usedforsecurity=False).digest()
    file.write_bytes(data)


def plain_png(size: int) -> bytes:
    """A square of one colour, since a ZIM file must contain an illustration."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    rows = (b"\x00" + b"\x2d\x6a\x4f" * size) * size
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def build_request(pages: Sequence[NewPage], metadata: Mapping[str, str], *, language: str, main_path: str) -> bytes:
    """The input of a child process that writes a book, as one JSON document.

    A child writes it because libzim prints to the terminal while it writes, and silencing
    that would silence everything else of the process.
    """
    rows = [[page.path, page.title, b64encode(page.content).decode(), page.mimetype, page.is_article] for page in pages]
    request = {"pages": rows, "metadata": dict(metadata), "language": language, "main_path": main_path}
    return json.dumps(request).encode()


def main(arguments: list[str]) -> None:
    """The child process: `python -m MODULE TARGET`, with a build request on standard input."""
    (target,) = arguments
    with contextlib.suppress(AttributeError, OSError):
        os.nice(10)
    request = json.loads(sys.stdin.buffer.read())
    pages = [
        NewPage(path, title, b64decode(content), mimetype, is_article=is_article)
        for path, title, content, mimetype, is_article in request.pop("pages")
    ]
    write_book(Path(target), pages, **request)


MODULE = __name__
"""This module, run as a child process."""

ARTICLES = Path(__file__).with_name("sample_book")
FRAME_VERSION = 1
"""Increased when the page template below changes, so that cached books are rebuilt."""

METADATA = {
    "Name": "kiwiresearch_en_sample",
    "Title": "kiwiresearch sample book",
    "Description": "A small encyclopedia to try kiwiresearch on",
    "LongDescription": "Articles on the Late Bronze Age collapse, the sky, galaxies and three families.",
    "Language": "eng",
    "Creator": "kiwiresearch",
    "Publisher": "kiwiresearch",
    "Date": "2025-07-01",
    "License": "GPL-3.0-or-later",
    "Scraper": "kiwiresearch",
    "Tags": "_category:other;_ftindex:yes;_pictures:no;_videos:no;_details:yes",
}

HEAD = re.compile(r'<title>(?P<title>.*?)</title>|<meta name="(?P<key>\w+)" content="(?P<value>[^"]*)">')

PAGE = """<!DOCTYPE html>
<html lang="en"><head>
<meta charset="UTF-8">
<title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1.0">
</head>
<body class="mediawiki ltr ns-{namespace} skin-vector">
<div id="content" class="mw-body">
<a id="top"></a>
<h1 id="firstHeading" class="firstHeading mw-first-heading"><span class="mw-page-title-main">{title}</span></h1>
<div id="bodyContent" class="vector-body">
<div id="mw-content-text" class="mw-body-content"><div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">
{content}
</div></div>
{categories}<!--htdig_noindex--><div class="zim-footer">
This article is issued from the <a class="external text" title="Last edited on {edited}" href="https://sample.kiwiresearch.invalid/w/index.php?title={address}&amp;oldid={revision}">kiwiresearch sample</a>. The text is licensed under the GNU General Public License, version 3 or later.
</div><!--/htdig_noindex-->
</div></div>
</body></html>
"""


@dataclass(frozen=True, slots=True)
class SampleArticle:
    """An article of the sample book: its metadata and its HTML."""

    title: str
    edited: str
    revision: str
    redirects: tuple[str, ...]
    categories: tuple[str, ...]
    content: str

    @property
    def path(self) -> str:
        return path_of(self.title)


def path_of(title: str) -> str:
    return title.replace(" ", "_")


def read_articles(folder: Path = ARTICLES) -> list[SampleArticle]:
    """All articles of the folder, sorted by title."""
    found = [_article(file.read_text(encoding="utf-8")) for file in folder.glob("*.html")]
    return sorted(found, key=lambda article: article.title)


def sample_file(cache: Path) -> Path:
    """The sample book in the cache folder, built if it is missing or its articles have changed."""
    digest = hashlib.sha256(f"{FRAME_VERSION} {sorted(METADATA.items())}".encode())
    for file in sorted(ARTICLES.glob("*.html")):
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    target = cache / f"sample-{digest.hexdigest()[:16]}.zim"
    if not target.is_file():
        try:
            build_sample(target)
        except (OSError, RuntimeError) as problem:
            raise BadSettings(
                f"Could not write the sample book to {str(cache)!r}: {problem}.",
                remedy="Free up disk space, or set KIWIRESEARCH_HOME to a folder you can write to.",
            ) from problem
        for old in cache.glob("sample-*.zim"):
            if old != target:
                old.unlink(missing_ok=True)
    return target


def build_sample(target: Path) -> None:
    articles = read_articles()
    pages = [_main_page(articles), *map(_page, articles), *_category_pages(articles)]
    redirects = [NewRedirect(path_of(name), name, article.path) for article in articles for name in article.redirects]
    write_book(target, pages, redirects, metadata=METADATA, main_path="Main_Page")


def _article(source: str) -> SampleArticle:
    head, _, content = source.partition("\n\n")
    values = {m["key"] or "title": html.unescape(m["value"] or m["title"] or "") for m in HEAD.finditer(head)}
    return SampleArticle(
        title=values["title"],
        edited=values["edited"],
        revision=values["revision"],
        redirects=_names(values.get("redirects", "")),
        categories=_names(values.get("categories", "")),
        content=content.strip(),
    )


def _names(value: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in value.split("|") if name.strip())


def _page(article: SampleArticle, namespace: int = 0, *, is_article: bool = True) -> NewPage:
    links = "".join(f"<li>{_link(f'Category:{name}', name)}</li>" for name in article.categories)
    box = (
        '<div id="catlinks" class="catlinks"><div id="mw-normal-catlinks" class="mw-normal-catlinks">'
        f"Categories: <ul>{links}</ul></div></div>\n"
    )
    content = PAGE.format(
        title=html.escape(article.title, quote=False),
        address=html.escape(article.path),
        namespace=namespace,
        content=article.content,
        categories=box if links else "",
        edited=article.edited,
        revision=article.revision,
    )
    return NewPage(article.path, article.title, content.encode(), is_article=is_article)


def _link(title: str, words: str) -> str:
    return f'<a href="./{html.escape(path_of(title))}" title="{html.escape(title)}">{html.escape(words)}</a>'


def _category_pages(articles: list[SampleArticle]) -> list[NewPage]:
    names = sorted({name for article in articles for name in article.categories})
    pages = []
    for index, name in enumerate(names):
        members = [article.title for article in articles if name in article.categories]
        rows = "\n".join(f"<li>{_link(title, title)}</li>" for title in members)
        content = f'<div id="mw-pages"><p>The pages in this category.</p>\n<ul>\n{rows}\n</ul></div>'
        page = SampleArticle(f"Category:{name}", METADATA["Date"], str(100_900 + index), (), (), content)
        pages.append(_page(page, 14, is_article=False))
    return pages


def _main_page(articles: list[SampleArticle]) -> NewPage:
    rows = "\n".join(f"<li>{_link(article.title, article.title)}</li>" for article in articles)
    content = f"<p>The articles of the sample book.</p>\n<ul>\n{rows}\n</ul>"
    return _page(SampleArticle("Main Page", METADATA["Date"], "100900", (), (), content), is_article=False)


if __name__ == "__main__":
    main(sys.argv[1:])
