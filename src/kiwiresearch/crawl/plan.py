"""What a crawl is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.search.find import Advice
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.entry import EntryRef

if TYPE_CHECKING:
    from kiwiresearch.embed.embedder import Embedder

Standing = Callable[[EntryRef], float]
"""From 0 to 1: what the links of the whole book make of a page; the same for the same page, always."""


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
    standing: Standing | None = None
    """How much its whole book makes of a page, where that is known."""
    aspect: str = ""
    """The side of the topic that is wanted, where the user says so."""
