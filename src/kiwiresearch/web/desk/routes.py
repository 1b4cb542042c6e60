"""All pages of the desk put together."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter

from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk import (
    asking,
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
    reading,
    research,
    runs,
    timeline,
)
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.room import Room


def routers(room: Room, jobs: Jobs, pages: Pages) -> Iterator[APIRouter]:
    """The routes of every part of the desk."""
    yield files.router()
    yield language.router()
    of_runs = (runs, claims, timeline, numbers, graph, compare, notes, exports)
    for part in (home, asking, finding, reading, research, *of_runs, family):
        yield part.router(room, jobs, pages)
