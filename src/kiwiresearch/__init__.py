"""kiwiresearch: an offline research desk over Kiwix ZIM files.

>>> import kiwiresearch
>>> with kiwiresearch.open_shelf() as shelf:
...     best = shelf.search("why is the sky orange at sunset").hits[0]
...     page = shelf.page(best.title)

Names are loaded when first used, so that importing the package costs nothing. docs/guide/python.md shows them all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kiwiresearch.version import __version__

if TYPE_CHECKING:
    from kiwiresearch.api import OpenShelf, open_shelf
    from kiwiresearch.ask.answer import Answer
    from kiwiresearch.ask.settings import AskOptions
    from kiwiresearch.cases.case import Case
    from kiwiresearch.claims.claim import Claim
    from kiwiresearch.claims.conflicts.comparison import TextComparison
    from kiwiresearch.crawl.settings import CrawlSettings
    from kiwiresearch.errors import KiwiError
    from kiwiresearch.kin.loop.settings import CaseSettings
    from kiwiresearch.page.doc import PageDoc
    from kiwiresearch.page.parser import open_page, read_page
    from kiwiresearch.runs.research import RunOutcome
    from kiwiresearch.search.shelf_search import SearchResult
    from kiwiresearch.verify.ledger import Verification
    from kiwiresearch.workspace.workspace import find_page

__all__ = [
    "Answer",
    "AskOptions",
    "Case",
    "CaseSettings",
    "Claim",
    "CrawlSettings",
    "Findings",
    "KiwiError",
    "OpenShelf",
    "PageDoc",
    "RunOutcome",
    "TextComparison",
    "Verification",
    "__version__",
    "find_page",
    "open_page",
    "open_shelf",
    "read_page",
]

_HOMES = {
    "Answer": "ask.answer",
    "AskOptions": "ask.settings",
    "Case": "cases.case",
    "CaseSettings": "kin.loop.settings",
    "Claim": "claims.claim",
    "CrawlSettings": "crawl.settings",
    "Findings": "search.find",
    "KiwiError": "errors",
    "OpenShelf": "api",
    "PageDoc": "page.doc",
    "RunOutcome": "runs.research",
    "TextComparison": "claims.conflicts.compare",
    "Verification": "verify.ledger",
    "find_page": "workspace.workspace",
    "open_page": "page.read",
    "open_shelf": "api",
    "read_page": "page.read",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"kiwiresearch.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'kiwiresearch' has no attribute {name!r}")
