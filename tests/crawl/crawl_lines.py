"""Several crawls of one book as lines of text, for processes that are compared."""

from __future__ import annotations

from tests.crawl.conftest import NAMES, SALT
from tests.crawl.trails import Directions, a_shelf_book, settings, steps_of

from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import step_record
from kiwiresearch.ids import canonical_json


def crawl_lines() -> str:
    """The steps of each strategy, with vectors and without."""
    lines: list[str] = []
    for strategy in ("priority", "bfs"):
        for embedder in (None, Directions("salt", "road", "mule", "toll", "pass")):
            chosen = settings(max_pages=20, strategy=strategy)
            crawl = CrawlPlan([a_shelf_book(SALT, NAMES)], "salt road", "toll", chosen, embedder=embedder)
            lines += (canonical_json(step_record(step)) for step in steps_of(crawl))
    return "\n".join(lines)
