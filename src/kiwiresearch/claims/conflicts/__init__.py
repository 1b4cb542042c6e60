"""Decides whether two sentences contradict each other, and how they disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.claims.conflicts.comparison import (
        TextComparison,
        compare_sentences,
        compare_texts,
        sentences_to_compare,
    )
    from kiwiresearch.claims.conflicts.sentences import ComparedSentence, Disagreement, DisagreementKind, TextSpan
    from kiwiresearch.claims.conflicts.value_comparison import (
        NO_COMMON_DAY,
        TOLERANCE,
        gap_of,
        rounding_explains,
        too_far_apart,
    )
    from kiwiresearch.claims.conflicts.values import LIFE_YEARS, first_moment, last_moment
    from kiwiresearch.claims.conflicts.words import comparison_words
else:
    __getattr__ = lazy_exports(__name__)
