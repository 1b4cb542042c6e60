"""Words of books between quotes: readable, on one line."""

from __future__ import annotations

import pytest

from kiwiresearch.text.display import capitalized, quoted

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


@pytest.mark.parametrize(
    ("topic", "heading"),
    [
        ("causes of the First World War", "Causes of the First World War"),
        ("éruptions", "Éruptions"),
        ("iPhone sales", "iPhone sales"),
        ("Bach", "Bach"),
        ("", ""),
    ],
)
def test_a_topic_has_a_capital_as_a_heading(topic: str, heading: str) -> None:
    """A name that is spelled with a capital elsewhere in its first word stays as it is."""
    assert capitalized(topic) == heading
