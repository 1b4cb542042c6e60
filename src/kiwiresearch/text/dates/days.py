"""Days as Julian Day Numbers, in the Julian and the Gregorian calendar.

Years are signed and have no zero: 1200 BC is -1200, and -1 is followed by 1.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Calendar = Literal["gregorian", "julian"]

FIRST_GREGORIAN_DAY = 2299161
"""15 October 1582, the day after 4 October 1582 in the Julian calendar."""
MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Day(NamedTuple):
    """A day as a calendar names it."""

    year: int
    month: int
    day: int


def counted(year: int) -> int:
    """The year on a line that has a zero: 1 BC is 0."""
    return year if year > 0 else year + 1


def named(count: int) -> int:
    """The year without a zero for a place on that line."""
    return count if count > 0 else count - 1


def usual_calendar(year: int, month: int = 1, day: int = 1) -> Calendar:
    """The calendar a date is meant in where nothing is said."""
    return "julian" if (counted(year), month, day) < (1582, 10, 15) else "gregorian"


def month_length(year: int, month: int, calendar: Calendar) -> int:
    if month != 2:
        return MONTH_LENGTHS[month - 1]
    count = counted(year)
    leap = count % 4 == 0 and (calendar == "julian" or count % 100 != 0 or count % 400 == 0)
    return 29 if leap else 28


def day_number(year: int, month: int = 1, day: int = 1, calendar: Calendar | None = None) -> int:
    """The Julian Day Number of a date, in the usual calendar if none is given."""
    # The year is taken to start in March, so that the leap day is its last.
    shifted = counted(year) + 4800 - (month < 3)
    days = day + (153 * ((month + 9) % 12) + 2) // 5 + 365 * shifted + shifted // 4
    if (calendar or usual_calendar(year, month, day)) == "julian":
        return days - 32083
    return days - shifted // 100 + shifted // 400 - 32045


def day_at(number: int, calendar: Calendar | None = None) -> Day:
    """The date of a Julian Day Number, in the usual calendar if none is given."""
    if (calendar or calendar_at(number)) == "julian":
        rest, centuries = number + 32082, 0
    else:
        since = number + 32044
        centuries = (4 * since + 3) // 146097
        rest = since - 146097 * centuries // 4
    years = (4 * rest + 3) // 1461
    days = rest - 1461 * years // 4
    months = (5 * days + 2) // 153
    day = days - (153 * months + 2) // 5 + 1
    month = months + 3 - 12 * (months // 10)
    return Day(named(100 * centuries + years - 4800 + months // 10), month, day)


def calendar_at(number: int) -> Calendar:
    """The calendar in use on a day, as Rome kept it."""
    return "julian" if number < FIRST_GREGORIAN_DAY else "gregorian"
