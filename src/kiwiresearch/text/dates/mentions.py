"""Dates in running text: which points in time it mentions, and which of them make one range."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from kiwiresearch.text.dates import calendar
from kiwiresearch.text.dates.age_points import MAX_AGE_CHARS, age_point, ages_in_words, centuries
from kiwiresearch.text.dates.calendar import (
    LAST_YEAR,
    WHOLE_PERCENT,
    DaySpan,
    day_number,
    month_length,
    usual_calendar,
)
from kiwiresearch.text.dates.day_points import (
    SPACES,
    after_era,
    before_era,
    day_point,
    numeric_point,
    with_era,
    year_point,
)
from kiwiresearch.text.dates.point import DASHES, DatePoint, is_counted, words_before
from kiwiresearch.text.dates.ranges import DateQualifier, DateRange, Precision
from kiwiresearch.text.dates.reading_words import DatePrefix, DateWords, date_words_of

FIGURES = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
BEFORE_ERA_OR_UNIT = frozenset(" \u00a0–—-")
AD = DatePrefix("ad")
BEFORE_FIGURES = frozenset(" \u00a0\n\t([{\"“„«‘'’–—-/;:,~†*")
DOUBT = re.compile(r"\?(?= ?[–—,;)\]/-])")
"""A question mark that belongs to the date before it: '1803?–1870'."""


def points_in(text: str, date_words: DateWords) -> list[DatePoint]:
    """All dates, and all numbers that may turn out to be one, in the order of the text."""
    points: list[DatePoint] = []
    waiting = deque(_spelled_out(text, date_words))
    # The end of the last date: nothing may start before it.
    done = 0
    for figures in FIGURES.finditer(text):
        start, end = figures.span()
        while waiting and waiting[0].end <= start:
            points.append(waiting.popleft())
            done = max(done, points[-1].end)
        # Figures inside a date that is complete, or inside one in words ('the 12th century') that comes next.
        if start < done or (waiting and waiting[0].start <= start):
            continue
        if start and text[start - 1] not in BEFORE_FIGURES and not _is_glued(text, start, end, date_words):
            continue
        point = _at_figures(text, start, end, date_words, points[-1] if points else None)
        if point and min(point.start, point.range_start) >= done:
            point.end += DOUBT.match(text, point.end) is not None
            points.append(point)
            done = point.end
    return [*points, *waiting]


def _is_glued(text: str, start: int, end: int, date_words: DateWords) -> bool:
    """'c.1250', 'b.1803' and 'c1250': a short word and no space."""
    if text[start - 1] == "c" and end - start == 4:
        return start < 2 or not text[start - 2].isalnum()
    words = words_before(text, start) if text[start - 1] == "." else []
    return bool(words) and (words[-1] in date_words.evidence.circa or words[-1] in date_words.evidence.without_space)


def _at_figures(text: str, start: int, end: int, date_words: DateWords, previous: DatePoint | None) -> DatePoint | None:
    length = end - start
    following = text[end : end + 1]
    if length > MAX_AGE_CHARS:
        return None
    plain = length <= 4 and text[start:end].isdigit()
    # From the most specific form to the least: a bare number is only a year if nothing else fits.
    point = numeric_point(text, start) if (length <= 2 and following in ("/", "-")) or "." in text[start:end] else None
    if point:
        return point
    if plain and length <= 2:
        point = day_point(text, start, end, date_words)
        if point:
            return point
    if following in BEFORE_ERA_OR_UNIT or following.isalpha():
        point = age_point(text, start, end, date_words) or with_era(text, start, end, date_words)
        if point:
            return point
    if _follows_era(text, start, date_words) and not date_words.decade.match(text, end):
        return after_era(text, start, end, date_words)
    return year_point(text, start, end, date_words, previous) if plain else before_era(text, start, end, date_words)


def _follows_era(text: str, start: int, date_words: DateWords) -> bool:
    """Whether 'AD' is before the number."""
    if start < 3 or text[start - 1] not in SPACES or not (text[start - 2].isupper() or text[start - 2] == "."):
        return False
    words = text[max(0, start - 6) : start - 1].replace("-", " ").split()
    return bool(words) and date_words.prefixes.get(words[-1].lstrip("([").lower()) == AD


def _spelled_out(text: str, date_words: DateWords) -> Sequence[DatePoint]:
    """Spelled-out centuries, millennia and ages, which are found by their nouns and read backwards."""
    if not _has_any(text, date_words.century_noun_signs) and not _has_any(text, date_words.ago_signs):
        return ()
    found = [*centuries(text, date_words), *ages_in_words(text, date_words)]
    found.sort(key=lambda point: point.start)
    apart: list[DatePoint] = []
    for point in found:
        if not apart or point.start >= apart[-1].end:
            apart.append(point)
    return apart


def _has_any(text: str, signs: Iterable[str]) -> bool:
    return any(map(text.__contains__, signs))


OTHER_END = re.compile(r"(?: ?[–—-] ?| (?P<word>[a-z]{2}) )(?P<number>[0-9]+(?:[.,][0-9]+)*)")
MAX_GAP_CHARS = 12
"""The longest link of a range, such as ' and probably ': with more between them, two dates are separate."""
MAX_RANGE_YEARS = 1200
"""A year and a number that is only perhaps a year are rarely a range if they are further apart."""
MAX_EITHER_YEARS = 10
"""Years with 'or' that are further apart are two dates, not one uncertain one."""
MAX_BARE_RANGE_YEARS = 400
"""Two bare numbers with a dash that are further apart are rarely years."""
QUALIFIERS: dict[str, tuple[DateQualifier, bool]] = {
    "about": ("about", False),
    "before": ("before", False),
    "after": ("after", False),
    "until": ("before", True),
    "since": ("after", True),
}
AFTER_DATE: dict[str, tuple[DateQualifier, bool]] = {
    "onwards": ("after", True),
    "or_later": ("after", False),
    "or_earlier": ("before", False),
}
"""Words after a date that say how far it extends."""
SKIPPABLE = DatePrefix("skippable")


def single_range(text: str, point: DatePoint, date_words: DateWords) -> DateRange | None:
    """The range that a single date means; None if it is not a date."""
    span = _span(point, date_words)
    if not point.is_certain or span is None or _range_ends_in_count(text, point, date_words):
        return None
    qualifier, lasts = QUALIFIERS.get(point.qualifier, ("", False))
    for phrase, meaning in AFTER_DATE.items():
        found = getattr(date_words, phrase).match(text, point.end)
        if found:
            point.end = found.end()
            qualifier, lasts = meaning
    lasts = lasts or _is_lasting(point)
    precision: Precision = "season" if point.precision == "year" and (point.season or point.part) else point.precision
    return DateRange.of(span, precision, qualifier, point.calendar, lasts=lasts)


def _range_ends_in_count(text: str, point: DatePoint, date_words: DateWords) -> bool:
    """'from 1500 to 2000 metres': the figure at the other end of the range is a count."""
    if point.precision != "year" or point.era or point.part:
        return False
    found = OTHER_END.match(text, point.end)
    if not found or (found["word"] and found["word"] not in date_words.to):
        return False
    return not found["number"].isdigit() or is_counted(text, found.end(), int(found["number"][:6]), date_words)


def _is_lasting(point: DatePoint) -> bool:
    """Whether a pair means all of the time: '5–9 June' does, '3 or 4 May' and '1752/3' do not."""
    if point.precision == "age":
        return point.range_word == "from" and point.last != point.number
    if point.range_word == "between" or point.either or (point.precision == "year" and point.last):
        return False
    return bool(point.last_day or point.last_month or point.last)


def joined_range(text: str, first: DatePoint, last: DatePoint, date_words: DateWords) -> DateRange | None:
    """The range of two dates joined by a dash, 'to' or 'between … and'; None if they are not joined."""
    if last.start - first.end > MAX_GAP_CHARS or first.range_word == "list":
        return None
    link = text[first.end : last.start].strip().lower()
    link, _, skipped = link.partition(" ")
    if skipped and date_words.prefixes.get(skipped) != SKIPPABLE:
        return None
    if not link and last.qualifier == "until":
        link = "–"
    spread = first.range_word == "between" and link in date_words.both
    either = link in date_words.either and _is_one_event(text, first, last, date_words)
    if not spread and not either and link not in date_words.to:
        return None
    start, end = _completed(first, last)
    if not _make_range(text, start, end, link, date_words):
        return None
    # 'winter 1944–45' is one winter.
    if start.season and end.precision == "year" and not end.season and end.number == start.number + 1:
        return single_range(text, start, date_words)
    one, other = _ends(start, end, date_words)
    # Not in order: the second number belongs to something else.
    if one is None or other is None or one.earliest > other.latest or one.latest > other.latest:
        return None
    qualifier, lasting = QUALIFIERS.get(start.qualifier, ("", False))
    if last.qualifier == "about":
        qualifier = "about"
    span = DaySpan(one.earliest, other.latest)
    lasts = (
        lasting
        or first.range_word == "from"
        or (not either and first.range_word != "between" and first.precision != "age")
    )
    return DateRange.of(span, _coarser(start, end), qualifier, start.calendar or end.calendar, lasts=lasts)


def _ends(start: DatePoint, end: DatePoint, date_words: DateWords) -> tuple[DaySpan | None, DaySpan | None]:
    """The days of two points; of two numbers of years ago neither has leeway: '8000 BP – 7500 BP'."""
    if (
        start.precision == end.precision == "age"
        and start.counted_from == end.counted_from
        and start.number > end.number
    ):
        span = calendar.ago(start.number, end.last, start.counted_from)
        return span, span
    return _span(start, date_words), _span(end, date_words)


def _is_one_event(text: str, first: DatePoint, last: DatePoint, date_words: DateWords) -> bool:
    """'born in 1290 or 1291': nobody is born twice, so it is one date that is not known to the year."""
    if not first.precision == last.precision == "year" or not first.is_certain:
        return False
    if not 0 < last.number - first.number <= MAX_EITHER_YEARS:
        return False
    return not date_words.evidence.life_events.isdisjoint(words_before(text, first.start)[-3:])


def _coarser(one: DatePoint, other: DatePoint) -> Precision:
    order: list[Precision] = ["day", "month", "season", "year", "decade", "century", "millennium", "age"]
    kinds: list[Precision] = [
        "season" if p.precision == "year" and (p.season or p.part) else p.precision for p in (one, other)
    ]
    return max(kinds, key=order.index)


def _completed(first: DatePoint, last: DatePoint) -> tuple[DatePoint, DatePoint]:
    """Copies of both, each with the year and era that only the other one has."""
    start, end = replace(first), replace(last)
    if not start.number and start.precision in ("day", "month"):
        start.number, start.era = end.number, end.era
    if start.precision == "year" and end.precision in ("day", "month") and not end.number:
        return start, end
    if (
        end.era
        and not start.era
        and (end.era != "bc" or start.number >= end.number or start.precision != end.precision)
    ):
        start.era = end.era
        start.is_certain = start.is_certain or end.is_certain
    if not start.calendar and end.calendar:
        start.calendar = end.calendar
    return start, end


def _make_range(text: str, start: DatePoint, end: DatePoint, link: str, date_words: DateWords) -> bool:
    """Whether two points are likely enough dates to be a range."""
    if start.precision == "age" or end.precision == "age":
        return start.precision == end.precision
    if start.era == "bc" and not end.era and end.precision == "year" and not end.is_certain:
        return False
    if not start.number or not end.number:
        return False
    # From certain to uncertain: two dates make a range at once, two bare numbers need the strictest test.
    if start.is_certain and (end.is_certain or end.precision != "year"):
        return True
    if is_counted(text, end.end, end.number, date_words):
        return False
    if start.era == "ad" and not end.era:
        return end.precision == "year" and start.number < end.number
    if start.is_certain or end.is_certain:
        return start.precision != "year" or bool(start.era) or 0 < end.number - start.number <= MAX_RANGE_YEARS
    return _are_years(text, start, end, link)


def _are_years(text: str, start: DatePoint, end: DatePoint, link: str) -> bool:
    """Whether two bare numbers with a dash are years: they ascend, and are not round or fill a bracket."""
    if start.number >= end.number or end.number - start.number > MAX_BARE_RANGE_YEARS or link not in DASHES:
        return False
    bracketed = text[start.start - 1 : start.start] == "(" and text[end.end : end.end + 1] in ")],;"
    if start.number < 1000:
        return bracketed and start.number >= 100 and end.number - start.number >= 5
    return end.number <= LAST_YEAR and (bracketed or start.number % 100 != 0 or end.number % 100 != 0)


def _span(point: DatePoint, date_words: DateWords) -> DaySpan | None:
    """The days of one point; None if the day or month does not exist, or the year is missing."""
    percent = date_words.parts[point.part] if point.part else WHOLE_PERCENT
    if point.precision == "age":
        return calendar.ago(point.number, point.last, point.counted_from)
    if point.number <= 0:
        return None
    if point.precision in ("century", "millennium"):
        return _century_span(point, percent, date_words)
    if point.precision == "decade":
        return calendar.years(*calendar.figure_years(point.number, 10, bc=point.era == "bc"), percent)
    year = -point.number if point.era == "bc" else point.number
    if point.precision == "day":
        return _days(point, year)
    if point.precision == "month" and point.last_month:
        return calendar.months(year, point.month, point.last_month)
    if point.precision == "month":
        return calendar.month_days(year, point.month, percent)
    if point.season:
        return calendar.season(year, point.season)
    if point.part:
        return calendar.part_of_year(year, percent)
    return calendar.years(year, point.last or year)


def _days(point: DatePoint, year: int) -> DaySpan | None:
    last = point.last_day or point.day
    if not 1 <= point.month <= 12 or not 1 <= point.day <= last:
        return None
    kind = point.calendar or usual_calendar(year, point.month, point.day)
    if last > month_length(year, point.month, kind):
        return None
    end = day_number(year, point.month, last, point.calendar)
    return DaySpan(day_number(year, point.month, point.day, kind), end)


def _century_span(point: DatePoint, percent: tuple[int, int], date_words: DateWords) -> DaySpan:
    bc = point.era == "bc"
    if point.is_hundreds:
        return calendar.years(*calendar.figure_years(point.number, 100, bc=bc), percent)
    size = 100 if point.precision == "century" else 1000
    if not point.last:
        return calendar.years(*calendar.ordinal_years(point.number, size, bc=bc), percent)
    ending = date_words.parts[point.last_part] if point.last_part else WHOLE_PERCENT
    first = calendar.years(*calendar.ordinal_years(point.number, size, bc=bc), percent)
    last = calendar.years(*calendar.ordinal_years(point.last, size, bc=bc), ending)
    return DaySpan(min(first.earliest, last.earliest), max(first.latest, last.latest))


class DateMention(NamedTuple):
    """A date in a text: `text[start:end]`."""

    start: int
    end: int
    when: DateRange


def dates_in(text: str, language: str = "eng") -> list[DateMention]:
    """The dates of a text, in order and without overlaps.

    A number is taken for a year only if there is evidence for that; a day without a year is not a date. `language` is
    an ISO 639-3 code; in an unknown language, only dates in digits are found.

    Numbers become points (`points_in`); the words before a point set its qualifier and era
    (`point.with_leading_words`); one or two points become a range (`single_range`, `joined_range`). How far 'c.' may
    be off is only applied in `DateRange.possible_days`.
    """
    words = date_words_of(language)
    points = deque(points_in(text, words))
    dates: list[DateMention] = []
    while points:
        point = points.popleft()
        after = points[0] if points else None
        if after and (when := joined_range(text, point, after, words)):
            dates.append(DateMention(point.range_start, after.end, when))
            points.popleft()
        elif when := single_range(text, point, words):
            start = point.range_start if point.is_pair() else point.start
            dates.append(DateMention(start, point.end, when))
    return dates
