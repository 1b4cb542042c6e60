"""The pages of a book's atlas, and the queries of their addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import Response

from kiwiresearch.atlas import (
    EDGE_KINDS,
    FAMILIES,
    GRAPH,
    RANK_ORDERS,
    Atlas,
    EdgeKind,
    RankOrder,
    Recipe,
    ResultSlice,
    ResultWindow,
    edge_pages,
    family_queries,
    overview,
    ranked_pages,
)
from kiwiresearch.atlas import contradictions as against
from kiwiresearch.atlas import queries as times
from kiwiresearch.cases import this_year
from kiwiresearch.claims.conflicts import DisagreementKind
from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import BadUsage, NothingFound, PageHidden
from kiwiresearch.jobs import JobQueue
from kiwiresearch.web.addresses import page_address
from kiwiresearch.web.context import AtlasNotReady, ServerContext, overview_key
from kiwiresearch.web.desk.pages import ListPlace, PageRenderer, last_number, none_if_empty, numbered_page
from kiwiresearch.web.guard import FamilyAccess, RoleRouter
from kiwiresearch.zim import EntryRef

# Rows per page.
ROWS_PER_PAGE = 25
SearchWords = Annotated[str, Field(max_length=200)]
Number = Annotated[int, Field(ge=1, le=10_000_000)]


Year = Annotated[Annotated[int, Field(ge=times.MIN_YEAR, le=times.MAX_YEAR)] | None, BeforeValidator(none_if_empty)]


class _ListQuery(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)

    n: Number = 1

    def filters(self) -> JsonDict:
        """The parameters of its address, without the number of the page."""
        return self.model_dump(by_alias=True, exclude={"n"}, exclude_defaults=True)


class ContradictionQuery(_ListQuery):
    """The filter for contradictions."""

    kind: DisagreementKind | Literal[""] = ""
    of: against.ValueKind | Literal[""] = ""
    words: SearchWords = ""

    def options(self) -> against.ContradictionFilter:
        return against.ContradictionFilter(self.kind, self.of, self.words)


class TimeQuery(_ListQuery):
    """The filter for moments."""

    first: Annotated[Year, Field(alias="from")] = None
    last: Annotated[Year, Field(alias="to")] = None
    subject: SearchWords = ""
    words: SearchWords = ""

    def options(self) -> times.TimelineFilter:
        return times.TimelineFilter(self.first, self.last, self.subject, self.words)


class RankQuery(_ListQuery):
    """The filter and order of pages."""

    by: RankOrder = "authority"
    words: SearchWords = ""


class EdgeQuery(_ListQuery):
    """The filter for edges."""

    of: EdgeKind = "orphans"


class KinQuery(_ListQuery):
    """Whose relatives, or how two people are related; without a person, the list of families."""

    person: Annotated[str, Field(max_length=500)] = ""
    other: Annotated[str, Field(max_length=500)] = ""


BookName = Annotated[str, Path(max_length=100)]
Found = Callable[[Atlas, ResultWindow], ResultSlice]
TABS = ("overview", "contradictions", "timeline", "ranks", "regions", "kin")


def router(context: ServerContext, _: JobQueue, pages: PageRenderer) -> APIRouter:
    """The routes of the atlas pages."""
    routes = RoleRouter("reader", include_in_schema=False)
    shown = _AtlasPages(context, pages)

    @routes.get("/atlas")
    def all_atlases(request: Request) -> Response:
        found, unusable = shown.atlases.all()
        return pages.show(request, "atlas.html", atlases=found, unusable=unusable, tab="")

    @routes.get("/atlas/{book}")
    def at_a_glance(request: Request, book: BookName) -> Response:
        atlas = shown.atlases.get(book)
        found = shown.atlases.cached_result(atlas, overview_key(atlas), lambda: overview(atlas, complete=False))
        return shown.page(request, atlas, "overview", overview=shown.atlases.policy_filter(atlas).overview(found))

    @routes.get("/atlas/{book}/contradictions")
    def contradictions(request: Request, book: BookName, query: Annotated[ContradictionQuery, Query()]) -> Response:
        def found(atlas: Atlas, window: ResultWindow) -> ResultSlice:
            return against.contradictions(atlas, query.options(), window)

        return shown.listing(request, book, "contradictions", query, found, against.CONTRADICTIONS, kinds=against.KINDS)

    @routes.get("/atlas/{book}/timeline")
    def timeline(request: Request, book: BookName, query: Annotated[TimeQuery, Query()]) -> Response:
        def found(atlas: Atlas, window: ResultWindow) -> ResultSlice:
            return times.timeline(atlas, query.options(), window)

        return shown.listing(request, book, "timeline", query, found, years=(times.MIN_YEAR, times.MAX_YEAR))

    @routes.get("/atlas/{book}/ranks")
    def best(request: Request, book: BookName, query: Annotated[RankQuery, Query()]) -> Response:
        def found(atlas: Atlas, window: ResultWindow) -> ResultSlice:
            return ranked_pages(atlas, query.by, query.words, window)

        return shown.listing(request, book, "ranks", query, found, GRAPH, bys=RANK_ORDERS)

    @routes.get("/atlas/{book}/regions")
    def edges(request: Request, book: BookName, query: Annotated[EdgeQuery, Query()]) -> Response:
        def found(atlas: Atlas, window: ResultWindow) -> ResultSlice:
            return edge_pages(atlas, query.of, window)

        return shown.listing(request, book, "regions", query, found, GRAPH, ofs=EDGE_KINDS)

    @routes.get("/atlas/{book}/kin")
    def kin(request: Request, book: BookName, query: Annotated[KinQuery, Query()]) -> Response:
        view = family_queries.PrivacyView(shown.access.privacy_mode(request), this_year())

        def found(atlas: Atlas, window: ResultWindow) -> ResultSlice:
            return family_queries.families(atlas, view, window)

        if not query.person.strip():
            return shown.listing(
                request, book, "kin", query, found, FAMILIES, relatives=None, relation=None, problem=""
            )
        return shown.kin(request, book, query, view)

    return routes


class _AtlasPages:
    """The pages of an atlas; while a table is still being made, a page says so."""

    def __init__(self, context: ServerContext, pages: PageRenderer) -> None:
        self.atlases = context.atlases
        self.access = FamilyAccess(context.workspace.settings.serve)
        self._pages = pages

    def page(self, request: Request, atlas: Atlas, tab: str, **values: Any) -> Response:
        def address(path: str, start: int = -1, end: int = -1) -> str:
            mark = f"{start}-{end}" if end > start >= 0 else ""
            return page_address(EntryRef(atlas.book.id, path), mark=mark)

        values |= {"atlas": atlas, "tab": tab, "tabs": TABS, "address": address, "base": f"/atlas/{atlas.book.id}"}
        return self._pages.show(request, f"atlas_{tab}.html", **values)

    def listing(
        self, request: Request, book: str, tab: str, query: Any, found: Found, *recipes: Recipe, **values: Any
    ) -> Response:
        atlas = self.atlases.get(book)
        mode = self.access.privacy_mode(request)

        def rows_of(query: Any) -> ResultSlice:
            window = ResultWindow(ROWS_PER_PAGE, (query.n - 1) * ROWS_PER_PAGE)
            # With the privacy mode, so that nobody gets the rows that were made for an owner.
            return self.atlases.cached_result(atlas, (tab, query, mode), lambda: found(atlas, window))

        try:
            self.atlases.wait_for(atlas, *recipes)
            found_page = rows_of(query)
            if query.n > last_number(found_page.total, ROWS_PER_PAGE):
                query = query.model_copy(update={"n": last_number(found_page.total, ROWS_PER_PAGE)})
                found_page = rows_of(query)
        except AtlasNotReady:
            return self._working(request, atlas, tab)
        part = self.atlases.policy_filter(atlas).filter_page(found_page)
        rows = numbered_page(
            part.rows, part.total, query.n, ListPlace(f"/atlas/{book}/{tab}", query.filters()), ROWS_PER_PAGE
        )
        return self.page(request, atlas, tab, shown=rows, query=query, hidden=part.hidden, **values)

    def kin(self, request: Request, book: str, query: KinQuery, view: family_queries.PrivacyView) -> Response:
        """A person with their relatives, or how two people are related; the page says if one is unknown or withheld."""
        atlas = self.atlases.get(book)
        screen, answered = self.atlases.policy_filter(atlas), self.atlases.run_limited
        relatives = relation = None
        problem = ""
        try:
            self.atlases.wait_for(atlas, FAMILIES)
            if query.other.strip():
                relation = screen.relation(
                    answered(lambda: family_queries.relation(atlas, query.person, query.other, view))
                )
            else:
                relatives = screen.relatives(answered(lambda: family_queries.relatives(atlas, query.person, view)))
        except AtlasNotReady:
            return self._working(request, atlas, "kin")
        except PageHidden:
            problem = "hidden"
        except NothingFound:
            problem = "nobody"
        except BadUsage:
            problem = "kept"
        hidden = relatives["hidden"] if relatives else 0
        return self.page(
            request,
            atlas,
            "kin",
            query=query,
            relatives=relatives,
            relation=relation,
            problem=problem,
            shown=None,
            hidden=hidden,
        )

    def _working(self, request: Request, atlas: Atlas, tab: str) -> Response:
        values: dict[str, Any] = {"atlas": atlas, "tab": tab, "tabs": TABS, "base": f"/atlas/{atlas.book.id}"}
        return self._pages.show(request, "atlas_working.html", status=202, **values)
