"""Authority for crawls: off unless it is set, explained in the score, and part of what a run is made from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kiwiresearch.atlas.atlas import Atlas, open_atlas
from kiwiresearch.atlas.database import ResultWindow
from kiwiresearch.atlas.queries import ranked_pages
from kiwiresearch.crawl.frontier import CrawlCandidate
from kiwiresearch.crawl.score import CrawlScoring
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.errors import BadSettings
from kiwiresearch.ids import BookId
from kiwiresearch.runs.research import Research
from kiwiresearch.runs.task import ResearchTask, crawl_settings
from kiwiresearch.workspace.atlas import load_link_ranks
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.archive import EntryRef


@pytest.fixture(scope="module")
def elm_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where what is worked out is kept for these tests."""
    return tmp_path_factory.mktemp("cache")


def ran(home: Path, elm: Path, out: Path, **environment: str) -> dict[str, bytes]:
    """The files of a run on the small book."""
    desk = open_workspace({"KIWIRESEARCH_HOME": str(home), **environment})
    with shelf_of(desk, [str(elm)]) as shelf, Finder(desk, shelf) as finder:
        settings = crawl_settings(desk.settings, fast=True)
        Research(finder, ResearchTask("Elmland", settings=settings)).run(out)
    return {file.name: file.read_bytes() for file in out.iterdir() if file.is_file() and file.name != "timings.json"}


def test_standing_grows_with_the_rank(elm_shards: Path, elm_atlas: Atlas, elm_cache: Path) -> None:
    """Pages are in the order of their ranks, from 0 to 1; an unknown page or book has no rank."""
    book = elm_atlas.book.id
    link_ranks = load_link_ranks([str(elm_shards)], elm_cache, [book])
    assert link_ranks is not None
    link_rank = [
        link_ranks(EntryRef(book, row["path"])) for row in ranked_pages(elm_atlas, "authority", "", ResultWindow()).rows
    ]
    assert link_rank == sorted(link_rank, reverse=True)
    assert 0 < link_rank[-1] < link_rank[0] < 1
    assert link_ranks(EntryRef(book, "Nowhere")) == 0
    assert link_ranks(EntryRef(BookId("other"), "Elmland")) == 0


def test_other_books_have_no_authority(elm_shards: Path, elm_cache: Path) -> None:
    """Shards of a book that is not asked for give nothing."""
    assert load_link_ranks([str(elm_shards)], elm_cache, [BookId("other")]) is None


def test_a_folder_that_is_not_there_is_reported(elm_cache: Path) -> None:
    """A run whose settings name a folder that is gone does not go on as another run."""
    with pytest.raises(BadSettings, match=r"'atlas'.*kiwiresearch bulk"):
        load_link_ranks(["/nowhere/at/all"], elm_cache, [])


def test_standing_is_one_line_of_the_score() -> None:
    """A candidate without it has no such line."""
    ref = EntryRef(BookId("b"), "P")
    score = CrawlScoring(CrawlSettings()).score
    assert [term.signal for term in score(CrawlCandidate(ref, "P", 1, link_rank=0.5)).terms] == ["standing in the book"]
    assert score(CrawlCandidate(ref, "P", 1)).terms == ()


def test_runs_with_authority_are_other_runs_and_those_without_are_as_before(
    elm: Path, elm_shards: Path, tmp_path: Path
) -> None:
    """The hash of the shards is part of what a run was made from; the same shards give the same bytes again."""
    home = tmp_path / "home"
    plain = ran(home, elm, tmp_path / "plain")
    ranked = ran(home, elm, tmp_path / "ranked", KIWIRESEARCH_ATLAS=str(elm_shards))
    again = ran(home, elm, tmp_path / "again", KIWIRESEARCH_ATLAS=str(elm_shards))
    assert "authority" not in json.loads(plain["manifest.json"])
    assert ranked == again
    data = json.loads(ranked["manifest.json"])["authority"]
    assert list(data) == [open_atlas(elm_shards, tmp_path).book.id]
    assert json.loads(plain["manifest.json"])["fingerprint"] != json.loads(ranked["manifest.json"])["fingerprint"]
