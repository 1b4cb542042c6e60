"""The dates that a quote gives, and whether a claimed date is one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from kiwiresearch.text.when import Dated, DateRange, dates_in

Part = Literal["", "first", "last"]
Fit = Literal["same", "coarser", "finer", "no"]

DASH = re.compile(r"\s*(?:[-–—‒−]|\b(?:to|until|till|or)\b)\s*")
FEW_FIGURES = re.compile(r"\s*((?:c\.|ca\.|before|after)?\s*)(\d{2,3})\s*")
CELL = re.compile(r"[^\t\n]+")
BRACKET = re.compile(r"\([^()]*\)")
EITHER = re.compile(r"\b(?:or|and)\b|/")
"""What makes two dates alternatives of one event."""
ERA = re.compile(r"\b(?:BC|BCE|AD|CE)\b\.?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ToldDate:
    """A date of a text: `text[start:end]`; of a range also its two ends, each on its own."""

    start: int
    end: int
    when: DateRange
    part: Part = ""


def told_dates(text: str) -> list[ToldDate]:
    """All readings of the dates of a text: as it stands, cell by cell, and in brackets the two sides of a dash."""
    # '21 September? 1327': the sign goes, and what stands behind it is one letter further off than it says.
    plain = text.replace("?", "")
    found = [told for dated in dates_in(plain) for told in _readings(plain, dated)]
    for cell in CELL.finditer(plain) if "\t" in plain else ():
        found += [_moved(told, cell.start()) for dated in dates_in(cell[0]) for told in _readings(cell[0], dated)]
    for bracket in BRACKET.finditer(flat(plain)):
        found += [_moved(told, bracket.start()) for told in _sides(bracket[0])]
    return list(dict.fromkeys(found))


def flat(text: str) -> str:
    """The text with brackets inside brackets blanked, every other sign in its place."""
    kept, depth = [], 0
    for sign in text:
        depth += sign == "("
        kept.append(" " if depth > 1 else sign)
        depth -= sign == ")" and depth > 0
    return "".join(kept)


def _moved(told: ToldDate, by: int) -> ToldDate:
    return replace(told, start=told.start + by, end=told.end + by)


def _sides(bracket: str) -> Iterator[ToldDate]:
    for sign in DASH.finditer(bracket):
        if sign[0].strip() == "or":
            continue
        start = max(bracket.rfind(stop, 0, sign.start()) for stop in "(;") + 1
        end = next((at for at, char in enumerate(bracket) if at >= sign.end() and char in ";)"), len(bracket))
        halves = bracket[start : sign.start()], bracket[sign.end() : end]
        era = ERA.search(halves[1])
        alone = f"{halves[0]} {era[0]}" if era and not ERA.search(halves[0]) else halves[0]
        yield from (ToldDate(start + one.start, sign.start(), one.when, "first") for one in _dates_of(alone)[-1:])
        yield from (ToldDate(sign.end() + one.start, end, one.when, "last") for one in _dates_of(halves[1])[:1])


def _dates_of(half: str) -> list[Dated]:
    """The dates of one side of a dash; a number of three figures alone is a year there."""
    found = dates_in(half)
    year = FEW_FIGURES.fullmatch(half)
    return found or ([Dated(0, len(half), one.when) for one in dates_in(f"{year[1]}AD {year[2]}")] if year else [])


def _readings(text: str, dated: Dated) -> Iterator[ToldDate]:
    words = text[dated.start : dated.end]
    if not dated.when.lasts or EITHER.search(words):
        yield ToldDate(dated.start, dated.end, dated.when)
    if not dated.when.lasts:
        return
    for sign in DASH.finditer(words):
        middle = dated.start + sign.start(), dated.start + sign.end()
        halves = words[: sign.start()], words[sign.end() :]
        if all(halves):
            yield from (ToldDate(dated.start, middle[0], when, "first") for when in _first(halves, dated.when))
            yield from (ToldDate(middle[1], dated.end, when, "last") for when in _last(halves, dated.when))


def _first(halves: tuple[str, str], whole: DateRange) -> Iterator[DateRange]:
    """The first half on its own; an era behind the second half is that of the first as well."""
    era = ERA.search(halves[1])
    alone = f"{halves[0]} {era[0]}" if era and not ERA.search(halves[0]) else halves[0]
    yield from (dated.when for dated in dates_in(alone))
    if era and alone != halves[0] and era[0].upper().startswith(("AD", "CE")):
        yield from (dated.when for dated in dates_in(halves[0]))
    if whole.precision == "day" and not whole.qualifier:
        yield replace(whole, latest=whole.earliest, lasts=False)


def _last(halves: tuple[str, str], whole: DateRange) -> Iterator[DateRange]:
    yield from (dated.when for dated in dates_in(halves[1]))
    if whole.precision == "day" and not whole.qualifier:
        yield replace(whole, earliest=whole.latest, lasts=False)
    if whole.precision == "year" and halves[1].isdigit():
        # '1756-91': the century stands before the first year only.
        yield from (dated.when for dated in dates_in(str(whole.last_year)))


def fit(told: DateRange, claimed: DateRange) -> Fit:
    """Whether a claimed date is the one told, says less, or says more."""
    spans = (told.earliest, told.latest), (claimed.earliest, claimed.latest)
    if spans[0] == spans[1]:
        if told.qualifier == claimed.qualifier:
            return "same"
        return "coarser" if claimed.qualifier == "about" and not told.qualifier else "finer"
    if told.qualifier in ("before", "after") or claimed.qualifier in ("before", "after"):
        return "finer" if told.qualifier and _holds(told.reach(), spans[1]) else "no"
    if _holds(spans[1], spans[0]):
        if claimed.lasts or claimed.precision not in ("month", "season", "year", "decade"):
            return "no"
        return "coarser" if claimed.qualifier or not told.qualifier else "finer"
    return "finer" if _holds(spans[0], spans[1]) else "no"


def _holds(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]
