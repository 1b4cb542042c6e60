"""Days and months in a text: '5 June 1944', 'June 5', 'June–July 1944'."""

from __future__ import annotations

import re

from kiwiresearch.text.dates.evidence import LAST_YEAR, is_counted, words_before
from kiwiresearch.text.dates.language import DateWords
from kiwiresearch.text.dates.point import Point, give_era, led

DUAL = re.compile(r"/([0-9]{1,4})(?![0-9/])")
NO_LETTERS = re.compile(r"[\W\d_]")
DASHES = "–—-"
NUMERIC = re.compile(r"([0-9]{1,2})([./-])([0-9]{1,2})\2(?P<year>1[0-9]{3}|20[0-9]{2})(?![0-9]|[./-][0-9])")
SPACES = " \u00a0"


def day(text: str, start: int, end: int, language: DateWords) -> Point | None:
    """'5 June 1944', '5–9 June', 'June 5, 1944': with or without its year."""
    day = int(text[start:end])
    if not 1 <= day <= 31:
        return None
    found = language.day_first.match(text, end)
    month_start = start
    if found:
        month = language.months[found["month"]]
    else:
        spoken = text[max(0, start - 5) : start] == " the "
        month, month_start = _month_before(text, start - 4 if spoken else start, language)
        found = language.day_second.match(text, end) if month else None
    if not found:
        return None
    last_day = int(found["last"] or 0)
    if last_day and not day < last_day <= 31:
        return None
    point = Point(month_start, found.end(), "day", month=month, day=day, last_day=last_day)
    point.either = bool(last_day) and _is_either(found["between"], language)
    _give_year(text, point, found, language)
    # 'January 1 BC' is a month.
    if not point.number and month_start < start and language.era.match(text, point.end):
        return None
    point.sure = point.number > 0
    give_era(text, point, language)
    _give_style(text, point, language)
    return led(text, point, words_before(text, month_start), language)


def _give_year(text: str, point: Point, found: re.Match[str], language: DateWords) -> None:
    """The year behind a day; none where the figures are a count."""
    if not found["year"]:
        other = language.other_style.match(text, found.end())
        if other:
            point.number, point.end = int(other["year"]), other.end()
        return
    year, end = int(found["year"]), found.end("year")
    era = language.era.match(text, end)
    if found["pre"]:
        point.number, point.era = year, "ad"
    elif era and not era["not"]:
        point.number = year
    elif len(found["year"]) >= 3 and year <= LAST_YEAR and not is_counted(text, end, year, language):
        point.number = year
        dual = DUAL.match(text, end)
        if dual and follows(year, dual[1]):
            point.number, point.end, point.calendar = year + 1, dual.end(), "julian"
    else:
        point.end = found.start("year")
        while text[point.end - 1] in " ,":
            point.end -= 1


def _give_style(text: str, point: Point, language: DateWords) -> None:
    found = language.style.match(text, point.end)
    if found:
        point.end = found.end()
    else:
        found = language.style_before.search(text, max(0, point.start - 24), point.start)
    if found:
        point.calendar = "julian" if found["old"] else "gregorian"


def with_month(text: str, point: Point, language: DateWords) -> Point:
    """Turn a year into a month where one stands before it: 'June 1944', 'June–July 1944', 'June of 1944'."""
    start = point.start
    if text[max(0, start - 4) : start] in (" of ", "of "):
        start -= 3
    month, first = _month_before(text, start, language)
    if not month:
        return point
    point.kind, point.month, point.start = "month", month, first
    gap = text[max(0, first - 10) : first].split(" ")
    if len(gap) > 2 and gap[-1] == "" and (gap[-2] in language.to or gap[-2] in language.both):
        earlier, earlier_start = _month_before(text, first - len(gap[-2]) - 1, language)
    elif text[first - 1 : first] in DASHES or text[first - 1 : first] == "/":
        window = max(0, first - 16)
        earlier, earlier_start = _month_before(text[window : first - 1] + " ", first - window, language)
        earlier_start += window
    else:
        return _spoken_day(text, point, language)
    if 0 < earlier < month:
        point.month, point.last_month, point.start = earlier, month, earlier_start
        point.either = gap[-2:-1] != [] and _is_either(gap[-2], language)
    return point


def _spoken_day(text: str, point: Point, language: DateWords) -> Point:
    """'the third of May 1803'."""
    found = language.ordinal_day.search(text, max(0, point.start - 40), point.start)
    if found and language.ordinals[found["ordinal"]] <= 31:
        point.kind, point.day, point.start = "day", language.ordinals[found["ordinal"]], found.start("ordinal")
    return point


def _is_either(link: str, language: DateWords) -> bool:
    return link.strip() in language.either


def numeric(text: str, start: int) -> Point | None:
    """'3.5.1803' and '13/05/1803'; of '3/5/1803', which is another day elsewhere, only the year."""
    found = NUMERIC.match(text, start)
    if not found:
        return None
    first, second, year = int(found[1]), int(found[3]), int(found["year"])
    day, month = (first, second) if found[2] == "." or second <= 12 < first else (second, first)
    if found[2] != "." and first != second and max(first, second) <= 12:
        return Point(start, found.end(), "year", year)
    return Point(start, found.end(), "day", year, month=month, day=day)


def _month_before(text: str, start: int, language: DateWords) -> tuple[int, int]:
    """The month that stands right before a place, and where it starts."""
    end = start - 1
    if end < 3 or text[end] not in SPACES:
        return 0, start
    if text[end - 1] in ".,":
        end -= 1
    word = text[max(0, end - 12) : end].replace("\n", " ").rpartition(" ")[2]
    if word not in language.months:
        word = NO_LETTERS.split(word)[-1]
    return language.months.get(word, 0), end - len(word)


def follows(year: int, figures: str) -> bool:
    """Whether '3' or '53' after 1752 is the year that comes next."""
    return str(year + 1).endswith(figures)
