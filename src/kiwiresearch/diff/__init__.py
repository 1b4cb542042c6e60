"""Comparing runs, books and snapshots of books claim by claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.diff.changes import CHANGE_KINDS, ClaimChange, ClaimDoubt, PageChange, checked_kinds
    from kiwiresearch.diff.pairs import BookPair
    from kiwiresearch.diff.run_comparison import (
        DIFFERENCE_KINDS,
        Comparison,
        ComparisonRecord,
        DifferenceKind,
        RunDifference,
        compare_runs,
        comparison_record,
        difference_counts,
        differences,
        open_compared_run,
    )
    from kiwiresearch.diff.snapshot_comparison import SnapshotDiff, snapshot_diff, snapshot_places
    from kiwiresearch.diff.summary import MAX_TITLES, DiffTally, json_lines_file, ranked_changes
else:
    __getattr__ = lazy_exports(__name__)
