"""The claims of a run: a table to filter and sort, and the page of one claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from kiwiresearch.brief import Brief, Dispute, PartKey, Statement, ValueDifference
from kiwiresearch.claims import CLAIM_TYPES, Claim, ClaimType
from kiwiresearch.codec import JsonDict
from kiwiresearch.evidence import Quote
from kiwiresearch.jobs import JobQueue
from kiwiresearch.web.addresses import list_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.notes import notes_for
from kiwiresearch.web.desk.pages import ListPlace, PageRenderer, has_words, list_page
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.web.notes import claim_target
from kiwiresearch.web.run_view import RunName, RunView, run_views
from kiwiresearch.zim import EntryRef

Hedging = Literal["", "none", "any", "may", "some", "debated", "uncertain"]
Order = Literal["", "type", "-type", "page", "-page", "hedging", "-hedging", "confidence", "-confidence"]
COLUMNS = ("type", "page", "hedging", "confidence")
"""The columns that the table can be sorted by."""

CONFIDENCES = (0, 50, 60, 70, 80, 90)
"""The lowest confidences that the form offers, in percent."""


class ClaimQuery(BaseModel):
    """The query of the table's address; an empty field filters nothing."""

    model_config = ConfigDict(frozen=True)

    type: ClaimType | Literal[""] = ""
    page: Annotated[str, Field(max_length=500)] = ""
    """The path or the title of a page."""
    hedging: Hedging = ""
    least: Annotated[int, Field(ge=0, le=100)] = 0
    words: Annotated[str, Field(max_length=200)] = ""
    sort: Order = ""
    n: Annotated[int, Field(ge=1, le=1_000_000)] = 1

    @property
    def is_filter(self) -> bool:
        return bool(self.type or self.page or self.hedging or self.least or self.words.strip())

    def filters(self) -> JsonDict:
        """The parameters of its address, without the number of the page."""
        return self.model_dump(exclude={"n"})

    def sorted_by(self, column: str) -> JsonDict:
        """The parameters that sort by a column, or reverse the order if the table is sorted by it already."""
        # The highest confidence comes first; all other columns begin in the order of the alphabet.
        first = "-confidence" if column == "confidence" else column
        turned = first.removeprefix("-") if first.startswith("-") else f"-{first}"
        return self.filters() | {"sort": turned if self.sort == first else first}


@dataclass(frozen=True, slots=True)
class PageChoice:
    """A page that the form offers, with its number of claims."""

    path: str
    title: str
    claims: int


def filtered_claims(claims: Sequence[Claim], query: ClaimQuery) -> list[Claim]:
    """The claims that match, in the requested order; equal ones stay in the order of their pages."""
    found = [
        claim
        for claim in claims
        if _fits(claim, query)
        and has_words(query.words, claim.text, claim.subject, *(quote.text for quote in claim.quotes))
    ]
    if query.sort:
        column, is_turned = query.sort.removeprefix("-"), query.sort.startswith("-")
        found.sort(key=SORT_KEYS[column], reverse=is_turned)
    return found


def _fits(claim: Claim, query: ClaimQuery) -> bool:
    return (
        (not query.type or claim.type == query.type)
        # `least` is a rounded percentage, so half a percent less is enough.
        and claim.confidence * 100 >= query.least - 0.5
        and (not query.page or query.page == claim.ref.path or query.page.casefold() == claim.page_title.casefold())
        and _is_hedged(claim, query.hedging)
    )


def _is_hedged(claim: Claim, hedging: Hedging) -> bool:
    if hedging in ("", "any", "none"):
        return not hedging or bool(claim.hedges) == (hedging == "any")
    return any(hedge.kind == hedging for hedge in claim.hedges)


SORT_KEYS: Mapping[str, Callable[[Claim], Any]] = {
    "type": lambda claim: claim.type,
    "page": lambda claim: (claim.page_title.casefold(), claim.ref.path),
    "hedging": lambda claim: [hedge.kind for hedge in claim.hedges],
    "confidence": lambda claim: claim.confidence,
}


def page_choices(claims: Sequence[Claim]) -> list[PageChoice]:
    """The pages that have claims, in the order of the run."""
    counts: Counter[EntryRef] = Counter(claim.ref for claim in claims)
    titles = {claim.ref: claim.page_title for claim in claims}
    return [PageChoice(ref.path, titles[ref] or ref.path, count) for ref, count in counts.items()]


CONTEXT_CHARS = 280
"""Characters of the page that are shown on each side of a quote."""


@dataclass(frozen=True, slots=True)
class QuoteView:
    """A quote with the text of the page around it."""

    quote: Quote
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class SupportedStatement:
    """A statement of the brief that a claim supports, and the part of the brief that has it."""

    part: PartKey
    statement: Statement


@dataclass(frozen=True, slots=True)
class ClaimDetails:
    """Everything a run has about one claim."""

    claim: Claim
    contexts: tuple[QuoteView, ...]
    statements: tuple[SupportedStatement, ...]
    corroborating: tuple[Claim, ...]
    """Other claims that support the same statements."""
    disputes: tuple[Dispute, ...]
    """Disputes in which it is one side."""
    difference: ValueDifference | None
    """How its number differs from that of another claim."""


def claim_details(run: RunView, claim: Claim) -> ClaimDetails:
    """Everything that the files of a run say about a claim."""
    brief, text = run.brief, run.text_of(claim.ref)
    statements = tuple(statement for statement in statements_by_part(brief) if claim.id in statement.statement.claims)
    others = dict.fromkeys(
        other for statement in statements for other in statement.statement.claims if other != claim.id
    )
    disputes = [
        dispute for dispute in brief.disputes if any(claim.id in view.statement.claims for view in dispute.views)
    ]
    against = {other for dispute in disputes for view in dispute.views for other in view.statement.claims}
    figures = [
        figure.difference for figure in brief.numbers if claim.id in figure.statement.claims and figure.difference
    ]
    return ClaimDetails(
        claim=claim,
        contexts=tuple(_context(quote, text) for quote in claim.quotes),
        statements=statements,
        corroborating=tuple(brief.claims[other] for other in others if other not in against),
        disputes=tuple(disputes),
        difference=figures[0] if figures else None,
    )


def statements_by_part(brief: Brief) -> Iterator[SupportedStatement]:
    """Every statement of a brief with the part that has it."""
    for statement in brief.summary:
        yield SupportedStatement("summary", statement)
    groups: tuple[tuple[PartKey, Sequence[Statement]], ...] = (
        ("body", [item for group in brief.body for item in group.statements]),
        ("definitions", [item for group in brief.definitions for item in group.statements]),
        ("timeline", [moment.statement for moment in brief.timeline]),
        ("mechanisms", [item for group in brief.mechanisms for item in group.statements]),
        ("actors", [item for group in brief.actors for item in group.statements]),
        ("disputes", [view.statement for dispute in brief.disputes for view in dispute.views]),
        ("numbers", [figure.statement for figure in brief.numbers]),
    )
    for part, statements in groups:
        yield from (SupportedStatement(part, statement) for statement in statements)


def _context(quote: Quote, text: str) -> QuoteView:
    if not text.startswith(quote.text, quote.start):
        return QuoteView(quote, "", "")
    before = text[max(quote.start - CONTEXT_CHARS, 0) : quote.start]
    after = text[quote.end : quote.end + CONTEXT_CHARS]
    # The cut may be within a word, so what is left of that word is dropped.
    if quote.start > CONTEXT_CHARS:
        before = "… " + before.partition(" ")[2]
    if len(text) > quote.end + CONTEXT_CHARS:
        after = after.rpartition(" ")[0] + " …"
    return QuoteView(quote, before, after)


ClaimName = Annotated[str, Path(max_length=100)]


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The table, and the page of each claim."""
    routes = RoleRouter("reader", include_in_schema=False)
    runs = run_views(context, jobs)

    @routes.get("/runs/{run_id}/claims")
    def table(request: Request, run_id: RunName, query: Annotated[ClaimQuery, Query()]) -> Response:
        run = runs.get(run_id)
        return pages.show(
            request,
            "claims.html",
            run=run,
            tab="claims",
            query=query,
            shown=list_page(filtered_claims(run.claims, query), query.n, ListPlace(run.url("claims"), query.filters())),
            columns=[(name, list_address(run.url("claims"), query.sorted_by(name))) for name in COLUMNS],
            types=CLAIM_TYPES,
            choices=page_choices(run.claims),
            least=sorted({*CONFIDENCES, query.least}),
        )

    @routes.get("/runs/{run_id}/claims/{claim_id}")
    def claim(request: Request, run_id: RunName, claim_id: ClaimName) -> Response:
        run = runs.get(run_id)
        found = run.claim(claim_id)
        target = claim_target(run, found)
        return pages.show(
            request,
            "claims_one.html",
            run=run,
            tab="claims",
            claim=found,
            details=claim_details(run, found),
            of_page=list_address(run.url("claims"), {"page": found.ref.path}),
            notes_target=target,
            notes=notes_for(run, target),
        )

    return routes
