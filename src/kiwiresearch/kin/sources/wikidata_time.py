"""Dates as Wikidata has them: a moment, how exact it is, and the calendar it was written in.

Its query service gives days of the Julian calendar as days of the Gregorian
one, so that the calendar has to be asked for, and the day counted back.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kiwiresearch.text.dates import units
from kiwiresearch.text.dates.days import FIRST_GREGORIAN_DAY, Calendar, day_number, month_length, named
from kiwiresearch.text.when import DateRange, Precision

MOMENT = re.compile(r"([+-]?)(\d{4,9})-(\d\d)-(\d\d)T")
JULIAN = "Q1985786"
GREGORIAN = "Q1985727"
CIRCA = frozenset({"Q5727902", "circa"})
PRECISIONS: dict[int, Precision] = {
    6: "millennium",
    7: "century",
    8: "decade",
    9: "year",
    10: "month",
    11: "day",
}
DAY = 11


class Moment(NamedTuple):
    """A time value of Wikidata, as the endpoint gave it."""

    time: str
    precision: int
    calendar: str

    def when(self, *, about: bool = False) -> DateRange | None:
        """The days that are meant; None where it is vaguer than a millennium, or no date."""
        found = MOMENT.match(self.time)
        if not found or self.calendar not in ("", GREGORIAN, JULIAN):
            return None
        year, month, day = named(int(found[1] + found[2])), int(found[3]), int(found[4])
        precision = PRECISIONS.get(min(self.precision, DAY))
        span = _span(year, month, day, precision) if precision else None
        if span is None or precision is None:
            return None
        # What is no day is not counted back: a year or a month has the same name in both calendars.
        is_julian = span.latest < FIRST_GREGORIAN_DAY or (precision == "day" and self.calendar == JULIAN)
        calendar: Calendar = "julian" if is_julian else "gregorian"
        return DateRange(span.earliest, span.latest, precision, "about" if about else "", calendar)


def _span(year: int, month: int, day: int, precision: Precision) -> units.Span | None:
    if precision in ("day", "month") and not 1 <= month <= 12:
        return None
    if precision == "day":
        if not 1 <= day <= month_length(year, month, "gregorian"):
            return None
        # Whatever calendar it was written in, the endpoint counts in the Gregorian one.
        number = day_number(year, month, day, "gregorian")
        return units.Span(number, number)
    if precision == "month":
        return units.month_days(year, month)
    if precision == "year":
        return units.years(year, year)
    if precision == "decade":
        return units.years(*units.rounded(abs(year) // 10 * 10, 10, bc=year < 0))
    size = 100 if precision == "century" else 1000
    return units.years(*units.grouped(-(-abs(year) // size), size, bc=year < 0))


def between(first: DateRange, last: DateRange) -> DateRange:
    """Some day from one date to another."""
    return DateRange(first.earliest, max(first.earliest, last.latest), "year", "", last.calendar)
