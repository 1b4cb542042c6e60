"""Sentences of run.log that once were not true."""

from __future__ import annotations

from tests.crawl.trails import TEXT, a_shelf_book, settings, state_after, steps_of

from kiwiresearch.crawl.outputs import crawl_log, score_words
from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.search.query import ScoreTerm


def test_a_page_that_names_the_topic_once_names_it() -> None:
    """'No page names the topic' is not said where a page has it as its title and in its first sentence."""
    book = a_shelf_book({"Salt road": f"The salt road was long.\n{TEXT}"})
    crawl = CrawlPlan([book], "salt road", settings=settings(fast=True))
    text = "\n".join(crawl_log(state_after(crawl, steps_of(crawl)), {book.id: "B"}))
    assert "1 page found, 1 of them names the topic." in text
    assert "names the topic as you wrote it" not in text


def test_large_points_are_printed_in_full() -> None:
    """Weights up to 1000 are allowed, and terms still add up to the points printed."""
    assert score_words((ScoreTerm("keywords", 50051.26),)) == "keywords +50051.26"
