"""Verifies a finished run against its books, and signs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.verify.ledger import Verification
    from kiwiresearch.verify.run import shelf_for, verify_run
    from kiwiresearch.verify.signature import sign_run
else:
    __getattr__ = lazy_exports(__name__)
