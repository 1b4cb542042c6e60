"""What is compared, and what comes out of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from kiwiresearch.text.quantities import Quantity, quantities_in
from kiwiresearch.text.when import Dated, dates_in

Kind = Literal["different year", "different scope", "unit or rounding", "estimate range", "contradiction"]
What = Literal["a number", "a date", "a name", "a denial"]
Span = tuple[int, int]

LONE_YEAR = re.compile(r"(?:^|[\t|:]) *(1\d{3}|20\d\d)(?= *(?:[:\t|–—]|$))", re.ASCII)
DAYS_BEHIND = 364
"""So many days of a year follow its first; which one is the last makes no difference here."""


@dataclass(frozen=True, slots=True)
class Saying:
    """What is compared: a self-contained sentence with what it measures and dates."""

    text: str
    subject: str = ""
    """What it is about, where that is known: the title of its page, or what its pronoun stands for."""
    quantities: tuple[Quantity, ...] = ()
    dates: tuple[Dated, ...] = ()
    language: str = "eng"

    @classmethod
    def of(cls, text: str, subject: str = "", language: str = "eng") -> Saying:
        """A sentence, with its quantities and dates read from it."""
        dates = _with_lone_years(text, dates_in(text, language), language)
        numbers = quantities_in(text, language, not_in=[(dated.start, dated.end) for dated in dates])
        return cls(text, subject, tuple(numbers), dates, language)


def _with_lone_years(text: str, dates: list[Dated], language: str) -> tuple[Dated, ...]:
    """The dates of a text, with years that stand alone in a line or a cell: '1961 : she became director'."""
    for found in LONE_YEAR.finditer(text):
        start, end = found.span(1)
        if not any(dated.start < end and start < dated.end for dated in dates):
            read = dates_in(f"{found[1]}-01-01", language)
            if read:
                first = read[0].when.earliest
                when = replace(read[0].when, latest=first + DAYS_BEHIND, precision="year")
                dates.append(Dated(start, end, when))
    return tuple(sorted(dates, key=lambda dated: dated.start))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Where two sayings of one thing do not say the same."""

    kind: Kind
    what: What
    a: Span
    """Where the value that differs stands in the first text."""
    b: Span
    why: str
    strength: float
    """From 0 to 1: how sure it is that both speak of the same thing."""

    def turned(self) -> Disagreement:
        """The same, with the second text first."""
        return Disagreement(self.kind, self.what, self.b, self.a, self.why, self.strength)
