"""What a page about a person says of birth and death, as facts that can be compared with others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kiwiresearch.atlas.fact import Fact
from kiwiresearch.atlas.facts import is_choice
from kiwiresearch.claims.claim import Claim
from kiwiresearch.errors import KiwiError
from kiwiresearch.evidence.citation import BOX
from kiwiresearch.evidence.quote import of_record
from kiwiresearch.ids import BookId
from kiwiresearch.text.when import Dated, DateRange, dates_in
from kiwiresearch.zim.entry import EntryRef

LONGEST_QUOTE = 2_000
"""Behind so many characters no date is looked for: a table from elsewhere may hold anything."""
EVENTS = {"birth_date": "birth", "death_date": "death"}


def fact_of_person(book: BookId, row: Mapping[str, Any]) -> Fact | None:
    """The fact that a row of the table of people tells; None where its quote does not hold the date."""
    dated, quote, name = _dated(row), str(row["quote"]), str(row["name"])
    if dated is None or dated.when.qualifier or is_choice(quote, dated):
        return None
    try:
        claim = Claim(
            text=quote,
            type="timeline",
            subject=name,
            scope=name,
            quotes=(of_record(EntryRef(book, str(row["path"])), int(row["start"]), int(row["end"]), quote),),
            page_title=str(row["title"]),
            section=BOX if row["method"] == "infobox" else "",
            anchor="",
            dates=(dated,),
        )
    except (KiwiError, ValueError, TypeError):
        return None
    return Fact(claim, EVENTS[row["field"]], dated, is_own=True, place=str(row["method"]))


def when_of(row: Mapping[str, Any]) -> DateRange | None:
    """The date of a row, as exact as its quote tells it."""
    if row["earliest"] is None or row["latest"] is None:
        return None
    dated = _dated(row)
    if dated is not None:
        return dated.when
    # What is not read from the quote is taken as it stands in the row: days that nobody called rough.
    return DateRange(row["earliest"], row["latest"], "day" if row["earliest"] == row["latest"] else "year")


def _dated(row: Mapping[str, Any]) -> Dated | None:
    """The date of a row where it stands in its quote: of one that lasted, as in a life, an end of it."""
    from kiwiresearch.claims.conflicts.values import first_moment, last_moment

    days = (row["earliest"], row["latest"])
    for dated in dates_in(str(row["quote"])[:LONGEST_QUOTE]):
        for when in (dated.when, first_moment(dated.when), last_moment(dated.when)):
            if (when.earliest, when.latest) == days:
                return dated._replace(when=when)
    return None
