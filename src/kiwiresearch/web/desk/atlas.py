"""Pages of the desk: the atlas of a book, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import Response

from kiwiresearch.atlas import contradictions as against
from kiwiresearch.atlas import kin as people
from kiwiresearch.atlas import timeline as times
from kiwiresearch.atlas.atlas import Atlas, Recipe
from kiwiresearch.atlas.families import FAMILIES
from kiwiresearch.atlas.graph import GRAPH
from kiwiresearch.atlas.overview import overview
from kiwiresearch.atlas.part import Part, Window
from kiwiresearch.atlas.ranks import BYS, ranks
from kiwiresearch.atlas.regions import OFS, regions
from kiwiresearch.errors import BadUsage, NothingFound, PageHidden
from kiwiresearch.research.family import this_year
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.atlases import StillWorking, glance
from kiwiresearch.web.desk.atlas_queries import (
    SIZE,
    ContradictionQuery,
    EdgeQuery,
    KinQuery,
    RankQuery,
    TimeQuery,
    last_of,
    listed,
)
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.telling import page_address
from kiwiresearch.web.family_access import Access
from kiwiresearch.web.room import Room
from kiwiresearch.zim.entry import EntryRef

BookName = Annotated[str, Path(max_length=100)]
Found = Callable[[Atlas, Window], Part]
TABS = ("overview", "contradictions", "timeline", "ranks", "regions", "kin")


def router(room: Room, _: Jobs, pages: Pages) -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    shown = _Shown(room, pages)

    @routes.get("/atlas")
    def all_atlases(request: Request) -> Response:
        found, unusable = shown.atlases.all()
        return pages.show(request, "atlas.html", atlases=found, unusable=unusable)

    @routes.get("/atlas/{book}")
    def at_a_glance(request: Request, book: BookName) -> Response:
        atlas = shown.atlases.get(book)
        told = shown.atlases.kept(atlas, glance(atlas), lambda: overview(atlas, whole=False))
        return shown.page(request, atlas, "overview", told=shown.atlases.screen(atlas).overview(told))

    @routes.get("/atlas/{book}/contradictions")
    def contradictions(request: Request, book: BookName, query: Annotated[ContradictionQuery, Query()]) -> Response:
        def found(atlas: Atlas, window: Window) -> Part:
            return against.contradictions(atlas, query.asked(), window)

        return shown.listing(request, book, "contradictions", query, found, against.CONTRADICTIONS, kinds=against.KINDS)

    @routes.get("/atlas/{book}/timeline")
    def timeline(request: Request, book: BookName, query: Annotated[TimeQuery, Query()]) -> Response:
        def found(atlas: Atlas, window: Window) -> Part:
            return times.timeline(atlas, query.asked(), window)

        return shown.listing(request, book, "timeline", query, found, years=(times.FURTHEST_BACK, times.LATEST))

    @routes.get("/atlas/{book}/ranks")
    def best(request: Request, book: BookName, query: Annotated[RankQuery, Query()]) -> Response:
        def found(atlas: Atlas, window: Window) -> Part:
            return ranks(atlas, query.by, query.words, window)

        return shown.listing(request, book, "ranks", query, found, GRAPH, bys=BYS)

    @routes.get("/atlas/{book}/regions")
    def edges(request: Request, book: BookName, query: Annotated[EdgeQuery, Query()]) -> Response:
        def found(atlas: Atlas, window: Window) -> Part:
            return regions(atlas, query.of, window)

        return shown.listing(request, book, "regions", query, found, GRAPH, ofs=OFS)

    @routes.get("/atlas/{book}/kin")
    def kin(request: Request, book: BookName, query: Annotated[KinQuery, Query()]) -> Response:
        sight = people.Sight(shown.access.mode(request), this_year())

        def found(atlas: Atlas, window: Window) -> Part:
            return people.families(atlas, sight, window)

        if not query.person.strip():
            return shown.listing(request, book, "kin", query, found, FAMILIES, told=None, tied=None, problem="")
        return shown.kin(request, book, query, sight)

    return routes


class _Shown:
    """Draws the parts of an atlas, or a page that says that it is being worked out."""

    def __init__(self, room: Room, pages: Pages) -> None:
        self.atlases = room.atlases
        self.access = Access(room.desk.settings.serve)
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
        mode = self.access.mode(request)

        def rows_of(query: Any) -> Part:
            window = Window(SIZE, (query.n - 1) * SIZE)
            return self.atlases.kept(atlas, (tab, query, mode), lambda: found(atlas, window))

        try:
            self.atlases.wait_for(atlas, *recipes)
            whole = rows_of(query)
            if query.n > last_of(whole):
                query = query.model_copy(update={"n": last_of(whole)})
                whole = rows_of(query)
        except StillWorking:
            return self._working(request, atlas, tab)
        part = self.atlases.screen(atlas).part(whole)
        rows = listed(part, query.n, f"/atlas/{book}/{tab}", query.wish())
        return self.page(request, atlas, tab, shown=rows, query=query, hidden=part.hidden, **values)

    def kin(self, request: Request, book: str, query: KinQuery, sight: people.Sight) -> Response:
        """A person with their relatives, or how two are tied; who is not found or kept back is told kindly."""
        atlas = self.atlases.get(book)
        screen, answered = self.atlases.screen(atlas), self.atlases.answered
        told = tied = None
        problem = ""
        try:
            self.atlases.wait_for(atlas, FAMILIES)
            if query.other.strip():
                tied = screen.relation(answered(lambda: people.relation(atlas, query.person, query.other, sight)))
            else:
                told = screen.relatives(answered(lambda: people.relatives(atlas, query.person, sight)))
        except StillWorking:
            return self._working(request, atlas, "kin")
        except PageHidden:
            problem = "hidden"
        except NothingFound:
            problem = "nobody"
        except BadUsage:
            problem = "kept"
        hidden = told["hidden"] if told else 0
        return self.page(
            request, atlas, "kin", query=query, told=told, tied=tied, problem=problem, shown=None, hidden=hidden
        )

    def _working(self, request: Request, atlas: Atlas, tab: str) -> Response:
        values: dict[str, Any] = {"atlas": atlas, "tab": tab, "tabs": TABS, "base": f"/atlas/{atlas.book.id}"}
        return self._pages.show(request, "atlas_working.html", status=202, **values)
