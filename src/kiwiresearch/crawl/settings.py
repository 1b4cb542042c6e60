"""The settings of a crawl: its limits and order, which links it follows, and the weights of the score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Strategy = Literal["priority", "bfs"]
Lists = Literal["penalty", "exclude", "include"]

STRATEGIES: tuple[Strategy, ...] = ("priority", "bfs")
LISTS: tuple[Lists, ...] = ("penalty", "exclude", "include")


@dataclass(frozen=True, slots=True)
class LinkFilters:
    """Which links are not followed; each can be switched off."""

    main_articles_only: bool = True
    """Leave out other namespaces: Talk, File, Category and the like."""

    disambiguation: bool = True
    """Skip disambiguation pages; offer their entries instead."""

    exclude: tuple[str, ...] = ("ISBN", "Help:")
    """Titles that start with one of these are left out."""

    self_links: bool = True
    """Leave out links from a page to itself, also through redirects."""

    lists: Lists = "penalty"
    """List pages: 'penalty' takes points off, 'exclude' leaves them out, 'include' treats them like any page."""

    years: bool = True
    """Leave out pages that are only a year, decade or century, unless the topic asks for a timeline."""

    outside_text: bool = True
    """Leave out links of menus, navigation boxes, notes and reference lists."""


@dataclass(frozen=True, slots=True)
class ScoringWeights:
    """The factor for each group of terms; 0 switches the group off."""

    relevance: float = 1.0
    link_context: float = 1.0
    page_signals: float = 1.0
    novelty: float = 1.0
    authority: float = 1.0


@dataclass(frozen=True, slots=True)
class CrawlSettings:
    """The settings that, with the topic and the books, decide which pages a crawl accepts."""

    max_pages: int = 80
    max_depth: int = 2
    max_links_per_page: int = 30
    strategy: Strategy = "priority"
    max_seeds: int = 3
    first_sections: int = 40
    """Links are taken from the lead and this many sections; from later ones only infobox and 'See also'."""
    branch_share: float = 0.25
    """The share of all pages that may be of one category or branch before others go first."""
    fast: bool = False
    """Without vectors: only words, links and signals count."""
    filters: LinkFilters = field(default_factory=LinkFilters)
    weights: ScoringWeights = field(default_factory=ScoringWeights)
