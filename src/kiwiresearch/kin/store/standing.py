"""Which of several statements is shown first, by rule, whatever order they came in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

DEAD: frozenset[str] = frozenset({"rejected", "hypothesis", "superseded"})
"""Statements that are kept and no longer count."""
RANKS: Mapping[str, int] = {
    "verified": 0,
    "unverified": 1,
    "conflicting": 2,
    "disputed": 3,
    "hypothesis": 4,
    "superseded": 5,
    "rejected": 6,
}


def standing(row: Mapping[str, Any]) -> tuple[bool, bool, int, float, str]:
    """The order of assertions: living ones, what was preferred, how well verified, how sure, and then the id."""
    return row["status"] in DEAD, not row["preferred"], RANKS[row["status"]], -row["confidence"], row["id"]


def best_by_field(rows: list[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The statement to be shown for each field."""
    best: dict[str, Mapping[str, Any]] = {}
    for row in sorted(rows, key=standing):
        if row["status"] not in DEAD:
            best.setdefault(row["field_name"], row)
    return best
