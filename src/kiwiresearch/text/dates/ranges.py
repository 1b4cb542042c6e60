"""The range of days that a date means, and how two of them relate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

from kiwiresearch.messages import LocalText
from kiwiresearch.text.dates import edtf, writing
from kiwiresearch.text.dates.calendar import (
    AGO_FROM,
    FIRST_GREGORIAN_DAY,
    Calendar,
    astronomical_year,
    calendar_at,
    calendar_year,
    day_at,
    day_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kiwiresearch.text.dates.calendar import Day, DaySpan

Precision = Literal["day", "month", "season", "year", "decade", "century", "millennium", "age"]
DateQualifier = Literal["", "about", "before", "after"]
DateRelation = Literal["same", "within", "overlap", "calendar", "apart"]

ABOUT_DIVISOR = 100
"""'About' may be off by one hundredth of the time that has passed since."""
ABOUT_DAYS = {"day": 7, "month": 31, "season": 92}
"""How many days 'about' allows for dates that are more precise than a year."""
MIN_ABOUT_DAYS = 730
"""How many it allows at least for all others."""
LAST_LADY_DAY_YEAR = 1752
"""The last year that started on 25 March in some country."""
ENDLESS_DAY = 10**15


@dataclass(frozen=True, slots=True)
class DateRange:
    """A range of days as Julian Day Numbers.

    `lasts` distinguishes something that lasted from the first to the last day ('1914–1918') from a moment somewhere
    in between ('between 1200 and 1150 BC', 'the 12th century').
    """

    earliest: int
    latest: int
    precision: Precision = "year"
    qualifier: DateQualifier = ""
    calendar: Calendar = "gregorian"
    lasts: bool = False

    @classmethod
    def of(
        cls, span: DaySpan, precision: Precision, qualifier: DateQualifier, calendar: Calendar | None, *, lasts: bool
    ) -> Self:
        """The range of some days; without a calendar, in the one in use on the last of them."""
        return cls(*span, precision, qualifier, calendar or calendar_at(span.latest), lasts)

    @property
    def first_day(self) -> Day:
        return day_at(self.earliest, self.calendar_on(self.earliest))

    @property
    def last_day(self) -> Day:
        return day_at(self.latest, self.calendar_on(self.latest))

    @property
    def first_year(self) -> int:
        """The year of the first day, signed and without a zero: 1200 BC is -1200."""
        return self.first_day.year

    @property
    def last_year(self) -> int:
        """The year of the last day, signed and without a zero: 1200 BC is -1200."""
        return self.last_day.year

    def calendar_on(self, day: int) -> Calendar:
        """The calendar in which a day is written: a range across 1582 starts in one and ends in the other."""
        if self.calendar == "julian" or self.latest < FIRST_GREGORIAN_DAY:
            return self.calendar
        return calendar_at(day)

    def edtf(self) -> str:
        """The date as EDTF, for storage; its years count 1 BC as 0000, as ISO 8601 does."""
        return edtf.edtf(self)

    def words(self, language: str = "en") -> str:
        """The date as a reader of a language of the catalogue writes it: 'c. 1250', '12th century BC'."""
        return writing.date_in_words(self, language)

    def possible_days(self) -> tuple[int, int]:
        """The first and last day that agree with it once the qualifier is taken into account."""
        if self.qualifier == "before":
            return -ENDLESS_DAY, self.latest
        if self.qualifier == "after":
            return self.earliest, ENDLESS_DAY
        if self.qualifier == "about":
            return self.earliest - self._about_days(), self.latest + self._about_days()
        return self.earliest, self.latest

    def _about_days(self) -> int:
        fixed_days = ABOUT_DAYS.get(self.precision)
        passed = day_number(AGO_FROM) - self.latest
        return fixed_days if fixed_days is not None else max(MIN_ABOUT_DAYS, passed // ABOUT_DIVISOR)


class DateText(LocalText):
    """A date in English that also has its days, so that pages can write it in another language.

    It is a `str` because JSON holds the English words.
    """

    __slots__ = ("when",)
    when: DateRange

    def __new__(cls, when: DateRange) -> Self:
        text = super().__new__(cls, when.words())
        text.when = when
        return text

    def in_language(self, language: str) -> str:
        return self.when.words(language)

    def __getnewargs__(self) -> tuple[DateRange]:  # type: ignore[override]
        return (self.when,)


def date_relation(one: DateRange, other: DateRange) -> DateRelation:
    """How two dates relate; only 'apart' means that both cannot be right."""
    if (one.earliest, one.latest, one.qualifier) == (other.earliest, other.latest, other.qualifier):
        return "same"
    (first, last), (other_first, other_last) = one.possible_days(), other.possible_days()
    if (first <= other_first and other_last <= last) or (other_first <= first and last <= other_last):
        return "within"
    if first <= other_last and other_first <= last:
        return "overlap"
    # Tried last, since it can explain away a real difference: only dates that are otherwise apart.
    if _other_reading(one, other) or _other_reading(other, one):
        return "calendar"
    return "apart"


def _other_reading(one: DateRange, other: DateRange) -> bool:
    """Whether `one`, read in the other calendar or with a year that started in March, falls within `other`."""
    if one.precision not in ("day", "month") or one.qualifier or other.qualifier:
        return False
    return any(other.earliest <= first and last <= other.latest for first, last in _readings(one))


def _readings(when: DateRange) -> Iterator[tuple[int, int]]:
    """The days that the same written date may mean in another calendar."""
    first = when.first_day
    length = when.latest - when.earliest
    # Where the year started on 25 March, January to 24 March had the number of the year before.
    shifts = (-1, 0, 1) if (first.month, first.day) < (3, 25) and first.year <= LAST_LADY_DAY_YEAR + 1 else (0,)
    for shift in shifts:
        year = calendar_year(astronomical_year(first.year) + shift)
        calendars: tuple[Calendar, ...] = ("julian", "gregorian")
        for calendar in calendars:
            start = day_number(year, first.month, first.day, calendar)
            yield start, start + length
