"""Crawls from a topic to a corpus of pages, with a reason for each page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.crawl.outputs import crawl_graph, crawl_log, graph_text
    from kiwiresearch.crawl.settings import LISTS, STRATEGIES, CrawlSettings, LinkFilters, ScoringWeights, Strategy
    from kiwiresearch.crawl.state import CrawlPlan, CrawlState
    from kiwiresearch.crawl.step import (
        CrawlStep,
        EndStep,
        LearnStep,
        SkipStep,
        StartStep,
        VisitStep,
        step_from_record,
        step_record,
    )
    from kiwiresearch.crawl.walker import MAX_OPENING_CHARS, Walker
else:
    __getattr__ = lazy_exports(__name__)
