"""Books for the search tests, open and ready to be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from tests.zim.memory import MemoryArchive

from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.libzim import LibzimArchive

OpenBookMaker = Callable[..., OpenBook]


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[OpenBookMaker]:
    """Opens an archive for searching; `index` builds its title index first."""
    opened: list[OpenBook] = []

    def make(archive: Archive, *, index: bool = False) -> OpenBook:
        titles = None
        if index:
            file = titles_file(tmp_path / "indexes", archive.book)
            file.parent.mkdir(exist_ok=True)
            build_titles(archive, file)
            titles = open_titles(file, archive.book)
        opened.append(OpenBook(archive, titles))
        return opened[-1]

    yield make
    for book in opened:
        book.archive.close()
        if book.titles is not None:
            book.titles.close()


@pytest.fixture
def memory_book(ready: OpenBookMaker) -> OpenBookMaker:
    """Opens a book in memory: titles and what their pages say, aliases and the titles they lead to."""

    def make(
        pages: Mapping[str, str],
        aliases: Mapping[str, str] | None = None,
        *,
        index: bool = False,
        language: str = "eng",
        main_page: str = "",
    ) -> OpenBook:
        paths = {title.replace(" ", "_"): html for title, html in pages.items()}
        leading = {alias.replace(" ", "_"): title.replace(" ", "_") for alias, title in (aliases or {}).items()}
        return ready(MemoryArchive(paths, leading, language=language, main_page=main_page), index=index)

    return make


@pytest.fixture
def zim_book(ready: OpenBookMaker, a_book: Callable[..., Path]) -> OpenBookMaker:
    """Opens a ZIM file built from titles and what their pages say; `full_text` gives it its own indexes."""

    def make(
        pages: Mapping[str, str],
        aliases: Mapping[str, str] | None = None,
        *,
        index: bool = False,
        full_text: bool = True,
        **options: str,
    ) -> OpenBook:
        paths = {title.replace(" ", "_"): html for title, html in pages.items()}
        leading = {alias.replace(" ", "_"): title.replace(" ", "_") for alias, title in (aliases or {}).items()}
        return ready(LibzimArchive(a_book(paths, leading, index=full_text, **options)), index=index)

    return make
