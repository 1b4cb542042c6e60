"""Complete books as tables: every article as rows of Parquet, the same rows on one core or on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.bulk.batch import PAGE_TIMEOUT_S, PageTimeout, time_limit
    from kiwiresearch.bulk.finished_folder import MANIFEST, BookIdentity, BulkFolder, check_folder, open_folder
    from kiwiresearch.bulk.run import BulkProgress, Engine, WrittenFolder, unfinished_progress, write_book
    from kiwiresearch.bulk.tables import CHOICES, Row, checked_tables, from_parquet
else:
    __getattr__ = lazy_exports(__name__)
