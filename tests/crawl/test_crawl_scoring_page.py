"""Every term of a crawl's score has its points, its label and its row in docs/reference/crawl-scoring.md."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from kiwiresearch.crawl.score import POINTS, TERMS
from kiwiresearch.crawl.start import MIN_NAME_SHARE
from kiwiresearch.crawl.topic import CONTEXT_CHARS, ENOUGH_ASPECT_MENTIONS, NO_ASPECT_SHARE

CATALOGUES = sorted(Path(str(files("kiwiresearch.messages"))).glob("languages/*/graph.toml"))
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "crawl-scoring.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", PAGE, re.MULTILINE))
TERM_OF_POINTS = {
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
    ("novelty", "most_full_branch"): "full branch",
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
    """A reader finds every term that a score can have, and no other (R50, R55)."""
    assert set(ROWS) == {term.name for term in TERMS}


def test_every_term_has_points_in_the_group_of_its_weight() -> None:
    """A term that is added without points, or under another group's weight, is noticed (R50)."""
    assert {(term.name, term.group) for term in TERMS} == {(name, group) for (group, _), name in TERM_OF_POINTS.items()}


@pytest.mark.parametrize("catalogue", CATALOGUES, ids=lambda path: path.parent.name)
def test_every_term_has_a_label_in_every_language(catalogue: Path) -> None:
    """The graph of a run names each term of a score in the reader's language (R55)."""
    labels = tomllib.loads(catalogue.read_text(encoding="utf-8"))["signals"]
    assert set(labels) == {term.name for term in TERMS}


def test_every_entry_of_the_table_is_explained() -> None:
    """No number can be added to the file without a place on the page."""
    entries = {(group, key) for group, keys in POINTS.items() if group != "place" for key in keys}
    assert entries == set(TERM_OF_POINTS) | IN_WORDS


@pytest.mark.parametrize(("group", "key"), TERM_OF_POINTS)
def test_every_number_is_beside_its_signal(group: str, key: str) -> None:
    """The points on the page are those of the file."""
    worth = f"{POINTS[group][key]:g}"
    assert re.search(rf"(?<![\d.-]){re.escape(worth)}(?![\d.]\d)", ROWS[TERM_OF_POINTS[group, key]])


def test_the_numbers_of_votes_and_places_are_documented() -> None:
    """What a link counts by its place, and what a vote is made of, is on the page (R47, R79-R81)."""
    votes = PAGE.split("## Link context")[1].split("## Page signals")[0]
    for _, key in sorted(IN_WORDS):
        assert f"{POINTS['link_context'][key]:g}" in votes
    for place, worth in POINTS["place"].items():
        assert f"{place} {worth:g}" in votes


def test_the_effect_of_an_aspect_on_a_name_is_documented() -> None:
    """How near the words of the aspect must be, how often, and what is left without them is on the page (R50)."""
    relevance = PAGE.split("## Relevance")[1].split("## Link context")[0]
    words = {3: "three"}[ENOUGH_ASPECT_MENTIONS]
    assert f"within {CONTEXT_CHARS} characters of the name in {words} places or more" in relevance
    assert f"count {NO_ASPECT_SHARE:.0%}" in relevance
    assert f"less than {MIN_NAME_SHARE:g}" in relevance


def test_the_effect_of_a_heading_on_its_links_is_documented() -> None:
    """A link on the side that is asked for, and one elsewhere, have their factors on the page (R47)."""
    votes = PAGE.split("## Link context")[1].split("## Page signals")[0]
    worth = POINTS["link_context"]
    assert f"counts {worth['on_aspect']:g} times as much, and any other {worth['off_aspect']:g} times" in votes
