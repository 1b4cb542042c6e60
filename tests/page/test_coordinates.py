"""Where the subject of a page is: only what the page marks as its coordinates, and only if that can be right."""

from __future__ import annotations

import pytest

from kiwiresearch.page import Coordinates, coordinates_in


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<span class="geo">53.5; -2.25</span>', (53.5, -2.25)),
        ('<span class="geo">53.5; \N{MINUS SIGN}2.25</span>', (53.5, -2.25)),
        (
            '<span class="geo"><span class="latitude">53.5</span>, <span class="longitude">-2.25</span></span>',
            (53.5, -2.25),
        ),
        (
            '<span class="latitude">51°30′N</span> <span class="longitude">0°7′30″W</span>',
            (51.5, -0.125),
        ),
        ('<span class="plainlinks geo notice" title="x">10.0, 20.0</span>', (10.0, 20.0)),
        ('<span class="geo">95.0; 10.0</span>', None),
        ('<span class="latitude">51.5</span>', None),
        ('<span class="geology">10.0; 20.0</span>', None),
        ("<p>10.0; 20.0</p>", None),
        ('<span class="geo">somewhere</span>', None),
        ("\xff\x00<", None),
    ],
)
def test_coordinates_are_read_where_a_page_marks_them(html: str, found: tuple[float, float] | None) -> None:
    """The `geo` microformat in its forms; nothing else is taken for coordinates."""
    assert coordinates_in(html.encode("latin-1", "replace") if "\xff" in html else html.encode()) == (
        Coordinates(*found) if found else None
    )
