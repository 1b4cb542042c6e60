"""Disagreements of two sentences that differ in one place only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from kiwiresearch.claims.conflicts.sentences import (
    Disagreement,
    DisagreementKind,
    DisputedValue,
    SentenceReading,
    TextSpan,
    are_unrelated,
)
from kiwiresearch.claims.conflicts.value_comparison import ESTIMATE_TOLERANCE, gap_of
from kiwiresearch.claims.conflicts.words import comparison_words
from kiwiresearch.messages import Message
from kiwiresearch.text import Quantity
from kiwiresearch.text import quantity_relation as quantity_relation
from kiwiresearch.text.dates import DateMention, DateRange
from kiwiresearch.text.dates import date_relation as date_relation

PIECE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[^\s\w]")
MAX_CHANGED_PIECES = 8
MAX_LENGTH_DIFFERENCE = 5 * MAX_CHANGED_PIECES
MIN_SAME_PIECES = 4
MIN_SAME_SHARE = 0.6
"""The share of the longer sentence that must be the same, in the same order."""


@dataclass(frozen=True, slots=True)
class NearIdentical:
    """Two sentences that differ in one place, and whether they disagree there."""

    disagreement: Disagreement | None


def compare_near_identical(a: SentenceReading, b: SentenceReading) -> NearIdentical | None:
    """None if the sentences differ in more than one value, or in something else."""
    if abs(len(a.text) - len(b.text)) > MAX_LENGTH_DIFFERENCE or not a.words or not b.words:
        return None
    # A cheap test that few pairs pass.
    may_match = a.words[0].low == b.words[0].low or a.words[-1].low == b.words[-1].low
    if not may_match or are_unrelated(a, b):
        return None
    mine, theirs = list(PIECE.finditer(a.text)), list(PIECE.finditer(b.text))
    before = _common_start(mine, theirs)
    shorter = min(len(mine), len(theirs))
    after = min(_common_start(mine[::-1], theirs[::-1]), shorter - before)
    same = before + after
    if same < MIN_SAME_PIECES or same < MIN_SAME_SHARE * max(len(mine), len(theirs)):
        return None
    one, other = _changed_span(mine, before, after), _changed_span(theirs, before, after)
    return None if one is None or other is None else _compare_spans(a, one, b, other)


def _common_start(mine: Sequence[re.Match[str]], theirs: Sequence[re.Match[str]]) -> int:
    pairs = zip(mine, theirs, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0][0].lower() == pair[1][0].lower(), pairs))


def _changed_span(pieces: Sequence[re.Match[str]], before: int, after: int) -> TextSpan | None:
    changed = pieces[before : len(pieces) - after]
    if not changed or len(changed) > MAX_CHANGED_PIECES:
        return None
    return changed[0].start(), changed[-1].end()


def _compare_spans(a: SentenceReading, one: TextSpan, b: SentenceReading, other: TextSpan) -> NearIdentical | None:
    x, y = _value(a, one), _value(b, other)
    if x is None or y is None or _words_outside_values(a, one) != _words_outside_values(b, other):
        return None
    if isinstance(x, DateMention) and isinstance(y, DateMention):
        return NearIdentical(None if _dates_agree(x.when, y.when) else _contradiction("a date", a, one, b, other))
    if not (isinstance(x, Quantity) and isinstance(y, Quantity)):
        return NearIdentical(_contradiction("a number", a, one, b, other))
    kind = _kind(x, y)
    if kind == "contradiction":
        return NearIdentical(_contradiction("a number", a, one, b, other))
    if kind == "different scope":
        return None
    why = Message("The difference is within what rounding or estimating explains.", "differ.within_rounding")
    return NearIdentical(Disagreement(kind, "a number", one, other, why, 1.0) if kind else None)


def _contradiction(
    what: DisputedValue, a: SentenceReading, one: TextSpan, b: SentenceReading, other: TextSpan
) -> Disagreement:
    mine, theirs = a.text[slice(*one)], b.text[slice(*other)]
    text = f"Word for word the same, but for {mine!r} and {theirs!r}."
    why = Message(text, "differ.but_for", one=mine, other=theirs)
    return Disagreement("contradiction", what, one, other, why, 1.0)


def _kind(x: Quantity, y: Quantity) -> DisagreementKind | None:
    """How two numbers differ: here, any difference counts that rounding or estimating does not explain."""
    relation = quantity_relation(x._replace(qualifier=""), y._replace(qualifier=""))
    gap = gap_of(x, y)
    if relation == "different kinds":
        return "contradiction" if x.unit != y.unit else "different scope"
    if relation == "same" or (relation == "rounding" and x.written_unit != y.written_unit):
        return None
    if x.is_range and y.is_range:
        return "contradiction"
    if gap <= ESTIMATE_TOLERANCE and (x.qualifier or y.qualifier or x.is_range != y.is_range):
        return "estimate range"
    return "unit or rounding" if relation == "rounding" and x.digits != y.digits else "contradiction"


def _dates_agree(one: DateRange, other: DateRange) -> bool:
    """Whether one is the other with more or less precision, or in the other calendar."""
    # A qualifier such as 'until' is in both sentences, so it explains nothing.
    relation = date_relation(replace(one, qualifier=""), replace(other, qualifier=""))
    return relation in ("same", "calendar") or (relation == "within" and one.precision != other.precision)


def _value(reading: SentenceReading, span: TextSpan) -> DateMention | Quantity | str | None:
    """The one value that the changed words belong to: a date, a quantity, or at least digits."""
    numbers = [value.quantity for value in reading.values if value.quantity]
    found: list[DateMention | Quantity] = [*reading.dates, *numbers]
    found = [value for value in found if value.start < span[1] and span[0] < value.end]
    if found:
        return found[0] if len(found) == 1 else None
    known = comparison_words(reading.language)
    changed = reading.text[slice(*span)].lower()
    if any(c.isdigit() for c in changed) or changed in known.ordinals or changed in known.value_words:
        return changed
    return None


def _words_outside_values(reading: SentenceReading, span: TextSpan) -> list[str]:
    """The changed words that are not part of a value."""
    spans = [(value.start, value.end) for value in reading.values]
    words = [word for word in reading.words if span[0] <= word.start < span[1] and word.stem]
    return [word.low for word in words if not any(start <= word.start < end for start, end in spans)]
