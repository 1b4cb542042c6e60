"""The facts of a sentence, numbers, dates and names, and which of them its sources do not have.

Nothing that a model writes goes past this: it is strict where it is in doubt, since a
sentence that is turned away is replaced by the page's own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

from kiwiresearch.claims.names import Known, names_in, unknown_words, without_stops
from kiwiresearch.claims.numerals import Number, numbers_in
from kiwiresearch.text.quantities import Quantity, quantities_in
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.when import Dated, DateRange, dates_in

FactKind = Literal["number", "date", "name"]
LONGEST_UNIT = {"day": 1, "month": 31, "season": 122, "year": 366, "decade": 3_653, "century": 36_525}
"""In days; what is longer reaches from one unit to another."""
FINE = ("day", "month", "season", "year")


@dataclass(frozen=True, slots=True)
class Facts:
    """What can be checked in a sentence, in one spelling each."""

    numbers: tuple[str, ...]
    dates: tuple[DateRange, ...]
    names: tuple[str, ...]


class Unsupported(NamedTuple):
    """A fact that the sources do not have, by the words of the sentence."""

    kind: FactKind
    words: str


def facts_in(text: str, language: str = "eng") -> Facts:
    """The numbers, dates and names of a text; the figures of a date are numbers too."""
    read = Reading.of(text, language)
    names = names_in(read.text, language, dates=read.date_spans)
    return Facts(
        tuple(number.words for number in read.numbers),
        tuple(found.when for found in read.dates),
        tuple(" ".join(word.text for word in name) for name in names),
    )


def unsupported(text: str, sources: Sequence[str], language: str = "eng") -> tuple[str, ...]:
    """The words of numbers, dates and names that stand in the text and in none of its sources."""
    return tuple(dict.fromkeys(one.words for one in unsupported_facts(text, sources, language)))


def unsupported_facts(text: str, sources: Sequence[str], language: str = "eng") -> tuple[Unsupported, ...]:
    """The same with the kind of each: numbers first, then dates, then names."""
    said = [_read(source, language) for source in sources]
    mine = _read(text, language)
    found = [Unsupported("number", words) for words in _numbers(mine, said, language)]
    found += [Unsupported("date", words) for words in _dates(mine, said)]
    known = Known.of(sources)
    for name in names_in(mine.text, language, known, mine.date_spans):
        found += [Unsupported("name", word.text) for word in unknown_words(name, known)]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text without the stops of 'U.S.' and 'B.C.', with its numbers, dates and measures."""

    text: str
    numbers: tuple[Number, ...]
    dates: tuple[Dated, ...]
    quantities: tuple[Quantity, ...]

    @classmethod
    def of(cls, text: str, language: str) -> Reading:
        text = without_stops(text)
        dates = tuple(dates_in(text, language))
        spans = [(found.start, found.end) for found in dates]
        quantities = tuple(quantities_in(text, language, not_in=spans))
        return cls(text, tuple(numbers_in(text, language)), dates, quantities)

    @property
    def date_spans(self) -> list[tuple[int, int]]:
        return [(found.start, found.end) for found in self.dates]

    def in_date(self, number: Number) -> bool:
        return any(found.start <= number.start < found.end for found in self.dates)


@lru_cache(maxsize=2_048)
def _read(text: str, language: str) -> Reading:
    """The claims of a brief are sources again and again."""
    return Reading.of(text, language)


def _numbers(mine: Reading, said: Sequence[Reading], language: str) -> list[str]:
    """Numbers by value and kind; inside a date '5th' is '5', and '1914–18' has a 1918."""
    known = {(number.value, number.kind) for one in said for number in one.numbers}
    plain = ("count", "ordinal")
    in_dates = {number.value for one in said for number in one.numbers if number.kind in plain and one.in_date(number)}
    years = {Fraction(abs(year)) for one in said for found in one.dates for year in _edge_years(found.when)}
    missing = [
        number
        for number in mine.numbers
        if (number.value, number.kind) not in known
        and not (number.kind == "count" and number.value in years)
        and not (number.kind in plain and mine.in_date(number) and number.value in in_dates)
    ]
    words = [mine.text[number.start : number.end] for number in missing]
    if not missing:
        words += _units(mine, said, language)
    return words


def _units(mine: Reading, said: Sequence[Reading], language: str) -> list[str]:
    """Measures of another unit, counts of other things: '12 miles' is not '12 km', '300 ships' are not '300 men'."""
    theirs = [quantity for one in said for quantity in one.quantities]
    known = {edge for quantity in theirs for edge in _edges(quantity)}
    wrong = [one for one in mine.quantities if one.unit and not known.issuperset(_edges(one))]
    stem = stemmer(language)
    for one in mine.quantities:
        counted = {stem(other.counted) for other in theirs if not one.unit and set(_edges(other)) & set(_edges(one))}
        if one.counted and counted and not counted & {stem(one.counted), stem("")}:
            wrong.append(one)
    return [mine.text[one.start : one.end] for one in wrong]


def _edges(quantity: Quantity) -> tuple[tuple[str, str], ...]:
    return (quantity.unit, f"{quantity.low:.9g}"), (quantity.unit, f"{quantity.high:.9g}")


def _dates(mine: Reading, said: Iterable[Reading]) -> list[str]:
    known = [found.when for one in said for found in one.dates]
    wrong = [found for found in mine.dates if not _is_known(found, mine.text, known)]
    return [mine.text[found.start : found.end] for found in wrong]


def _is_known(found: Dated, text: str, known: Sequence[DateRange]) -> bool:
    """Whether the sources name the date, a finer one in it, or what it begins and ends with.

    That its figures stand in the sources is looked at apart.
    """
    when = found.when
    alike = [one for one in known if _as_sure(when, one)]
    days = {day for one in alike for day in (one.earliest, one.latest)}
    if when.earliest in days and when.latest in days:
        return True
    if _is_one_unit(when):
        if any(when.earliest <= one.earliest and one.latest <= when.latest for one in alike):
            return True
        if when.precision in ("month", "season"):
            return when.earliest in days or when.latest in days
    years = {year for one in known for year in _edge_years(one)}
    if text[found.start : found.end].isdigit():  # a year that the sources write where nothing shows that it is one
        return -when.first_year not in years or when.first_year in years
    alike_years = {year for one in alike for year in _edge_years(one)}
    return when.precision == "year" and {when.first_year, when.last_year} <= alike_years


def _is_one_unit(when: DateRange) -> bool:
    """One month, year or century, which has finer dates in it; a time from one date to another has not."""
    return not when.lasts and when.latest - when.earliest < LONGEST_UNIT.get(when.precision, 0)


def _as_sure(when: DateRange, source: DateRange) -> bool:
    """'About' may be added and not left out; 'before' and 'after' stay what they are."""
    return when.qualifier == source.qualifier or (when.qualifier == "about" and not source.qualifier)


def _edge_years(when: DateRange) -> tuple[int, ...]:
    return (when.first_year, when.last_year) if when.precision in FINE else ()
