"""Counts in words."""

from __future__ import annotations

import pytest

from kiwiresearch.text.display import count_of


@pytest.mark.parametrize(
    ("number", "forms", "words"),
    [
        (0, ("page",), "0 pages"),
        (1, ("page",), "1 page"),
        (2, ("page",), "2 pages"),
        (12345, ("page",), "12,345 pages"),
        (1, ("entry", "entries"), "1 entry"),
        (3, ("entry", "entries"), "3 entries"),
    ],
)
def test_only_one_is_one(number: int, forms: tuple[str, ...], words: str) -> None:
    """One thing has the form for one, and every other number the form for many, with commas from a thousand on."""
    assert count_of(number, *forms) == words
