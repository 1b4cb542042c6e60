"""The numbers of a run by subject, and where they disagree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from kiwiresearch.brief import Brief, Figure, ValueDifference, without_article
from kiwiresearch.claims import Claim, Measure
from kiwiresearch.claims.conflicts import ComparedSentence, compare_sentences
from kiwiresearch.codec import JsonDict
from kiwiresearch.jobs import JobQueue
from kiwiresearch.text.dates import DateRange
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import ListPlace, PageRenderer, has_words, list_page, scope_choices
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.web.run_view import RunName, RunView, run_views

PAIR = 2
MAX_COMPARED = 60
"""Claims about one subject that are compared with a claim whose number differs from another one."""


class FigureQuery(BaseModel):
    """The query of the page's address."""

    model_config = ConfigDict(frozen=True)

    words: Annotated[str, Field(max_length=200)] = ""
    which: Literal["brief", "all"] = "brief"
    n: Annotated[int, Field(ge=1, le=1_000_000)] = 1

    def filters(self) -> JsonDict:
        """The parameters of its address, without the number of the page."""
        return {"words": self.words, "which": "all" if self.which == "all" else ""}


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A number: its value as the page writes it, what it measures, of what and when, and its source."""

    of: str
    what: str
    value: str
    when: DateRange | str
    claims: tuple[Claim, ...]
    difference: ValueDifference | None = None
    """How the number of another page differs from it."""


class DisagreeingClaim(NamedTuple):
    """What one side says, and the span of the value that differs; 0 to 0 if that is not known."""

    claim: Claim
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NumberDisagreement:
    """Two sides that disagree, how and why they do, and what each says."""

    about: str
    kind: str
    why: str
    sides: tuple[DisagreeingClaim, DisagreeingClaim]


def figure_rows(run: RunView, query: FigureQuery) -> list[FigureRow]:
    """The numbers that match, grouped by subject."""
    found = list(_of_claims(run) if query.which == "all" else _of_brief(run.brief))
    fitting = [
        row
        for row in found
        if has_words(query.words, row.of, row.what, row.value, *(claim.text for claim in row.claims))
    ]
    # Each subject at the place of its first number, so that 'The Moon' and 'Moon' stand together.
    first: dict[str, int] = {}
    for place, row in enumerate(fitting):
        first.setdefault(without_article(row.of), place)
    return sorted(fitting, key=lambda row: first[without_article(row.of)])


def _of_brief(brief: Brief) -> Iterator[FigureRow]:
    for figure in brief.numbers:
        claims = tuple(brief.claims[claim] for claim in figure.statement.claims)
        when = date_of_figure(figure, claims)
        yield FigureRow(figure.of, figure.what, figure.value, when, claims, figure.difference)


def date_of_figure(figure: Figure, claims: Iterable[Claim]) -> DateRange | str:
    """The date of a number that rests on these claims; its own words, if none of them has that date."""
    dates = (measure.when for claim in claims for measure in claim.measures if measure.when)
    return next((when for when in dates if when.words() == figure.when), figure.when)


def _of_claims(run: RunView) -> Iterator[FigureRow]:
    differing = {claim_id: figure.difference for figure in run.brief.numbers for claim_id in figure.statement.claims}
    for claim in run.claims:
        for measure in claim.measures:
            # A number that measures nothing is often a page number or part of a name.
            if measure.what:
                yield _row(claim, measure, differing.get(claim.id))


def _row(claim: Claim, measure: Measure, difference: ValueDifference | None) -> FigureRow:
    quantity = measure.quantity
    value = " ".join(filter(None, (quantity.qualifier, claim.text[quantity.start : quantity.end])))
    return FigureRow(measure.of, measure.what, value, measure.when or "", (claim,), difference)


def disagreements(run: RunView) -> list[NumberDisagreement]:
    """The disagreements of numbers and dates that the brief has marked, each pair once, with both sides."""
    brief = run.brief
    found: dict[frozenset[str], NumberDisagreement] = {}
    for dispute in brief.disputes:
        sides = [brief.claims[view.statement.claims[0]] for view in dispute.views]
        if dispute.difference and len(sides) == PAIR:
            found.setdefault(
                frozenset(side.id for side in sides), _disagreement(run, sides[0], sides[1], dispute.difference)
            )
    for figure in brief.numbers:
        claim = brief.claims[figure.statement.claims[0]]
        other = _other_side(run, claim, figure.difference) if figure.difference else None
        if figure.difference and other is not None:
            pair = frozenset((claim.id, other.id))
            found.setdefault(pair, _disagreement(run, claim, other, figure.difference))
    return list(found.values())


def _other_side(run: RunView, claim: Claim, difference: ValueDifference) -> Claim | None:
    """The claim that differs from this one in the way that the brief has found."""
    saying = _comparable(run, claim)
    for other in _of_same_subject(run.claims, claim):
        how = compare_sentences(saying, _comparable(run, other))
        if how is not None and (how.kind, how.why) == (difference.kind, difference.why):
            return other
    return None


def _of_same_subject(claims: Iterable[Claim], claim: Claim) -> list[Claim]:
    subject = without_article(claim.subject)
    same = [
        other
        for other in claims
        if other.id != claim.id and (other.measures or other.dates) and without_article(other.subject) == subject
    ]
    return same[:MAX_COMPARED]


def _disagreement(run: RunView, one: Claim, other: Claim, difference: ValueDifference) -> NumberDisagreement:
    how = compare_sentences(_comparable(run, one), _comparable(run, other))
    spans = (how.a, how.b) if how else ((0, 0), (0, 0))
    return NumberDisagreement(
        one.subject,
        difference.kind,
        difference.why,
        (DisagreeingClaim(one, *spans[0]), DisagreeingClaim(other, *spans[1])),
    )


def _comparable(run: RunView, claim: Claim) -> ComparedSentence:
    quantities = tuple(measure.quantity for measure in claim.measures)
    return ComparedSentence(
        claim.text, claim.subject, quantities, claim.dates, run.language_of(claim.ref.book) or "eng"
    )


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The page of numbers."""
    routes = RoleRouter("reader", include_in_schema=False)
    runs = run_views(context, jobs)

    @routes.get("/runs/{run_id}/numbers")
    def numbers(request: Request, run_id: RunName, query: Annotated[FigureQuery, Query()]) -> Response:
        run = runs.get(run_id)
        return pages.show(
            request,
            "numbers.html",
            run=run,
            tab="numbers",
            query=query,
            shown=list_page(figure_rows(run, query), query.n, ListPlace(run.url("numbers"), query.filters())),
            against=disagreements(run),
            choices=scope_choices(run.url("numbers"), query),
        )

    return routes
