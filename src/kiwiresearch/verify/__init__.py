"""Verifies a finished run against its books."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.verify.ledger import Verification
    from kiwiresearch.verify.run import shelf_for, verify_run
else:
    __getattr__ = lazy_exports(__name__)
