"""Exports a finished run to formats for readers and other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.export.exporter import export, make_files
    from kiwiresearch.export.findings import read_findings
    from kiwiresearch.export.formats import FORMATS, formats_help, grouped_formats
    from kiwiresearch.export.packing import ExportedFile, safe_name, zip_files
    from kiwiresearch.export.pdf import has_browser, page_in_pdf
    from kiwiresearch.export.worksheet import Worksheet
    from kiwiresearch.export.worksheet_choice import (
        EXERCISE_KINDS,
        MAX_WANTED,
        MIN_WANTED,
        ExerciseKind,
        WorksheetChoice,
        choice_of,
    )
    from kiwiresearch.export.worksheet_files import (
        WORKSHEET_SUFFIXES,
        make_page_worksheet,
        make_run_worksheet,
        page_worksheet_file,
    )
else:
    __getattr__ = lazy_exports(__name__)
