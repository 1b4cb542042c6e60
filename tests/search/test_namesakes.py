"""Every 'Name (qualifier)' of a real book is found by its names, and does not hide the plain 'Name'."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.shelf_search import SearchOptions, search_books
from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.libzim import LibzimArchive

QUALIFIED = re.compile(r"^(?P<name>.*\S)\s*\((?P<qualifier>[^()]*)\)$")
FAST = SearchOptions(limit=1, fast=True)
FOURTH = 4
"""Reading pages takes time, so the full ranking is shown for every fourth family."""


@pytest.fixture(scope="module")
def book(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenBook]:
    """A real encyclopaedia of several thousand pages with its title index."""
    archive = LibzimArchive(shared_data / "zims" / "schools-2007.zim")
    file = titles_file(tmp_path_factory.mktemp("titles"), archive.book)
    build_titles(archive, file)
    index = open_titles(file, archive.book)
    assert index
    yield OpenBook(archive, index)
    index.close()
    archive.close()


@pytest.fixture(scope="module")
def known(book: OpenBook) -> frozenset[str]:
    return frozenset(entry.title for entry in book.archive.titles())


def first_of(book: OpenBook, query: str, request: SearchOptions) -> str:
    hits = search_books([book], query, request).hits
    return hits[0].title if hits else ""


def families(known: frozenset[str]) -> list[re.Match[str]]:
    found = [match for title in sorted(known) if (match := QUALIFIED.match(title))]
    assert len(found) > 150
    return found


@pytest.mark.parametrize("options", [FAST, SearchOptions(limit=1)], ids=["fast", "full"])
def test_the_plain_name_is_first_for_itself(book: OpenBook, known: frozenset[str], options: SearchOptions) -> None:
    """If a book has both 'Name' and 'Name (qualifier)', 'Name' is the first page for its name (R74)."""
    names = sorted({match["name"] for match in families(known)} & known)
    assert names
    assert {name: first_of(book, name, options) for name in names} == {name: name for name in names}


@pytest.mark.parametrize("options", [FAST, SearchOptions(limit=1)], ids=["fast", "full"])
@pytest.mark.parametrize("spelling", ["{name} ({qualifier})", "{name} {qualifier}"])
def test_a_qualified_page_is_first_for_name_and_qualifier(
    book: OpenBook, known: frozenset[str], spelling: str, options: SearchOptions
) -> None:
    """'Name (qualifier)' is the first page for its name and qualifier, with brackets and without (R74)."""
    some = families(known) if options.fast else families(known)[::FOURTH]
    asked = {spelling.format_map(match.groupdict()): match[0] for match in some}
    assert {query: first_of(book, query, options) for query in asked} == asked
