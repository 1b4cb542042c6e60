"""Two sentences that a reader has set side by side: much the same words, and no value of one kind in common.

Among thousands of sentences this would see too much; for two that were picked to be compared it is enough.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kiwiresearch.claims.conflicts.saying import Disagreement, Saying, Span, What
from kiwiresearch.text import when
from kiwiresearch.text.alike import roots_of
from kiwiresearch.text.quantities import Quantity
from kiwiresearch.text.quantities import relation as quantity_relation

SAME_WORDS = 0.4
"""So much of the shorter sentence's words must be in the other, …"""
ENOUGH_WORDS = 4
"""… and fewer common words than this count for less."""
AGREE = ("same", "rounding", "overlap")
YEAR_S = 31_557_600
SLACK_YEARS = 2


def compare_apart(a: Saying, b: Saying) -> Disagreement | None:
    """The first value of a kind that both have and on which nothing they say agrees."""
    if a.text == b.text or _likeness(a, b) < SAME_WORDS:
        return None
    dates = {when.relation(one.when, other.when) for one in a.dates for other in b.dates} == {"apart"}
    numbers = _numbers_apart(a, b)
    if dates and numbers:
        return None  # at another time, another value
    if dates:
        first, second = a.dates[0], b.dates[0]
        return _found("a date", (first.start, first.end), (second.start, second.end))
    return _found("a number", *numbers) if numbers else None


def _numbers_apart(a: Saying, b: Saying) -> tuple[Span, Span] | None:
    """The first numbers of one kind that both have and of which none agree."""
    for unit in dict.fromkeys(one.unit for one in a.quantities):
        mine, theirs = _of(a.quantities, unit), _of(b.quantities, unit)
        if mine and theirs and not any(quantity_relation(one, other) in AGREE for one in mine for other in theirs):
            return (mine[0].start, mine[0].end), (theirs[0].start, theirs[0].end)
    return None


def compare_span(saying: Saying) -> Disagreement | None:
    """A sentence that gives a time in years and its first and last year, which do not fit: '138 years, 799–684 BC'."""
    for lasted in saying.quantities:
        if lasted.unit != "s" or "year" not in lasted.written_unit or lasted.qualifier:
            continue
        for dated in saying.dates:
            near = 0 <= dated.start - lasted.end <= NEAR or 0 <= lasted.start - dated.end <= NEAR
            if not (near and dated.when.lasts and dated.when.precision == "year" and not dated.when.qualifier):
                continue
            years = dated.when.last_year - dated.when.first_year
            said = lasted.low / YEAR_S
            if abs(years - said) > max(SLACK_YEARS, SLACK_SHARE * years):
                return _found("a number", (lasted.start, lasted.end), (dated.start, dated.end))
    return None


NEAR = 6
SLACK_SHARE = 0.1


def _of(quantities: Sequence[Quantity], unit: str) -> list[Quantity]:
    return [one for one in quantities if one.unit == unit and not one.converted]


def _likeness(a: Saying, b: Saying) -> float:
    one, other = _words(a), _words(b)
    common = len(one & other)
    smaller = min(len(one), len(other))
    return common / smaller * min(1.0, common / ENOUGH_WORDS) if smaller else 0.0


def _words(saying: Saying) -> frozenset[str]:
    return frozenset(root for root in roots_of(saying.text, saying.language) if not FIGURE.search(root))


FIGURE = re.compile(r"\d")


def _found(what: What, a: tuple[int, int], b: tuple[int, int]) -> Disagreement:
    why = "Both speak of the same thing, and no value of this kind is the same."
    return Disagreement("contradiction", what, a, b, why, STRENGTH)


STRENGTH = 0.4
