"""Reading by meaning: which sentence answers a question, with which words, and whether any does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.reader.reader import (
        TITLE_UNIT,
        Mention,
        Reader,
        TextScores,
        TextToRead,
        UnitScores,
        shared_reader,
    )
else:
    __getattr__ = lazy_exports(__name__)
