"""Dates as EDTF, for storage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.text.dates import calendar
from kiwiresearch.text.dates.calendar import SEASON_MONTHS, Day, astronomical_year

if TYPE_CHECKING:
    from kiwiresearch.text.dates.ranges import DateRange

EDTF_SEASONS = {"spring": 21, "summer": 22, "autumn": 23, "winter": 24}


def edtf(when: DateRange) -> str:
    sign = "~" if when.qualifier == "about" else ""
    whole = _edtf_unit(when)
    first, last = _edtf_day(when, when.first_day, "earliest") + sign, _edtf_day(when, when.last_day, "latest") + sign
    if when.qualifier == "before":
        return f"../{whole or last}" if when.lasts else f"[..{whole or last}]"
    if when.qualifier == "after":
        return f"{whole or first}/.." if when.lasts else f"[{whole or first}..]"
    if whole and not when.lasts:
        return whole + sign
    return f"{first}/{last}" if when.lasts else f"[{first}..{last}]"


def _edtf_unit(when: DateRange) -> str:
    """The one EDTF date that covers just this range, if there is one."""
    span, day = (when.earliest, when.latest), when.first_day
    if when.earliest == when.latest:
        return _edtf_day(when, day, "earliest")
    if span == calendar.years(day.year, day.year):
        return _edtf_year(day.year)
    if day.year > 0 and span == calendar.month_days(day.year, day.month):
        return f"{_edtf_year(day.year)}-{day.month:02}"
    if (
        day.year >= 1000
        and day.year % 10 == 0
        and span == calendar.years(*calendar.figure_years(day.year, 10, bc=False))
    ):
        return f"{_edtf_year(day.year)[:-1]}X"
    seasons = (name for name in SEASON_MONTHS if span == calendar.season(day.year, name))
    return next((f"{_edtf_year(day.year)}-{EDTF_SEASONS[name]}" for name in seasons), "")


def _edtf_day(when: DateRange, day: Day, end: str) -> str:
    if when.precision not in ("day", "month", "season") and (day.month, day.day) == (
        (1, 1) if end == "earliest" else (12, 31)
    ):
        return _edtf_year(day.year)
    return f"{_edtf_year(day.year)}-{day.month:02}-{day.day:02}"


def _edtf_year(year: int) -> str:
    count = astronomical_year(year)
    if abs(count) > 9999:
        return f"Y{count}"
    return f"-{-count:04}" if count < 0 else f"{count:04}"
