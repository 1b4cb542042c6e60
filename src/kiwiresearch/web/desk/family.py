"""The pages of families, put together."""

from __future__ import annotations

from fastapi import APIRouter

from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk import (
    family_begin,
    family_case,
    family_evidence,
    family_files,
    family_people,
    family_review,
    family_sources,
    family_tree,
)
from kiwiresearch.web.desk.family_frame import FamilyDesk
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.room import Room


def router(room: Room, jobs: Jobs, pages: Pages) -> APIRouter:
    """The routes; those with fixed names come before those that take any case."""
    desk = FamilyDesk(room, jobs, pages)
    routes = APIRouter(include_in_schema=False)
    parts = (
        family_begin,
        family_files,
        family_case,
        family_tree,
        family_people,
        family_evidence,
        family_review,
        family_sources,
    )
    for part in parts:
        part.add(routes, desk)
    return routes
