"""The link graph of a run, drawn and listed, and the panel of one page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from kiwiresearch.brief.graph_picture import graph_picture
from kiwiresearch.claims import Claim
from kiwiresearch.codec import JsonDict
from kiwiresearch.ids import BookId
from kiwiresearch.jobs import JobQueue
from kiwiresearch.messages import Catalogue, Message
from kiwiresearch.runs import RunGraph, RunGraphLink
from kiwiresearch.search import ScoreTerm
from kiwiresearch.web.addresses import list_address
from kiwiresearch.web.context import ServerContext, catalogue_for
from kiwiresearch.web.desk.pages import ListPlace, PageRenderer, list_page
from kiwiresearch.web.desk.translations import translated
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.web.problems import NotInRun
from kiwiresearch.web.run_view import RunName, RunView, run_views
from kiwiresearch.zim import EntryRef

MAX_LINKS = 4_000
"""Links that are drawn: first those that led to pages, then the heaviest."""


@dataclass(frozen=True, slots=True)
class GraphPage:
    """A page of the graph, numbered from 1: first those that were read, in reading order."""

    number: int
    ref: EntryRef
    title: str
    language: str
    was_read: bool
    depth: int
    points: float
    terms: tuple[ScoreTerm, ...]
    """The terms of its points."""
    reason: str
    """Why it was chosen, in English."""
    claims: int


@dataclass(frozen=True, slots=True)
class LinkedPage:
    """A page at the other end of a link, and the words that link to it."""

    page: GraphPage
    anchor_text: str
    section: str


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """All pages of a run's graph, and the links among them by their numbers."""

    pages: tuple[GraphPage, ...]
    links: tuple[tuple[int, int, RunGraphLink], ...]

    def page(self, number: int) -> GraphPage:
        if not 1 <= number <= len(self.pages):
            raise NotInRun(
                f"The graph of this research has no page {number}.", remedy="Choose one from the list of pages."
            )
        return self.pages[number - 1]

    def out_of(self, page: GraphPage) -> list[LinkedPage]:
        """The pages that this page links to."""
        return [
            LinkedPage(self.page(to), link.anchor_text, link.section)
            for item, to, link in self.links
            if item == page.number
        ]

    def into(self, page: GraphPage) -> list[LinkedPage]:
        """The pages that link to this page."""
        return [
            LinkedPage(self.page(item), link.anchor_text, link.section)
            for item, to, link in self.links
            if to == page.number
        ]

    def record(self) -> JsonDict:
        """The data that the script draws: pages, and links, each with whether it was the first to lead to its page."""
        led = self._first_links()
        ranked = sorted(self.links, key=lambda link: ((link[0], link[1]) not in led, -link[2].weight, link[0], link[1]))
        return {
            "pages": [
                {
                    "n": page.number,
                    "title": page.title,
                    "depth": page.depth,
                    "read": page.was_read,
                    "claims": page.claims,
                }
                for page in self.pages
            ],
            "links": [[item, to, (item, to) in led] for item, to, _ in ranked[:MAX_LINKS]],
        }

    def _first_links(self) -> frozenset[tuple[int, int]]:
        """For each page, the link that led there first.

        That is a link from a page one step closer to the start, else from the first page that was read. Pages that
        the crawl started with have none.
        """
        first: dict[int, tuple[bool, int]] = {}
        for link, to, _ in self.links:
            source, target = self.pages[link - 1], self.pages[to - 1]
            if link != to and source.depth <= target.depth and target.depth > 0:
                way = (target.depth - source.depth != 1, link)
                first[to] = min(first.get(to, way), way)
        return frozenset((item, to) for to, (_, item) in first.items())


def link_graph_of(run: RunView) -> LinkGraph:
    """The graph of a run with the number of claims of each page."""
    read = run.graph
    numbers = {page.ref: number for number, page in enumerate(read.pages, 1)}
    links = tuple((numbers[link.source], numbers[link.target], link) for link in read.links)
    return LinkGraph(_pages(run, read), links)


def _pages(run: RunView, read: RunGraph) -> tuple[GraphPage, ...]:
    counts = Counter(claim.ref for claim in run.claims)
    pages = []
    for number, page in enumerate(read.pages, 1):
        ref = EntryRef(BookId(page.book.id), page.path)
        pages.append(
            GraphPage(
                number=number,
                ref=ref,
                title=page.label,
                language=page.book.language,
                was_read=page.state == "visited",
                depth=page.depth,
                points=page.priority_score,
                terms=page.terms,
                reason=page.reason,
                claims=counts[ref],
            )
        )
    return tuple(pages)


def best_claims(run: RunView, page: GraphPage, most: int) -> Sequence[Claim]:
    """The claims of a page with the highest confidence."""
    of_page = [claim for claim in run.claims if claim.ref == page.ref]
    return sorted(of_page, key=lambda claim: -claim.confidence)[:most]


ANCHOR = re.compile(r'<a href="#page-(\d+)">')
"""A link of the picture. All text in it is escaped, so that no text can look like one."""

MAX_CLAIMS = 8
MAX_NEIGHBOURS = 60


class GraphQuery(BaseModel):
    """The query of the graph's address."""

    model_config = ConfigDict(frozen=True)

    page: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """The number of the page that is shown with its links; 0 shows none."""
    which: Literal["read", "left"] = "read"
    n: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    part: Literal["", "panel"] = ""
    """`panel` asks for the panel alone, which a script puts into the page."""


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The graph with its panel, and the links as data for the script."""
    routes = RoleRouter("reader", include_in_schema=False)
    runs = run_views(context, jobs)

    @routes.get("/runs/{run_id}/graph")
    def graph(request: Request, run_id: RunName, query: Annotated[GraphQuery, Query()]) -> Response:
        run = runs.get(run_id)
        found = link_graph_of(run)
        panel = _panel(run, found, query)
        if query.part:
            return pages.show(request, "graph_panel.html", panel, run=run)
        values = panel | _list_values(run, found, query, catalogue_for(request))
        return pages.show(request, "graph.html", values, run=run, tab="graph")

    @routes.get("/runs/{run_id}/graph/links")
    def links(run_id: RunName) -> Response:
        return JSONResponse(link_graph_of(runs.get(run_id)).record(), headers={"Cache-Control": "no-store"})

    return routes


def _list_values(run: RunView, graph: LinkGraph, query: GraphQuery, catalogue: Catalogue) -> JsonDict:
    place = run.url("graph")
    filters = {"which": "left" if query.which == "left" else ""}
    rows = [page for page in graph.pages if page.was_read == (query.which == "read")]
    return {
        "picture": _picture(run, graph, catalogue),
        "shown": list_page(rows, query.n, ListPlace(place, filters)),
        "which": query.which,
        "read": sum(page.was_read for page in graph.pages),
        "left": sum(not page.was_read for page in graph.pages),
        "choices": [("read", place), ("left", list_address(place, {"which": "left"}))],
    }


def _panel(run: RunView, graph: LinkGraph, query: GraphQuery) -> JsonDict:
    if not query.page:
        return {"page": None}
    page = graph.page(query.page)
    return {
        "page": page,
        "claims": best_claims(run, page, MAX_CLAIMS),
        "all_claims": list_address(run.url("claims"), {"page": page.ref.path}),
        "out_of": graph.out_of(page),
        "into": graph.into(page),
        "most": MAX_NEIGHBOURS,
    }


def _picture(run: RunView, graph: LinkGraph, catalogue: Catalogue) -> Markup:
    """The picture of the brief, in which each page links to its panel."""
    numbers = {page.ref: page.number for page in graph.pages}
    sources = run.brief.sources
    linked = tuple(
        # As plain text, since the picture escapes it again.
        replace(page, url=f"#page-{numbers.get(page.ref, 0)}", why=Message(translated(page.why, catalogue).striptags()))
        for page in sources.pages
    )
    drawn = graph_picture(replace(sources, pages=linked), catalogue)
    place = run.url("graph")
    return Markup(ANCHOR.sub(lambda found: f'<a href="{place}?page={found[1]}#panel">', drawn))  # noqa: S704
