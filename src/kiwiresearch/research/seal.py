"""A hash that a JSON document carries over itself, so that it cannot be edited unnoticed."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from kiwiresearch.ids import canonical_json

SEAL = "seal"


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with its seal; one that it had before is replaced."""
    return dict(record) | {SEAL: seal_of(record)}


def seal_of(record: Mapping[str, Any]) -> str:
    """The hash over all of a record but its seal."""
    told = canonical_json({name: value for name, value in record.items() if name != SEAL})
    return "sha256:" + sha256(told.encode("utf-8", "replace")).hexdigest()
