"""On this day: what a book dates to a day of the year, of all years."""

from __future__ import annotations

from kiwiresearch.atlas import ResultWindow
from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.this_day import DAYS, events_on


def on(atlas: Atlas, month: int, day: int, this_year: int = 2026) -> list[tuple[int, str]]:
    found = events_on(atlas, month, day, this_year, ResultWindow(limit=100))
    return [(row["year"], row["title"]) for row in found.rows]


def test_events_of_a_day_come_by_year_and_each_page_once(elm_atlas: Atlas) -> None:
    """Ada Rowe was born on 3 May 1815 or 1816, as her page says in two places; her death is shown once."""
    assert on(elm_atlas, 6, 9) == [(1885, "Ada Rowe")]
    assert (1815, "Ada Rowe") in on(elm_atlas, 5, 3)
    assert on(elm_atlas, 5, 4) == on(elm_atlas, 2, 29) == []
    (death,) = events_on(elm_atlas, 6, 9, 2026, ResultWindow()).rows
    assert death["end"] > death["start"] >= 0
    assert str(death["when"]) == "1885"


def test_only_days_are_listed_and_no_years(elm_atlas: Atlas) -> None:
    """What is dated to a year ('founded in 1204') has no day to be remembered on."""
    with elm_atlas.database(files=elm_atlas.files(DAYS)) as database:
        days = [day for (day,) in database.stream("SELECT day FROM days")]
    assert days == sorted(days)
    assert "01-01" not in days
    assert on(elm_atlas, 1, 1) == on(elm_atlas, 12, 31) == []


def test_births_of_people_who_may_be_living_are_not_listed(elm_atlas: Atlas) -> None:
    """A birth without a death counts only when nobody lives that long."""
    with elm_atlas.database(files=elm_atlas.files(DAYS)) as database:
        rows = list(database.stream("SELECT day, year FROM days WHERE kind = 'birth' AND NOT is_past_life"))
    for date, born in rows:
        month, day = map(int, date.split("-"))
        assert born not in [year for year, _ in on(elm_atlas, month, day, born + 80)]
