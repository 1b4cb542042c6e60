"""The sample book, open for questions, with a title index and without one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.ask.question_books import Counting

from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles

SampleMaker = Callable[[], tuple[OpenBook, Counting]]


@pytest.fixture(scope="session")
def sample_titles(sample_zim: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The title index of the sample book."""
    archive = Counting(sample_zim)
    file = titles_file(tmp_path_factory.mktemp("asked_titles"), archive.book)
    build_titles(archive, file)
    archive.close()
    return file


@pytest.fixture
def sample_book(sample_zim: Path) -> Iterator[OpenBook]:
    archive = Counting(sample_zim)
    yield OpenBook(archive)
    archive.close()


@pytest.fixture(params=["no index", "title index"])
def either_sample(request: pytest.FixtureRequest, sample_zim: Path, sample_titles: Path) -> Iterator[SampleMaker]:
    """Opens the sample book, with its title index and without; nothing was asked of it yet."""
    opened: list[OpenBook] = []

    def make() -> tuple[OpenBook, Counting]:
        archive = Counting(sample_zim)
        titles = open_titles(sample_titles, archive.book) if request.param == "title index" else None
        opened.append(OpenBook(archive, titles))
        return opened[-1], archive

    yield make
    for book in opened:
        book.archive.close()
        if book.titles is not None:
            book.titles.close()
