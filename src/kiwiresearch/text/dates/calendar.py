"""Days as Julian Day Numbers, and the days that a month, a year or a century covers."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

from kiwiresearch.messages import LOCALES

Calendar = Literal["gregorian", "julian"]

FIRST_GREGORIAN_DAY = 2299161
"""15 October 1582, the day after 4 October 1582 in the Julian calendar."""
FIRST_YEAR, LAST_YEAR = 1000, 2100
"""Numbers without an era that may be years."""
WHOLE_PERCENT = (0, 100)
"""All of a time, in percent."""
ENGLISH_MONTHS = LOCALES["en"].months
"""What rules for English look for; the forms that are read as dates are in `data/date_reading`."""
MONTH_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Day(NamedTuple):
    """A day as a calendar names it."""

    year: int
    month: int
    day: int


def astronomical_year(year: int) -> int:
    """The astronomical number of a year: 1 BC is 0."""
    return year if year > 0 else year + 1


def calendar_year(count: int) -> int:
    """The year with an astronomical number: 0 is 1 BC, which is -1."""
    return count if count > 0 else count - 1


def usual_calendar(year: int, month: int = 1, day: int = 1) -> Calendar:
    """The default calendar of a date."""
    return "julian" if (astronomical_year(year), month, day) < (1582, 10, 15) else "gregorian"


def month_length(year: int, month: int, calendar: Calendar) -> int:
    if month != 2:
        return MONTH_LENGTHS[month - 1]
    count = astronomical_year(year)
    leap = count % 4 == 0 and (calendar == "julian" or count % 100 != 0 or count % 400 == 0)
    return 29 if leap else 28


def day_number(year: int, month: int = 1, day: int = 1, calendar: Calendar | None = None) -> int:
    """The Julian Day Number of a date, in the usual calendar if none is given."""
    # The year is counted from March, so that the leap day is its last.
    # The usual integer algorithm for Julian Day Numbers: 153 days are the five months from March to July, and the last
    # constant sets day 0 at 1 January 4713 BC.
    shifted = astronomical_year(year) + 4800 - (month < 3)
    days = day + (153 * ((month + 9) % 12) + 2) // 5 + 365 * shifted + shifted // 4
    if (calendar or usual_calendar(year, month, day)) == "julian":
        return days - 32083
    return days - shifted // 100 + shifted // 400 - 32045


def day_at(number: int, calendar: Calendar | None = None) -> Day:
    """The date of a Julian Day Number, in the usual calendar if none is given."""
    # The same in reverse; 146097 days are 400 Gregorian years, 1461 days are four Julian ones.
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
    return Day(calendar_year(100 * centuries + years - 4800 + months // 10), month, day)


def calendar_at(number: int) -> Calendar:
    """The calendar in use on a day, in Rome."""
    return "julian" if number < FIRST_GREGORIAN_DAY else "gregorian"


AGO_FROM = 2000
"""'Years ago' are counted back from this year: results must not depend on a clock, and such dates are never exact."""
PRESENT_YEAR = 1950
"""The year that 'before present' counts from in carbon dating."""
SEASON_MONTHS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


class DaySpan(NamedTuple):
    """A first and a last day."""

    earliest: int
    latest: int


def share(count: int, percent: tuple[int, int]) -> tuple[int, int]:
    """The first and last of `count` things that a part such as 'late' (67 to 100 percent) covers."""
    low, high = percent
    return (count - 1) * low // 100, (count - 1) * high // 100


def month_days(
    year: int, month: int, percent: tuple[int, int] = WHOLE_PERCENT, calendar: Calendar | None = None
) -> DaySpan:
    """A month, or a part of it."""
    kind = calendar or usual_calendar(year, month)
    low, high = share(month_length(year, month, kind), percent)
    first = day_number(year, month, 1, kind)
    if kind == "julian" and calendar is None and (year, month) == (1582, 10):  # it lost ten days
        return DaySpan(first + low, first + high - 10)
    return DaySpan(first + low, first + high)


def months(year: int, first: int, last: int) -> DaySpan:
    """From one month to another; months below 1 and above 12 are those of the years before and after."""
    start, end = (
        (calendar_year(astronomical_year(year) + (month - 1) // 12), (month - 1) % 12 + 1) for month in (first, last)
    )
    return DaySpan(month_days(*start).earliest, month_days(*end).latest)


def part_of_year(year: int, percent: tuple[int, int]) -> DaySpan:
    low, high = share(12, percent)
    return months(year, low + 1, high + 1)


def season(year: int, name: str) -> DaySpan:
    """A season in the northern hemisphere; winter is the one that starts in the year."""
    first = SEASON_MONTHS[name]
    return months(year, first, first + 2)


@lru_cache(maxsize=4096)
def years(first: int, last: int, percent: tuple[int, int] = WHOLE_PERCENT) -> DaySpan:
    """From the start of one year to the end of another, or a part of that time."""
    start = astronomical_year(first)
    low, high = share(astronomical_year(last) - start + 1, percent)
    return DaySpan(day_number(calendar_year(start + low), 1, 1), day_number(calendar_year(start + high), 12, 31))


def ordinal_years(number: int, size: int, *, bc: bool) -> tuple[int, int]:
    """The years of the 12th century (12, 100) or the third millennium (3, 1000)."""
    low, high = (number - 1) * size + 1, number * size
    return (-high, -low) if bc else (low, high)


def figure_years(number: int, size: int, *, bc: bool) -> tuple[int, int]:
    """The years of the 1920s (1920, 10) or the 1800s (1800, 100)."""
    low, high = max(number, 1), number + size - 1
    return (-high, -low) if bc else (low, high)


def leeway(ago: int) -> int:
    """How far a number of years ago may be off: half of its last significant place, but at most a quarter of it."""
    place = 1
    while ago and ago % (place * 10) == 0:
        place *= 10
    return min(place // 2, ago // 4)


def ago(most: int, least: int, present: int = AGO_FROM) -> DaySpan:
    """The time between two numbers of years ago; a single number has some leeway."""
    spread = leeway(most) if most == least else 0
    return years(calendar_year(present - most - spread), calendar_year(present - least + spread))
