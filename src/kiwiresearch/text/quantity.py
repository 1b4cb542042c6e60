"""A quantity that a text states, and how two of them stand to each other."""

from __future__ import annotations

import math
from functools import cache
from typing import Literal, NamedTuple

from kiwiresearch.text.number_words import table
from kiwiresearch.text.stem import roots

Qualifier = Literal["", "about", "more than", "less than", "at least", "at most"]
Relation = Literal["same", "rounding", "overlap", "unit", "apart", "different kinds"]

ABOUT = 0.10
"""The share by which 'about' widens a value to both sides."""

MOST_ROUNDED = 0.10
"""However many noughts a figure ends in, rounding explains no more than this share of it."""

COUNTED_ONE_BY_ONE = 100
"""Below this, a count in one word or figure is meant as it stands."""

FLOAT_NOISE = 1e-9

MISTAKEN = (1.609344, 3.280839895, 2.2046226218, 1e3, 1e6)
"""Kilometres for miles, metres for feet, kilograms for pounds, thousands for millions."""

DOLLARS = "$"


class Quantity(NamedTuple):
    """A value or a range with its unit, and where it stands; qualifier words are outside the span."""

    start: int
    end: int
    low: float
    high: float
    unit: str
    counted: str
    qualifier: Qualifier
    written_unit: str
    digits: int
    is_range: bool
    counted_words: str = ""
    step: float = 1.0
    """What one more in the last significant figure would add, in the base unit."""
    converted: bool = False
    """Said again in another unit, in brackets behind the first."""

    @property
    def is_open(self) -> bool:
        """Whether only one end is told."""
        return self.qualifier not in ("", "about")

    @property
    def bounds(self) -> tuple[float, float]:
        """The values that the words allow, without rounding."""
        if self.qualifier in ("more than", "at least"):
            return self.low, math.inf
        if self.qualifier in ("less than", "at most"):
            return -math.inf, self.high
        if self.qualifier == "about":
            # A share of kelvins would be as good as anything.
            low, high = (self.step, self.step) if self.unit == "K" else (abs(self.low) * ABOUT, abs(self.high) * ABOUT)
            return self.low - low, self.high + high
        return self.low, self.high

    @property
    def rounding(self) -> float:
        """How far the true value may lie from the one written, by its significant figures."""
        if not self.unit and self.low == int(self.low) < COUNTED_ONE_BY_ONE and self.step <= COUNTED_ONE_BY_ONE / 2:
            return 0.0
        if self.unit == "K":
            return self.step / 2
        return min(self.step / 2, abs(self.high) * MOST_ROUNDED)


def relation(one: Quantity, other: Quantity) -> Relation:
    """Whether two quantities can both be true of the same thing, and if so why; the order makes no difference."""
    if not _same_kind(one, other):
        return "different kinds"
    noise = FLOAT_NOISE * max(abs(one.high), abs(other.high))
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
    """Whether one is the other with a wrong unit; with one figure each, that would be chance."""
    small, large = sorted((one, other), key=lambda each: abs(each.low))
    if one.is_range or other.is_range or not small.low or min(one.digits, other.digits) < 2:
        return False
    return any(abs(large.low - small.low * factor) <= large.rounding + small.rounding * factor for factor in MISTAKEN)


@cache
def _dollars() -> frozenset[str]:
    return frozenset(table("eng")["money"]["dollars"].split())


@cache
def _kinds(noun: str) -> frozenset[int]:
    groups = table("eng")["counted"]["same"]
    return frozenset(place for place, words in enumerate(groups) if noun in words.split())
