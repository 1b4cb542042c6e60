"""The timeline of everything: in the order of time, back to the dinosaurs, as far as a reader wants it."""

from __future__ import annotations

import pytest

from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.database import MAX_ROWS, ResultWindow
from kiwiresearch.atlas.queries import TimelineFilter, timeline
from kiwiresearch.errors import BadUsage


def test_dated_rows_are_in_the_order_of_time(elm_atlas: Atlas) -> None:
    """The first is millions of years ago, and each row has its date, its words and their place."""
    found = timeline(elm_atlas, TimelineFilter(), ResultWindow(limit=100))
    days = [row["earliest"] for row in found.rows]
    assert days == sorted(days)
    assert found.total == len(found.rows)
    assert "65 million years ago" in found.rows[0]["claim"]
    assert found.rows[0]["title"] == "Elm Sea"
    assert all(row["end"] > row["start"] >= 0 and row["quote"] for row in found.rows)


@pytest.mark.parametrize(
    ("filters", "titles"),
    [
        (TimelineFilter(first=1204, last=1204), ["Elmland"]),
        (TimelineFilter(first=1990, last=1992, words="storm"), ["Elm Sea", "Elmland"]),
        (TimelineFilter(first=2011), []),
        (TimelineFilter(last=-1_000_000), ["Elm Sea"]),
        (TimelineFilter(subject="ben"), ["Ben Rowe"]),
        (TimelineFilter(page="Tom_Rowe"), ["Tom Rowe"]),
        (TimelineFilter(words="no such words"), []),
    ],
)
def test_years_words_and_pages_choose(elm_atlas: Atlas, filters: TimelineFilter, titles: list[str]) -> None:
    """What begins in the years asked for, of the subject or page asked for, is shown."""
    found = timeline(elm_atlas, filters, ResultWindow(limit=100))
    assert sorted({row["title"] for row in found.rows}) == titles


@pytest.mark.parametrize("year", [0, 10**6, -(10**11)])
def test_a_year_that_is_none_is_refused(year: int) -> None:
    """There is no year 0, and time does not go on for ever."""
    with pytest.raises(BadUsage, match=f"^{year} is not a year on the timeline"):
        TimelineFilter(first=year)


@pytest.mark.parametrize("window", [(0, 0), (-1, 0), (MAX_ROWS + 1, 0), (5, -1), (5, 10**12)])
def test_a_window_has_bounds(window: tuple[int, int]) -> None:
    """Nobody asks for no rows, for millions, or for rows before the first."""
    with pytest.raises(BadUsage):
        ResultWindow(*window)
