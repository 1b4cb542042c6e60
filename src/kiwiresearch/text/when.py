"""Dates in running text: where they stand, and which days they mean."""

from __future__ import annotations

from typing import NamedTuple

from kiwiresearch.text.dates.days import Calendar
from kiwiresearch.text.dates.joining import joined, range_of
from kiwiresearch.text.dates.language import date_words
from kiwiresearch.text.dates.points import points_in
from kiwiresearch.text.dates.ranges import DateRange, Precision, Qualifier, Relation, relation

__all__ = ["Calendar", "DateRange", "Dated", "Precision", "Qualifier", "Relation", "dates_in", "relation"]


class Dated(NamedTuple):
    """A date and its place: `text[start:end]`."""

    start: int
    end: int
    when: DateRange


def dates_in(text: str, language: str = "eng") -> list[Dated]:
    """The dates of a text, in order and not overlapping.

    A number is taken for a year only where something speaks for it; a day
    without a year is none. `language` is an ISO 639-3 code; of a language that
    is not known, only what figures alone can say is read.
    """
    words = date_words(language)
    points = points_in(text, words)
    dates: list[Dated] = []
    at = 0
    while at < len(points):
        point = points[at]
        after = points[at + 1] if at + 1 < len(points) else None
        when = joined(text, point, after, words) if after else None
        if when and after:
            dates.append(Dated(point.opened, after.end, when))
            at += 2
            continue
        when = range_of(text, point, words)
        if when:
            start = point.opened if point.is_pair() else point.start
            dates.append(Dated(start, point.end, when))
        at += 1
    return dates
