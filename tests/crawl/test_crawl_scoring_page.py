"""docs/reference/crawl-scoring.md says what the code does: every signal and every number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kiwiresearch.crawl import frontier as points_module
from kiwiresearch.crawl.frontier import crawl_points
from kiwiresearch.crawl.start import MIN_NAMED
from kiwiresearch.crawl.topic import AROUND, ENOUGH_BESIDE, NO_ASPECT

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "crawl-scoring.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
SIGNALS = {
    ("relevance", "search"): "found by search",
    ("relevance", "named"): "names the topic",
    ("relevance", "page"): "topic words on the page",
    ("relevance", "focus"): "focus",
    ("relevance", "link"): "topic words in links",
    ("relevance", "keywords"): "keywords",
    ("relevance", "meaning"): "meaning",
    ("link_context", "most_votes"): "links from relevant pages",
    ("page_signals", "stub"): "stub",
    ("page_signals", "list"): "list page",
    ("page_signals", "disambiguation"): "disambiguation page",
    ("novelty", "duplicate"): "near-duplicate",
    ("novelty", "full_branch"): "full branch",
    ("novelty", "fullest_branch"): "full branch",
    ("novelty", "depth"): "depth",
    ("authority", "references"): "references",
    ("authority", "length"): "length",
    ("authority", "inbound"): "linked from visited pages",
    ("authority", "standing"): "standing in the book",
}
OF_VOTES = ("votes", "seed", "relevance_power", "repeated", "beside_topic", "on_aspect", "off_aspect")
IN_WORDS = {("link_context", key) for key in OF_VOTES}
"""Numbers that stand in the sentences on votes."""


def test_the_page_names_the_signals_of_the_code_and_no_others() -> None:
    """A reader finds every line that a score can have, and none it cannot (R50, R55)."""
    folder = Path(points_module.__file__).parent
    sources = "\n".join((folder / name).read_text(encoding="utf-8") for name in ("frontier.py", "state.py"))
    assert set(ROWS) == set(re.findall(r'(?:yield |(?<!Message)\(\s*)"([a-z -]+)", (?!by)', sources))


def test_every_entry_of_the_table_is_explained() -> None:
    """No number can be added to the file without a place on the page."""
    entries = {(group, key) for group, keys in crawl_points().items() if group != "place" for key in keys}
    assert entries == set(SIGNALS) | IN_WORDS


@pytest.mark.parametrize(("group", "key"), SIGNALS)
def test_every_number_stands_beside_its_signal(group: str, key: str) -> None:
    """The points on the page are those of the file."""
    worth = f"{crawl_points()[group][key]:g}"
    assert re.search(rf"(?<![\d.-]){re.escape(worth)}(?![\d.]\d)", ROWS[SIGNALS[group, key]])


def test_the_numbers_of_votes_and_places_are_told() -> None:
    """What a link counts by its place, and what a vote is made of, is on the page (R47, R79-R81)."""
    votes = PAGE.split("## Link context")[1].split("## Page signals")[0]
    for _, key in sorted(IN_WORDS):
        assert f"{crawl_points()['link_context'][key]:g}" in votes
    for place, worth in crawl_points()["place"].items():
        assert f"{place} {worth:g}" in votes


def test_what_a_side_of_the_topic_does_to_its_name_is_told() -> None:
    """How near the words for the side must stand, how often, and what is left without them is on the page (R50)."""
    relevance = PAGE.split("## Relevance")[1].split("## Link context")[0]
    words = {3: "three"}[ENOUGH_BESIDE]
    assert f"within {AROUND} characters of the name in {words} places or more" in relevance
    assert f"count {NO_ASPECT:.0%}".replace("%", " %") in relevance
    assert f"less than {MIN_NAMED:g}" in relevance


def test_what_a_heading_does_to_its_links_is_told() -> None:
    """A link on the side that is asked for, and one elsewhere, have their factors on the page (R47)."""
    votes = PAGE.split("## Link context")[1].split("## Page signals")[0]
    worth = crawl_points()["link_context"]
    assert f"counts {worth['on_aspect']:g} times as much, and any other {worth['off_aspect']:g} times" in votes
