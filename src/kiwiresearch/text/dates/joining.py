"""From single dates to the ranges they mean: pairs are joined, and lend each other year and era."""

from __future__ import annotations

import re
from dataclasses import replace

from kiwiresearch.text.dates import units
from kiwiresearch.text.dates.days import FIRST_GREGORIAN_DAY, Calendar, day_number, month_length, usual_calendar
from kiwiresearch.text.dates.evidence import is_counted, words_before
from kiwiresearch.text.dates.language import DateWords, Lead
from kiwiresearch.text.dates.point import Point
from kiwiresearch.text.dates.ranges import DateRange, Precision, Qualifier
from kiwiresearch.text.dates.units import Span

DASHES = frozenset("–—-")
OTHER_END = re.compile(r"(?: ?[–—-] ?| (?P<word>[a-z]{2}) )(?P<number>[0-9]+(?:[.,][0-9]+)*)")
LONGEST_GAP = 12
LONGEST_PAIR = 1200
NEIGHBOURS = 10
"""Years with 'or' that are further apart are two stories, not one date."""
LONGEST_BARE_PAIR = 400
"""Two bare numbers with a dash that are further apart are rarely years."""
QUALIFIERS: dict[str, tuple[Qualifier, bool]] = {
    "about": ("about", False),
    "before": ("before", False),
    "after": ("after", False),
    "until": ("before", True),
    "since": ("after", True),
}
BEHIND: dict[str, tuple[Qualifier, bool]] = {
    "onwards": ("after", True),
    "or_later": ("after", False),
    "or_earlier": ("before", False),
}
"""What stands behind a date and says how far it reaches."""
WHOLE = (0, 100)
FILLER = Lead("filler")


def range_of(text: str, point: Point, language: DateWords) -> DateRange | None:
    """The range that one date means, alone; None where it is none."""
    span = _span(point, language)
    if not point.sure or span is None or _counts_on(text, point, language):
        return None
    qualifier, lasts = QUALIFIERS.get(point.qualifier, ("", False))
    for behind, meaning in BEHIND.items():
        found = getattr(language, behind).match(text, point.end)
        if found:
            point.end = found.end()
            qualifier, lasts = meaning
    lasts = lasts or _is_pair(point)
    precision: Precision = "season" if point.kind == "year" and (point.season or point.part) else point.kind
    return _range(span, precision, qualifier, point.calendar, lasts=lasts)


def _counts_on(text: str, point: Point, language: DateWords) -> bool:
    """'from 1500 to 2000 metres': the figure at the other end of the range is a count."""
    if point.kind != "year" or point.era or point.part:
        return False
    found = OTHER_END.match(text, point.end)
    if not found or (found["word"] and found["word"] not in language.to):
        return False
    return not found["number"].isdigit() or is_counted(text, found.end(), int(found["number"][:6]), language)


def _is_pair(point: Point) -> bool:
    if point.kind == "age":
        return point.opening == "from" and point.last != point.number
    if point.opening == "between" or point.either or (point.kind == "year" and point.last):
        return False
    return bool(point.last_day or point.last_month or point.last)


def _range(
    span: Span, precision: Precision, qualifier: Qualifier, calendar: Calendar | None, *, lasts: bool
) -> DateRange:
    usual: Calendar = "julian" if span.latest < FIRST_GREGORIAN_DAY else "gregorian"
    return DateRange(span.earliest, span.latest, precision, qualifier, calendar or usual, lasts)


def joined(text: str, first: Point, last: Point, language: DateWords) -> DateRange | None:
    """The range of two dates that a dash, 'to' or 'between … and' holds together; None where nothing does."""
    if last.start - first.end > LONGEST_GAP or first.opening == "list":
        return None
    link = text[first.end : last.start].strip().lower()
    link, _, filler = link.partition(" ")
    if filler and language.leads.get(filler) != FILLER:
        return None
    if not link and last.qualifier == "until":
        link = "–"
    spread = first.opening == "between" and link in language.both
    either = link in language.either and _is_one_event(text, first, last, language)
    if not spread and not either and link not in language.to:
        return None
    start, end = _lend(first, last)
    if not _hold_together(text, start, end, link, language):
        return None
    if start.season and end.kind == "year" and not end.season and end.number == start.number + 1:
        return range_of(text, start, language)
    one, other = _ends(start, end, language)
    if one is None or other is None or one.earliest > other.latest or one.latest > other.latest:
        return None
    qualifier, lasting = QUALIFIERS.get(start.qualifier, ("", False))
    if last.qualifier == "about":
        qualifier = "about"
    span = Span(one.earliest, other.latest)
    lasts = lasting or first.opening == "from" or (not either and first.opening != "between" and first.kind != "age")
    return _range(span, _coarser(start, end), qualifier, start.calendar or end.calendar, lasts=lasts)


def _ends(start: Point, end: Point, language: DateWords) -> tuple[Span | None, Span | None]:
    """The days of two points; of two figures of years ago neither has a leeway: '8000 BP – 7500 BP'."""
    if start.kind == end.kind == "age" and start.present == end.present and start.number > end.number:
        whole = units.ago(start.number, end.last, start.present)
        return whole, whole
    return _span(start, language), _span(end, language)


def _is_one_event(text: str, first: Point, last: Point, language: DateWords) -> bool:
    """'born in 1290 or 1291': nobody is born twice, so that it is one date which is not known to the year."""
    if not first.kind == last.kind == "year" or not first.sure or not 0 < last.number - first.number <= NEIGHBOURS:
        return False
    return not language.evidence.events.isdisjoint(words_before(text, first.start)[-3:])


def _coarser(one: Point, other: Point) -> Precision:
    order: list[Precision] = ["day", "month", "season", "year", "decade", "century", "millennium", "age"]
    kinds: list[Precision] = ["season" if p.kind == "year" and (p.season or p.part) else p.kind for p in (one, other)]
    return max(kinds, key=order.index)


def _lend(first: Point, last: Point) -> tuple[Point, Point]:
    """Give each the year and the era that only the other names."""
    start, end = replace(first), replace(last)
    if not start.number and start.kind in ("day", "month"):
        start.number, start.era = end.number, end.era
    if start.kind == "year" and end.kind in ("day", "month") and not end.number:
        return start, end
    if end.era and not start.era and (end.era != "bc" or start.number >= end.number or start.kind != end.kind):
        start.era = end.era
        start.sure = start.sure or end.sure
    if not start.calendar and end.calendar:
        start.calendar = end.calendar
    return start, end


def _hold_together(text: str, start: Point, end: Point, link: str, language: DateWords) -> bool:
    """Whether two points are years enough to be a range."""
    if start.kind == "age" or end.kind == "age":
        return start.kind == end.kind
    if start.era == "bc" and not end.era and end.kind == "year" and not end.sure:
        return False
    if not start.number or not end.number:
        return False
    if start.sure and (end.sure or end.kind != "year"):
        return True
    if is_counted(text, end.end, end.number, language):
        return False
    if start.era == "ad" and not end.era:
        return end.kind == "year" and start.number < end.number
    if start.sure or end.sure:
        return start.kind != "year" or _near(start, end)
    return _stand_alone(text, start, end, link)


def _near(start: Point, end: Point) -> bool:
    return bool(start.era) or 0 < end.number - start.number <= LONGEST_PAIR


def _stand_alone(text: str, start: Point, end: Point, link: str) -> bool:
    """Two bare numbers with a dash: years where they ascend, are no round figures, or fill a bracket."""
    if start.number >= end.number or end.number - start.number > LONGEST_BARE_PAIR or link not in DASHES:
        return False
    bracketed = text[start.start - 1 : start.start] == "(" and text[end.end : end.end + 1] in ")],;"
    if start.number < 1000:
        return bracketed and start.number >= 100 and end.number - start.number >= 5
    return end.number <= 2100 and (bracketed or start.number % 100 != 0 or end.number % 100 != 0)


def _span(point: Point, language: DateWords) -> Span | None:
    """The days of one point; None for a day or month that is none, or has no year."""
    percent = language.parts[point.part].percent if point.part else WHOLE
    if point.kind == "age":
        return units.ago(point.number, point.last, point.present)
    if point.number <= 0:
        return None
    if point.kind in ("century", "millennium"):
        return _group(point, percent, language)
    if point.kind == "decade":
        return units.years(*units.rounded(point.number, 10, bc=point.era == "bc"), percent)
    year = -point.number if point.era == "bc" else point.number
    if point.kind == "day":
        return _days(point, year)
    if point.kind == "month":
        return _months(point, year, percent)
    if point.season:
        return units.season(year, point.season)
    if point.part:
        return units.part_of_year(year, percent)
    return units.years(year, point.last or year)


def _days(point: Point, year: int) -> Span | None:
    last = point.last_day or point.day
    if not 1 <= point.month <= 12 or not 1 <= point.day <= last:
        return None
    calendar = point.calendar or usual_calendar(year, point.month, point.day)
    if last > month_length(year, point.month, calendar):
        return None
    end = day_number(year, point.month, last, point.calendar)
    return Span(day_number(year, point.month, point.day, calendar), end)


def _months(point: Point, year: int, percent: tuple[int, int]) -> Span:
    if point.last_month:
        return units.months(year, point.month, point.last_month)
    return units.month_days(year, point.month, percent)


def _group(point: Point, percent: tuple[int, int], language: DateWords) -> Span:
    bc = point.era == "bc"
    if point.kind == "century" and point.present:
        return units.years(*units.rounded(point.number, 100, bc=bc), percent)
    size = 100 if point.kind == "century" else 1000
    if not point.last:
        return units.years(*units.grouped(point.number, size, bc=bc), percent)
    ending = language.parts[point.last_part].percent if point.last_part else WHOLE
    first = units.years(*units.grouped(point.number, size, bc=bc), percent)
    last = units.years(*units.grouped(point.last, size, bc=bc), ending)
    return Span(min(first.earliest, last.earliest), max(first.latest, last.latest))
