"""Titles in the order of the alphabet: by letter, page by page, and by how they begin."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import BookMaker

from kiwiresearch.search.title_index_builder import build_titles, titles_file
from kiwiresearch.search.titles import TitleIndex, open_titles
from kiwiresearch.zim import LibzimArchive

TITLES = (
    "Zebra",
    "apple",
    "Ébène",
    "Eagle",
    "10th century",
    "Battle of Elm",
    "Battle of Ash",
    "Battleship",
    "Portalegre",
)


@pytest.fixture
def index(a_book: BookMaker, tmp_path: Path) -> Iterator[TitleIndex]:
    archive = LibzimArchive(a_book({title: f"<p>{title} is a word.</p>" for title in TITLES}))
    build_titles(archive, titles_file(tmp_path, archive.book))
    found = open_titles(titles_file(tmp_path, archive.book), archive.book)
    assert found is not None
    yield found
    found.close()


def test_pages_follow_each_other_and_lead_back(index: TitleIndex) -> None:
    """Case and accents do not count; every title is on one page, and each page knows its neighbours."""
    seen: list[str] = []
    starts: list[str] = []
    start = ""
    while True:
        page = index.in_order.page(start, 2)
        assert page.before == (starts[-1] if starts else None)
        seen += [row.title for row in page.rows]
        if page.after is None:
            break
        starts.append(start or "10thcentury")
        start = page.after
    ours = [title for title in seen if title in TITLES]
    assert ours[:5] == ["10th century", "apple", "Battle of Ash", "Battle of Elm", "Battleship"]
    assert ours[5:] == ["Eagle", "Ébène", "Portalegre", "Zebra"]


def test_letters_are_those_that_titles_begin_with(index: TitleIndex) -> None:
    assert set("1abepz") <= set(index.in_order.heads())
    assert index.in_order.heads("e") == ("ea", "eb")
    assert index.in_order.heads("x") == ()


def test_a_list_starts_where_the_reader_wants(index: TitleIndex) -> None:
    assert [row.title for row in index.in_order.page("East", 1).rows] == ["Ébène"]
    assert index.in_order.page("zz", 5).rows == ()


def test_titles_that_begin_alike_are_a_group(index: TitleIndex) -> None:
    """A colon counts: 'Portal:' is not the beginning of 'Portalegre'."""
    found = index.in_order.page("", 10, "Battle of")
    assert [row.title for row in found.rows] == ["Battle of Ash", "Battle of Elm"]
    assert index.in_order.count("Battle of", 10) == 2
    assert index.in_order.count("Portal:", 10) == 0


def test_hidden_titles_are_not_listed(index: TitleIndex) -> None:
    index.set_filter(lambda title, _path: title == "Eagle")
    assert "Eagle" not in [row.title for row in index.in_order.page("", 100).rows]
