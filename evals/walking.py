"""A crawl step by step, without the folder of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kiwiresearch.crawl.state import CrawlPlan
from kiwiresearch.crawl.step import CrawlStep
from kiwiresearch.crawl.walker import StepResult, Walker


def walk(crawl: CrawlPlan, past: Iterable[CrawlStep] = ()) -> Iterator[StepResult]:
    """Crawl until the page limit is reached or no candidates are left; `past` steps are replayed, not done again."""
    walker = Walker(crawl)
    walker.state.replay(past)
    while walker.state.ended is None:
        result = walker.next()
        walker.state.apply(result.step)
        yield result
