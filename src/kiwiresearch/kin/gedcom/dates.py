"""Converts between GEDCOM dates and the ranges they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from kiwiresearch.text.dates import (
    FIRST_GREGORIAN_DAY,
    Calendar,
    DateQualifier,
    DateRange,
    Day,
    DaySpan,
    dates_in,
    day_number,
    month_days,
    month_length,
    usual_calendar,
    years,
)

Version = Literal["5.5.1", "7.0"]
Unit = Literal["year", "month", "day"]

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
# '@#DJULIAN@ ' of version 5.5.1, and 'JULIAN ' of version 7.
ESCAPE = re.compile(r"@#D([A-Z_ ]+)@\s*|(GREGORIAN|JULIAN|FRENCH_R|HEBREW|ROMAN)\s+")
# '10 FEB 1731/32', 'MAR 1801', '44 B.C.' and '44 BCE', but not '10 1801'.
POINT = re.compile(
    rf"(?:(?:(?P<day>[0-9]{{1,2}})\s+)?(?P<month>{'|'.join(MONTHS)})[A-Z]*\.?\s+)?"
    r"(?P<year>[0-9]{1,4})(?:/(?P<dual>[0-9]{1,4}))?(?P<bc>\s*B\.?\s?C\.?(?:E\.?)?)?"
)
QUALIFIERS: dict[str, tuple[DateQualifier, bool]] = {
    "": ("", False),
    "ABT": ("about", False),
    "CAL": ("about", False),
    "EST": ("about", False),
    "BEF": ("before", False),
    "AFT": ("after", False),
    "FROM": ("after", True),
    "TO": ("before", True),
}
# 'ABT 1801' and 'INT 1801 (about 1800)'; below, 'BET 1801 AND 1803' and 'FROM 1801 TO 1803'.
QUALIFIED_DATE = re.compile(r"(ABT|CAL|EST|BEF|AFT|FROM|TO|INT)\.?\s+(.+)")
PAIR = re.compile(r"(?:(BET)\.?\s+(.+?)\s+AND\s+(.+)|FROM\s+(.+?)\s+TO\s+(.+))")
# ' (about 1800)' after a date that was interpreted.
PHRASE = re.compile(r"\s*\([^()]*\)$")
OTHER_CALENDARS = ("FRENCH_R", "HEBREW", "ROMAN")
OTHER_NAMES = (*OTHER_CALENDARS, "@#DFRENCH R@", "@#DUNKNOWN@")
MAX_DATE_CHARS = 120
COARSENESS: tuple[Unit, ...] = ("day", "month", "year")
# A year has at most four digits, as in `POINT`.
LAST_YEAR = 9999
LAST_DUAL_DAY = (3, 24)
# What may stand beside a date in a line that has nothing else: '<1801>', '1801?'.
IGNORED_CHARACTERS = re.compile(r"[\s<>()\[\].,;?]+")


class Point(NamedTuple):
    """One date, the unit it is given in, and the calendar it names."""

    span: DaySpan
    unit: Unit
    calendar: Calendar | None


def other_calendar(text: str, version: Version) -> str:
    """A date of another calendar as written, in the syntax of a version; empty for any other date."""
    upper = " ".join(text.upper().split())
    found = ESCAPE.search(upper)
    name = (found[1] or found[2]).strip().replace(" ", "_") if found else ""
    if name not in OTHER_CALENDARS or (found and found.start() > 0):
        return ""
    rest = upper[found.end() :] if found else ""
    return f"@#D{name.replace('_', ' ')}@ {rest}" if version == "5.5.1" else f"{name} {rest}"


def read_date(text: str) -> DateRange | None:
    """The range of a GEDCOM date; None if it is not a date, or in a calendar that is not converted."""
    upper = " ".join(text.upper().split())
    if len(upper) > MAX_DATE_CHARS or any(name in upper for name in OTHER_NAMES):
        return None
    return _parse_standard(upper.strip("<>? ")) or _parse_free_text(text)


def _parse_standard(text: str) -> DateRange | None:
    text = PHRASE.sub("", text)
    escape = ESCAPE.match(text)
    if escape and PAIR.fullmatch(text, escape.end()) and text.count("@#D") == 1:
        # One calendar before the pair is that of both dates.
        text = re.sub(r"\b(BET|AND|FROM|TO) ", lambda found: found[0] + escape[0], text[escape.end() :])
    pair = PAIR.fullmatch(text)
    if pair:
        first, last = _point(pair[2] or pair[4]), _point(pair[3] or pair[5])
        return _joined(first, last, lasts=pair[1] is None) if first and last else None
    qualified = QUALIFIED_DATE.fullmatch(text)
    qualifier, lasts = QUALIFIERS.get(qualified[1] if qualified else "", ("", False))
    point = _point(qualified[2] if qualified else text)
    return DateRange.of(point.span, point.unit, qualifier, point.calendar, lasts=lasts) if point else None


def _joined(first: Point, last: Point, *, lasts: bool) -> DateRange | None:
    if first.span.earliest > last.span.latest:
        return None
    unit = max(first.unit, last.unit, key=COARSENESS.index)
    span = DaySpan(first.span.earliest, last.span.latest)
    return DateRange.of(span, unit, "", first.calendar or last.calendar, lasts=lasts)


def _point(text: str) -> Point | None:
    escape = ESCAPE.match(text)
    found = POINT.fullmatch(text, escape.end() if escape else 0)
    if not found or int(found["year"]) == 0:
        return None
    named = (escape[1] or escape[2]).strip() if escape else ""
    calendar: Calendar | None = "julian" if named == "JULIAN" else "gregorian" if named == "GREGORIAN" else None
    year = -int(found["year"]) if found["bc"] else int(found["year"])
    month = MONTHS.index(found["month"]) + 1 if found["month"] else 0
    day = int(found["day"] or 0)
    if found["dual"]:
        if not str(year + 1).endswith(found["dual"]):
            return None
        if not month:
            return Point(DaySpan(*years(year, year + 1)), "year", calendar)
        # The year 1731 ended on 24 March 1731/32; of a later day, the second year is a mistake.
        year, calendar = year + ((month, day) <= LAST_DUAL_DAY), calendar or "julian"
    return _point_at(Day(year, month, day), calendar)


def _point_at(at: Day, calendar: Calendar | None) -> Point | None:
    """The year, month or day that `at` names; a month or day of 0 is not given."""
    if not at.month:
        span = DaySpan(day_number(at.year, 1, 1, calendar), day_number(at.year, 12, 31, calendar)) if calendar else None
        return Point(span or years(at.year, at.year), "year", calendar)
    if not at.day:
        return Point(month_days(at.year, at.month, calendar=calendar), "month", calendar)
    if at.day > month_length(at.year, at.month, calendar or usual_calendar(*at)):
        return None
    number = day_number(*at, calendar)
    return Point(DaySpan(number, number), "day", calendar)


def _parse_free_text(text: str) -> DateRange | None:
    """A free-form date, which GEDCOM does not allow but many files contain."""
    found = dates_in(text)
    if len(found) != 1:
        return None
    rest = text[: found[0].start] + text[found[0].end :]
    return None if IGNORED_CHARACTERS.sub("", rest) else found[0].when


def write_date(when: DateRange, version: Version) -> str:
    """The GEDCOM date nearest to a range; empty if it has no years that GEDCOM can write."""
    if max(abs(when.first_year), abs(when.last_year)) > LAST_YEAR:
        return ""
    nearest = ""
    for text in _candidate_texts(when, version):
        # Each text is read back: only one that means the same range is good, or else one of the same days.
        read = _parse_standard(text)
        if read == when:
            return text
        if not nearest and read and (read.earliest, read.latest) == (when.earliest, when.latest):
            nearest = text
    return nearest


def _candidate_texts(when: DateRange, version: Version) -> Iterator[str]:
    """Texts that may mean the range, the most exact first."""
    words = [word for word, meaning in QUALIFIERS.items() if meaning == (when.qualifier, when.lasts)][:1] or [""]
    for word in dict.fromkeys((*words, "")):
        yield from (f"{word} {text}".strip() for text in _texts(when, when.first_day, version))
    start, link = ("FROM", "TO") if when.lasts else ("BET", "AND")
    for first in _texts(when, when.first_day, version):
        for last in _texts(when, when.last_day, version):
            yield f"{start} {first} {link} {last}"


def _texts(when: DateRange, at: Day, version: Version) -> Iterator[str]:
    number = when.earliest if at == when.first_day else when.latest
    calendar = when.calendar_on(number)
    unusual = when.calendar != ("julian" if when.latest < FIRST_GREGORIAN_DAY else "gregorian")
    era = f"{-at.year} {'B.C.' if version == '5.5.1' else 'BCE'}" if at.year < 0 else str(at.year)
    name = calendar.upper()
    escape = f"@#D{name}@ " if version == "5.5.1" else f"{name} "
    for date_text in (era, f"{MONTHS[at.month - 1]} {era}", f"{at.day} {MONTHS[at.month - 1]} {era}"):
        # A year alone is written without its calendar, since the calendars differ only by days.
        if not unusual and (date_text == era or calendar == "gregorian"):
            yield date_text
        yield escape + date_text
