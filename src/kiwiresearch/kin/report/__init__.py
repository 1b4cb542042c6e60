"""The family report, its pictures and its summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.report.by_model import write_summary
    from kiwiresearch.kin.report.descendants import descendants_layout
    from kiwiresearch.kin.report.drawing import (
        BOX_HEIGHT,
        BOX_WIDTH,
        CORNERS,
        DATE_SIZE,
        HEAD_SIZE,
        Box,
        BoxLine,
        Label,
        Layout,
        Tie,
        box_lines,
        number,
        svg_file,
    )
    from kiwiresearch.kin.report.family_case import MergeEntry, ReportInput, SearchEntry, Stop, shown_conflict
    from kiwiresearch.kin.report.labels import (
        FIELD_LABELS,
        METHOD_LABELS,
        STANDING_LABELS,
        STATUS_LABELS,
        field_noun,
        lifespan,
        year_phrase,
    )
    from kiwiresearch.kin.report.lineage import people_in_order
    from kiwiresearch.kin.report.pedigree import parent_ties, parents_in_order, pedigree_layout, tie_note
    from kiwiresearch.kin.report.report import family_document, family_markdown, family_page
else:
    __getattr__ = lazy_exports(__name__)
