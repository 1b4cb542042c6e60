"""A quantity, how two of them compare, and the words around a number that show what it is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from functools import cache
from typing import Literal, NamedTuple

from kiwiresearch.codec import toml_data
from kiwiresearch.text.languages import any_of, roots
from kiwiresearch.text.number_words import PART_SIGNS, SPACES, number_words, quantity_file

QuantityQualifier = Literal["", "about", "more than", "less than", "at least", "at most"]
QuantityRelation = Literal["same", "rounding", "overlap", "unit", "apart", "different kinds"]

ABOUT_SHARE = 0.10
"""The share by which 'about' widens a value in both directions."""

MAX_ROUNDED = 0.10
"""However many zeros a number ends in, rounding explains no more than this share of it."""

COUNTED_ONE_BY_ONE = 100
"""Below this, a count is exact."""

FLOAT_NOISE = 1e-9
"""The relative rounding error of floats, which is not a difference between quantities."""

MISTAKEN_FACTORS = (1.609344, 3.280839895, 2.2046226218, 1e3, 1e6)
"""Kilometres for miles, metres for feet, kilograms for pounds, thousands for millions."""

DOLLARS = "$"


class Quantity(NamedTuple):
    """A value or a range with its unit and its span, which does not include the qualifier."""

    start: int
    end: int
    low: float
    high: float
    unit: str
    counted: str
    qualifier: QuantityQualifier
    written_unit: str
    digits: int
    is_range: bool
    counted_words: str = ""
    step: float = 1.0
    """The value of one in the last significant digit, in the base unit."""
    converted: bool = False
    """Whether it repeats the quantity before it in another unit, in brackets."""

    @property
    def is_open(self) -> bool:
        """Whether only one end is given."""
        return self.qualifier not in ("", "about")

    @property
    def bounds(self) -> tuple[float, float]:
        """The values that the words allow, without rounding."""
        if self.qualifier in ("more than", "at least"):
            return self.low, math.inf
        if self.qualifier in ("less than", "at most"):
            return -math.inf, self.high
        if self.qualifier == "about":
            # A share of the kelvins would allow nearly any temperature.
            low, high = (
                (self.step, self.step)
                if self.unit == "K"
                else (abs(self.low) * ABOUT_SHARE, abs(self.high) * ABOUT_SHARE)
            )
            return self.low - low, self.high + high
        return self.low, self.high

    @property
    def rounding(self) -> float:
        """How far the true value may be from the written one, judging by its significant digits."""
        # '20 people' are exactly twenty; '2000 people' may be rounded.
        if not self.unit and self.low == int(self.low) < COUNTED_ONE_BY_ONE and self.step <= COUNTED_ONE_BY_ONE / 2:
            return 0.0
        if self.unit == "K":
            return self.step / 2
        return min(self.step / 2, abs(self.high) * MAX_ROUNDED)


def quantity_relation(one: Quantity, other: Quantity) -> QuantityRelation:
    """Whether two quantities can both be true of the same thing, and why; their order does not matter."""
    if not _same_kind(one, other):
        return "different kinds"
    noise = FLOAT_NOISE * max(abs(one.high), abs(other.high))
    # From the closest relation to the most distant: the first that holds is returned.
    off = max(abs(one.low - other.low), abs(one.high - other.high))
    is_open = one.is_open or other.is_open
    if off <= noise and (not is_open or one.qualifier == other.qualifier):
        return "same"
    allowed = max(one.rounding, other.rounding) + noise
    if off <= allowed and not is_open:
        return "rounding"
    gap = max(one.bounds[0], other.bounds[0]) - min(one.bounds[1], other.bounds[1])
    if gap <= noise:
        return "overlap"
    if gap <= allowed:
        return "rounding"
    return "unit" if _is_mistaken(one, other) else "apart"


def _same_kind(one: Quantity, other: Quantity) -> bool:
    if one.unit != other.unit:
        return DOLLARS in (one.unit, other.unit) and {one.unit, other.unit} <= _dollars()
    if not one.counted or not other.counted:
        return True
    first, second = one.counted.lower(), other.counted.lower()
    return first == second or bool(roots(first) & roots(second)) or bool(_kinds(first) & _kinds(second))


def _is_mistaken(one: Quantity, other: Quantity) -> bool:
    """Whether one is the other with a wrong unit; with a single digit each, that would be chance."""
    small, large = sorted((one, other), key=lambda each: abs(each.low))
    if one.is_range or other.is_range or not small.low or min(one.digits, other.digits) < 2:
        return False
    return any(
        abs(large.low - small.low * factor) <= large.rounding + small.rounding * factor for factor in MISTAKEN_FACTORS
    )


@cache
def _dollars() -> frozenset[str]:
    return frozenset(toml_data("kiwiresearch.text", quantity_file("eng"))["money"]["dollars"].split())


@cache
def _kinds(noun: str) -> frozenset[int]:
    groups = toml_data("kiwiresearch.text", quantity_file("eng"))["counted"]["same"]
    return frozenset(place for place, words in enumerate(groups) if noun in words.split())


MAX_CHARS_BEFORE = 48
OPENING = "(“\"'"
MAX_QUALIFIER_WORDS = 4
NUMBER_AHEAD = rf"(?=[^\W_]|[.$£€¥₹−-]|[{PART_SIGNS}])"
SENTENCE_END = re.compile(r"[.!?:;\n][\"”’)\]]*\s*[\"“‘(\[]*$|^[\s\"“‘(\[]*$")

# What looks like a number and measures nothing. The order matters: a time before a ratio, a ratio before a version.
NO_QUANTITY = re.compile(
    rf"""
      [0-9]{{1,2}}:[0-9]{{2}}[0-9:.]*(?:{SPACES}?[AaPp]\.?[Mm]\b\.?)?     # a time of day
    | [0-9]+(?:\.[0-9]+)?(?:[ ]?:[ ]?[0-9]+(?:\.[0-9]+)?)+                 # a ratio
    | [0-9]+\.[0-9]+,[ ]?[-−]?[0-9]+\.[0-9]+(?=\))                        # coordinates
    | [0-9]{{1,2}}(?:\.[0-9]{{2}})?{SPACES}?(?:[ap]\.?m\b|[AP]\.?M\b)\.?
    | (?<=[a-z,][ ])[12][0-9]{{3}}(?=[.,;)\]](?![0-9])|\n)                  # a year
    | [0-9]+(?:\.[0-9]+){{2,}}                                            # a version
    | [0-9]+(?:,[0-9]{{3}})*(?:st|nd|rd|th)\b
    | [0-9]+['’]?s\b                                                      # a decade or a plural such as '747s'
    | [0-9]+(?:[-–./][0-9Xx]+){{2,}}                                      # a date, a record, an ISBN
    | [0-9]{{3}}[ .-][0-9]{{3}}[ .-][0-9]{{4}}\b                          # a telephone number
    | [0-9]+(?:\.[0-9]+)?{SPACES}?[°º]{SPACES}?(?:[0-9]+(?:\.[0-9]+)?{SPACES}?['′’]{SPACES}?
        (?:[0-9]+(?:\.[0-9]+)?{SPACES}?(?:["″”]|''|′′){SPACES}?)?)?(?:[NSEW]\b|(?:[Nn]orth|[Ss]outh|[Ee]ast|[Ww]est)\b)
    | [0-9]+°{SPACES}?[0-9.]+{SPACES}?['′’](?:{SPACES}?[0-9.]+{SPACES}?(?:["″”]|''|′′))?
    | [0-9]+(?:[.,][0-9]+)*{SPACES}?[×x]{SPACES}?(?!10(?:\^|[⁰-⁹⁺⁻¹²³]|[-−][0-9]))[0-9.,]+  # a lost exponent
    """,
    re.VERBOSE,
)


class WordsBefore(NamedTuple):
    """The words before a number."""

    words: tuple[str, ...]
    """In lower case, the nearest last, with their punctuation."""
    last: str
    """The nearest word as written."""
    is_adjacent: bool
    """Whether only white space, but no line end, is between it and the number."""


NOTHING_BEFORE = WordsBefore((), "", is_adjacent=False)


class NumberCues:
    """The words around numbers in one language, and what they mean."""

    def __init__(self, language: str) -> None:
        known = toml_data("kiwiresearch.text", quantity_file(language))
        ranges, numbers, plain = known["ranges"], known["numbers"], known["plain"]
        self._qualifiers: dict[str, QuantityQualifier] = {
            w: kind for kind, each in known["qualifiers"].items() for w in each
        }
        self._qualifier_ends = frozenset(words.split()[-1] for words in self._qualifiers)
        self._qualifiers_after: dict[str, QuantityQualifier] = {
            w: kind for kind, each in known["qualifiers_after"].items() for w in each
        }
        self._after_words = re.compile(rf"{SPACES}?({any_of(self._qualifiers_after)})(?![^\W_])")
        to = any_of([*ranges["to"].split(), *ranges["or"].split()])
        self.by = re.compile(rf"{SPACES}(?:{any_of(ranges['by'].split())}){SPACES}(?=[0-9])")
        self.to = re.compile(rf"(?:[–—-]|{SPACES}[–—-]{SPACES}|{SPACES}(?:{to}){SPACES}){NUMBER_AHEAD}")
        self.to_or_and = re.compile(rf"(?:[–—-]|{SPACES}(?:{to}|{ranges['and']}){SPACES}){NUMBER_AHEAD}")
        joining = " ".join(ranges[key] for key in ("to", "or", "by", "and")).split()
        self.joints = frozenset(word[0] for word in joining)
        """The first letters of words that may be between two numbers."""
        self._or = frozenset(ranges["or"].split())
        self.between = frozenset(ranges["between"].split())
        self.from_words = frozenset(ranges["from"].split())
        self._changes = frozenset(ranges["changes"].split())
        self._labels = frozenset(known["labels"]["words"].split())
        self._not_names = frozenset(known["names"]["before"].split()) | {w for q in self._qualifiers for w in q.split()}
        self._not_halves = frozenset(numbers["not_halves"].split())
        self.idioms = frozenset(numbers["idioms"].split())
        self.ambiguous = frozenset(known["ambiguous"]["words"].split())
        self._pronoun_after = frozenset(numbers["pronoun_after"].split())
        self._plain_after = frozenset(plain["after"].split())
        self.determiners = frozenset(plain["determiners"].split())
        self.were = re.compile(rf"{SPACES}(?:{any_of(plain['were'].split())})\b")
        self.parts_of = re.compile(rf"{SPACES}(?:{any_of(plain['parts_of'].split())})\b")
        self.of_a = re.compile(rf"{SPACES}(?:of{SPACES})?(?:{any_of(numbers['one'].split())})(?={SPACES})")
        self._of_word: str = f" {numbers['of']}"
        self._ages = frozenset(known["ages"]["before"])
        self.age_unit: str = known["ages"]["unit"]
        self.old = re.compile(rf"[ -]{known['ages']['old']}\b")
        parts = any_of(number_words(language).parts)
        self.ordinal = re.compile(rf"-(?:first|second|{parts}|[a-z]+th)\b", re.IGNORECASE)

    def before(self, text: str, floor: int, start: int) -> WordsBefore:
        """The words before a number that starts at `start`; `floor` is where the last quantity ended."""
        written = text[max(floor, start - MAX_CHARS_BEFORE) : start]
        if "\n" in written or "\t" in written or "—" in written:
            written = written[max(map(written.rfind, "\n\t—")) + 1 :]
        words = tuple(written.lower().split())
        if not words:
            return NOTHING_BEFORE
        return WordsBefore(words, written.rsplit(None, 1)[-1], written[-1].isspace())

    def qualifier(self, before: WordsBefore, text: str, ends: Iterable[int], limit: int) -> QuantityQualifier:
        """The qualifier expressed by the words before a number or after the quantity."""
        words = before.words
        if words and words[-1].lstrip(OPENING) in self._qualifier_ends:
            for length in range(min(MAX_QUALIFIER_WORDS, len(words)), 0, -1):
                if found := self._qualifiers.get(" ".join(words[-length:]).lstrip(OPENING)):
                    return found
        # A sign that is joined to the number or stands alone: '~', '<', '>'.
        if words and (found := self._qualifiers.get(words[-1][-1])):
            return found
        for end in ends:
            if after := self._after_words.match(text, end, limit):
                return self._qualifiers_after[after[1]]
        return ""

    def is_side(self, before: WordsBefore) -> bool:
        """Whether 'half' is one side of a thing: 'the second half', 'the nasal half'."""
        last = before.words[-1:]
        if not last or last[0] in self._qualifier_ends:
            return False
        return last[0] in self._not_halves or not self.determiners.isdisjoint(before.words[-2:])

    def is_age(self, before: WordsBefore) -> bool:
        return " ".join(before.words[-2:]) in self._ages or " ".join(before.words[-1:]) in self._ages

    def may_be_one(self, before: WordsBefore, text: str, end: int) -> bool:
        """Whether 'one' counts: 'only one election', but not 'the only one of the five'."""
        return (
            bool(before.words) and before.words[-1] in self._pronoun_after and not text.startswith(self._of_word, end)
        )

    def either_or(self, gap: str) -> bool:
        return gap.strip() in self._or

    def is_change(self, before: WordsBefore) -> bool:
        """Whether 'from 5 to 10' says how something grew or shrank."""
        return (
            before.words[-1:] != ()
            and before.words[-1] in self.from_words
            and not self._changes.isdisjoint(before.words)
        )

    def is_label(self, before: WordsBefore) -> bool:
        """Whether the number names something: 'Chapter 3', 'No. 5'."""
        return bool(before.words) and before.words[-1].lstrip(OPENING) in self._labels

    def is_in_name(self, before: WordsBefore) -> bool:
        """Whether a capitalized word is before the number, as in 'Apollo 11'."""
        last = before.last.lstrip(OPENING)
        if not before.is_adjacent or not last[:1].isupper() or not last[-1].isalnum() or last.endswith(("'s", "’s")):
            return False
        return last.lower() not in self._not_names

    def may_be_plain(self, before: WordsBefore) -> bool:
        """Whether a bare number without a noun may still be a count."""
        return bool(before.words) and before.words[-1] in self._plain_after


def starts_sentence(text: str, start: int) -> bool:
    return SENTENCE_END.search(text, max(0, start - 6), start) is not None


number_cues = cache(NumberCues)
"""The cues of a language, read once."""
