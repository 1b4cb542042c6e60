"""Which records are the same person: explained scores, vetoes, and proposals that can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.resolve.by_model import review_by_model
    from kiwiresearch.kin.resolve.pairs import Pair, ordered_pair
    from kiwiresearch.kin.resolve.proposal import MergeProposal
    from kiwiresearch.kin.resolve.resolver import propose
else:
    __getattr__ = lazy_exports(__name__)
