"""The search in forms that other programs know: SearXNG's JSON, and Open WebUI's external search."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from kiwiresearch.search.find import Findings, Wish
from kiwiresearch.web.bodies import MOST_WORDS, Words
from kiwiresearch.web.replies import Json
from kiwiresearch.web.room import Room

PAGE = 10
"""How many results SearXNG shows on a page."""
MOST_PAGES = 20
MOST_RESULTS = 100
CATEGORY = "general"

Q = Annotated[Words, Query(max_length=MOST_WORDS, description="What to look for.")]
Form = Annotated[str, Query(alias="format", description="Only `json` is given; SearXNG refuses what is switched off.")]
PageNumber = Annotated[int, Query(ge=1, le=1_000, description=f"Which {PAGE} results to give, from 1 on.")]


class ExternalSearch(BaseModel):
    """What Open WebUI sends to an external search engine."""

    model_config = ConfigDict(extra="ignore")

    query: Annotated[Words, Field(max_length=MOST_WORDS, examples=["Bronze Age collapse"])]
    count: int = Field(PAGE, ge=1, description=f"How many results to give; at most {MOST_RESULTS} are.")


class ExternalResult(BaseModel):
    """What Open WebUI wants of a result."""

    link: str
    title: str
    snippet: str


def router(room: Room) -> APIRouter:
    """Searches for programs that were made for other engines."""
    routes = APIRouter(tags=["outside search"])

    @routes.get("/search", response_class=Json, responses={403: {"description": "Another format than JSON."}})
    def searxng(q: Q = "", form: Form = "html", pageno: PageNumber = 1) -> Json:
        """Search as SearXNG does; further parameters of SearXNG are accepted and have no effect."""
        if form != "json":
            raise HTTPException(403, "Only format=json is given here.")
        return Json(_searxng(room, q, pageno))

    @routes.post("/owui/search", response_class=Json, responses={200: {"model": list[ExternalResult]}})
    def external(body: ExternalSearch) -> Json:
        """Search as Open WebUI asks an external engine."""
        with room.reading() as finder:
            hits = finder.find(body.query, Wish(limit=min(body.count, MOST_RESULTS))).hits
        return Json([{"link": room.page_url(hit.ref), "title": hit.title, "snippet": hit.snippet} for hit in hits])

    return routes


def _searxng(room: Room, query: str, number: int) -> dict[str, Any]:
    with room.reading() as finder:
        found = finder.find(query, Wish(limit=PAGE * min(number, MOST_PAGES)))
        names = {book: finder.name_of(book) for book in {hit.ref.book for hit in found.hits}}
    hits = list(enumerate(found.hits, start=1))[PAGE * (number - 1) : PAGE * number]
    return {
        "query": query,
        "number_of_results": len(found.hits),
        "results": [
            {
                "url": room.page_url(hit.ref),
                "title": hit.title,
                "content": hit.snippet,
                "engine": names[hit.ref.book],
                "engines": [names[hit.ref.book]],
                "category": CATEGORY,
                # Clients sort by it, so it follows our order; SearXNG's own is made of places as well.
                "score": round(1 / place, 4),
                "positions": [place],
                "template": "default.html",
                "publishedDate": None,
            }
            for place, hit in hits
        ],
        "answers": [],
        "corrections": [found.corrected] if found.corrected else [],
        "infoboxes": [],
        "suggestions": _senses(found),
        "unresponsive_engines": [],
    } | ({"hidden": found.hidden.record()} if found.hidden.pages else {})


def _senses(found: Findings) -> list[str]:
    """Other meanings of an ambiguous name are what to search for next."""
    return list(dict.fromkeys(sense.title for sense in found.senses))
