"""The library for programs: research takes the same options as the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.verify.verified_runs import a_road_book

from kiwiresearch.api import open_shelf
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.errors import KiwiError

FAST = CrawlSettings(max_pages=2, fast=True)


def test_a_program_names_the_side_of_a_topic_that_it_wants(home: Path, tmp_path: Path) -> None:
    """`aspect` is what the brief is about and what the manifest says was asked for; without it all of the topic is."""
    with open_shelf([a_road_book(tmp_path / "road.zim")]) as shelf:
        side = shelf.research("Salt road", tmp_path / "side", aspect=" trade ", settings=FAST).folder
        whole = shelf.research("Salt road", tmp_path / "whole", settings=FAST).folder
        assert shelf.verify(side).holds
    briefs, manifests = (
        [json.loads((run / name).read_text(encoding="utf-8")) for run in (side, whole)]
        for name in ("brief.json", "manifest.json")
    )
    assert [(brief["head"], brief["aspect"]) for brief in briefs] == [("Salt road", "trade"), ("Salt road", "")]
    assert [(one["aspect"], one["understood"]["aspect"]) for one in manifests] == [("trade", "trade"), ("", "")]
    assert manifests[0]["fingerprint"] != manifests[1]["fingerprint"]
    output = [" ".join(one["text"] for one in brief["summary"]) for brief in briefs]
    assert ["custom house was passed" in text for text in output] == [True, False]


def test_an_aspect_without_end_is_refused(home: Path, tmp_path: Path) -> None:
    """The error says what is wrong, and nothing is written."""
    with open_shelf([a_road_book(tmp_path / "road.zim")]) as shelf, pytest.raises(KiwiError, match="aspect"):
        shelf.research("Salt road", tmp_path / "run", aspect="x" * 9_999, settings=FAST)
    assert not (tmp_path / "run").exists()
