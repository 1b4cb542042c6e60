"""Runs that nobody has touched hold, whatever their topic: a proof that cries wolf is no proof."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.verify.proved_runs import told

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.runs.research import Research, ResearchTask
from kiwiresearch.verify.run import verify_run
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace


@pytest.mark.parametrize(
    "topic",
    ["causes of the Bronze Age collapse", "drought and the Hittites", "Albert Einstein", "Galaxy", "Ugarit", "Sunset"],
)
def test_an_untouched_run_holds(topic: str, sample_zim: Path, tmp_path: Path) -> None:
    """What the program wrote of a topic, it proves again without a complaint."""
    desk = open_workspace({"KIWIRESEARCH_HOME": str(tmp_path / "home")})
    with shelf_of(desk, [str(sample_zim)]) as shelf, Finder(desk, shelf, all_books=True) as finder:
        settings = CrawlSettings(fast=True, max_pages=25)
        run = Research(finder, ResearchTask(topic, settings=settings)).run(tmp_path / "run").folder
        assert told(verify_run(run, shelf)) == []
