"""Claims and facts read back from tables, which may come from an untrusted source."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, get_args

from kiwiresearch.atlas.facts import UniqueFact, is_alternative
from kiwiresearch.claims import Claim, claim_from_record
from kiwiresearch.claims.conflicts import first_moment, last_moment
from kiwiresearch.errors import KiwiError
from kiwiresearch.evidence import INFOBOX, recorded_quote
from kiwiresearch.ids import BookId
from kiwiresearch.text import Quantity
from kiwiresearch.text.dates import Calendar, DateMention, DateQualifier, DateRange, Precision, dates_in
from kiwiresearch.zim import EntryRef

MAX_CLAIM_CHARS, MAX_RECORD_CHARS = 2_000, 100_000
"""Longer ones are not claims."""
MAX_PAGE_CHARS = 2**40
MAX_DAY = 10**13
"""The most days before and after the origin that a date may be."""
MAX_DIGITS = 300
PRECISIONS, QUALIFIERS, CALENDARS = get_args(Precision), get_args(DateQualifier), get_args(Calendar)


def checked_claim(record: str) -> Claim | None:
    """The claim of a record; None if it is invalid."""
    if len(record) > MAX_RECORD_CHARS:
        return None
    try:
        claim = claim_from_record(json.loads(record))
        return claim if _is_sound(claim) and len(claim.text) <= MAX_CLAIM_CHARS else None
    except (KiwiError, ValueError, KeyError, TypeError, AttributeError, RecursionError, ArithmeticError):
        return None


def _is_sound(claim: Claim) -> bool:
    """Whether all values of a claim that are used have the right type, are within bounds, and can be encoded."""
    quantities = [measure.quantity for measure in claim.measures]
    whens = [dated.when for dated in claim.dates] + [measure.when for measure in claim.measures if measure.when]
    return (
        _are_texts(claim.text, claim.type, claim.subject, claim.page_title, claim.section, claim.anchor)
        and _are_texts(claim.ref.path, *(quote.text for quote in claim.quotes))
        and all(_is_span(quote.start, quote.end, MAX_PAGE_CHARS) for quote in claim.quotes)
        and all(_is_span(quantity.start, quantity.end, len(claim.text)) for quantity in quantities)
        and all(_is_span(mention.start, mention.end, len(claim.text)) for mention in claim.dates)
        and all(map(_is_when, whens))
        and all(map(_is_quantity, quantities))
    )


def _are_texts(*values: object) -> bool:
    """Whether all values are texts that can be encoded as UTF-8, which lone surrogates cannot."""
    return all(isinstance(value, str) and value.encode("utf-8", "ignore").decode() == value for value in values)


def _are(kind: type, *values: object) -> bool:
    # Not `isinstance`, which takes true and false for numbers.
    return all(type(value) is kind for value in values)


def _is_span(start: int, end: int, length: int) -> bool:
    return _are(int, start, end) and 0 <= start <= end <= length


def _is_when(when: DateRange) -> bool:
    return (
        _are(int, when.earliest, when.latest)
        and -MAX_DAY <= when.earliest <= when.latest <= MAX_DAY
        and when.precision in PRECISIONS
        and when.qualifier in QUALIFIERS
        and when.calendar in CALENDARS
        and _are(bool, when.lasts)
    )


def _is_quantity(quantity: Quantity) -> bool:
    return (
        all(
            (_are(int, value) or _are(float, value)) and math.isfinite(value)
            for value in (quantity.low, quantity.high, quantity.step)
        )
        and _are_texts(
            quantity.unit, quantity.counted, quantity.qualifier, quantity.written_unit, quantity.counted_words
        )
        and _are(int, quantity.digits)
        and 0 <= quantity.digits <= MAX_DIGITS
        and _are(bool, quantity.is_range, quantity.converted)
    )


MAX_QUOTE_CHARS = 2_000
"""Dates are searched only in this many characters, since a table may contain anything."""
EVENTS = {"birth_date": "birth", "death_date": "death"}


def fact_of_person(book: BookId, row: Mapping[str, Any]) -> UniqueFact | None:
    """The fact of a row of the table of people; None if its quote does not contain the date."""
    dated, quote, name = _dated(row), str(row["quote"]), str(row["name"])
    if dated is None or dated.when.qualifier or is_alternative(quote, dated):
        return None
    try:
        claim = Claim(
            text=quote,
            type="timeline",
            subject=name,
            scope=name,
            quotes=(recorded_quote(EntryRef(book, str(row["path"])), int(row["start"]), int(row["end"]), quote),),
            page_title=str(row["title"]),
            section=INFOBOX if row["method"] == "infobox" else "",
            anchor="",
            dates=(dated,),
        )
    except (KiwiError, ValueError, TypeError):
        return None
    return UniqueFact(claim, EVENTS[row["field"]], dated, is_own=True, place=str(row["method"]))


def date_of_row(row: Mapping[str, Any]) -> DateRange | None:
    """The date of a row, with the precision of its quote."""
    if row["earliest"] is None or row["latest"] is None:
        return None
    dated = _dated(row)
    if dated is not None:
        return dated.when
    # A date that cannot be read from the quote is taken from the row, as exact.
    return DateRange(row["earliest"], row["latest"], "day" if row["earliest"] == row["latest"] else "year")


def _dated(row: Mapping[str, Any]) -> DateMention | None:
    """The date of a row as found in its quote; for a period, such as a life, one end of it."""
    days = (row["earliest"], row["latest"])
    for dated in dates_in(str(row["quote"])[:MAX_QUOTE_CHARS]):
        for when in (dated.when, first_moment(dated.when), last_moment(dated.when)):
            if (when.earliest, when.latest) == days:
                return dated._replace(when=when)
    return None
