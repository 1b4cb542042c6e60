"""Unchanged runs pass verification, whatever their topic: a check with false alarms proves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.verify.verified_runs import failure_texts

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.runs.research import Research
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.verify.run import verify_run
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace


@pytest.mark.parametrize(
    "topic",
    ["causes of the Bronze Age collapse", "drought and the Hittites", "Albert Einstein", "Galaxy", "Ugarit", "Sunset"],
)
def test_an_unchanged_run_passes(topic: str, sample_zim: Path, tmp_path: Path) -> None:
    """What the program wrote about a topic passes verification."""
    desk = open_workspace({"KIWIRESEARCH_HOME": str(tmp_path / "home")})
    with shelf_of(desk, [str(sample_zim)]) as shelf, Finder(desk, shelf, search_every_book=True) as finder:
        settings = CrawlSettings(fast=True, max_pages=25)
        run = Research(finder, ResearchTask(topic, settings=settings)).run(tmp_path / "run").folder
        assert failure_texts(verify_run(run, shelf, desk)) == []
