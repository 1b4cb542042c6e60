"""The family report, its pictures and its summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.kin.report.by_model import write_summary
    from kiwiresearch.kin.report.descendant_lists import people_in_order
    from kiwiresearch.kin.report.labels import (
        FIELD_LABELS,
        METHOD_LABELS,
        STANDING_LABELS,
        STATUS_LABELS,
        field_noun,
        lifespan,
        year_phrase,
    )
    from kiwiresearch.kin.report.report import family_document, family_markdown, family_page
    from kiwiresearch.kin.report.report_input import MergeEntry, ReportInput, SearchEntry, Stop, shown_conflict
    from kiwiresearch.kin.report.shapes.couples import Couples, parent_ties, tie_note
    from kiwiresearch.kin.report.shapes.hourglass import close_family_layout
    from kiwiresearch.kin.report.shapes.layout import BOX_WIDTH, Layout
    from kiwiresearch.kin.report.shapes.paper import Orientation, Paper, print_page
    from kiwiresearch.kin.report.shapes.path import path_layout
    from kiwiresearch.kin.report.shapes.shape import (
        USUAL_GENERATIONS,
        Shape,
        english_drawing,
        people_drawn,
        shape_layout,
        shape_picture,
    )
    from kiwiresearch.kin.report.shapes.svg import Drawing, Photo, picture, svg_file
else:
    __getattr__ = lazy_exports(__name__)
