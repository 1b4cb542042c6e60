"""Elements of pictures: words that fit their room, and coordinates that are the same on all machines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.document.svg import BRIEF_FONT, FAMILY_FONT, FontMetrics, svg_number

FONTS = pytest.mark.parametrize("font", [BRIEF_FONT, FAMILY_FONT])


@FONTS
@given(text=st.text(max_size=80), width=st.floats(40, 300))
def test_words_fit_their_lines(font: FontMetrics, text: str, width: float) -> None:
    """Words are wrapped and shortened until they are no wider than their box."""
    most = max(width, font.width("…", 13))
    assert font.width(font.shortened(text, width, 13), 13) <= most
    lines = font.wrapped(text, width, 13)
    assert len(lines) <= 2
    assert all(font.width(line, 13) <= most for line in lines)


@FONTS
@given(text=st.text(st.characters(categories=("L", "N", "P", "S")), max_size=80), width=st.floats(30, 400))
def test_shortened_words_are_the_first(font: FontMetrics, text: str, width: float) -> None:
    """Words that are cut begin as the text does."""
    cut = font.shortened(text, width)
    assert cut == text or text.startswith(cut.removesuffix("…"))


def test_coordinates_have_one_decimal() -> None:
    """And there is no negative zero."""
    assert (svg_number(-0.04), svg_number(2.25), svg_number(7)) == ("0.0", "2.2", "7.0")
