"""Pages of the desk: how the pages of a run are linked, drawn and listed, and one of them with its links."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse, Response

from kiwiresearch.brief.graph_picture import graph_picture
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk.link_graph import LinkGraph, best_claims, graph_of
from kiwiresearch.web.desk.list_part import address, part_of
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.retold import relabelled, retold
from kiwiresearch.web.desk.run_frame import RunFrame, RunFrames, RunName, frames_of
from kiwiresearch.web.desk.words import Words, words_for
from kiwiresearch.web.room import Room

ANCHOR = re.compile(r'<a href="#page-(\d+)">')
"""A link of the picture, which escapes all words: none of them can look like one."""

MOST_CLAIMS = 8
MOST_NEIGHBOURS = 60


class GraphQuery(BaseModel):
    """What an address of the graph asks for."""

    model_config = ConfigDict(frozen=True)

    page: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """The number of the page that is shown with its links; 0 shows none."""
    which: Literal["read", "left"] = "read"
    n: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    part: Literal["", "panel"] = ""
    """A script asks for the panel alone."""


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    _add_graph(routes, frames_of(room, jobs), pages)
    return routes


def _add_graph(routes: APIRouter, runs: RunFrames, pages: Pages) -> None:
    @routes.get("/runs/{run_id}/graph")
    def graph(request: Request, run_id: RunName, query: Annotated[GraphQuery, Query()]) -> Response:
        run = runs.get(run_id)
        found = graph_of(run)
        panel = _panel(run, found, query)
        if query.part:
            return pages.show(request, "graph_panel.html", run=run, **panel)
        return pages.show(
            request, "graph.html", run=run, tab="graph", **panel, **_listed(run, found, query, words_for(request))
        )

    @routes.get("/runs/{run_id}/graph/links")
    def links(run_id: RunName) -> Response:
        return JSONResponse(graph_of(runs.get(run_id)).record(), headers={"Cache-Control": "no-store"})


def _listed(run: RunFrame, graph: LinkGraph, query: GraphQuery, words: Words) -> dict[str, Any]:
    place = run.url("graph")
    wish = {"which": "left" if query.which == "left" else ""}
    rows = [page for page in graph.pages if page.was_read == (query.which == "read")]
    return {
        "picture": _picture(run, graph, words),
        "shown": part_of(rows, query.n, place, wish),
        "which": query.which,
        "read": sum(page.was_read for page in graph.pages),
        "left": sum(not page.was_read for page in graph.pages),
        "choices": [("read", place), ("left", address(place, {"which": "left"}))],
    }


def _panel(run: RunFrame, graph: LinkGraph, query: GraphQuery) -> dict[str, Any]:
    if not query.page:
        return {"page": None}
    page = graph.page(query.page)
    return {
        "page": page,
        "claims": best_claims(run, page, MOST_CLAIMS),
        "all_claims": address(run.url("claims"), {"page": page.ref.path}),
        "out_of": graph.out_of(page),
        "into": graph.into(page),
        "most": MOST_NEIGHBOURS,
    }


def _picture(run: RunFrame, graph: LinkGraph, words: Words) -> Markup:
    """The picture of the brief, in which each page leads to its panel."""
    numbers = {page.ref: page.number for page in graph.pages}
    sources = run.brief.sources
    linked = tuple(
        replace(page, url=f"#page-{numbers.get(page.ref, 0)}", why=retold(page.why, words).striptags())
        for page in sources.pages
    )
    drawn = relabelled(graph_picture(replace(sources, pages=linked)), words)
    place = run.url("graph")
    return Markup(ANCHOR.sub(lambda found: f'<a href="{place}?page={found[1]}#panel">', drawn))  # noqa: S704
