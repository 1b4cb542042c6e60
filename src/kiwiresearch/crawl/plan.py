"""What a crawl is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.search.find import Advice
from kiwiresearch.search.open_book import OpenBook

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder


@dataclass(frozen=True, slots=True)
class Crawl:
    """A topic, the books to crawl, and how."""

    books: Sequence[OpenBook]
    topic: str
    focus: str = ""
    settings: CrawlSettings = field(default_factory=CrawlSettings)
    advice: Advice | None = None
    embedder: Embedder | None = None
    max_books: int = 2
    """How many of the books are searched in full, the likeliest ones."""
