"""Routes of the atlas, with their models."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from kiwiresearch.atlas import (
    FAMILIES,
    GRAPH,
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
from kiwiresearch.codec import OMIT_DEFAULT, Record, extend
from kiwiresearch.web.context import ServerContext, overview_key
from kiwiresearch.web.guard import FamilyAccess, Privacy, RoleRouter
from kiwiresearch.web.replies import JsonRoute

MAX_ROWS = 200
Book = Annotated[str, Path(max_length=100, description="The `id` of a book.")]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Words = Annotated[str, Query(max_length=200)]
PagePath = Annotated[str, Query(max_length=2_000, description="The path of a page.")]
Year = Annotated[int | None, Query(ge=times.MIN_YEAR, le=times.MAX_YEAR, description="Negative for years BC.")]
Person = Annotated[str, Query(min_length=1, max_length=500, description="The title or path of a person's page.")]


@dataclass(frozen=True, slots=True)
class AtlasBookReply(Record):
    """A book that has an atlas."""

    id: str
    name: str
    title: str
    date: str
    language: str
    tables: dict[str, int]
    """How many rows each table has."""


@dataclass(frozen=True, slots=True)
class AtlasesReply(Record):
    """The books that have an atlas here."""

    books: tuple[AtlasBookReply, ...]


@dataclass(frozen=True, slots=True)
class AtlasRowsReply(Record):
    """Some rows of an answer."""

    total: int
    offset: int
    limit: int
    hidden: int
    """How many of these rows the policy of the server hides."""
    rows: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class AtlasOverviewReply(Record):
    """An overview of a book, without what is not calculated yet or has no table."""

    book: Mapping[str, Any]
    tables: dict[str, int]
    pages: Mapping[str, Any] | None = field(default=None, metadata=OMIT_DEFAULT)
    links: Mapping[str, Any] | None = field(default=None, metadata=OMIT_DEFAULT)
    claims: Mapping[str, Any] | None = field(default=None, metadata=OMIT_DEFAULT)
    contradictions: dict[str, int] | None = field(default=None, metadata=OMIT_DEFAULT)
    people: dict[str, int] | None = field(default=None, metadata=OMIT_DEFAULT)


@dataclass(frozen=True, slots=True)
class RelativesReply(Record):
    """A person of a book, and their relatives."""

    person: Mapping[str, Any]
    relatives: Sequence[Mapping[str, Any]]
    hidden: int
    """How many relatives the policy of the server hides."""


@dataclass(frozen=True, slots=True)
class RelationshipReply(Record):
    """How two people are related."""

    first: Mapping[str, Any]
    second: Mapping[str, Any]
    kinship: str
    way: Sequence[Mapping[str, Any]]


def router(context: ServerContext) -> APIRouter:
    """Read-only routes. Tables of a book are computed once; until then a request gets 503 and must be retried."""
    routes = RoleRouter("reader", prefix="/api/atlas", tags=["atlas"], route_class=JsonRoute)
    atlases = context.atlases
    access = FamilyAccess(context.workspace.settings.serve)

    def privacy_view(request: Request, privacy: Any) -> family_queries.PrivacyView:
        return family_queries.PrivacyView(access.privacy_mode(request, privacy), this_year())

    def open_atlas(book: str, *recipes: Recipe) -> Atlas:
        atlas = atlases.get(book)
        atlases.wait_for(atlas, *recipes)
        return atlas

    def rows_reply(
        atlas: Atlas, question: tuple[Hashable, ...], limit: int, answer: Callable[[], ResultSlice]
    ) -> AtlasRowsReply:
        # The policy comes after the cache, so that a cached result never shows what is hidden now.
        shown = atlases.policy_filter(atlas).filter_page(atlases.cached_result(atlas, question, answer))
        return extend(AtlasRowsReply, shown, limit=limit)

    @routes.get("")
    def list_atlases() -> AtlasesReply:
        """The books that have an atlas here."""
        return AtlasesReply(tuple(_book_reply(atlas) for atlas in atlases.all()[0]))

    @routes.get("/{book}")
    def get_overview(book: Book) -> AtlasOverviewReply:
        """How large a book is, and what it says."""
        atlas = atlases.get(book)
        glance = atlases.cached_result(atlas, overview_key(atlas), lambda: overview(atlas, complete=False))
        return AtlasOverviewReply(**atlases.policy_filter(atlas).overview(glance))

    @routes.get("/{book}/contradictions")
    def contradictions_of_a_book(
        book: Book,
        kind: DisagreementKind | None = None,
        what: against.ValueKind | None = None,
        words: Words = "",
        page: PagePath = "",
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> AtlasRowsReply:
        """Numbers and dates about the same subject that disagree, with both quotes, by kind."""
        atlas = open_atlas(book, against.CONTRADICTIONS)
        wanted, window = against.ContradictionFilter(kind or "", what or "", words, page), ResultWindow(limit, offset)
        return rows_reply(
            atlas, ("against", wanted, window), limit, lambda: against.contradictions(atlas, wanted, window)
        )

    @routes.get("/{book}/ranks")
    def pages_by_rank(
        book: Book, by: RankOrder = "authority", words: Words = "", limit: Limit = 50, offset: Offset = 0
    ) -> AtlasRowsReply:
        """The most authoritative pages (PageRank), the most linked, or the best referenced."""
        atlas = open_atlas(book, GRAPH)
        window = ResultWindow(limit, offset)
        return rows_reply(atlas, ("ranks", by, words, window), limit, lambda: ranked_pages(atlas, by, words, window))

    @routes.get("/{book}/regions")
    def edges_of_a_book(book: Book, of: EdgeKind = "orphans", limit: Limit = 50, offset: Offset = 0) -> AtlasRowsReply:
        """Orphans, islands, groups of stubs, and missing pages."""
        atlas = open_atlas(book, GRAPH)
        window = ResultWindow(limit, offset)
        return rows_reply(atlas, ("regions", of, window), limit, lambda: edge_pages(atlas, of, window))

    @routes.get("/{book}/timeline")
    def get_timeline(
        book: Book,
        first: Annotated[Year, Query(alias="from")] = None,
        last: Annotated[Year, Query(alias="to")] = None,
        subject: Words = "",
        words: Words = "",
        page: PagePath = "",
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> AtlasRowsReply:
        """Everything with a date in a book, in chronological order, by the year it starts."""
        atlas = atlases.get(book)
        wanted, window = times.TimelineFilter(first, last, subject, words, page), ResultWindow(limit, offset)
        return rows_reply(atlas, ("timeline", wanted, window), limit, lambda: times.timeline(atlas, wanted, window))

    @routes.get("/{book}/families")
    def families_of_a_book(
        request: Request, book: Book, privacy: Privacy = None, limit: Limit = 20, offset: Offset = 0
    ) -> AtlasRowsReply:
        """The largest families; people who may be living are named only to the owner."""
        atlas = open_atlas(book, FAMILIES)
        view, window = privacy_view(request, privacy), ResultWindow(limit, offset)
        return rows_reply(
            atlas, ("families", view, window), limit, lambda: family_queries.families(atlas, view, window)
        )

    @routes.get("/{book}/people")
    def people_of_a_book(
        request: Request, book: Book, words: Words = "", privacy: Privacy = None, limit: Limit = 20, offset: Offset = 0
    ) -> AtlasRowsReply:
        """People with pages, by name; those who may be living are shown only to the owner."""
        atlas = open_atlas(book, FAMILIES)
        view, window = privacy_view(request, privacy), ResultWindow(limit, offset)
        return rows_reply(
            atlas, ("people", words, view, window), limit, lambda: family_queries.people(atlas, words, view, window)
        )

    @routes.get("/{book}/relatives")
    def relatives_of_a_person(
        request: Request,
        book: Book,
        person: Person,
        ties: Annotated[int, Query(ge=1, le=family_queries.MAX_TIES)] = 3,
        privacy: Privacy = None,
    ) -> RelativesReply:
        """The relatives of a person, and how they are related."""
        atlas, view = atlases.get(book), privacy_view(request, privacy)
        atlases.wait_for(atlas, FAMILIES)
        found = atlases.run_limited(lambda: family_queries.relatives(atlas, person, view, steps=ties))
        return RelativesReply(**atlases.policy_filter(atlas).relatives(found))

    @routes.get("/{book}/relation")
    def get_relationship(
        request: Request, book: Book, first: Person, second: Person, privacy: Privacy = None
    ) -> RelationshipReply:
        """How the second person is related to the first, step by step."""
        atlas, view = atlases.get(book), privacy_view(request, privacy)
        atlases.wait_for(atlas, FAMILIES)
        found = atlases.run_limited(lambda: family_queries.relation(atlas, first, second, view))
        return RelationshipReply(**atlases.policy_filter(atlas).relation(found))

    return routes


def _book_reply(atlas: Atlas) -> AtlasBookReply:
    tables = {name: table.rows for name, table in atlas.bulk.manifest.tables.items()}
    return extend(AtlasBookReply, atlas.book, tables=tables)
