"""All pages of the desk put together."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter

from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk import (
    asking,
    atlas,
    audit,
    claims,
    compare,
    exports,
    family,
    files,
    finding,
    graph,
    home,
    language,
    notes,
    numbers,
    people,
    reading,
    research,
    runs,
    timeline,
)
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.guard.house import House
from kiwiresearch.web.room import Room


def routers(room: Room, jobs: Jobs, pages: Pages, house: House) -> Iterator[APIRouter]:
    """The routes of every part of the desk."""
    yield files.router()
    yield language.router()
    of_runs = (runs, claims, timeline, numbers, graph, compare, notes, exports)
    for part in (home, asking, finding, reading, research, *of_runs, family, atlas):
        yield part.router(room, jobs, pages)
    yield people.router(room, house, pages)
    yield audit.router(room, house, pages)
