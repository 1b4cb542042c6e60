"""Analyses that need a complete book, computed from the tables that bulk wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.atlas.atlas import Atlas, Recipe, open_atlas, shards_fingerprint
    from kiwiresearch.atlas.contradictions import CONTRADICTIONS, KINDS, ContradictionFilter, ValueKind
    from kiwiresearch.atlas.database import ResultSlice, ResultWindow
    from kiwiresearch.atlas.family_queries import PrivacyView
    from kiwiresearch.atlas.family_tables import FAMILIES
    from kiwiresearch.atlas.graph import GRAPH
    from kiwiresearch.atlas.kinds import AREAS, SUBJECTS, PageKind, page_kinds, pages_of_kind
    from kiwiresearch.atlas.queries import (
        EDGE_KINDS,
        RANK_ORDERS,
        EdgeKind,
        PolicyFilter,
        RankOrder,
        TimelineFilter,
        edge_pages,
        overview,
        ranked_pages,
        timeline,
    )
    from kiwiresearch.atlas.this_day import DAYS, events_on
else:
    __getattr__ = lazy_exports(__name__)
