"""Dates as the store keeps them: nothing of a DateRange is lost, and the words of the source stay beside it."""

from __future__ import annotations

from typing import Any, NamedTuple

from kiwiresearch.text.dates.ranges import ENDLESS
from kiwiresearch.text.when import DateRange


class Bounds(NamedTuple):
    """The first and last day as Julian Day Numbers; None where a date is open on that side."""

    earliest: int | None
    latest: int | None


def kept(when: DateRange | None, verbatim: str = "") -> dict[str, Any] | None:
    """A date as JSON: its days, how exact and in which calendar, as EDTF, and as the source wrote it."""
    if when is None:
        return None
    return {
        "earliest_jdn": when.earliest,
        "latest_jdn": when.latest,
        "precision": when.precision,
        "qualifier": when.qualifier,
        "calendar": when.calendar,
        "lasts": when.lasts,
        "edtf": when.edtf(),
        "verbatim": verbatim,
    }


def restored(row: dict[str, Any] | None) -> DateRange | None:
    """The DateRange that was kept."""
    if row is None:
        return None
    return DateRange(
        row["earliest_jdn"],
        row["latest_jdn"],
        row["precision"],
        row["qualifier"],
        row["calendar"],
        row["lasts"],
    )


def bounds(row: dict[str, Any] | None) -> Bounds:
    """The days that agree with a kept date: 'before 1850' has no first one, 'about' reaches further."""
    when = restored(row)
    if when is None:
        return Bounds(None, None)
    earliest, latest = when.reach()
    return Bounds(earliest if earliest > -ENDLESS else None, latest if latest < ENDLESS else None)
