"""The few pages worth a closer look."""

from __future__ import annotations

from pathlib import Path

import pytest

from kiwiresearch.search.find import Wish, find
from kiwiresearch.search.hit import Hit, Score
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.seeds import TOP_PAGES, pick_seeds
from kiwiresearch.search.title_build import build_titles, titles_file
from kiwiresearch.search.titles import open_titles
from kiwiresearch.zim.libzim import LibzimArchive


@pytest.fixture
def sample(sample_zim: Path, tmp_path: Path) -> OpenBook:
    """The sample book with its titles indexed."""
    archive = LibzimArchive(sample_zim)
    file = titles_file(tmp_path, archive.book)
    build_titles(archive, file)
    return OpenBook(archive, open_titles(file, archive.book))


def seeds(book: OpenBook, text: str, focus: str = "") -> list[str]:
    return [hit.title for hit in pick_seeds(find([book], text, Wish(focus=focus)))]


def test_an_exact_title_is_the_first_seed(sample: OpenBook) -> None:
    """The topic is searched, and its own page comes first (R73, R74)."""
    assert seeds(sample, "Late Bronze Age collapse")[0] == "Late Bronze Age collapse"
    assert seeds(sample, "Bronze Age collapse")[0] == "Late Bronze Age collapse"


def test_a_page_of_senses_is_no_seed_but_its_targets_are(sample: OpenBook) -> None:
    """Of 'Mercury', the pages it lists are taken (R75), never more than three (R77, R222)."""
    found = seeds(sample, "Mercury")
    assert len(found) == TOP_PAGES
    assert set(found) == {"Mercury (element)", "Mercury (mythology)", "Mercury (planet)"}


@pytest.mark.parametrize(("hint", "first"), [("planet", "Mercury (planet)"), ("singer", "Freddie Mercury")])
def test_a_hint_decides_which_sense_is_the_first_seed(sample: OpenBook, hint: str, first: str) -> None:
    """The targets of a page of senses are scored against the topic and the user's hint (R76)."""
    assert seeds(sample, "Mercury", hint)[0] == first


def test_what_stands_far_behind_is_no_seed(sample: OpenBook) -> None:
    """A page with less than half of the best one's points is left out, so there may be one seed only (R77)."""
    found = find([sample], "Uluburun shipwreck")
    (only,) = pick_seeds(found)
    assert only.title == "Uluburun shipwreck"
    assert found.hits[1].score.total < only.score.total / 2


def test_nothing_found_gives_no_seeds(sample: OpenBook) -> None:
    """Where there is no hit there is no seed."""
    assert pick_seeds(find([sample], "xyzzyplugh")) == ()


def test_fewer_can_be_asked_for(sample: OpenBook) -> None:
    """The number of pages is a choice of the caller."""
    assert len(pick_seeds(find([sample], "Mercury"), most=1)) == 1


def test_a_hit_without_points_stands_for_nothing() -> None:
    """The mark of a page of senses is a line of its score."""
    from kiwiresearch.ids import BookId
    from kiwiresearch.search.seeds import lists_senses
    from kiwiresearch.zim.entry import EntryRef

    ref = EntryRef(BookId("b"), "Mercury")
    assert lists_senses(Hit(ref, "Mercury", Score().plus("disambiguation page", -180)))
    assert not lists_senses(Hit(ref, "Mercury", Score().plus("exact title", 20)))
