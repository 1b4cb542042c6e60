"""Sentences that are the same word for word but for one value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from kiwiresearch.claims.conflicts.agreement import Reading
from kiwiresearch.claims.conflicts.compare_words import compare_words
from kiwiresearch.claims.conflicts.likeness import clash
from kiwiresearch.claims.conflicts.measured import ESTIMATE_TOLERANCE, gap_of
from kiwiresearch.claims.conflicts.saying import Disagreement, Kind, Span, What
from kiwiresearch.text import quantities, when
from kiwiresearch.text.quantities import Quantity
from kiwiresearch.text.when import Dated, DateRange

PIECE = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[^\s\w]")
LONGEST_CHANGE = 8
FEWEST_WORDS = 4
SAME_SHARE = 0.6
"""So much of the longer sentence stands in both, in the same order."""


@dataclass(frozen=True, slots=True)
class Twins:
    """Two sentences that differ in one place, and whether they disagree there."""

    disagreement: Disagreement | None


def compare_twins(a: Reading, b: Reading) -> Twins | None:
    """None where the sentences differ in more than one value, or in something else."""
    if abs(len(a.text) - len(b.text)) > LONGEST_CHANGE * 5 or not _begin_or_end_alike(a, b) or clash(a, b):
        return None
    mine, theirs = list(PIECE.finditer(a.text)), list(PIECE.finditer(b.text))
    pairs = [(x[0].lower(), y[0].lower()) for x, y in zip(mine, theirs, strict=False)]
    before = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    room = min(len(mine), len(theirs)) - before
    back = [(x[0].lower(), y[0].lower()) for x, y in zip(mine[::-1], theirs[::-1], strict=False)][:room]
    behind = len(list(takewhile(lambda pair: pair[0] == pair[1], back)))
    same = before + behind
    if same < FEWEST_WORDS or same < SAME_SHARE * max(len(mine), len(theirs)):
        return None
    spans = [_span(pieces, before, behind) for pieces in (mine, theirs)]
    if spans[0] is None or spans[1] is None:
        return None
    return _judge(a, spans[0], b, spans[1])


def _begin_or_end_alike(a: Reading, b: Reading) -> bool:
    if not a.words or not b.words:
        return False
    return a.words[0].low == b.words[0].low or a.words[-1].low == b.words[-1].low


def _span(pieces: Sequence[re.Match[str]], before: int, behind: int) -> Span | None:
    changed = pieces[before : len(pieces) - behind]
    if not changed or len(changed) > LONGEST_CHANGE:
        return None
    return changed[0].start(), changed[-1].end()


def _judge(a: Reading, one: Span, b: Reading, other: Span) -> Twins | None:
    x, y = _value(a, one), _value(b, other)
    if x is None or y is None or _beside(a, one) != _beside(b, other):
        return None
    if isinstance(x, Dated) and isinstance(y, Dated):
        return Twins(None if _dates_agree(x.when, y.when) else _contradiction("a date", a, one, b, other))
    if isinstance(x, Quantity) and isinstance(y, Quantity):
        kind = _kind(x, y)
        if kind == "contradiction":
            return Twins(_contradiction("a number", a, one, b, other))
        if kind == "different scope":
            return None
        why = "The difference is within what rounding or estimating explains."
        return Twins(Disagreement(kind, "a number", one, other, why, 1.0) if kind else None)
    return Twins(_contradiction("a number", a, one, b, other))


def _contradiction(what: What, a: Reading, one: Span, b: Reading, other: Span) -> Disagreement:
    why = f"Word for word the same, but for {a.text[slice(*one)]!r} and {b.text[slice(*other)]!r}."
    return Disagreement("contradiction", what, one, other, why, 1.0)


def _kind(x: Quantity, y: Quantity) -> Kind | None:
    """How two numbers differ in one place of a sentence: any difference counts that is not of rounding or guessing."""
    relation = quantities.relation(x._replace(qualifier=""), y._replace(qualifier=""))
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
    """Whether one is the other with more or less precision, or of the other calendar."""
    # 'By' and 'until' stand in both, so they explain nothing.
    relation = when.relation(replace(one, qualifier=""), replace(other, qualifier=""))
    return relation in ("same", "calendar") or (relation == "within" and one.precision != other.precision)


def _value(reading: Reading, span: Span) -> Dated | Quantity | str | None:
    """The one value that the changed words are part of: a date, a quantity, or at least figures."""
    numbers = [value.quantity for value in reading.values if value.quantity]
    found: list[Dated | Quantity] = [*reading.dates, *numbers]
    found = [value for value in found if value.start < span[1] and span[0] < value.end]
    if found:
        return found[0] if len(found) == 1 else None
    known = compare_words(reading.language)
    changed = reading.text[slice(*span)].lower()
    if any(c.isdigit() for c in changed) or changed in known.ordinals or changed in known.value_words:
        return changed
    return None


def _beside(reading: Reading, span: Span) -> list[str]:
    """The changed words that are part of no value."""
    taken = [(value.start, value.end) for value in reading.values]
    words = [word for word in reading.words if span[0] <= word.start < span[1] and word.stem]
    return [word.low for word in words if not any(start <= word.start < end for start, end in taken)]
