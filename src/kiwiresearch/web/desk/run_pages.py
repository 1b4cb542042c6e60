"""The pages of a finished run: its brief with evidence, its pictures, its source pages, and its exports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated
from urllib.parse import quote as percent
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from kiwiresearch.brief import (
    GAP_HEADINGS,
    Brief,
    BriefPicture,
    BriefSource,
    CitedGroup,
    Figure,
    Gap,
    QuoteInContext,
    SourceBook,
    Statement,
    TimelineMoment,
    media_type_of,
    paragraphs,
    quote_in_context,
    without_overlaps,
)
from kiwiresearch.claims import Claim, ClaimId
from kiwiresearch.errors import NothingFound
from kiwiresearch.export import (
    EXERCISE_KINDS,
    FORMATS,
    MAX_WANTED,
    MIN_WANTED,
    choice_of,
    grouped_formats,
    has_browser,
    make_run_worksheet,
    read_findings,
)
from kiwiresearch.jobs import JobQueue
from kiwiresearch.messages import Catalogue
from kiwiresearch.text.dates import DateRange
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.numbers import date_of_figure
from kiwiresearch.web.desk.page_view import PageQuery, claim_span, frame_address
from kiwiresearch.web.desk.pages import ListPlace, PageRenderer, list_page
from kiwiresearch.web.desk.research_form import NUMBERS, form_address
from kiwiresearch.web.desk.timeline import date_of_moment
from kiwiresearch.web.exports import Kinds, Questions, download_response
from kiwiresearch.web.guard import RoleRouter, current_visitor, requires_role
from kiwiresearch.web.run_view import RunName, RunView, run_views
from kiwiresearch.zim import EntryRef

PARTS = (
    "summary", "body", "definitions", "timeline", "mechanisms", "actors", "disputes", "numbers", "gaps", "bibliography",
)  # fmt: skip
"""The parts in reading order, as keys of the catalogue."""

REQUIRED_PARTS = frozenset({"summary", "bibliography"})
"""Parts that say that nothing was found if they are empty; the others are left out."""

GAP_ORDER = tuple(GAP_HEADINGS)


@dataclass(frozen=True, slots=True)
class CitedQuoteView:
    """A quote that proves a claim, and its address; empty if the book is not here."""

    text: str
    url: str
    frame: str = ""
    """Where it is read in a frame beside the brief."""
    before: str = ""
    after: str = ""
    """The text around it on the page, if that is shown."""


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """A claim that a statement rests on."""

    claim: Claim
    url: str
    language: str
    quotes: tuple[CitedQuoteView, ...]

    @property
    def hedges(self) -> tuple[str, ...]:
        """The words that hedge it, without repetitions."""
        return tuple(dict.fromkeys(hedge.cue for hedge in self.claim.hedges))


@dataclass(frozen=True, slots=True)
class PictureView:
    """A picture of a page: its address, and that of the page; empty if the book is not here."""

    picture: BriefPicture
    address: str
    title: str
    url: str
    language: str


class BriefView:
    """A brief with what its template looks up."""

    def __init__(self, frame: RunView, context: ServerContext) -> None:
        self._frame = frame
        self._context = context
        self.brief: Brief = frame.brief
        used = {claim.ref for claim in self.brief.claims.values()}
        self.cited = tuple(page for page in self.brief.sources.pages if page.ref in used)
        self.not_cited = tuple(page for page in self.brief.sources.pages if page.ref not in used)
        self._numbers = {page.ref: number for number, page in enumerate(self.cited, 1)}

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(name for name in PARTS if name in REQUIRED_PARTS or getattr(self.brief, name))

    @property
    def empty_parts(self) -> tuple[str, ...]:
        """The parts for which nothing was found."""
        return tuple(name for name in PARTS if name not in self.parts)

    @property
    def main_language(self) -> str:
        """The language of the books of the run; empty if they have several."""
        languages = {book.language for book in self._frame.books}
        return languages.pop() if len(languages) == 1 else ""

    @property
    def again(self) -> str:
        """The address of the form, filled in as for this run."""
        manifest = self._frame.manifest
        numbers = {name: manifest.settings.get(key) for name, key in NUMBERS.items()}
        said = {"topic": manifest.topic, "aspect": manifest.aspect, "focus": manifest.focus}
        return form_address(said | numbers | {"strategy": manifest.settings.get("strategy")})

    @staticmethod
    def research(topic: str) -> str:
        """The address of the form for another topic."""
        return form_address({"topic": topic})

    def settings(self, catalogue: Catalogue) -> Iterator[tuple[str, str]]:
        """The names and values of the settings of the run; the brief lists the books in the order of the run."""
        books = iter(self.brief.sources.books)
        for name, value in self.brief.sources.settings:
            book = next(books, None) if name == "book" else None
            if book is not None:
                yield name, _book_text(book, catalogue)
            else:
                yield name, catalogue.named("brief.set_to", value) if name in ("crawl strategy", "vectors") else value

    def paragraphs(self, statements: Iterable[Statement]) -> list[list[CitedGroup]]:
        """Running text: a paragraph for each page that its sentences are from, cited where the source changes."""
        return paragraphs(statements, self.brief.claims)

    def evidence(self, claims: Iterable[ClaimId]) -> tuple[ClaimEvidence, ...]:
        """The evidence of a statement or a gap, claim by claim."""
        known = [self.brief.claims[claim_id] for claim_id in claims if claim_id in self.brief.claims]
        return tuple(
            map(self._evidence, known, without_overlaps(quote_in_context(claim, self.brief.context) for claim in known))
        )

    def language(self, statement: Statement) -> str:
        """The language of a statement: that of the book its first claim comes from."""
        return self._frame.language_of(self.brief.claims[statement.claims[0]].ref.book)

    def when(self, moment: TimelineMoment, catalogue: Catalogue) -> DateRange | str:
        """The date of a moment for `date_text`."""
        return date_of_moment(moment, [self.brief.claims[claim] for claim in moment.statement.claims], catalogue)

    def date_of(self, figure: Figure) -> DateRange | str:
        """The date of a number for `date_text`."""
        return date_of_figure(figure, [self.brief.claims[claim] for claim in figure.statement.claims])

    def numbers(self, cited: Statement | CitedGroup | Gap) -> tuple[int, ...]:
        """The numbers in the bibliography of the pages that support a statement, several, or a gap."""
        known = (self.brief.claims[claim_id] for claim_id in cited.claims if claim_id in self.brief.claims)
        found = {self._numbers.get(claim.ref, 0) for claim in known}
        return tuple(sorted(found - {0}))

    def hedges(self, statement: Statement) -> tuple[str, ...]:
        """The words of the pages that hedge a statement, without repetitions."""
        return tuple(
            dict.fromkeys(hedge.cue for claim in statement.claims for hedge in self.brief.claims[claim].hedges)
        )

    def dispute_of(self, statement: Statement) -> str:
        """The id of the dispute that a statement is part of, or of the section of disputes; empty if there is none."""
        cited = set(statement.claims)
        for number, dispute in enumerate(self.brief.disputes, 1):
            if any(cited & set(view.statement.claims) for view in dispute.views):
                return f"dispute-{number}"
        return "disputes" if self.brief.disputes else ""

    def gaps(self) -> list[tuple[str, list[Gap]]]:
        """The open questions, grouped by kind."""
        ordered = sorted(self.brief.gaps, key=lambda gap: GAP_ORDER.index(gap.kind))
        return [(kind, list(gaps)) for kind, gaps in groupby(ordered, key=lambda gap: gap.kind)]

    def pictures(self, part: int | None) -> tuple[PictureView, ...]:
        """The pictures of the summary, or of a part of the body by its number."""
        return tuple(self._picture(picture) for picture in self.brief.pictures if picture.part == part)

    def _picture(self, brief_picture: BriefPicture) -> PictureView:
        title = next(
            (page.title for page in self.brief.sources.pages if page.ref == brief_picture.ref), brief_picture.ref.path
        )
        address = f"{self._frame.url('pictures')}/{percent(brief_picture.sha256, safe='')}"
        return PictureView(
            brief_picture, address, title, self._frame.page_url(brief_picture.ref), self.language_of(brief_picture.ref)
        )

    def page_url(self, source: BriefSource) -> str:
        return self._frame.page_url(source.ref)

    def book(self, ref: EntryRef) -> str:
        """The title of a page's book."""
        return next(
            (
                book_edition.title or book_edition.name
                for book_edition in self._frame.books
                if book_edition.id == ref.book
            ),
            "",
        )

    def language_of(self, ref: EntryRef) -> str:
        return self._frame.language_of(ref.book)

    def _evidence(self, claim: Claim, placed: QuoteInContext) -> ClaimEvidence:
        frame = self._frame
        first, *others = (
            CitedQuoteView(quote.text, frame.page_url(quote.ref, quote.start, quote.end)) for quote in claim.quotes
        )
        beside = frame_address(self._context, claim.quotes[0].ref, PageQuery(marks=(claim_span(claim),)))
        return ClaimEvidence(
            claim=claim,
            url=frame.claim_url(claim.id),
            language=frame.language_of(claim.ref.book),
            quotes=(replace(first, frame=beside, before=placed.before, after=placed.after), *others),
        )


PAGES_PER_PAGE = 100

PICTURE_HEADERS = {"Cache-Control": "private, max-age=86400", "X-Content-Type-Options": "nosniff"}
"""The address of a picture contains its hash, so its content never changes."""

PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]


def _book_text(book: SourceBook, catalogue: Catalogue) -> str:
    """A book with its date and the number of its articles, in the reader's language."""
    parts = (
        book.title,
        book.name,
        catalogue.locale.date(book.date),
        book.flavour and catalogue("brief.of_book.flavour", name=book.flavour),
        catalogue("desk.counts.articles", n=book.articles),
    )
    return ", ".join(filter(None, parts))


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The brief at the address of the run, its pictures, the list of its pages, and its exports."""
    routes = RoleRouter("reader", include_in_schema=False)
    frames = run_views(context, jobs)

    @routes.get("/runs/{run_id}")
    def brief(request: Request, run_id: RunName) -> Response:
        run = frames.get(run_id)
        return pages.show(request, "brief.html", run=run, tab="brief", view=BriefView(run, context))

    @routes.get("/runs/{run_id}/pictures/{sha256}")
    def picture(run_id: RunName, sha256: Annotated[str, Path(max_length=64)]) -> Response:
        content = frames.get(run_id).image(sha256)
        kind = media_type_of(content) or "application/octet-stream"
        return Response(content, headers=PICTURE_HEADERS, media_type=kind)

    @routes.get("/runs/{run_id}/pages")
    def visited_pages(request: Request, run_id: RunName, page: PageNumber = 1) -> Response:
        run = frames.get(run_id)
        shown = list_page(run.pages, page, ListPlace(run.url("pages"), parameter="page"), PAGES_PER_PAGE)
        return pages.show(request, "run_pages.html", run=run, tab="pages", shown=shown)

    @routes.get("/runs/{run_id}/export")
    def formats(request: Request, run_id: RunName, questions: Questions = 0, kind: Kinds = []) -> Response:  # noqa: B006
        run, choice = frames.get(run_id), choice_of(questions, kind)
        notes = len(run.notes.notes)
        missing = {} if has_browser(context.workspace.settings.browser) else {"pdf": "exports.needs_browser"}
        groups, may_teach = grouped_formats(), current_visitor().may("researcher")
        if not may_teach:
            groups = {name: group for name, group in groups.items() if name != "teach"}
        try:
            worksheet = make_run_worksheet(read_findings(run), choice) if may_teach else None
        except NothingFound:
            worksheet = None
            missing |= {
                name: "exports.too_short"
                for name, export_format in FORMATS.items()
                if export_format.content == "worksheet"
            }
        return pages.show(
            request,
            "export.html",
            run=run,
            tab="export",
            groups=groups,
            notes=notes,
            missing=missing,
            worksheet=worksheet,
            choice=choice,
            counts=range(MIN_WANTED, MAX_WANTED + 1),
            kinds=EXERCISE_KINDS,
            action=run.url("export"),
            asked=(),
            chosen=urlencode([("questions", questions), *(("kind", one) for one in kind)]) if questions or kind else "",
        )

    # Not a coroutine: making a file takes time, and must not block other requests.
    @routes.get("/runs/{run_id}/export/{format_name}")
    @requires_role("reader", "export")
    def download(
        run_id: RunName,
        format_name: Annotated[str, Path(max_length=40)],
        questions: Questions = 0,
        kind: Kinds = [],  # noqa: B006
    ) -> Response:
        browser, choice = context.workspace.settings.browser, choice_of(questions, kind)
        return download_response(frames.get(run_id), format_name, browser, choice)

    return routes
