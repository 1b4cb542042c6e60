"""The days that a month, a year, a century or a part of one covers."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from kiwiresearch.text.dates.days import Calendar, counted, day_number, month_length, named, usual_calendar

AGO_FROM = 2000
"""'Years ago' are counted back from this year: the program has no clock, and the forms that
use it are never that exact."""
PRESENT = 1950
"""What 'before present' means in dating by carbon."""
SEASON_MONTHS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


class Span(NamedTuple):
    """The first and the last day of something."""

    earliest: int
    latest: int


def share(count: int, percent: tuple[int, int]) -> tuple[int, int]:
    """The first and last of `count` things that a part such as 'late' (67 to 100 percent) covers."""
    low, high = percent
    return (count - 1) * low // 100, (count - 1) * high // 100


def month_days(year: int, month: int, percent: tuple[int, int] = (0, 100), calendar: Calendar | None = None) -> Span:
    """A month, or a part of it."""
    kind = calendar or usual_calendar(year, month)
    low, high = share(month_length(year, month, kind), percent)
    first = day_number(year, month, 1, kind)
    if kind == "julian" and calendar is None and (year, month) == (1582, 10):
        return Span(first + low, first + high - 10)
    return Span(first + low, first + high)


def months(year: int, first: int, last: int, calendar: Calendar | None = None) -> Span:
    """From one month to another; months before 1 and past 12 are those of the years beside."""
    start, end = ((named(counted(year) + (month - 1) // 12), (month - 1) % 12 + 1) for month in (first, last))
    return Span(month_days(*start, calendar=calendar).earliest, month_days(*end, calendar=calendar).latest)


def part_of_year(year: int, percent: tuple[int, int]) -> Span:
    low, high = share(12, percent)
    return months(year, low + 1, high + 1)


def season(year: int, name: str) -> Span:
    """A season of the north; winter is the one that begins in the year."""
    first = SEASON_MONTHS[name]
    return months(year, first, first + 2)


@lru_cache(maxsize=4096)
def years(first: int, last: int, percent: tuple[int, int] = (0, 100)) -> Span:
    """From one year to another, both whole, or a part of that time."""
    start = counted(first)
    low, high = share(counted(last) - start + 1, percent)
    return Span(day_number(named(start + low), 1, 1), day_number(named(start + high), 12, 31))


def grouped(number: int, size: int, *, bc: bool) -> tuple[int, int]:
    """The years of the 12th century (12, 100) or the third millennium (3, 1000)."""
    low, high = (number - 1) * size + 1, number * size
    return (-high, -low) if bc else (low, high)


def rounded(number: int, size: int, *, bc: bool) -> tuple[int, int]:
    """The years of the 1920s (1920, 10) or the 1800s (1800, 100)."""
    low, high = max(number, 1), number + size - 1
    return (-high, -low) if bc else (low, high)


def leeway(ago: int) -> int:
    """How far a figure of years ago may be off: half of its last place that is not zero."""
    place = 1
    while ago and ago % (place * 10) == 0:
        place *= 10
    return min(place // 2, ago // 4)


def ago(most: int, least: int, present: int = AGO_FROM) -> Span:
    """The time between two figures of years ago; a single one has its leeway."""
    spread = leeway(most) if most == least else 0
    return years(named(present - most - spread), named(present - least + spread))
