"""The timeline of a run, drawn and listed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import Response

from kiwiresearch.brief import YEAR, YEAR_ZERO, Statement, Sureness, TimelineMoment
from kiwiresearch.brief.timeline_picture import timeline_picture
from kiwiresearch.claims import Claim
from kiwiresearch.jobs import JobQueue
from kiwiresearch.messages import Catalogue
from kiwiresearch.text.dates import DateRange
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.pages import ListPlace, Pages, list_page, none_if_empty, scope_choices
from kiwiresearch.web.desk.translations import date_text
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.web.run_view import RunName, RunView, run_views

MAX_YEARS = 20_000_000_000
"""More than the age of the universe."""


Year = Annotated[Annotated[int, Field(ge=-MAX_YEARS, le=100_000)] | None, BeforeValidator(none_if_empty)]


class MomentQuery(BaseModel):
    """The query of the timeline's address; years before Christ are negative."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    first: Annotated[Year, Field(alias="from")] = None
    last: Annotated[Year, Field(alias="to")] = None
    which: Literal["brief", "all"] = "brief"
    n: Annotated[int, Field(ge=1, le=1_000_000)] = 1

    @property
    def is_filter(self) -> bool:
        return self.first is not None or self.last is not None

    def filters(self) -> dict[str, Any]:
        """The parameters of its address, without the number of the page."""
        return {"from": self.first, "to": self.last, "which": "all" if self.which == "all" else ""}


@dataclass(frozen=True, slots=True)
class DatedMoment:
    """A moment and the claims that support it."""

    moment: TimelineMoment
    claims: tuple[Claim, ...]

    def when(self, words: Catalogue) -> DateRange | str:
        """Its date for `date_text`."""
        return date_of_moment(self.moment, self.claims, words)

    def labelled(self, words: Catalogue) -> TimelineMoment:
        """The moment as a picture for a reader labels it."""
        return replace(self.moment, when=date_text(self.when(words), words))


def date_of_moment(moment: TimelineMoment, claims: Iterable[Claim], words: Catalogue) -> DateRange | str:
    """The date of a moment that rests on these claims.

    English readers, and all readers of a moment without such a date, get its own words. Those are the words of the
    page, which may say more than the days: 'the morning of 5 June'.
    """
    if words.language == "en":
        return moment.when
    days = (moment.earliest, moment.latest)
    dates = (one.when for claim in claims for one in claim.dates)
    return next((when for when in dates if (when.earliest, when.latest) == days), moment.when)


def moments_in_years(run: RunView, query: MomentQuery) -> list[DatedMoment]:
    """The moments within the requested years, in chronological order."""
    found = _of_claims(run) if query.which == "all" else _of_brief(run)
    return sorted(
        (one for one in found if _within(one.moment, query)), key=lambda one: (one.moment.earliest, one.moment.latest)
    )


def _of_brief(run: RunView) -> Iterator[DatedMoment]:
    brief = run.brief
    for moment in brief.timeline:
        yield DatedMoment(moment, tuple(brief.claims[one] for one in moment.statement.claims))


def _of_claims(run: RunView) -> Iterator[DatedMoment]:
    for claim in run.claims:
        if claim.dates:
            when = claim.dates[0].when
            statement = Statement(claim.text, (claim.id,), _sureness(claim))
            yield DatedMoment(TimelineMoment(when.words(), when.earliest, when.latest, statement), (claim,))


def _sureness(claim: Claim) -> Sureness:
    if claim.type == "disputed" or claim.signals.disputed:
        return "disputed"
    return "hedged" if claim.hedges else "one source"


def _within(moment: TimelineMoment, query: MomentQuery) -> bool:
    first = None if query.first is None else _new_year(query.first)
    last = None if query.last is None else _new_year(query.last) + YEAR
    return (first is None or moment.latest >= first) and (last is None or moment.earliest < last)


def _new_year(year: int) -> float:
    """The day on which a year begins, to a day or two. BC years are shifted by one, since the year 0 does not exist."""
    return YEAR_ZERO + (year + 1 if year < 0 else year) * YEAR


def router(room: ServerContext, jobs: JobQueue, pages: Pages) -> APIRouter:
    """The timeline page."""
    routes = RoleRouter("reader", include_in_schema=False)
    runs = run_views(room, jobs)

    @routes.get("/runs/{run_id}/timeline")
    def timeline(request: Request, run_id: RunName, query: Annotated[MomentQuery, Query()]) -> Response:
        run = runs.get(run_id)
        shown = list_page(moments_in_years(run, query), query.n, ListPlace(run.url("timeline"), query.filters()))
        # The picture shows the moments of the list below, with the same numbers.
        words = catalogue_for(request)
        picture = Markup(timeline_picture([one.labelled(words) for one in shown.rows], words))  # noqa: S704
        return pages.show(
            request,
            "timeline.html",
            run=run,
            tab="timeline",
            query=query,
            shown=shown,
            picture=picture,
            choices=scope_choices(run.url("timeline"), query),
        )

    return routes
