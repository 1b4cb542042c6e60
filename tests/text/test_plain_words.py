"""Words of books between quotes: readable, and never open to be taken for something else."""

from __future__ import annotations

import pytest

from kiwiresearch.text.display import quoted

QUOTED = [
    ("Tin", "'Tin'"),
    ("The Hundred Years' War", '"The Hundred Years\' War"'),
    ('Wylie\'s "Red Wing"', '“Wylie\'s "Red Wing"”'),
    ("a “fine” 'old' \"word\"", "«a “fine” 'old' \"word\"»"),
    ("all “of” «them» 'in' \"one\"", "'all “of” «them» \\'in\\' \"one\"'"),
    ("two\nlines\x1b[31m", "“two lines [31m”"),
]


@pytest.mark.parametrize(("text", "expected"), QUOTED)
def test_words_are_quoted_by_marks_they_do_not_hold(text: str, expected: str) -> None:
    """Straight marks where one kind will do, others around both; what commands a terminal is left out."""
    assert quoted(text) == expected
