"""What is true of every page that is cut for questions, whatever it says."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ask.passages import page_passages
from tests.page.pages import a_page
from tests.page.test_page_laws import markup

from kiwiresearch.ask.page_units import SegmentedPage, segment_page
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.errors import KiwiError
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.libzim import LibzimArchive

windows = st.builds(AskSettings, window_words=st.integers(1, 40), overlap_words=st.integers(0, 20))


def check(read: SegmentedPage) -> None:
    """Offsets point at their own words, in order; passages are whole units; nothing is named twice."""
    text = read.page.text
    assert len(read.lowered) == len(text)
    body = [unit for unit in read.units if unit.kind != "box"]
    assert all(one.end <= other.start for one, other in pairwise(body))
    assert list(read.units) == [*body, *read.units[len(body) :]]
    for unit in read.units:
        assert 0 <= unit.start < unit.end <= len(text)
        assert read.text(unit) == text[unit.start : unit.end]
        assert read.text(unit).strip()
    shown: set[int] = set()
    for passage, (first, end) in zip(page_passages(read), read.spans, strict=True):
        assert passage.text == text[passage.start : passage.end]
        assert (passage.start, passage.end) == (read.units[first].start, read.units[end - 1].end)
        assert first < end
        shown.update(range(first, end))
    assert shown == set(range(len(read.units)))
    keys = [passage.key for passage in page_passages(read)]
    assert len(keys) == len(set(keys))
    assert len(read.context_of) == len(read.units)
    assert all(0 <= number < len(read.contexts) for number in read.context_of)


@settings(max_examples=150)
@given(markup, windows)
def test_any_page_is_cut_into_whole_units(html: str, chosen: AskSettings) -> None:
    """Every unit and passage is a part of the page's text, in order, and cutting again gives the same."""
    page = a_page(html)
    read = segment_page(page, chosen)
    check(read)
    assert segment_page(page, chosen) == read


@settings(max_examples=60)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=40), windows)
def test_windows_go_on_and_cover_all_sentences(lengths: list[int], chosen: AskSettings) -> None:
    """Of sentences of any lengths each is in a window, and each window begins further on than the one before."""
    words = " ".join(f"{'Word ' * size}end." for size in lengths)
    read = segment_page(a_page(f"<p>{words}</p>"), chosen)
    check(read)
    assert all(one.start < other.start for one, other in pairwise(page_passages(read)))


def check_book(archive: Archive, most: int) -> None:
    paths = sorted(archive.articles())
    cuts = 0
    for path in paths[:: max(1, len(paths) // most)]:
        try:
            page = open_page(archive, path)
        except KiwiError:
            continue
        check(segment_page(page, AskSettings()))
        cuts += 1
    assert cuts > most // 3


def test_pages_of_the_sample_are_cut_into_whole_units(sample_zim: Path) -> None:
    """The law is true of all articles of the sample book."""
    with closing(LibzimArchive(sample_zim)) as archive:
        check_book(archive, 200)


@pytest.mark.parametrize(
    ("book", "most"),
    [
        ("schools-2007.zim", 40),
        ("squad.zim", 30),
        ("real/wikipedia_en_ray_charles_maxi_2023-09.zim", 30),
        ("real/wikipedia_en_100_mini_2022-10.zim", 30),
        ("real/wikibooks_be_all_nopic_2017-02.nons.zim", 15),
        ("real/devdocs_en_sqlite_2025-04.zim", 15),
    ],
)
def test_real_pages_are_cut_into_whole_units(shared_data: Path, book: str, most: int) -> None:
    """The law is true of real pages of many years and makers."""
    with closing(LibzimArchive(shared_data / "zims" / book)) as archive:
        check_book(archive, most)
