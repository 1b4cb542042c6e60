"""What a run is asked to do; reading it loads nothing that does the research."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kiwiresearch.crawl import CrawlSettings
from kiwiresearch.ids import BookId
from kiwiresearch.workspace import Settings
from kiwiresearch.zim import MissingBooks


@dataclass(frozen=True, slots=True)
class ResearchTask:
    """The topic to research, and how."""

    topic: str
    focus: str = ""
    settings: CrawlSettings = field(default_factory=CrawlSettings)
    kiwix_url: str = ""
    critic: bool = False
    """Whether a critic model reviews the text, which is then revised."""
    missing: tuple[MissingBooks, ...] = ()
    """Books that cannot be searched because their hosts are unavailable."""
    aspect: str = ""
    """The aspect that is wanted; empty if only the topic's own words say it."""
    without_title_index: frozenset[BookId] = frozenset()
    """Books whose title index is not used, though they have one."""
    opens_at: Mapping[BookId, str] = field(default_factory=dict)
    """Where links to the pages of a book lead; `kiwix_url` decides for the others."""


def crawl_settings(settings: Settings, *, fast: bool = False) -> CrawlSettings:
    """The crawl settings of a user."""
    return CrawlSettings(
        max_pages=settings.max_pages,
        max_depth=settings.max_depth,
        max_links_per_page=settings.max_links_per_page,
        strategy=settings.crawl_strategy,
        max_seeds=settings.max_seeds,
        first_sections=settings.first_sections,
        branch_share=settings.branch_share,
        fast=fast,
        filters=settings.link_filters,
        weights=settings.scoring_weights,
    )
