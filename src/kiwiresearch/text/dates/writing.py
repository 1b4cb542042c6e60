"""Dates written out for readers, in each language that has a catalogue: the file is named after its code there, `fr`.

How dates are read is in `mentions`, with the words of `reading_words`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple, NotRequired, TypedDict, cast

from kiwiresearch.messages import HARD_SPACE, LOCALES
from kiwiresearch.text.dates import calendar
from kiwiresearch.text.dates.calendar import (
    FIRST_GREGORIAN_DAY,
    FIRST_YEAR,
    LAST_YEAR,
    SEASON_MONTHS,
    WHOLE_PERCENT,
    Day,
    DaySpan,
    astronomical_year,
)
from kiwiresearch.text.dates.reading_words import date_words_of
from kiwiresearch.text.languages import DATA_FOLDER

if TYPE_CHECKING:
    from kiwiresearch.text.dates.ranges import DateRange

MAX_DASHED_YEARS = 400
MIN_YEARS_AGO = 1000
"""Fewer years ago are written as years."""
MAX_DATED = 1_000_000
"""More years before present than carbon and its like can date."""
ALWAYS_A_YEAR = range(FIRST_YEAR, LAST_YEAR + 1)
"""Years that need no era to be known as years."""
ROMAN = ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))
VOWELS = tuple("aeiou")
WORD = re.compile(r"\S+\s*")


Era = Literal["", "bc", "ad_after"]
AgeScale = TypedDict("AgeScale", {"from": int, "size": int, "figure": str, "units": list[str]})


class DateForms(TypedDict):
    """How a language writes dates; `{}` is where a form contains a date or a number."""

    bc: str
    ad: str
    ad_after: str
    present: str
    julian: str
    gregorian: str
    day: str
    said_once: list[str]
    nouns: dict[str, tuple[str, str]]
    parts: dict[str, tuple[str, str, str]]
    leads: dict[str, list[str]]
    articles: dict[str, dict[str, str]]
    ages: dict[str, str]
    scales: list[AgeScale]
    ordinal: NotRequired[dict[str, str]]
    roman: NotRequired[dict[str, str]]
    elided: NotRequired[dict[str, str]]
    decade_article: NotRequired[str]


class Phrase(NamedTuple):
    """A written time, and the article it takes after other words: a name in the tables `articles` of a language."""

    text: str
    takes: str = "bare"


class NamedSpan(NamedTuple):
    """A stretch of time and its name; the era is separate because a range states it once."""

    span: DaySpan
    phrase: Phrase
    era: Era = ""
    year: int = 0
    """The year, if the name is just its number."""


class YearsAgo(NamedTuple):
    """A number of years ago: 'milliards d’années' is the unit of '3,5 milliards d’années'."""

    figure: str
    unit: str

    def __str__(self) -> str:
        return f"{self.figure}{HARD_SPACE}{self.unit}" if self.unit else self.figure


def date_in_words(when: DateRange, language: str) -> str:
    """A date in one of the languages of the catalogue; English serves for the others."""
    if language not in LOCALES:
        language = "en"
    text = _DateWriter(when, language).words()
    # English dates are in the files of runs, which have plain spaces.
    return text.replace(HARD_SPACE, " ") if language == "en" else text


@cache
def _forms(language: str) -> DateForms:
    return cast(
        "DateForms", tomllib.loads((DATA_FOLDER / "date_writing" / f"{language}.toml").read_text(encoding="utf-8"))
    )


class _DateWriter:
    """Writes one date."""

    def __init__(self, when: DateRange, language: str) -> None:
        self._date_range = when
        self._forms = _forms(language)
        self._locale = LOCALES[language]

    def words(self) -> str:
        when = self._date_range
        lasting = {"before": "until", "after": "since"} if when.lasts else {}
        lead = lasting.get(when.qualifier, when.qualifier)
        text = self._age(lead) if when.precision == "age" else ""
        if not text:
            phrase = self._single() or self._pair()
            text = self._led(lead, phrase) if lead else phrase.text
        if when.calendar == "julian" and when.latest >= FIRST_GREGORIAN_DAY:
            return self._forms["julian"].format(text)
        if when.calendar == "gregorian" and when.latest < FIRST_GREGORIAN_DAY:
            return self._forms["gregorian"].format(text)
        return text

    def _led(self, lead: str, *phrases: Phrase) -> str:
        """Dates within the words that lead them: 'before the 1960s', 'between 1200 and 1150 BC'."""
        form, *cases = self._forms["leads"][lead]
        return form.format(*map(self._with_article, cases, phrases))

    def _with_article(self, case: str, phrase: Phrase) -> str:
        article = self._forms["articles"][case].get(phrase.takes, "")
        if phrase.text.startswith(VOWELS):
            article = self._forms.get("elided", {}).get(article, article)
        return article + phrase.text

    def _single(self) -> Phrase | None:
        """The name of a range that is one day, one month, one century, or a part of one."""
        when = self._date_range
        # The turn of a century starts in one century and ends in the next, so both ends are tried.
        for day in (when.first_day, when.last_day):
            for name in self._names(day):
                if name.span == (when.earliest, when.latest):
                    return self._with_era(name)
        return None

    def _pair(self) -> Phrase:
        """A range as its first and its last part; in days if no larger unit fits."""
        when = self._date_range
        first, last = self._ends()
        has_whole_years = when.precision not in ("day", "month")
        is_bc_once = first.era == last.era == "bc" and has_whole_years
        start = first.phrase if is_bc_once else self._with_era(first)
        end = self._with_era(last)
        if first.era == "bc" and last.year in ALWAYS_A_YEAR:
            end = Phrase(self._forms["ad"].format(end.text))
        if not when.lasts:
            return Phrase(self._led("between", start, end), "led")
        if _needs_words(first.year, last.year):
            return Phrase(self._led("from", start, end), "led")
        starts_with_ad = first.year > 0 and first.year not in ALWAYS_A_YEAR
        if starts_with_ad and (when.precision == "year" or last.year in ALWAYS_A_YEAR):
            years = "–".join(self._locale.number(item.year) for item in (first, last))
            return Phrase(self._forms["ad"].format(years), "led")
        begun = start.text
        is_one_year = has_whole_years or when.first_year == when.last_year
        if when.precision in self._forms["said_once"] and first.era == last.era and is_one_year:
            begun = _without_end(begun, (last.phrase if is_bc_once else end).text)
        is_short = not {" ", HARD_SPACE} & set(begun) and end.text[0].isdigit()
        return Phrase(f"{begun}–{end.text}" if is_short else f"{begun}{HARD_SPACE}– {end.text}", "led")

    def _ends(self) -> tuple[NamedSpan, NamedSpan]:
        when = self._date_range
        days = (when.first_day, when.last_day)
        first = next((name for name in self._names(days[0]) if name.span.earliest == when.earliest), None)
        last = next((name for name in self._names(days[1]) if name.span.latest == when.latest), None)
        if first is None or last is None:
            first, last = map(self._year, days)
        if (first.span.earliest, last.span.latest) != (when.earliest, when.latest):
            first, last = map(self._day, days)
        return first, last

    def _with_era(self, name: NamedSpan) -> Phrase:
        if not name.era:
            return name.phrase
        return name.phrase._replace(text=self._forms[name.era].format(name.phrase.text))

    def _names(self, day: Day) -> Iterator[NamedSpan]:
        """The unit of the range's precision that a day falls into, first complete, then in parts."""
        precision = self._date_range.precision
        if precision == "day":
            yield self._day(day)
        elif precision == "season":
            yield from self._seasons(day)
        elif makers := {
            "month": (self._month,),
            "decade": (self._decade,),
            "century": (self._century, self._hundred_years),
            "millennium": (self._millennium,),
        }.get(precision):
            parts = date_words_of("eng").parts
            for part, percent in (("", WHOLE_PERCENT), *parts.items()):
                for make in makers:
                    yield from make(day, part, percent)
        else:
            yield self._year(day)

    def _day(self, day: Day) -> NamedSpan:
        number = self._date_range.earliest if day == self._date_range.first_day else self._date_range.latest
        text = self._locale.day(day.day, self._locale.months[day.month - 1], self._figure(day))
        return NamedSpan(DaySpan(number, number), Phrase(text, self._forms["day"]), _era(day))

    def _figure(self, day: Day) -> str:
        """The year as written after a month: AD goes with the year, BC after the complete date."""
        text = self._locale.number(abs(day.year))
        return text if day.year < 0 or day.year in ALWAYS_A_YEAR else self._forms["ad"].format(text)

    def _year(self, day: Day) -> NamedSpan:
        return NamedSpan(calendar.years(day.year, day.year), Phrase(self._figure(day)), _era(day), day.year)

    def _part(self, part: str, phrase: Phrase) -> Phrase:
        if not part:
            return phrase
        takes, text, case = self._forms["parts"][part]
        return Phrase(text + self._with_article(case, phrase), takes or phrase.takes)

    def _noun(self, name: str, figure: str) -> Phrase:
        takes, form = self._forms["nouns"][name]
        return Phrase(form.format(figure), takes)

    def _month(self, day: Day, part: str, percent: tuple[int, int]) -> Iterator[NamedSpan]:
        phrase = Phrase(self._locale.month(self._locale.months[day.month - 1], self._figure(day)))
        yield NamedSpan(calendar.month_days(day.year, day.month, percent), self._part(part, phrase), _era(day))

    def _seasons(self, day: Day) -> Iterator[NamedSpan]:
        # A winter belongs to the year in which it began.
        for year in (day.year, day.year - 1 if day.year != 1 else -1):
            at = Day(year, 1, 1)
            for name in SEASON_MONTHS:
                yield NamedSpan(calendar.season(year, name), self._noun(name, self._figure(at)), _era(at))
        for part, percent in date_words_of("eng").parts.items():
            phrase = self._part(part, Phrase(self._figure(day)))
            yield NamedSpan(calendar.part_of_year(day.year, percent), phrase, _era(day))

    def _decade(self, day: Day, part: str, percent: tuple[int, int]) -> Iterator[NamedSpan]:
        first = abs(day.year) // 10 * 10
        # 'The 1900s' are read as a hundred years.
        if first % 100 or first == 2000:
            yield self._rounded(first, 10, day, part, percent)

    def _hundred_years(self, day: Day, part: str, percent: tuple[int, int]) -> Iterator[NamedSpan]:
        """'The 1800s'."""
        first = abs(day.year) // 100 * 100
        if first not in (0, 2000):
            yield self._rounded(first, 100, day, part, percent)

    def _rounded(self, first: int, size: int, day: Day, part: str, percent: tuple[int, int]) -> NamedSpan:
        phrase = self._part(part, self._noun("decade", str(first)))
        # Without an article, '960s' could be read as the plural of something else.
        if not part and 0 < day.year < 1000 and (article := self._forms.get("decade_article")):
            phrase = Phrase(article + phrase.text, "led")
        era: Era = "ad_after" if 0 < day.year < 100 else _era(day)
        return NamedSpan(calendar.years(*calendar.figure_years(first, size, bc=day.year < 0), percent), phrase, era)

    def _century(self, day: Day, part: str, percent: tuple[int, int]) -> Iterator[NamedSpan]:
        return self._grouped("century", 100, day, part, percent)

    def _millennium(self, day: Day, part: str, percent: tuple[int, int]) -> Iterator[NamedSpan]:
        return self._grouped("millennium", 1000, day, part, percent)

    def _grouped(self, noun: str, size: int, day: Day, part: str, percent: tuple[int, int]) -> Iterator[NamedSpan]:
        number = (abs(day.year) - 1) // size + 1
        # The turn of a century begins in the one before.
        for at in (number, number - 1, number + 1) if percent[0] < 0 else (number,):
            if at > 0:
                bounds = calendar.ordinal_years(at, size, bc=day.year < 0)
                phrase = self._part(part, self._noun(noun, self._ordinal(at)))
                yield NamedSpan(calendar.years(*bounds, percent), phrase, _era(day))

    def _ordinal(self, number: int) -> str:
        if romans := self._forms.get("roman"):
            return romans["first"] if number == 1 else romans["other"].format(_roman(number))
        endings = self._forms["ordinal"]
        return (endings.get(str(number % 100)) or endings.get(str(number % 10)) or endings["other"]).format(number)

    def _age(self, lead: str) -> str:
        """'66 million years ago', if a round figure covers just this time."""
        when, forms = self._date_range, self._forms
        first, last = astronomical_year(when.first_year), astronomical_year(when.last_year)
        if not (when.lasts and when.qualifier in ("", "about")):
            for present in (calendar.AGO_FROM, calendar.PRESENT_YEAR):
                back = present - (first + last) // 2
                if back >= MIN_YEARS_AGO and calendar.ago(back, back, present) == (when.earliest, when.latest):
                    (age,) = self._ages([back])
                    if present == calendar.AGO_FROM:
                        return forms["ages"][lead or "ago"].format(age)
                    phrase = Phrase(forms["present"].format(age), "led")
                    return self._led(lead, phrase) if lead else phrase.text
        ago = [calendar.AGO_FROM - year for year in (first, last)]
        if ago[1] < MIN_YEARS_AGO:
            return ""
        pair = "from" if when.lasts else "between"
        dated = [calendar.PRESENT_YEAR - year for year in (first, last)]
        if dated[1] >= MIN_YEARS_AGO and dated[0] < MAX_DATED and _zeros(dated) > _zeros(ago):
            most, least = self._ages(dated)
            text = self._led(pair, Phrase(most.figure), Phrase(forms["present"].format(least), "led"))
        else:
            most, least = self._ages(ago)
            # The unit is stated once.
            text = forms["ages"][pair].format(most.figure if most.unit == least.unit else most, least)
        return self._led(lead, Phrase(text, "led")) if lead else text

    def _ages(self, numbers: Sequence[int]) -> list[YearsAgo]:
        """Numbers of years; 'million' is used for all or none, since after the second it would count for both."""
        scales = self._forms["scales"]
        chosen = [
            # The first scale with at most three decimals; the last one is plain years, which always fits.
            next(scale for scale in scales if years >= scale["from"] and years * 1000 % scale["from"] == 0)
            for years in numbers
        ]
        if scales[-1] in chosen:
            chosen = [scales[-1] for _ in numbers]
        return [self._scaled(number, scale) for number, scale in zip(numbers, chosen, strict=True)]

    def _scaled(self, number: int, scale: AgeScale) -> YearsAgo:
        size = scale["size"]
        value = number / size if number % size else number // size
        one, several = scale["units"]
        figure = scale["figure"].format(self._locale.count(value))
        return YearsAgo(figure, one if self._locale.is_one(value) else several)


def _needs_words(first: int, last: int) -> bool:
    """Whether two years with a dash could be read as a range of counts: '1000–1500'."""
    if first not in ALWAYS_A_YEAR or last not in ALWAYS_A_YEAR:
        return False
    return last - first > MAX_DASHED_YEARS or (first % 100 == 0 and last % 100 == 0)


def _without_end(text: str, other: str) -> str:
    """'5 June' of '5 June 1944' before '9 July 1944': what both end in is stated once."""
    words, others = WORD.findall(text), WORD.findall(other)
    while len(words) > 1 and len(others) > 1 and words[-1] == others[-1]:
        words.pop()
        others.pop()
    return "".join(words).rstrip()


def _era(day: Day) -> Era:
    return "bc" if day.year < 0 else ""


def _roman(number: int) -> str:
    """The number of a century or a millennium; large ones are written in figures."""
    if not 0 < number < 400:
        return str(number)
    text = ""
    for value, sign in ROMAN:
        text += sign * (number // value)
        number %= value
    return text


def _zeros(numbers: Sequence[int]) -> int:
    """How round some numbers are: the zeros they end in."""
    return sum(len(str(index)) - len(str(index).rstrip("0")) for index in numbers)
