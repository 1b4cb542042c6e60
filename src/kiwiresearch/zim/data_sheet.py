"""The data sheet of a book, read from its ZIM file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import MAX_HOPS
from kiwiresearch.zim.book import Book, Indexes, clean, flavour_of, kind_of, languages_of, tags_of
from kiwiresearch.zim.listing import Listing

METADATA = ("Name", "Title", "Description", "Date", "Language", "Flavour", "Creator",
            "Publisher", "Scraper", "Source", "Tags")  # fmt: skip

COUNTED_ENTRIES = 10_000
"""Up to this many entries articles are counted one by one, which takes milliseconds."""

RawArchive = Any
"""An archive as libzim opens it, which has no types of its own."""


def book_in(raw: RawArchive, path: Path, parts: Sequence[Path]) -> Book:
    """What a file says about itself; `path` is how the user named it."""
    metadata = {key: _metadata(raw, key) for key in METADATA}
    tags = tags_of(metadata["Tags"])
    stem = parts[0].stem
    return Book(
        id=BookId(str(raw.uuid)),
        source=str(path),
        name=clean(metadata["Name"]) or stem,
        title=clean(metadata["Title"]).replace("_", " ") or stem,
        description=clean(metadata["Description"]),
        date=clean(metadata["Date"]),
        languages=languages_of(metadata["Language"]),
        flavour=flavour_of(metadata["Flavour"], tags, stem),
        creator=clean(metadata["Creator"]),
        publisher=clean(metadata["Publisher"]),
        scraper=clean(metadata["Scraper"]),
        tags=tags,
        articles=_count_articles(raw),
        entries=raw.entry_count,
        media=raw.media_count,
        size_bytes=sum(part.stat().st_size for part in parts),
        indexes=Indexes(full_text=raw.has_fulltext_index, titles=raw.has_title_index),
        kind=kind_of(metadata, stem),
        main_page=_main_page(raw),
        old_namespaces=not raw.has_new_namespace_scheme,
    )


def _metadata(raw: RawArchive, key: str) -> str:
    try:
        return cast("bytes", raw.get_metadata(key)).decode("utf-8", "replace")
    except (RuntimeError, KeyError):
        return ""


def _count_articles(raw: RawArchive) -> int:
    if raw.entry_count <= COUNTED_ENTRIES:
        return len(Listing(raw, old=not raw.has_new_namespace_scheme).article_ids())
    # New files count redirects among their articles; their tally of types does not.
    pages = re.search(r"text/html(?:;[^=;]*)?=(\d+)", _metadata(raw, "Counter"))
    listed = int(raw.article_count)
    return min(listed, int(pages[1])) if pages and listed else listed


def _main_page(raw: RawArchive) -> str:
    try:
        found = raw.main_entry
        for _ in range(MAX_HOPS):
            if not found.is_redirect:
                return str(found.path)
            found = found.get_redirect_entry()
    except (RuntimeError, KeyError, IndexError):
        pass
    return ""
