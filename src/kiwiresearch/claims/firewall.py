"""Rejects a model's sentence if its facts, hedges or words are not in its sources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

from kiwiresearch.claims.language import fact_language
from kiwiresearch.claims.mentions import (
    ExactNumber,
    KnownWords,
    name_key,
    names_in,
    numbers_in,
    unknown_words,
    without_dots_in_initials,
)
from kiwiresearch.text import Quantity, hedges_in, quantities_in, stemmer, words_in
from kiwiresearch.text.dates import DateMention, DateRange, dates_in

FactKind = Literal["number", "date", "name"]
MAX_UNIT_DAYS = {"day": 1, "month": 31, "season": 122, "year": 366, "decade": 3_653, "century": 36_525}
"""A longer range of this precision spans several units."""
YEAR_OR_FINER = ("day", "month", "season", "year")


class Unsupported(NamedTuple):
    """A fact that the sources do not have, in the words of the sentence."""

    kind: FactKind
    text: str


def unsupported_facts(text: str, sources: Sequence[str], language: str = "eng") -> tuple[Unsupported, ...]:
    """The numbers, then the dates, then the names that are in the text and in none of its sources."""
    readings = [_read(source, language) for source in sources]
    mine = _read(text, language)
    found = [Unsupported("number", words) for words in _unsupported_numbers(mine, readings, language)]
    found += [Unsupported("date", words) for words in _unsupported_dates(mine, readings)]
    known = KnownWords.of(sources)
    for name in names_in(mine.text, language, known, mine.date_spans):
        found += [Unsupported("name", word.text) for word in unknown_words(name, known)]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class FactReading:
    """A text with 'U.S.' and 'B.C.' written without stops, and its numbers, dates and quantities."""

    text: str
    numbers: tuple[ExactNumber, ...]
    dates: tuple[DateMention, ...]
    quantities: tuple[Quantity, ...]

    @classmethod
    def of(cls, text: str, language: str) -> FactReading:
        text = without_dots_in_initials(text)
        dates = tuple(dates_in(text, language))
        spans = [(found.start, found.end) for found in dates]
        quantities = tuple(quantities_in(text, language, not_in=spans))
        return cls(text, tuple(numbers_in(text, language)), dates, quantities)

    @property
    def date_spans(self) -> list[tuple[int, int]]:
        return [(found.start, found.end) for found in self.dates]

    def in_date(self, number: ExactNumber) -> bool:
        return any(found.start <= number.start < found.end for found in self.dates)


@lru_cache(maxsize=2_048)
def _read(text: str, language: str) -> FactReading:
    # Cached, since the claims of a brief are the sources of many sentences.
    return FactReading.of(text, language)


def _unsupported_numbers(mine: FactReading, sources: Sequence[FactReading], language: str) -> list[str]:
    """Compares numbers by value and kind; in a date '5th' equals '5', and '1914–18' has a 1918."""
    known = {(number.value, number.kind) for fact_reading in sources for number in fact_reading.numbers}
    plain = ("count", "ordinal")
    # '5th of May' supports '5 May', but 'the 5th regiment' does not support '5 regiments': only within dates.
    in_dates = {
        number.value
        for fact_reading in sources
        for number in fact_reading.numbers
        if number.kind in plain and fact_reading.in_date(number)
    }
    years = {
        Fraction(abs(year))
        for fact_reading in sources
        for found in fact_reading.dates
        for year in _edge_years(found.when)
    }
    missing = [
        number
        for number in mine.numbers
        if (number.value, number.kind) not in known
        and not (number.kind == "count" and number.value in years)
        and not (number.kind in plain and mine.in_date(number) and number.value in in_dates)
    ]
    # Units are only compared if all values are known, so that each fault is reported once.
    if not missing:
        return _wrong_units(mine, sources, language)
    return [mine.text[number.start : number.end] for number in missing]


def _wrong_units(mine: FactReading, sources: Sequence[FactReading], language: str) -> list[str]:
    """Quantities with another unit or of other things: '12 miles' is not '12 km', '300 ships' are not '300 men'."""
    theirs = [quantity for fact_reading in sources for quantity in fact_reading.quantities]
    known = {edge for quantity in theirs for edge in _edges(quantity)}
    wrong = [item for item in mine.quantities if item.unit and not known.issuperset(_edges(item))]
    stem = stemmer(language)
    for item in mine.quantities:
        counted = {stem(other.counted) for other in theirs if not item.unit and set(_edges(other)) & set(_edges(item))}
        # `stem("")` is in the set if a source has the number without a noun, which then fits any noun.
        if item.counted and counted and not counted & {stem(item.counted), stem("")}:
            wrong.append(item)
    return [mine.text[item.start : item.end] for item in wrong]


def _edges(quantity: Quantity) -> tuple[tuple[str, str], ...]:
    # Nine digits, because converting units leaves differences in the last ones.
    return (quantity.unit, f"{quantity.low:.9g}"), (quantity.unit, f"{quantity.high:.9g}")


def _unsupported_dates(mine: FactReading, sources: Iterable[FactReading]) -> list[str]:
    known = [found.when for fact_reading in sources for found in fact_reading.dates]
    wrong = [found for found in mine.dates if not _is_known(found, mine.text, known)]
    return [mine.text[found.start : found.end] for found in wrong]


def _is_known(found: DateMention, text: str, known: Sequence[DateRange]) -> bool:
    """Whether the sources have the date, a finer one within it, or its first and last day.

    Its digits are checked separately, as numbers.
    """
    when = found.when
    alike = [date_range for date_range in known if _is_as_certain(when, date_range)]
    days = {day for date_range in alike for day in (date_range.earliest, date_range.latest)}
    if when.earliest in days and when.latest in days:
        return True
    # A sentence may be less exact than its source: '1914' for '28 July 1914', but not the reverse.
    if _is_one_unit(when):
        if any(when.earliest <= date_range.earliest and date_range.latest <= when.latest for date_range in alike):
            return True
        if when.precision in ("month", "season"):
            return when.earliest in days or when.latest in days
    years = {year for date_range in known for year in _edge_years(date_range)}
    if text[found.start : found.end].isdigit():  # the sources may write a year without any sign that it is one
        # Only the era can be wrong then: '44' must not stand for a 44 BC of the sources.
        return -when.first_year not in years or when.first_year in years
    alike_years = {year for date_range in alike for year in _edge_years(date_range)}
    return when.precision == "year" and {when.first_year, when.last_year} <= alike_years


def _is_one_unit(when: DateRange) -> bool:
    """Whether it is a single month, year or century, and not a range between two dates."""
    return not when.lasts and when.latest - when.earliest < MAX_UNIT_DAYS.get(when.precision, 0)


def _is_as_certain(when: DateRange, source: DateRange) -> bool:
    """Whether the qualifiers allow it: 'about' may be added but not dropped; 'before' and 'after' must stay."""
    return when.qualifier == source.qualifier or (when.qualifier == "about" and not source.qualifier)


def _edge_years(when: DateRange) -> tuple[int, ...]:
    return (when.first_year, when.last_year) if when.precision in YEAR_OR_FINER else ()


SentenceFault = Literal[
    "empty",
    "too long",
    "unresolved pronoun",
    "number not in its sources",
    "date not in its sources",
    "name not in its sources",
    "holder not in its sources",
    "hedge dropped",
    "denial changed",
    "other words",
]
MAX_SENTENCE_CHARS = 300
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
FAULT_OF_FACT: dict[FactKind, SentenceFault] = {
    "number": "number not in its sources",
    "date": "date not in its sources",
    "name": "name not in its sources",
}


def fault_of(
    text: str,
    sources: Sequence[str],
    language: str = "eng",
    *,
    hedged: bool,
    min_share: float,
    max_chars: int = MAX_SENTENCE_CHARS,
) -> SentenceFault | None:
    """The first fault of a sentence, or None if it is acceptable.

    If its sources are `hedged`, it must be too; `min_share` is the share of its
    content words that must come from the sources, ignoring word endings.
    """
    if not any(char.isalpha() for char in text):
        return "empty"
    if len(text) > max_chars:
        return "too long"
    if begins_with_pronoun(text, language):
        return "unresolved pronoun"
    wrong = unsupported_facts(text, sources, language)
    if wrong:
        return FAULT_OF_FACT[wrong[0].kind]
    if adds_view_holders(text, sources, language):
        return "holder not in its sources"
    if hedged and not hedges_in(text, language):
        return "hedge dropped"
    if _changes_negation(text, sources, language):
        return "denial changed"
    return "other words" if shared_words(text, sources, language) < min_share else None


def begins_with_pronoun(text: str, language: str = "eng") -> bool:
    """Whether the first words refer to something said before."""
    wording = fact_language(language)
    first = [word.lower() for word in WORD.findall(text[:80])[:2]]
    if not first or wording.expletive.match(text):
        return False
    if first[0] in wording.articles:
        return first[-1] in wording.back_references
    return first[0].partition("'")[0].partition("’")[0] in wording.pronouns


def has_negation(text: str, language: str = "eng") -> bool:
    """Whether a text says that something is not so.

    Sentences are compared with the negations of `claims.conflicts.words`, and claims of a brief with those of
    `brief.support`: each list is fitted to its own task.
    """
    wording = fact_language(language)
    return any(
        word in wording.negations or (wording.contraction and word.endswith(wording.contraction))
        for word in _lowered_words(text)
    )


def adds_view_holders(text: str, sources: Sequence[str], language: str) -> bool:
    """Whether it says 'some scholars believe' though no source mentions scholars."""
    view_holders = fact_language(language).view_holders
    known = {word for source in sources for word in _lowered_words(source)}
    return any(word in view_holders and word not in known for word in _lowered_words(text))


def _lowered_words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in WORD.findall(text)]


def _changes_negation(text: str, sources: Sequence[str], language: str) -> bool:
    """Whether it denies what no source denies, or does not deny what every source denies."""
    denied = [has_negation(source, language) for source in sources]
    # One source that denies is enough for a sentence that denies, but a sentence that does not may rest on the others.
    return not any(denied) if has_negation(text, language) else bool(denied) and all(denied)


def shared_words(text: str, sources: Sequence[str], language: str = "eng") -> float:
    """The share of the content words that the sources have, ignoring word endings."""
    mine = content_stems(text, language)
    theirs = {stem for source in sources for stem in content_stems(source, language)}
    return len(mine & theirs) / len(mine) if mine else 1.0


def content_stems(text: str, language: str = "eng") -> frozenset[str]:
    """The stems of the content words of a text."""
    common, stem = fact_language(language).common, stemmer(language)
    return frozenset(stem(word) for word in words_in(text) if name_key(word) not in common and not word[0].isdigit())
