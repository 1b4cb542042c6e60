"""Dates: days and calendars, the range a date means, and how it is read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.text.dates.calendar import (
        FIRST_GREGORIAN_DAY,
        Calendar,
        Day,
        DaySpan,
        astronomical_year,
        calendar_year,
        day_at,
        day_number,
        month_days,
        month_length,
        usual_calendar,
        years,
    )
    from kiwiresearch.text.dates.language import date_words
    from kiwiresearch.text.dates.mentions import DateMention, dates_in
    from kiwiresearch.text.dates.ranges import ENDLESS, DateRange, DateText, Precision, Qualifier, date_relation
else:
    __getattr__ = lazy_exports(__name__)
