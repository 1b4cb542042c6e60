"""The timeline of a run, drawn and listed: whole or a part of it, and in groups."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any, Literal, get_args

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import Response

from kiwiresearch.brief import DEEP_YEARS, PRESENT_YEAR, Statement, TimelineMoment, ago_text, support_level, year_text
from kiwiresearch.brief.timeline_picture import timeline_picture
from kiwiresearch.claims import Claim
from kiwiresearch.codec import JsonDict
from kiwiresearch.jobs import JobQueue
from kiwiresearch.messages import Catalogue
from kiwiresearch.text.dates import DateRange, astronomical_year, calendar_year, day_at, day_number
from kiwiresearch.web.addresses import list_address
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.pages import ListPlace, PageRenderer, list_page, none_if_empty, scope_choices
from kiwiresearch.web.desk.translations import date_text
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.web.run_view import RunName, RunView, run_views

MAX_YEARS = 20_000_000_000
"""More than the age of the universe."""


Year = Annotated[Annotated[int, Field(ge=-MAX_YEARS, le=100_000)] | None, BeforeValidator(none_if_empty)]


Zoom = Literal["all", "centuries", "decades", "years"]
Grouping = Literal["none", "period", "page", "kind"]

YEARS_SHOWN: Mapping[Zoom, int] = {"centuries": 1000, "decades": 100, "years": 10}
"""How many years a part has; it shows ten of its units, as 1300 to 1399 does for decades."""
MAX_PERIODS = 12
"""The most periods into which a whole timeline is divided."""
DRAWN_WIDTH = 1060


class MomentQuery(BaseModel):
    """The query of the timeline's address; years before Christ are negative."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    first: Annotated[Year, Field(alias="from")] = None
    last: Annotated[Year, Field(alias="to")] = None
    which: Literal["brief", "all"] = "brief"
    zoom: Zoom = "all"
    at: Year = None
    """A year in the part that is shown; without one, the part with most moments is."""
    group: Grouping = "none"
    n: Annotated[int, Field(ge=1, le=1_000_000)] = 1

    @property
    def is_filter(self) -> bool:
        return self.first is not None or self.last is not None

    def filters(self) -> JsonDict:
        """The parameters of its address, without the number of the page."""
        return {
            "from": self.first,
            "to": self.last,
            "which": "all" if self.which == "all" else "",
            "zoom": "" if self.zoom == "all" else self.zoom,
            "at": "" if self.zoom == "all" else self.at,
            "group": "" if self.group == "none" else self.group,
        }

    def address(self, place: str, **changes: Any) -> str:
        """The address of the same timeline with these values changed, at its first page."""
        return list_address(place, self.model_copy(update=changes).filters())


@dataclass(frozen=True, slots=True)
class DatedMoment:
    """A moment and the claims that support it."""

    moment: TimelineMoment
    claims: tuple[Claim, ...]

    def when(self, catalogue: Catalogue) -> DateRange | str:
        """Its date for `date_text`."""
        return date_of_moment(self.moment, self.claims, catalogue)

    @property
    def year(self) -> int:
        """The year in its middle, counted as astronomers do."""
        return _year((self.moment.earliest + self.moment.latest) // 2)

    @property
    def first_year(self) -> int:
        return _year(self.moment.earliest)

    @property
    def text(self) -> str:
        """Its statement without the date it begins with, as the date stands before it."""
        return without_date(self.moment.statement.text, self.moment.when)

    def labelled(self, catalogue: Catalogue) -> TimelineMoment:
        """The moment as a picture for a reader labels it."""
        statement = replace(self.moment.statement, text=self.text)
        return replace(self.moment, when=date_text(self.when(catalogue), catalogue), statement=statement)


BEFORE_DATES = r"(?:(?:in|on|during|en|le|el|durant|pendant|durante|im|am)\s+)?(?:the\s+)?"


def without_date(text: str, when: str) -> str:
    """A sentence without its date, if it begins with that: 'In 1961, scientists began' becomes 'Scientists began'."""
    dated = re.match(rf"{BEFORE_DATES}{re.escape(when)},\s+(?=\S)", text, re.IGNORECASE) if when else None
    rest = text[dated.end() :] if dated else text
    return rest[:1].upper() + rest[1:] if dated else text


def date_of_moment(moment: TimelineMoment, claims: Iterable[Claim], catalogue: Catalogue) -> DateRange | str:
    """The date of a moment that rests on these claims.

    English readers, and all readers of a moment without such a date, get its own words. Those are the words of the
    page, which may say more than the days: 'the morning of 5 June'.
    """
    if catalogue.language == "en":
        return moment.when
    days = (moment.earliest, moment.latest)
    dates = (mention.when for claim in claims for mention in claim.dates)
    return next((when for when in dates if (when.earliest, when.latest) == days), moment.when)


def moments_in_years(run: RunView, query: MomentQuery) -> list[DatedMoment]:
    """The moments within the requested years, in chronological order."""
    found = _of_claims(run) if query.which == "all" else _of_brief(run)
    return sorted(
        (moment for moment in found if _within(moment.moment, query)),
        key=lambda moment: (moment.moment.earliest, moment.moment.latest),
    )


@dataclass(frozen=True, slots=True)
class TimelinePart:
    """Some years of a timeline, from a round one, and its moments."""

    first: int
    """Counted as astronomers do: the year 0 is 1 BC."""
    years: int
    moments: list[DatedMoment]
    before: int | None
    """A year of the nearest moment before this part."""
    after: int | None

    def name(self, catalogue: Catalogue) -> str:
        return period_name(self.first, self.years, catalogue)

    @property
    def year(self) -> int:
        """The year in the middle of what happened, so that zooming leads to it."""
        years = [moment.year for moment in self.moments if 0 <= moment.year - self.first < self.years] or [self.first]
        return calendar_year(years[len(years) // 2])


def part_of(moments: list[DatedMoment], query: MomentQuery) -> TimelinePart | None:
    """The part of a timeline that a query zooms in on; None if it shows everything."""
    if query.zoom == "all" or not moments:
        return None
    years = YEARS_SHOWN[query.zoom]
    if query.at is not None:
        first = astronomical_year(query.at) // years * years
    else:
        counts = Counter(moment.year // years * years for moment in moments)
        # Of several with as many moments, the earliest.
        first = max(counts, key=lambda start: (counts[start], -start))
    begin, end = _days_of(first, years)
    return TimelinePart(
        first,
        years,
        [moment for moment in moments if moment.moment.latest >= begin and moment.moment.earliest < end],
        max((moment.year for moment in moments if moment.moment.latest < begin), default=None),
        min((moment.year for moment in moments if moment.moment.earliest >= end), default=None),
    )


def _days_of(first: int, years: int) -> tuple[int, int]:
    """The first day of some years, and the one after them."""
    return day_number(calendar_year(first)), day_number(calendar_year(first + years))


def period_name(first: int, years: int, catalogue: Catalogue) -> str:
    """Some years, as people write them: '1347', '1300–1399', '2 million years ago'."""
    if PRESENT_YEAR - first > DEEP_YEARS:
        return ago_text(PRESENT_YEAR - first, catalogue)
    if years == 1:
        return year_text(calendar_year(first), catalogue)
    return catalogue(
        "timeline.period",
        since=year_text(calendar_year(first), catalogue),
        until=year_text(calendar_year(first + years - 1), catalogue),
    )


def in_groups(
    moments: list[DatedMoment], query: MomentQuery, part: TimelinePart | None, catalogue: Catalogue
) -> list[tuple[str, DatedMoment]]:
    """The moments, each with the name of its group; groups of most moments first, periods in chronological order."""
    if query.group == "period":
        years = part.years // 10 if part else _period_years(moments)
        return [(_period_of(moment, years, part, catalogue), moment) for moment in moments]
    if query.group == "none":
        return [("", moment) for moment in moments]
    by_kind = query.group == "kind"
    named = [(_kind_of(moment, catalogue) if by_kind else moment.claims[0].page_title, moment) for moment in moments]
    counts = Counter(name for name, _ in named)
    order = {name: place for place, (name, _) in enumerate(counts.most_common())}
    return sorted(named, key=lambda pair: order[pair[0]])


def _kind_of(moment: DatedMoment, catalogue: Catalogue) -> str:
    """The type of a moment's claim, as a heading."""
    kind = catalogue.named("claims.types", moment.claims[0].type)
    return kind[:1].upper() + kind[1:]


def _period_of(moment: DatedMoment, years: int, part: TimelinePart | None, catalogue: Catalogue) -> str:
    """The period in which a moment began."""
    if part and moment.first_year < part.first:
        return catalogue("timeline.before", year=period_name(part.first, 1, catalogue))
    ago = PRESENT_YEAR - moment.year
    if ago > DEEP_YEARS:
        # One significant digit: what was 2,340,000 years ago belongs to '2 million years ago'.
        scale = 10 ** (len(str(ago)) - 1)
        return ago_text(ago // scale * scale, catalogue)
    return period_name(moment.first_year // years * years, years, catalogue)


def _period_years(moments: list[DatedMoment]) -> int:
    """A power of ten that divides the years of people, not those of the Earth, into a few periods."""
    dated = [moment.first_year for moment in moments if PRESENT_YEAR - moment.year <= DEEP_YEARS]
    years = 10
    while dated and (dated[-1] - dated[0]) / years > MAX_PERIODS:
        years *= 10
    return years


def _year(day: int) -> int:
    """The year of a day, counted as astronomers do."""
    return astronomical_year(day_at(day).year)


def _of_brief(run: RunView) -> Iterator[DatedMoment]:
    brief = run.brief
    for moment in brief.timeline:
        yield DatedMoment(moment, tuple(brief.claims[claim] for claim in moment.statement.claims))


def _of_claims(run: RunView) -> Iterator[DatedMoment]:
    for claim in run.claims:
        if claim.dates:
            when = claim.dates[0].when
            statement = Statement(claim.text, (claim.id,), support_level(claim, 1))
            yield DatedMoment(TimelineMoment(when.words(), when.earliest, when.latest, statement), (claim,))


def _within(moment: TimelineMoment, query: MomentQuery) -> bool:
    first = None if query.first is None else day_number(query.first)
    last = None if query.last is None else _days_of(astronomical_year(query.last), 1)[1]
    return (first is None or moment.latest >= first) and (last is None or moment.earliest < last)


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The timeline page."""
    routes = RoleRouter("reader", include_in_schema=False)
    runs = run_views(context, jobs)

    @routes.get("/runs/{run_id}/timeline")
    def timeline(request: Request, run_id: RunName, query: Annotated[MomentQuery, Query()]) -> Response:
        run, catalogue = runs.get(run_id), catalogue_for(request)
        found = moments_in_years(run, query)
        part = part_of(found, query)
        rows = in_groups(part.moments if part else found, query, part, catalogue)
        place = run.url("timeline")
        shown = list_page(rows, query.n, ListPlace(place, query.filters()))
        return pages.show(
            request,
            "timeline.html",
            run=run,
            tab="timeline",
            query=query,
            shown=shown,
            part=part,
            all_moments=len(found),
            groups=[(name, [moment for _, moment in same]) for name, same in groupby(shown.rows, key=itemgetter(0))],
            picture=_picture(shown.rows, query, part, catalogue),
            choices=scope_choices(place, query),
            zooms=[(zoom, query.address(place, zoom=zoom, at=part.year if part else None)) for zoom in get_args(Zoom)],
            groupings=[(group, query.address(place, group=group)) for group in get_args(Grouping)],
            earlier=query.address(place, at=calendar_year(part.before)) if part and part.before is not None else "",
            later=query.address(place, at=calendar_year(part.after)) if part and part.after is not None else "",
        )

    return routes


def _picture(
    rows: Sequence[tuple[str, DatedMoment]], query: MomentQuery, part: TimelinePart | None, catalogue: Catalogue
) -> Markup:
    """The moments of the list, with the same numbers; periods need no rows of their own on an axis."""
    moments = [moment.labelled(catalogue) for _, moment in rows]
    groups = [name for name, _ in rows] if query.group in ("page", "kind") else ()
    days = _days_of(part.first, part.years) if part else None
    return Markup(timeline_picture(moments, catalogue, width=DRAWN_WIDTH, groups=groups, days=days))  # noqa: S704
