"""kiwiresearch: an offline research desk over Kiwix ZIM files.

>>> import kiwiresearch
>>> with kiwiresearch.open_shelf() as shelf:
...     best = shelf.search("why is the sky orange at sunset").hits[0]
...     page = shelf.page(best.title)

Names are loaded when first used, so that importing the package costs nothing. docs/guide/python.md shows them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports
from kiwiresearch.version import __version__

if TYPE_CHECKING:
    from kiwiresearch.api import OpenShelf, open_shelf
    from kiwiresearch.ask import Answer, AskOptions
    from kiwiresearch.cases import Case
    from kiwiresearch.claims import Claim
    from kiwiresearch.claims.conflicts import TextComparison
    from kiwiresearch.crawl import CrawlSettings
    from kiwiresearch.errors import KiwiError
    from kiwiresearch.kin.loop import CaseSettings
    from kiwiresearch.page import PageDoc, open_page, read_page
    from kiwiresearch.runs import RunOutcome
    from kiwiresearch.search import SearchResult
    from kiwiresearch.verify import Verification
    from kiwiresearch.workspace import find_page
else:
    __getattr__ = lazy_exports(__name__)

__all__ = [
    "Answer",
    "AskOptions",
    "Case",
    "CaseSettings",
    "Claim",
    "CrawlSettings",
    "KiwiError",
    "OpenShelf",
    "PageDoc",
    "RunOutcome",
    "SearchResult",
    "TextComparison",
    "Verification",
    "__version__",
    "find_page",
    "open_page",
    "open_shelf",
    "read_page",
]
