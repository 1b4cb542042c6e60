"""Dates: days and calendars, the range a date means, and how it is read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.text.dates.calendar import (
        ENGLISH_MONTHS,
        FIRST_GREGORIAN_DAY,
        FIRST_YEAR,
        LAST_YEAR,
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
    from kiwiresearch.text.dates.mentions import DateMention, dates_in
    from kiwiresearch.text.dates.ranges import ENDLESS_DAY, DateQualifier, DateRange, DateText, Precision, date_relation
    from kiwiresearch.text.dates.reading_words import date_words_of
else:
    __getattr__ = lazy_exports(__name__)
