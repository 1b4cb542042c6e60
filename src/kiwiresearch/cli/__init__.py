"""The command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.cli.start import main
else:
    __getattr__ = lazy_exports(__name__)
