"""Years and decades in a text: '1200 BC', 'AD 79', 'in 1944', '1914–18', 'the 1920s'."""

from __future__ import annotations

import re

from kiwiresearch.text.dates.day_points import DUAL, follows, with_month
from kiwiresearch.text.dates.evidence import FIRST_YEAR, LAST_YEAR, is_bound, is_counted, is_year, words_before
from kiwiresearch.text.dates.language import DateWords
from kiwiresearch.text.dates.point import Point, give_era, led, start_of

ISO = re.compile(r"([-/])(?P<month>[0-9]{2})\1(?P<day>[0-9]{2})(?![0-9/-])")
DASHES = "–—-"
LONGEST_YEAR = 9
LONGEST_LINK = 6


def with_era(text: str, start: int, end: int, language: DateWords) -> Point | None:
    """'1200 BC', '10,000 BC', '79 AD'."""
    found = language.era.match(text, end)
    if not found:
        return None
    year = _plain_year(text[start:end])
    if found["not"] or not year:
        return None
    if text[end : end + 1].isalpha() and end - start > 4:
        return None
    point = Point(start, found.end(), "year", year, era="bc" if found["bc"] else "ad")
    return led(text, with_month(text, point, language), words_before(text, point.start), language)


def before_era(text: str, start: int, end: int, language: DateWords) -> Point | None:
    """The first of '130,000–110,000 BC' or '30–19 BC': its era comes with the second."""
    number = _plain_year(text[start:end]) if language.pair_before_era.match(text, end) else 0
    return (
        led(text, Point(start, end, "year", number, sure=False), words_before(text, start), language)
        if number
        else None
    )


def _plain_year(figures: str) -> int:
    """The year that figures name, with or without commas; 0 where they cannot be one."""
    groups = figures.split(",")
    if len(figures) > LONGEST_YEAR or "." in figures or any(len(group) != 3 for group in groups[1:]):
        return 0
    return int("".join(groups))


def after_era(text: str, start: int, end: int, language: DateWords) -> Point | None:
    """'AD 79'."""
    year = _plain_year(text[start:end])
    if not year or is_counted(text, end, 1999, language):
        return None
    point = Point(start_of(text, start, 1), end, "year", year, era="ad")
    return led(text, with_month(text, point, language), words_before(text, point.start), language)


def year(text: str, start: int, end: int, language: DateWords, previous: Point | None) -> Point | None:
    """A bare number of up to four figures, sure or not; None where it can be no year at all."""
    decade = language.decade.match(text, end)
    if decade:
        return _decade(text, start, decade, language, previous)
    iso = ISO.match(text, end) if end - start == 4 and text.startswith(("-", "/"), end) else None
    if iso:
        return Point(start, iso.end(), "day", int(text[start:end]), month=int(iso["month"]), day=int(iso["day"]))
    point = Point(start, end, "year", int(text[start:end]), sure=False)
    if _carries_on(text, point, previous, language):
        return point
    if end - start > 2:
        return _full_year(text, point, language, previous)
    return before_era(text, start, end, language)


def _full_year(text: str, point: Point, language: DateWords, previous: Point | None) -> Point | None:
    start, end, number = point.start, point.end, point.number
    before = words_before(text, start)
    other = language.era.match(text, end)
    if (
        text[start] == "0"
        or (other and other["not"])
        or (before and before[-1] in language.evidence.numbered and not is_bound(before, language))
    ):
        return None
    plausible = FIRST_YEAR <= number <= LAST_YEAR
    dual = DUAL.match(text, end) if text.startswith("/", end) else None
    if dual:
        if not follows(number, dual[1]) or not plausible:
            return None
        point.end, point.last = dual.end(), number + 1
    if plausible and not is_counted(text, point.end, number, language):
        point.sure = with_month(text, point, language).kind != "year" or dual is not None
        point.sure = point.sure or language.onwards.match(text, end) is not None
    point.sure = point.sure or is_year(text, start, end, before, language) or _is_listed(text, start, end, previous)
    return led(text, point, before if point.start == start else words_before(text, point.start), language)


def _carries_on(text: str, point: Point, previous: Point | None, language: DateWords) -> bool:
    """'1914–18', 'AD 14–37': figures after a year and a dash are the rest of a year, or the next."""
    if previous is None or previous.kind != "year" or point.start - previous.end > LONGEST_LINK:
        return False
    gap = text[previous.end : point.start]
    if previous.era == "ad":
        return gap.strip() in language.to and point.number > previous.number
    if point.end - point.start != 2 or previous.era or previous.number < FIRST_YEAR:
        return False
    number = previous.number // 100 * 100 + point.number
    if number <= previous.number or gap.strip() not in tuple(DASHES):
        return False
    point.number = number
    return True


def _is_listed(text: str, start: int, end: int, previous: Point | None) -> bool:
    """'in 1912, 1920 and 1924': years that follow a year."""
    if previous is None or previous.kind != "year" or not previous.sure or previous.end >= start or end - start != 4:
        return False
    gap = text[previous.end : start]
    near = abs(previous.number - int(text[start:end])) <= 150
    return near and len(gap) <= 6 and gap.replace("and", "").replace("or", "").strip() in ("", ",", "&", ", ,")


def _decade(text: str, start: int, suffix: re.Match[str], language: DateWords, previous: Point | None) -> Point | None:
    before = words_before(text, start)
    number, length, end = int(text[start : suffix.start()]), suffix.start() - start, suffix.end()
    if number % 10 or length < 2:
        return None
    if length == 2 and not language.era.match(text, end):
        short = text[start - 1 : start] in ("'", "’", "‘")
        listed = previous is not None and previous.kind == "decade" and start - previous.end <= 6
        if not short and not listed:
            return None
        number += previous.number // 100 * 100 if listed and previous else 1900
        start -= short
        before = words_before(text, start)
    elif length < 4 and not language.era.match(text, end) and (not before or before[-1] not in language.leads):
        return None
    if number > LAST_YEAR and not language.era.match(text, end):
        return None
    point = Point(start, end, "century" if number % 100 == 0 and number != 2000 else "decade", number)
    point.present = 1 if point.kind == "century" else 0
    give_era(text, point, language)
    return led(text, point, before, language)
