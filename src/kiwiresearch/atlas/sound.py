"""Claims out of tables that somebody else may have written: a record may hold anything."""

from __future__ import annotations

import json
import math
from typing import get_args

from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.record import claim_of
from kiwiresearch.errors import KiwiError
from kiwiresearch.text.quantities import Quantity
from kiwiresearch.text.when import Calendar, DateRange, Precision, Qualifier

LONGEST_CLAIM, LONGEST_RECORD = 2_000, 100_000
"""A longer sentence is none."""
LONGEST_PAGE = 2**40
FURTHEST_DAY = 10**13
"""Days before and after which nothing was or will be."""
MOST_DIGITS = 300
PRECISIONS, QUALIFIERS, CALENDARS = get_args(Precision), get_args(Qualifier), get_args(Calendar)


def sound_claim(record: str) -> Claim | None:
    """The claim that a record holds; None for a record that holds none."""
    if len(record) > LONGEST_RECORD:
        return None
    try:
        claim = claim_of(json.loads(record))
        return claim if _is_sound(claim) and len(claim.text) <= LONGEST_CLAIM else None
    except (KiwiError, ValueError, KeyError, TypeError, AttributeError, RecursionError, ArithmeticError):
        return None


def _is_sound(claim: Claim) -> bool:
    """Whether all that is looked at of a claim is of its kind, within its bounds, and can be written down."""
    quantities = [measure.quantity for measure in claim.measures]
    whens = [dated.when for dated in claim.dates] + [measure.when for measure in claim.measures if measure.when]
    return (
        _are_texts(claim.text, claim.type, claim.subject, claim.page_title, claim.section, claim.anchor)
        and _are_texts(claim.ref.path, *(quote.text for quote in claim.quotes))
        and all(_is_span(quote.start, quote.end, LONGEST_PAGE) for quote in claim.quotes)
        and all(_is_span(one.start, one.end, len(claim.text)) for one in quantities)
        and all(_is_span(one.start, one.end, len(claim.text)) for one in claim.dates)
        and all(map(_is_when, whens))
        and all(map(_is_quantity, quantities))
    )


def _are_texts(*values: object) -> bool:
    """Texts that UTF-8 can hold; half of a character cannot be written into any table."""
    return all(isinstance(value, str) and value.encode("utf-8", "ignore").decode() == value for value in values)


def _are(kind: type, *values: object) -> bool:
    return all(type(value) is kind for value in values)


def _is_span(start: int, end: int, most: int) -> bool:
    return _are(int, start, end) and 0 <= start <= end <= most


def _is_when(when: DateRange) -> bool:
    return (
        _are(int, when.earliest, when.latest)
        and -FURTHEST_DAY <= when.earliest <= when.latest <= FURTHEST_DAY
        and when.precision in PRECISIONS
        and when.qualifier in QUALIFIERS
        and when.calendar in CALENDARS
        and _are(bool, when.lasts)
    )


def _is_quantity(one: Quantity) -> bool:
    return (
        all(
            (_are(int, value) or _are(float, value)) and math.isfinite(value) for value in (one.low, one.high, one.step)
        )
        and _are_texts(one.unit, one.counted, one.qualifier, one.written_unit, one.counted_words)
        and _are(int, one.digits)
        and 0 <= one.digits <= MOST_DIGITS
        and _are(bool, one.is_range, one.converted)
    )
