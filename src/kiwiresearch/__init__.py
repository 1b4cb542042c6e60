"""kiwiresearch: an offline research desk over Kiwix ZIM files.

>>> import kiwiresearch
>>> with kiwiresearch.open_shelf() as shelf:
...     best = shelf.search("why is the sky orange at sunset").hits[0]
...     page = kiwiresearch.find_page(shelf, best.title).page

Names are loaded when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kiwiresearch.version import __version__

if TYPE_CHECKING:
    from kiwiresearch.api import open_shelf
    from kiwiresearch.page.read import open_page, read_page
    from kiwiresearch.workspace.workspace import find_page

__all__ = ["__version__", "find_page", "open_page", "open_shelf", "read_page"]

_HOMES = {
    "find_page": "kiwiresearch.workspace.workspace",
    "open_page": "kiwiresearch.page.read",
    "open_shelf": "kiwiresearch.api",
    "read_page": "kiwiresearch.page.read",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'kiwiresearch' has no attribute {name!r}")
