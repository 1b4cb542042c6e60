"""What a run dates: the moments of its brief, or every claim that names a date, within the years asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from kiwiresearch.brief.brief import Moment, Statement, Sureness
from kiwiresearch.brief.time_axis import YEAR, YEAR_ZERO
from kiwiresearch.claims.claim import Claim
from kiwiresearch.web.desk.run_frame import RunFrame
from kiwiresearch.web.desk.told_dates import told_date
from kiwiresearch.web.desk.words import Words

MOST_YEARS = 20_000_000_000
"""Further back than anything was."""


def _none_of_nothing(value: object) -> object:
    return None if isinstance(value, str) and not value.strip() else value


Year = Annotated[Annotated[int, Field(ge=-MOST_YEARS, le=100_000)] | None, BeforeValidator(_none_of_nothing)]


class MomentQuery(BaseModel):
    """What an address of the timeline asks for; years before Christ are negative."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    first: Annotated[Year, Field(alias="from")] = None
    last: Annotated[Year, Field(alias="to")] = None
    which: Literal["brief", "all"] = "brief"
    n: Annotated[int, Field(ge=1, le=1_000_000)] = 1

    @property
    def is_filter(self) -> bool:
        return self.first is not None or self.last is not None

    def wish(self) -> dict[str, Any]:
        """All of it but the number of the part."""
        which = "all" if self.which == "all" else ""
        return {"from": self.first, "to": self.last, "which": which}


@dataclass(frozen=True, slots=True)
class Dated:
    """A moment and the claims that its statement rests on."""

    moment: Moment
    claims: tuple[Claim, ...]

    def when(self, words: Words) -> str:
        """Its date in English: as its page says it, or in the words that other languages have names for."""
        return when_in_english(self.moment, self.claims, words)

    def drawn(self, words: Words) -> Moment:
        """The moment as a picture for a reader labels it."""
        when = told_date(self.when(words), words) or self.moment.when
        # The label goes on with a colon, before which some languages keep a space.
        return replace(self.moment, when=when + words.customs.colon.removesuffix(":"))


def when_in_english(moment: Moment, claims: Iterable[Claim], words: Words) -> str:
    """The date of a moment that rests on these claims, for `told_date`; English readers have it as its page says it."""
    if words.language == "en":
        return moment.when
    days = (moment.earliest, moment.latest)
    dates = (one.when for claim in claims for one in claim.dates)
    return next((when.words() for when in dates if (when.earliest, when.latest) == days), moment.when)


def dated(run: RunFrame, query: MomentQuery) -> list[Dated]:
    """The moments that fall into the years asked for, in the order of time."""
    found = _of_claims(run) if query.which == "all" else _of_brief(run)
    return sorted(
        (one for one in found if _within(one.moment, query)), key=lambda one: (one.moment.earliest, one.moment.latest)
    )


def _of_brief(run: RunFrame) -> Iterator[Dated]:
    brief = run.brief
    for moment in brief.timeline:
        yield Dated(moment, tuple(brief.claims[one] for one in moment.statement.claims))


def _of_claims(run: RunFrame) -> Iterator[Dated]:
    for claim in run.claims:
        if claim.dates:
            when = claim.dates[0].when
            statement = Statement(claim.text, (claim.id,), _sureness(claim))
            yield Dated(Moment(when.words(), when.earliest, when.latest, statement), (claim,))


def _sureness(claim: Claim) -> Sureness:
    if claim.type == "disputed" or claim.signals.disputed:
        return "disputed"
    return "hedged" if claim.hedges else "one source"


def _within(moment: Moment, query: MomentQuery) -> bool:
    first = None if query.first is None else _new_year(query.first)
    last = None if query.last is None else _new_year(query.last) + YEAR
    return (first is None or moment.latest >= first) and (last is None or moment.earliest < last)


def _new_year(year: int) -> float:
    """The day on which a year begins, to a day or two; there is no year 0, so those before Christ are one off."""
    return YEAR_ZERO + (year + 1 if year < 0 else year) * YEAR
