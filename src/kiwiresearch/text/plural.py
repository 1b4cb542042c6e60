"""Counts in words: '1 page', '3 pages'."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "") -> str:
    """'1 person', '3 people'; without a form for many it is the one with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
