"""What a date means: days and calendars, how dates relate, and how they are written."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kiwiresearch.text.dates import calendar as units
from kiwiresearch.text.dates.calendar import ENGLISH_MONTHS, Calendar, day_at, day_number, month_length
from kiwiresearch.text.dates.mentions import dates_in
from kiwiresearch.text.dates.ranges import DateQualifier, DateRange, DateRelation, date_relation

CALENDARS: tuple[Calendar, ...] = ("julian", "gregorian")


def when(text: str) -> DateRange:
    """The one date of a text."""
    (found,) = dates_in(text)
    assert (found.start, found.end) == (0, len(text))
    return found.when


@given(st.integers(-(10**12), 10**8), st.sampled_from(CALENDARS))
def test_every_day_has_one_name_in_each_calendar(number: int, calendar: Calendar) -> None:
    """A Julian Day Number becomes a date and the same number again, billions of years back."""
    day = day_at(number, calendar)
    assert day.year != 0
    assert 1 <= day.day <= month_length(day.year, day.month, calendar)
    assert day_number(*day, calendar) == number


@given(st.dates())
def test_gregorian_days_are_those_of_the_standard_library(day: date) -> None:
    """The distance between two days is the one that Python counts."""
    assert day_number(day.year, day.month, day.day, "gregorian") - 1721425 == day.toordinal()


@pytest.mark.parametrize(
    ("year", "month", "day", "number"),
    [
        (-4713, 1, 1, 0),
        (1582, 10, 4, 2299160),
        (1582, 10, 15, 2299161),
        (2000, 1, 1, 2451545),
        (1858, 11, 17, 2400001),
        (-1, 12, 31, 1721423),
        (1, 1, 1, 1721424),
    ],
)
def test_known_days_have_their_known_numbers(year: int, month: int, day: int, number: int) -> None:
    """Before 15 October 1582 dates are Julian; 1 BC is followed by AD 1."""
    assert day_number(year, month, day) == number
    assert day_at(number) == (year, month, day)


def test_years_before_christ_are_negative_and_there_is_no_year_zero() -> None:
    """1200 BC is -1200, and the year before AD 1 is -1."""
    assert (when("1200 BC").first_year, when("1200 BC").last_year) == (-1200, -1200)
    assert when("1 BC").latest + 1 == when("AD 1").earliest
    assert when("12th century BC").first_year == -1200
    assert when("12th century BC").last_year == -1101


RELATIONS: list[tuple[str, str, DateRelation]] = [
    ("24 May 1819", "May 24, 1819", "same"),
    ("1200 BC", "1200 BCE", "same"),
    ("1819", "24 May 1819", "within"),
    ("12th century", "1150", "within"),
    ("1914–1918", "1916", "within"),
    ("c. 1250", "1250", "within"),
    ("c. 1250", "1255", "within"),
    ("c. 1250", "1290", "apart"),
    ("c. 1820", "1823", "apart"),
    ("c. 1200 BC", "1225 BC", "within"),
    ("about 66 million years ago", "65.5 Ma", "within"),
    ("66 million years ago", "145 million years ago", "apart"),
    ("before 1500", "1320", "within"),
    ("before 1500", "1600", "apart"),
    ("after 1945", "1960", "within"),
    ("after 1945", "1939", "apart"),
    ("since 1999", "2004", "within"),
    ("until 1806", "1807", "apart"),
    ("1914–1918", "1916–1920", "overlap"),
    ("winter 1916", "1916", "overlap"),
    ("1 January 1700 (Old Style)", "11 January 1700", "same"),
    ("1 January 1700 (Old Style)", "1 January 1700", "calendar"),
    ("14 October 1066", "20 October 1066", "calendar"),
    ("25 December 1642", "4 January 1643", "calendar"),
    ("11 February 1731", "22 February 1732", "calendar"),
    ("30 January 1648", "30 January 1649", "calendar"),
    ("February 1731", "11 February 1732", "calendar"),
    ("1731", "11 February 1732", "calendar"),
    ("7 November 1917", "25 October 1917", "calendar"),
    ("30 June 1648", "30 June 1649", "apart"),
    ("30 January 1848", "30 January 1849", "apart"),
    ("5 June 1944", "6 June 1944", "apart"),
    ("5 June 1944", "18 June 1944", "calendar"),
    ("5 June 1944", "17 June 1944", "apart"),
    ("1812", "1815", "apart"),
    ("384–322 BC", "AD 384–430", "apart"),
]


@pytest.mark.parametrize(("one", "other", "expected"), RELATIONS)
def test_two_dates_are_compared(one: str, other: str, expected: DateRelation) -> None:
    """Dates that differ only in precision, in calendar or in the start of the year do not contradict each other."""
    assert date_relation(when(one), when(other)) == expected
    assert date_relation(when(other), when(one)) == expected


YEARS = st.integers(-9000, -1) | st.integers(1, 2100)
PARTS = st.sampled_from([(0, 100), (0, 34), (34, 67), (67, 100), (0, 50), (50, 100), (85, 100), (-5, 5)])
SEASONS = st.sampled_from(sorted(units.SEASON_MONTHS))


@st.composite
def single_dates(draw: st.DrawFn) -> DateRange:
    """One day, month, season, year, decade, century, millennium or age."""
    year, part = draw(YEARS), draw(PARTS)
    bc, number = year < 0, abs(year)
    spans = {
        "day": units.DaySpan(*[draw(st.integers(day_number(year, 1, 1), day_number(year, 12, 31)))] * 2),
        "month": units.month_days(year, draw(st.integers(1, 12)), part),
        "season": units.season(year, draw(SEASONS)) if part == (0, 100) else units.part_of_year(year, part),
        "year": units.years(year, year),
        "decade": units.years(*units.figure_years(number // 100 * 100 + 10 * (number % 9 + 1), 10, bc=bc), part),
        "century": units.years(*units.ordinal_years(number // 100 + 1, 100, bc=bc), part),
        "millennium": units.years(*units.ordinal_years(number // 1000 + 1, 1000, bc=bc), part),
        "age": units.ago(*[draw(st.integers(100, 9999)) * 10 ** draw(st.integers(1, 6))] * 2),
    }
    precision = draw(st.sampled_from(sorted(spans)))
    return made(spans[precision], precision)


def made(span: units.DaySpan, precision: str, *, lasts: bool = False, qualifier: DateQualifier = "") -> DateRange:
    calendar: Calendar = "julian" if span.latest < 2299161 else "gregorian"
    return DateRange(span.earliest, span.latest, precision, qualifier, calendar, lasts)  # type: ignore[arg-type]


@st.composite
def qualified_dates(draw: st.DrawFn) -> DateRange:
    one = draw(single_dates())
    qualifier: DateQualifier = draw(st.sampled_from(["", "about", "before", "after"]))
    lasts = qualifier in ("before", "after") and one.precision != "age" and draw(st.booleans())
    return made(units.DaySpan(one.earliest, one.latest), one.precision, lasts=lasts, qualifier=qualifier)


@st.composite
def pairs(draw: st.DrawFn) -> DateRange:
    """From one year, day, month or century to a later one."""
    precision = draw(st.sampled_from(["day", "month", "year", "century", "age"]))
    first, last = sorted(draw(st.lists(YEARS, min_size=2, max_size=2, unique=True)))
    month, other = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    if precision == "age":
        least, most = sorted(draw(st.lists(st.integers(1000, 10**9), min_size=2, max_size=2, unique=True)))
        return made(units.ago(most, least), precision, lasts=draw(st.booleans()))
    spans = {
        "day": units.DaySpan(day_number(first, month, 28), day_number(last, other, 2)),
        "month": units.DaySpan(units.month_days(first, month).earliest, units.month_days(last, other).latest),
        "year": units.years(first, last),
        "century": units.DaySpan(whole_century(first).earliest, whole_century(last).latest),
    }
    span = spans[precision]
    lasts = draw(st.booleans()) if span != whole_century(first) else False
    return made(span, precision, lasts=lasts, qualifier=draw(st.sampled_from(["", "about"])))


def whole_century(year: int) -> units.DaySpan:
    return units.years(*units.ordinal_years((abs(year) - 1) // 100 + 1, 100, bc=year < 0))


@example(made(units.ago(1_000_001, 1_000_000), "age"))
@example(made(units.years(1000, 1000), "year"))
@given(qualified_dates() | pairs())
def test_a_written_date_reads_back_as_the_same_date(one: DateRange) -> None:
    """The words of a date are read again as the same days, precision and qualifier."""
    (found,) = dates_in(f"It was in {one.words()}.")
    assert found.when == one


@given(YEARS, st.integers(1, 12), st.integers(1, 28), st.sampled_from(["(Old Style)", "(New Style)"]))
def test_a_stated_calendar_is_written_and_read_back(year: int, month: int, day: int, style: str) -> None:
    """A day in the calendar that is not the usual one says so."""
    era = "BC" if year < 0 else "AD"
    (found,) = dates_in(f"{day} {month_name(month)} {abs(year)} {era} {style}")
    assert found.when.calendar == ("julian" if "Old" in style else "gregorian")
    assert found.when.first_day == (year, month, day)
    (again,) = dates_in(found.when.words())
    assert again.when == found.when


def month_name(month: int) -> str:
    return ENGLISH_MONTHS[month - 1]


@given(qualified_dates() | pairs(), qualified_dates() | pairs())
def test_a_relation_is_the_same_from_both_sides(one: DateRange, other: DateRange) -> None:
    """Comparing in the other order changes nothing, and a date is the same as itself."""
    assert date_relation(one, other) == date_relation(other, one)
    assert date_relation(one, one) == "same"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("circa 1250", "c. 1250"),
        ("1200 BCE", "1200 BC"),
        ("the twelfth century BC", "12th century BC"),
        ("June 5, 1944", "5 June 1944"),
        ("from 1914 to 1918", "1914–1918"),
        ("66 million years ago", "66 million years ago"),
        ("65.5 Ma", "65.5 million years ago"),
        ("79 CE", "AD 79"),
        ("(354–430)", "AD 354–430"),
        ("27 BC to 14 AD", "27 BC – AD 14"),
        ("from 5 June to 9 July 1944", "5 June – 9 July 1944"),
        ("June 5–9, 1944", "5–9 June 1944"),
        ("ever since the 1960s", "since the 1960s"),
        ("by 1500", "before 1500"),
        ("till 1806", "until 1806"),
        ("in the late 18th and early 19th centuries", "late 18th – early 19th century"),
        ("the 2nd millennium BC", "2nd millennium BC"),
        ("the first half of the 3rd century", "the first half of the 3rd century"),
        ("the winter of 1916–17", "winter 1916"),
        ("between 5 and 6 million years ago", "between 6 million and 5 million years ago"),
        ("12,000 BP", "12,000 BP"),
        ("the 10th millennium b.p.", "between 10,000 and 9,000 BP"),
        ("130,000-115,000 BP", "between 130,000 and 115,000 BP"),
        ("60 Myr BP", "60 million years ago"),
        ("from 2,500 to 1,500 cal yr BP", "from 2,500 to 1,500 BP"),
        ("since 12,000 BP", "since 12,000 BP"),
        ("the 1st millennium BP", "between AD 950 and 1950"),
        ("10 000 and 10,000 BC", "10,000 BC"),
        ("5 June 1700 O.S.", "5 June 1700 (Old Style)"),
    ],
)
def test_a_date_is_written_one_way(text: str, words: str) -> None:
    """However a date was spelled, it is written in the form that readers know best."""
    assert [found.when.words() for found in dates_in(text)] == [words]
    assert [found.when.words("xyz") for found in dates_in(text)] == [words]
