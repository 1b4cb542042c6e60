"""How rows of the audit log hang together."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from kiwiresearch.ids import canonical_json
from kiwiresearch.kin.identity import id_of

AUDIT_START = "0" * 64
"""What the first row is chained to."""


def hash_of(row: Mapping[str, Any]) -> str:
    """The hash of a row and, through the one it carries, of all before it."""
    told = {key: row[key] for key in row if key != "hash"}
    return hashlib.sha256((row["prev_hash"] + canonical_json(told)).encode("utf-8", "surrogatepass")).hexdigest()


def id_at(seq: int, previous: str) -> str:
    return id_of("audit", previous, str(seq))
