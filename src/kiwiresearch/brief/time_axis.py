"""The axis of a timeline: days to places, broken where nothing happened for long, with dates that people write."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

YEAR = 365.25
YEAR_ZERO = 1721060
"""The Julian Day Number at which the year 0 begins, which historians call 1 BC."""
PRESENT = 2000
MOST_BREAKS = 3
DEEP_YEARS = 30_000
"""Parts that reach back further than this many years before the present are told in years ago."""
TIGHT = 0.06
SEVERAL = 3
"""So many dates that would share less than this part of the axis are given room of their own."""
BREAK_WIDTH = 26
TICK_ROOM = 92
DEEP_TICK_ROOM = 190
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class Part(NamedTuple):
    """A stretch of time and where it is drawn."""

    first: float
    last: float
    left: float
    right: float


class Tick(NamedTuple):
    """A date on the axis."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class Axis:
    """Stretches of time from left to right; between two of them the axis is broken."""

    parts: tuple[Part, ...]

    def x(self, day: float) -> float:
        """Where a day is drawn; within a break, in proportion."""
        marks = [mark for part in self.parts for mark in ((part.first, part.left), (part.last, part.right))]
        days = [mark[0] for mark in marks]
        behind = min(max(bisect_right(days, day), 1), len(marks) - 1)
        (from_day, from_x), (to_day, to_x) = marks[behind - 1], marks[behind]
        if to_day <= from_day:
            return to_x
        share = min(max((day - from_day) / (to_day - from_day), 0.0), 1.0)
        return from_x + share * (to_x - from_x)

    @property
    def breaks(self) -> tuple[float, ...]:
        return tuple((one.right + other.left) / 2 for one, other in zip(self.parts, self.parts[1:], strict=False))

    def ticks(self) -> Iterator[Tick]:
        for part in self.parts:
            for day, text in _dates(part):
                yield Tick(self.x(day), text)


def axis_over(days: Sequence[float], left: float, right: float) -> Axis:
    """An axis on which all of the days have their place."""
    stretches = _stretches(sorted(set(days)))
    room = right - left - BREAK_WIDTH * (len(stretches) - 1)
    # Each stretch gets room by how much happened in it: how long it took is what the dates tell.
    weights = [min(max(len(stretch), 3), 12) for stretch in stretches]
    parts = []
    for stretch, weight in zip(stretches, weights, strict=True):
        width = room * weight / sum(weights)
        margin = (stretch[-1] - stretch[0]) * 0.04 or _around(stretch[0])
        parts.append(Part(stretch[0] - margin, stretch[-1] + margin, left, left + width))
        left += width + BREAK_WIDTH
    return Axis(tuple(parts))


def _around(day: float) -> float:
    """How much time is shown on both sides of a date that stands alone: the more, the longer ago it was."""
    return max(abs(PRESENT - _year(day)) * 0.05, 2.0) * YEAR


def _stretches(days: list[float]) -> list[list[float]]:
    """The days, cut where an even axis would crowd some of them; each cut is the widest that helps."""
    stretches = [days]
    for _ in range(MOST_BREAKS):
        cuts = [(_best_cut(stretch), number) for number, stretch in enumerate(stretches)]
        (gap, at), number = max(cuts, key=lambda cut: (cut[0][0], -cut[1]))
        if gap <= 0:
            break
        stretch = stretches[number]
        stretches[number : number + 1] = [stretch[:at], stretch[at:]]
    return stretches


def _best_cut(days: list[float]) -> tuple[float, int]:
    """The widest gap that is worth a break, and the number of the day behind it; 0 where none is."""
    whole = days[-1] - days[0]
    best = (0.0, 0)
    for at in range(1, len(days)):
        gap = days[at] - days[at - 1]
        sides = [(days[at - 1] - days[0], at), (days[-1] - days[at], len(days) - at)]
        crowded = any(count >= SEVERAL and span <= TIGHT * whole and gap >= 5 * span for span, count in sides)
        if gap > best[0] and gap > YEAR and crowded:
            best = (gap, at)
    return best


def _dates(part: Part) -> Iterator[tuple[float, str]]:
    width = part.right - part.left
    most = max(int(width // TICK_ROOM), 1)
    first, last = _year(part.first), _year(part.last)
    if PRESENT - first > DEEP_YEARS:
        yield from _years_ago(first, last, max(int(width // DEEP_TICK_ROOM), 1))
    elif last - first < 2:
        yield from _months(first, last, most)
    else:
        yield from _years(first, last, most)


def _years(first: float, last: float, most: int) -> Iterator[tuple[float, str]]:
    step = _step((last - first) / most)
    begin = int(-((-first) // step)) * step
    for year in range(begin, int(last) + 1, step):
        # Years BC are one off when counted through, as there was no year 0.
        told = year if year > 0 else year or 1
        shift = told + 1 if told < 0 else told
        if first <= shift <= last:
            yield _day(shift), year_in_words(told)


def year_in_words(year: int) -> str:
    """A year as people write it; years BC are negative, and there is no year 0."""
    if year < 0:
        return f"{-year:,} BC" if year <= -10_000 else f"{-year} BC"
    return str(year) if year >= 1000 else f"AD {year}"


def _months(first: float, last: float, most: int) -> Iterator[tuple[float, str]]:
    begin, end = int(first * 12 // 1), int(last * 12 // 1)
    step = next((step for step in (1, 2, 3, 6) if (end - begin) / step <= most), 12)
    for month in range(begin, end + 1):
        year = month // 12
        if month % step == 0 and first <= month / 12 <= last:
            yield _day(month / 12), f"{MONTHS[month % 12]} {year_in_words(year if year > 0 else year - 1)}"


def _years_ago(first: float, last: float, most: int) -> Iterator[tuple[float, str]]:
    oldest, youngest = PRESENT - first, max(PRESENT - last, 0.0)
    step = _step((oldest - youngest) / most)
    for ago in range(int(oldest // step) * step, ceil(youngest) - 1, -step):
        yield _day(PRESENT - ago), ago_in_words(ago)


def ago_in_words(years: int) -> str:
    """How long ago something was, in the largest unit that fits."""
    for size, name in ((1_000_000_000, "billion "), (1_000_000, "million ")):
        if years >= size:
            return f"{years / size:.4g} {name}years ago"
    return f"{years:,} years ago" if years else "today"


def _step(least: float) -> int:
    """The first of 1, 2, 5, 10, 20, 50 … that is not much less."""
    size = 1
    while True:
        for step in (1, 2, 5):
            if step * size >= least * 0.75:
                return step * size
        size *= 10


def _year(day: float) -> float:
    return (day - YEAR_ZERO) / YEAR


def _day(year: float) -> float:
    return YEAR_ZERO + year * YEAR
