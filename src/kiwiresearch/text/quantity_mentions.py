"""Quantities in running text: how many, how much, how far, and of what."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

from kiwiresearch.codec import toml_data
from kiwiresearch.text.dates import FIRST_YEAR, LAST_YEAR
from kiwiresearch.text.languages import any_of
from kiwiresearch.text.number_words import PART_SIGNS, quantity_file
from kiwiresearch.text.quantity import (
    NO_QUANTITY,
    Quantity,
    QuantityQualifier,
    WordsBefore,
    number_cues,
    starts_sentence,
)
from kiwiresearch.text.units import MeasuredNumber, MeasureReader, Unit

WORD = re.compile(r"[ \u00a0]([^\W\d_][^\W_]*(?:[-'’][^\W_]+)*)")
MAX_WORDS = 5
NO_PLURAL_ENDS = ("ss", "us", "is", "'s", "’s")
"""Words with these endings are not plurals: 'glass', 'virus', 'basis'."""

MIN_PLURAL_LETTERS = 4


class CountedPhrase(NamedTuple):
    """A noun, the word before it, and where the phrase ends."""

    noun: str
    words: str
    start: int
    end: int


class CountedNouns:
    """Reads the nouns after numbers in one language."""

    def __init__(self, language: str) -> None:
        known = toml_data("kiwiresearch.text", quantity_file(language))["counted"]
        self._not_nouns = frozenset(known["not_nouns"].split())
        self._not_plurals = frozenset(known["not_plurals"].split())
        self._plurals = frozenset(known["plurals"].split())
        self._alone = frozenset(known["alone"].split())
        self._of_the = re.compile(rf"[ \u00a0](?:{any_of(known['of_the'])})\b")

    def read(self, text: str, start: int, limit: int, *, is_single: bool = False) -> CountedPhrase | None:
        """The noun phrase after a number that ends at `start`; a single thing need not be plural."""
        at = start
        if found := self._of_the.match(text, start, limit):
            at = found.end()
        words: list[str] = []
        best: CountedPhrase | None = None
        while len(words) < MAX_WORDS and (found := WORD.match(text, at, limit)):
            word = found[1]
            low = word.lower()
            if low in self._not_nouns:
                break
            words.append(word)
            at = found.end()
            if self._is_plural(low) or (is_single and not low.endswith("ly")):
                best = CountedPhrase(word, " ".join(words[-2:]), start + 1, at)
                if is_single and word.islower():
                    break
            elif best:
                break
        if best is None and len(words) == 1 and words[0].lower() in self._alone:
            return CountedPhrase(words[0], words[0], start + 1, at)
        return best

    def _is_plural(self, word: str) -> bool:
        if word in self._plurals:
            return True
        if not word.endswith("s") or len(word) < MIN_PLURAL_LETTERS or word in self._not_plurals:
            return False
        return not word.endswith(NO_PLURAL_ENDS)


counted_nouns = cache(CountedNouns)
"""The counted nouns of a language, read once."""


BEFORE_WORD = re.compile("[0-9]+ [b-oq-wyzB-OQ-WYZ(]|[A-Za-z]")
"""A number before a word, or no number: then it cannot be a time of day or the like."""

DIGIT = re.compile(f"[0-9{PART_SIGNS}]")
RUN = re.compile(r"[0-9.,:/]*")
# ' (' and ' (about ', with at most two words before the number.
CONVERSION_BRACKET = re.compile(r"\s?[(\[]\s?(?:[a-z.]+\s){0,2}[~≈]?")
MORE_IN_BRACKET = re.compile(r"\s?(?:[;,/]|or)\s?")
PER_SIGNS = ("/", " ", "-", "\u00a0")
PER_MANY = re.compile(r"(?:/|[ -]per[ -])([0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?![0-9]|[.,][0-9])")

PLAIN = Unit("", 1.0)
SHARE = Unit("%", 100.0)
YEAR = Unit("s", 31557600.0)
SQUARE_KILOMETRE = 1e6
MAX_HUMAN_AGE = 130
"""A larger number is not the age of a person."""

ROUND_STEP = 50
"""A number that might be a year is a count only if it is divisible by this; other counts are written with a comma."""

LARGE_WORD = 13
LARGE_FIGURE = 10_000
NUMBER_OF_SOMETHING = 1e7
"""From here on, a number without commas is more often an identifier than a count."""


def quantities_in(text: str, language: str = "eng", *, not_in: Sequence[tuple[int, int]] = ()) -> list[Quantity]:
    """The quantities in a text, in order, outside the spans in `not_in`, such as those of dates."""
    return _Reader(text, language, not_in).read()


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans in order, with adjacent and overlapping ones joined."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(span for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


class _Reader:
    """Reads one text from number to number."""

    def __init__(self, text: str, language: str, not_in: Sequence[tuple[int, int]]) -> None:
        self.text = text
        self.spans = MeasureReader(text, language)
        self.nouns, self.cues = counted_nouns(language), number_cues(language)
        self.closed = _joined(not_in)
        self.closed_starts = [start for start, _ in self.closed]
        self.ends = [*self.closed_starts, len(text)]
        self.floor = self.next = 0
        self.limit = len(text)

    def read(self) -> list[Quantity]:
        found: list[Quantity] = []
        for start in self._starts():
            step = self._at(start)
            if isinstance(step, int):
                self.next = max(step, start + 1)
                continue
            if found and self._is_converted(found[-1], step):
                step = step._replace(converted=True, qualifier=step.qualifier or found[-1].qualifier)
            found.append(step)
            self.floor = self.next = max(step.end, start + 1)
        return found

    def _starts(self) -> Iterator[int]:
        """Where numbers in digits and number words start, after what has been read."""
        text, size, numbers = self.text, len(self.text), self.spans.numbers
        digit = -1
        word = 0 if numbers.first.match(text) else -1
        while True:
            if digit < self.next:
                digit = found.start() if (found := DIGIT.search(text, self.next)) else size
            # The pattern of number words needs a character before the word, so the start of the text is tested apart.
            if word < self.next and not word == self.next == 0:
                word = found.start() + 1 if (found := numbers.starts.search(text, max(self.next - 1, 0))) else size
            if min(digit, word) >= size:
                return
            yield min(digit, word)

    def _at(self, start: int) -> Quantity | int:
        """The quantity whose number starts here, or the offset at which to continue."""
        place = bisect_right(self.closed_starts, start)
        if place and self.closed[place - 1][1] > start:
            return self.closed[place - 1][1]
        self.limit = min(self.ends[place], len(self.text))
        self.floor = max(self.floor, self.closed[place - 1][1] if place else 0)
        if not BEFORE_WORD.match(self.text, start, self.limit) and (
            found := NO_QUANTITY.match(self.text, start, self.limit)
        ):
            return found.end()
        number = self.spans.measured(start, self.floor, self.limit)
        if number is None:
            return max(RUN.match(self.text, start, self.limit).end(), start + 1)  # type: ignore[union-attr]
        before = number.before
        if number.low.is_word and self._is_named(start, number):
            return number.end
        if number.low.is_part:
            return self._part(number, before)
        if number.unit:
            return self._with_unit(number, before)
        return self._plain(number, before)

    def _is_named(self, start: int, number: MeasuredNumber) -> bool:
        """'the Seven Sisters', 'the twenty-fifth'."""
        if self.cues.ordinal.match(self.text, number.end, self.limit):
            return True
        return self.text[start].isupper() and not starts_sentence(self.text, start)

    def _with_unit(self, number: MeasuredNumber, before: WordsBefore) -> Quantity | int:
        unit, end = number.unit, number.end
        if self._is_pronoun(number) and number.written.lower() in self.cues.idioms:
            return end
        if unit and unit.base == "s" and (old := self.cues.old.match(self.text, end, self.limit)):
            number = number._replace(written=self.text[end - len(number.written) : old.end()], end=old.end())
        return self._made(number, unit or PLAIN, before)

    def _part(self, number: MeasuredNumber, before: WordsBefore) -> Quantity | int:
        """'half of it' is a share, 'half a mile' is a length, 'the second half' is neither."""
        if self.cues.is_side(before):
            return number.end
        if number.unit:
            return self._made(number, number.unit, before)
        if self.cues.parts_of.match(self.text, number.end, self.limit):
            return self._made(number, SHARE, before)
        return number.end

    def _plain(self, number: MeasuredNumber, before: WordsBefore) -> Quantity | int:
        """A number without a unit: an age, a rate, a count, or not a quantity."""
        low, high = number.low, number.high
        if high.is_bare and high.value < MAX_HUMAN_AGE and self.cues.is_age(before):
            return self._made(number._replace(written=self.cues.age_unit), YEAR, before)
        if self.cues.is_label(before) or (low.is_bare and self.cues.is_in_name(before)):
            return number.end
        is_pronoun = self._is_pronoun(number)
        if is_pronoun and not self.cues.may_be_one(before, self.text, number.end):
            return number.end
        is_single = low.value == high.value == 1
        after = number.end + self.text.startswith("+", number.end)
        noun = None if number.is_split else self.nouns.read(self.text, after, self.limit, is_single=is_single)
        if rate := self._rate(number, noun):
            return self._made(rate[0], rate[1], before, noun)
        if not self._counts(number, noun, before):
            return number.end
        if noun:
            number = number._replace(end=noun.end, written=self.text[high.number_end : noun.end].strip(" \u00a0-"))
        return self._made(number, PLAIN, before, noun)

    def _is_pronoun(self, number: MeasuredNumber) -> bool:
        low = number.low
        return low.is_word and low.value == 1 == low.scale and number.high is low

    def _rate(self, number: MeasuredNumber, noun: CountedPhrase | None) -> tuple[MeasuredNumber, Unit] | None:
        """'300 people per square kilometre', '12 deaths per 1,000'."""
        end = noun.end if noun else number.end
        if self.text[end : end + 1] not in PER_SIGNS:
            return None
        if many := PER_MANY.match(self.text, end, self.limit):
            unit, end = Unit(f"/{many[1].replace(',', '')}", 1.0), many.end()
        elif below := self.spans.units.over(self.text, end, self.limit):
            is_area = below.unit.base == "m2"
            unit = (
                Unit("/km2", SQUARE_KILOMETRE / below.unit.factor)
                if is_area
                else Unit(f"/{below.unit.base}", 1 / below.unit.factor)
            )
            end = below.end
        else:
            return None
        written = self.text[number.high.number_end : end].strip(" \u00a0-")
        return number._replace(end=end, written=written), unit

    def _counts(self, number: MeasuredNumber, noun: CountedPhrase | None, before: WordsBefore) -> bool:
        """Whether a plain number is a number of something."""
        low, high = number.low, number.high
        if high.is_bare and FIRST_YEAR <= high.value <= LAST_YEAR:
            if noun is None or (low is not high and low.value >= FIRST_YEAR):
                return False
            is_round = high.value % ROUND_STEP == 0 and self.cues.may_be_plain(before)
            return is_round or bool(self._qualifier(number, before))
        if noun:
            return True
        if high.is_word:
            if high.scale != 1.0 or high.value >= LARGE_WORD:
                return True
            is_theirs = bool(before.words) and before.words[-1] in self.cues.determiners
            return not is_theirs and self.cues.were.match(self.text, number.end, self.limit) is not None
        if self.text[number.end : number.end + 1].isalpha() or self.text[number.end : number.end + 1] in ("-", "°"):
            return False
        if not high.is_bare or self.cues.were.match(self.text, number.end, self.limit):
            return True
        is_number = high.value < NUMBER_OF_SOMETHING and (high.value >= LARGE_FIGURE or self.cues.may_be_plain(before))
        return is_number or bool(self._qualifier(number, before))

    def _qualifier(self, number: MeasuredNumber, before: WordsBefore) -> QuantityQualifier:
        found = self.cues.qualifier(before, self.text, (number.high.end, number.end), self.limit)
        # 'over 16–18 days' and 'over two legs' say how long, not more than what.
        is_small_word = number.low.is_word and number.low.value < LARGE_WORD
        is_ambiguous = number.low is not number.high or (number.unit is None and is_small_word)
        return "" if found == "more than" and is_ambiguous and before.words[-1] in self.cues.ambiguous else found

    def _made(
        self, number: MeasuredNumber, unit: Unit, before: WordsBefore, noun: CountedPhrase | None = None
    ) -> Quantity:
        low = (number.low.value + unit.offset) * unit.factor
        high = low if number.high is number.low else (number.high.value + unit.offset) * unit.factor
        return Quantity(
            start=number.start,
            end=number.end,
            low=low + number.extra,
            high=high + number.extra,
            unit=unit.base,
            counted=noun.noun if noun else "",
            qualifier=self._qualifier(number, before),
            written_unit=number.written,
            digits=max(number.low.digits, number.high.digits),
            is_range=low != high,
            counted_words=noun.words if noun else "",
            step=(number.step or min(number.low.step, number.high.step)) * unit.factor,
        )

    def _is_converted(self, first: Quantity, second: Quantity) -> bool:
        """Whether the second is the first in another unit, in brackets."""
        gap = self.text[first.end : second.start]
        if not (CONVERSION_BRACKET.fullmatch(gap) or (first.converted and MORE_IN_BRACKET.fullmatch(gap))):
            return False
        if not first.unit or first.unit != second.unit or first.written_unit == second.written_unit:
            return False
        # Slightly more than the rounding, for the error of converting floats.
        allowed = max(first.rounding, second.rounding) * (1 + 1e-9)
        return abs(first.low - second.low) <= allowed and abs(first.high - second.high) <= allowed
