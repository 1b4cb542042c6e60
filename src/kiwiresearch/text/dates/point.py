"""One date as it stands in a text, and the words around it that change what it means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.text.dates.days import Calendar
from kiwiresearch.text.dates.evidence import LONGEST_LOOK, NEXT_WORD, OPENERS, OPENING_QUOTES
from kiwiresearch.text.dates.language import DateWords
from kiwiresearch.text.dates.ranges import Precision

Era = Literal["", "bc", "ad"]

WORD = re.compile(r"[^\s()\[\];-]+")


@dataclass(slots=True)
class Point:
    """One date as it stands in the text; what it lacks, a neighbour may lend it."""

    start: int
    end: int
    kind: Precision
    number: int = 0
    """The year, the first year of a decade, the number of a century, or the years ago."""
    last: int = 0
    """The last year, century or figure of years ago, where the point is a pair."""
    month: int = 0
    last_month: int = 0
    day: int = 0
    last_day: int = 0
    era: Era = ""
    present: int = 0
    part: str = ""
    last_part: str = ""
    season: str = ""
    qualifier: str = ""
    """One of the kinds of lead: about, before, after, until, since."""
    opening: str = ""
    """'from' or 'between', where the point starts a range."""
    calendar: Calendar | None = None
    either: bool = False
    """Whether one of a pair is meant, and not the time from one to the other: '3 or 4 May 1803'."""
    sure: bool = True
    opened: int = -1
    """Where the range starts, with its 'from' or 'between'."""

    def __post_init__(self) -> None:
        self.opened = self.start if self.opened < 0 else self.opened

    def is_pair(self) -> bool:
        has_last = self.last > 0 or self.kind == "age"  # an age may reach to no years ago
        return (has_last and self.last != self.number) or bool(self.last_month or self.last_day)


def led(text: str, point: Point, before: Sequence[str], language: DateWords) -> Point:
    """Take in the words before a date that change what it means."""
    core = point.opened = point.start
    if core and text[core - 1] in OPENERS:
        return point
    left = len(before)
    while left and before[left - 1] in language.lead_ends:
        for size in (4, 3, 2, 1):
            lead = language.leads.get(" ".join(before[left - size : left])) if size <= left else None
            if lead:
                break
        if not lead or (lead.kind == "before" and _is_attributive(text, point, before[left - 1], language)):
            break
        if not _take(point, lead.kind, lead.value):
            break
        left -= size
        if lead.kind != "filler":
            point.opened = start_of(text, core, len(before) - left)
        if lead.kind not in ("filler", "from", "between"):
            point.start = point.opened
    return point


def _is_attributive(text: str, point: Point, word: str, language: DateWords) -> bool:
    """'by the 18th century physician': the date only describes a noun."""
    if word not in language.evidence.attributive or point.kind not in ("century", "millennium"):
        return False
    found = NEXT_WORD.match(text, point.end)
    return found is not None and found[1].lower() not in language.evidence.follows


def _take(point: Point, kind: str, value: str) -> bool:
    if kind == "part":
        if point.part or point.kind in ("day", "age"):
            return False
        point.part = value
    elif kind == "season":
        if point.kind != "year" or point.season:
            return False
        point.season = value
    elif kind in ("older", "younger"):
        if point.kind != "age" or point.qualifier:
            return False
        point.qualifier = "before" if kind == "older" else "after"
    elif kind == "ad":
        point.era = "ad"
    elif kind in ("from", "between"):
        point.opening = kind
    elif kind != "filler":
        if point.qualifier:
            return False
        point.qualifier = kind
    return True


def start_of(text: str, end: int, count: int) -> int:
    """Where the last `count` words before a place begin."""
    first = max(0, end - LONGEST_LOOK)
    start = [word.start() for word in WORD.finditer(text, first, end)][-count]
    while text[start] in OPENING_QUOTES:
        start += 1
    return start


def give_era(text: str, point: Point, language: DateWords) -> None:
    found = language.era.match(text, point.end)
    if found and not found["not"]:
        point.end = found.end()
        point.era = "bc" if found["bc"] else "ad"
