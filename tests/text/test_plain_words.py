"""Words of books between quotes: readable, on one line."""

from __future__ import annotations

import pytest

from kiwiresearch.text.display import quoted

QUOTED = [
    ("Tin", "“Tin”"),
    ("The Hundred Years' War", "“The Hundred Years' War”"),
    ('Wylie\'s "Red Wing"', '“Wylie\'s "Red Wing"”'),
    ("two\nlines\x1b[31m", "“two lines [31m”"),
]


@pytest.mark.parametrize(("text", "expected"), QUOTED)
def test_words_are_quoted_on_one_line(text: str, expected: str) -> None:
    """Typographic quotes around every text, without characters that control a terminal."""
    assert quoted(text) == expected
