"""Days, months, years and decades in a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kiwiresearch.text.dates.calendar import FIRST_YEAR, LAST_YEAR
from kiwiresearch.text.dates.point import (
    CERTAIN_YEAR,
    DASHES,
    DatePoint,
    is_bound,
    is_counted,
    is_year,
    read_era,
    start_of,
    with_leading_words,
    words_before,
)
from kiwiresearch.text.dates.reading_words import DateWords

DUAL = re.compile(r"/(?: (?=[0-9]{4}))?([0-9]{1,4})(?![0-9/])")
"""The second year of '1752/3', a dual date."""
END_OF_OLD_YEAR = (3, 24)
"""In England the year began on 25 March until 1752."""
MAX_GUESSED_YEARS = 10
"""'c. 1524/1529' guesses a year; years further apart are something else."""

NO_LETTERS = re.compile(r"[\W\d_]")
# '3.5.1803' and '13/05/1803'; not '3.5/1803', whose signs differ, and not '3.5.1803.2'.
NUMERIC = re.compile(r"([0-9]{1,2})([./-])([0-9]{1,2})\2(?P<year>1[0-9]{3}|20[0-9]{2})(?![0-9]|[./-][0-9])")
SPACES = " \u00a0"


def day_point(text: str, start: int, end: int, date_words: DateWords) -> DatePoint | None:
    """'5 June 1944', '5–9 June', 'June 5, 1944': with or without its year."""
    day = int(text[start:end])
    if not 1 <= day <= 31:
        return None
    found = date_words.day_first.match(text, end)
    month_start = start
    if found:
        month = date_words.months[found["month"]]
    else:
        spoken = text[max(0, start - 5) : start] == " the "
        month, month_start = _month_before(text, start - 4 if spoken else start, date_words)
        found = date_words.day_second.match(text, end) if month else None
    if not found:
        return None
    last_day = int(found["last"] or 0)
    if last_day and not day < last_day <= 31:
        return None
    point = DatePoint(month_start, found.end(), "day", month=month, day=day, last_day=last_day)
    point.either = bool(last_day) and _is_either(found["between"], date_words)
    _read_year(text, point, found, date_words)
    # 'January 1 BC' is a month.
    if not point.number and month_start < start and date_words.era.match(text, point.end):
        return None
    point.is_certain = point.number > 0
    read_era(text, point, date_words)
    _read_calendar_note(text, point, date_words)
    return with_leading_words(text, point, words_before(text, month_start), date_words)


def _read_year(text: str, point: DatePoint, found: re.Match[str], date_words: DateWords) -> None:
    """Add the year after a day, unless the number is a count."""
    if not found["year"]:
        other = date_words.other_calendar_date.match(text, found.end())
        if other:
            point.number, point.end = int(other["year"]), other.end()
        return
    year, end = int(found["year"]), found.end("year")
    era = date_words.era.match(text, end)
    if found["pre"]:
        point.number, point.era = year, "ad"
    elif era and not era["not"]:
        point.number = year
    elif len(found["year"]) >= 3 and year <= LAST_YEAR and not is_counted(text, end, year, date_words):
        point.number = year
        dual = DUAL.match(text, end)
        if dual and follows(year, dual[1]):
            # The second year is the one that starts in January, as years do today; on other days both began before.
            point.number = year + 1 if (point.month, point.day) <= END_OF_OLD_YEAR else year
            point.end, point.calendar = dual.end(), "julian"
    else:
        point.end = found.start("year")
        while text[point.end - 1] in " ,":
            point.end -= 1


def _read_calendar_note(text: str, point: DatePoint, date_words: DateWords) -> None:
    """Set the calendar by a note such as 'O.S.' after or before a date."""
    found = date_words.calendar_note.match(text, point.end)
    if found:
        point.end = found.end()
    else:
        found = date_words.calendar_note_before.search(text, max(0, point.start - 24), point.start)
    if found:
        point.calendar = "julian" if found["old"] else "gregorian"


def with_month(text: str, point: DatePoint, date_words: DateWords) -> DatePoint:
    """Turn a year into a month if there is one before it: 'June 1944', 'June–July 1944', 'June of 1944'."""
    start = point.start
    if text[max(0, start - 4) : start] in (" of ", "of "):
        start -= 3
    month, first = _month_before(text, start, date_words)
    if not month:
        return point
    point.precision, point.month, point.start = "month", month, first
    # 'June to July 1944' and 'June–July 1944': another month before this one, after a word or a dash.
    gap = text[max(0, first - 10) : first].split(" ")
    if len(gap) > 2 and gap[-1] == "" and (gap[-2] in date_words.to or gap[-2] in date_words.both):
        earlier, earlier_start = _month_before(text, first - len(gap[-2]) - 1, date_words)
    elif text[first - 1 : first] in DASHES or text[first - 1 : first] == "/":
        window = max(0, first - 16)
        earlier, earlier_start = _month_before(text[window : first - 1] + " ", first - window, date_words)
        earlier_start += window
    else:
        return _ordinal_word_day(text, point, date_words)
    if 0 < earlier < month:
        point.month, point.last_month, point.start = earlier, month, earlier_start
        point.either = gap[-2:-1] != [] and _is_either(gap[-2], date_words)
    return point


def _ordinal_word_day(text: str, point: DatePoint, date_words: DateWords) -> DatePoint:
    """'the third of May 1803'."""
    found = date_words.ordinal_day.search(text, max(0, point.start - 40), point.start)
    if found and date_words.ordinals[found["ordinal"]] <= 31:
        point.precision, point.day, point.start = "day", date_words.ordinals[found["ordinal"]], found.start("ordinal")
    return point


def _is_either(link: str, date_words: DateWords) -> bool:
    return link.strip() in date_words.either


def numeric_point(text: str, start: int) -> DatePoint | None:
    """'3.5.1803' and '13/05/1803'; of '3/5/1803', which is ambiguous, only the year."""
    found = NUMERIC.match(text, start)
    if not found:
        return None
    first, second, year = int(found[1]), int(found[3]), int(found["year"])
    day, month = (first, second) if found[2] == "." or second <= 12 < first else (second, first)
    if found[2] != "." and first != second and max(first, second) <= 12:
        return DatePoint(start, found.end(), "year", year)
    return DatePoint(start, found.end(), "day", year, month=month, day=day)


def _month_before(text: str, start: int, date_words: DateWords) -> tuple[int, int]:
    """The month right before an offset, and where it starts."""
    end = start - 1
    if end < 3 or text[end] not in SPACES:
        return 0, start
    if text[end - 1] in ".,":
        end -= 1
    word = text[max(0, end - 12) : end].replace("\n", " ").rpartition(" ")[2]
    if word not in date_words.months:
        word = NO_LETTERS.split(word)[-1]
    return date_words.months.get(word, 0), end - len(word)


def follows(year: int, figures: str) -> bool:
    """Whether '3' or '53' after 1752 is the next year."""
    return str(year + 1).endswith(figures)


ISO = re.compile(r"([-/])(?P<month>[0-9]{2})\1(?P<day>[0-9]{2})(?![0-9/-])")
"""The month and day of '1803-05-13', after the year."""

MAX_YEAR_CHARS = 9
MAX_LINK_CHARS = 6


def with_era(text: str, start: int, end: int, date_words: DateWords) -> DatePoint | None:
    """'1200 BC', '10,000 BC', '79 AD'."""
    found = date_words.era.match(text, end)
    if not found:
        return None
    year = _plain_year(text[start:end])
    if found["not"] or not year:
        return None
    # A long number and letters without a space are a name or a code, not a year and its era.
    if text[end : end + 1].isalpha() and end - start > 4:
        return None
    point = DatePoint(start, found.end(), "year", year, era="bc" if found["bc"] else "ad")
    return with_leading_words(text, with_month(text, point, date_words), words_before(text, point.start), date_words)


def before_era(text: str, start: int, end: int, date_words: DateWords) -> DatePoint | None:
    """The first of '130,000–110,000 BC' or '30–19 BC', whose era comes with the second."""
    number = _plain_year(text[start:end]) if date_words.pair_before_era.match(text, end) else 0
    if not number:
        return None
    point = DatePoint(start, end, "year", number, is_certain=False)
    return with_leading_words(text, point, words_before(text, start), date_words)


def _plain_year(figures: str) -> int:
    """A year from its digits, with or without commas; 0 if it cannot be one."""
    groups = figures.split(",")
    if len(figures) > MAX_YEAR_CHARS or "." in figures or any(len(group) != 3 for group in groups[1:]):
        return 0
    return int("".join(groups))


def after_era(text: str, start: int, end: int, date_words: DateWords) -> DatePoint | None:
    """'AD 79'."""
    year = _plain_year(text[start:end])
    if not year or is_counted(text, end, CERTAIN_YEAR, date_words):
        return None
    point = DatePoint(start_of(text, start, 1), end, "year", year, era="ad")
    return with_leading_words(text, with_month(text, point, date_words), words_before(text, point.start), date_words)


def year_point(text: str, start: int, end: int, date_words: DateWords, previous: DatePoint | None) -> DatePoint | None:
    """A bare number of up to four digits that is, or may be, a year; None if it cannot be one."""
    decade = date_words.decade.match(text, end)
    if decade:
        return _decade(text, start, decade, date_words, previous)
    iso = ISO.match(text, end) if end - start == 4 and text.startswith(("-", "/"), end) else None
    if iso:
        return DatePoint(start, iso.end(), "day", int(text[start:end]), month=int(iso["month"]), day=int(iso["day"]))
    point = DatePoint(start, end, "year", int(text[start:end]), is_certain=False)
    if _continues(text, point, previous, date_words):
        return point
    if end - start > 2:
        return _full_year(text, point, date_words, previous)
    return before_era(text, start, end, date_words)


def _guessed_year(year: int, figures: str, before: Sequence[str], date_words: DateWords) -> int:
    """The other year of 'c. 1524/1529'; 0 if the pair is not a guess."""
    is_guess = bool(before) and before[-1] in date_words.evidence.circa and len(figures) == len(str(year))
    return int(figures) if is_guess and 0 < int(figures) - year <= MAX_GUESSED_YEARS else 0


def _full_year(text: str, point: DatePoint, date_words: DateWords, previous: DatePoint | None) -> DatePoint | None:
    start, end, number = point.start, point.end, point.number
    before = words_before(text, start)
    other = date_words.era.match(text, end)
    if (
        text[start] == "0"
        or (other and other["not"])
        or (before and before[-1] in date_words.evidence.before_serial_numbers and not is_bound(before, date_words))
    ):
        return None
    plausible = FIRST_YEAR <= number <= LAST_YEAR
    dual = DUAL.match(text, end) if text.startswith("/", end) else None
    if dual:
        last = number + 1 if follows(number, dual[1]) else _guessed_year(number, dual[1], before, date_words)
        if not plausible or not last:
            return None
        point.end, point.last = dual.end(), last
    if plausible and not is_counted(text, point.end, number, date_words):
        point.is_certain = with_month(text, point, date_words).precision != "year" or dual is not None
        point.is_certain = point.is_certain or date_words.onwards.match(text, end) is not None
    point.is_certain = (
        point.is_certain or is_year(text, start, end, before, date_words) or _is_listed(text, start, end, previous)
    )
    return with_leading_words(
        text, point, before if point.start == start else words_before(text, point.start), date_words
    )


def _continues(text: str, point: DatePoint, previous: DatePoint | None, date_words: DateWords) -> bool:
    """'1914–18', 'AD 14–37': whether a number after a year and a dash is the end of a range of years."""
    if previous is None or previous.precision != "year" or point.start - previous.end > MAX_LINK_CHARS:
        return False
    gap = text[previous.end : point.start]
    if previous.era == "ad":
        return gap.strip() in date_words.to and point.number > previous.number
    if point.end - point.start != 2 or previous.era or previous.number < FIRST_YEAR:
        return False
    number = previous.number // 100 * 100 + point.number
    if number <= previous.number or gap.strip() not in DASHES:
        return False
    point.number = number
    return True


def _is_listed(text: str, start: int, end: int, previous: DatePoint | None) -> bool:
    """'in 1912, 1920 and 1924': years that follow a year."""
    if (
        previous is None
        or previous.precision != "year"
        or not previous.is_certain
        or previous.end >= start
        or end - start != 4
    ):
        return False
    gap = text[previous.end : start]
    near = abs(previous.number - int(text[start:end])) <= 150
    # Near in time as well as in the text: 'in 1912, 1200 and …' goes on with a count.
    return near and len(gap) <= 6 and gap.replace("and", "").replace("or", "").strip() in ("", ",", "&", ", ,")


def _decade(
    text: str, start: int, suffix: re.Match[str], date_words: DateWords, previous: DatePoint | None
) -> DatePoint | None:
    before = words_before(text, start)
    number, length, end = int(text[start : suffix.start()]), suffix.start() - start, suffix.end()
    if number % 10 or length < 2:
        return None
    if length == 2 and not date_words.era.match(text, end):
        short = text[start - 1 : start] in ("'", "’", "‘")
        listed = previous is not None and previous.precision == "decade" and start - previous.end <= 6
        if not short and not listed:
            return None
        number += previous.number // 100 * 100 if listed and previous else 1900
        start -= short
        before = words_before(text, start)
    elif length < 4 and not date_words.era.match(text, end) and (not before or before[-1] not in date_words.prefixes):
        return None
    if number > LAST_YEAR and not date_words.era.match(text, end):
        return None
    is_hundreds = number % 100 == 0 and number != 2000  # '2000s' mostly means 2000 to 2009
    point = DatePoint(start, end, "century" if is_hundreds else "decade", number, is_hundreds=is_hundreds)
    read_era(text, point, date_words)
    return with_leading_words(text, point, before, date_words)
