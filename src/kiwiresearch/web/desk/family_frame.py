"""What all pages of families share: the case they stand in, its tabs, and errors told as pages."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import Any
from urllib.parse import quote as percent

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.responses import Response

from kiwiresearch.errors import KiwiError
from kiwiresearch.research.job import FamilyWish, Job
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.telling import page_address
from kiwiresearch.web.family import Families, page_of
from kiwiresearch.web.problems import problem_of
from kiwiresearch.web.room import Room

TABS = (
    ("summary", ""),
    ("tree", "/tree"),
    ("people", "/people"),
    ("timeline", "/timeline"),
    ("conflicts", "/conflicts"),
    ("merges", "/merges"),
    ("evidence", "/evidence"),
    ("log", "/log"),
    ("sources", "/sources"),
    ("files", "/export"),
    ("audit", "/audit"),
)
"""The parts of a case, by the name under which the catalogue has their words."""

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class FamilyDesk:
    """The pages of families on one server; what they show comes through the same doors as the API's answers."""

    def __init__(self, room: Room, jobs: Jobs, pages: Pages) -> None:
        self.room = room
        self.families = Families(room, jobs)
        self.pages = pages

    def show(self, request: Request, template: str, case: str, tab: str, **values: Any) -> Response:
        """A page of a case, within its tabs."""
        known = self.families.record(request, case)
        shared = {"case": known, "tab": tab, "tabs": TABS, "base": f"/family/{case}", "owner": known["owner"]}
        return self.pages.show(request, template, **shared, **values)

    def job_of(self, case: str) -> Job | None:
        """The job that works on a case, or waits to."""
        return next((one for one in self.jobs_of(case) if one.is_open), None)

    def jobs_of(self, case: str) -> list[Job]:
        """All jobs of a case, the newest first."""
        wished = ((one, one.wish) for one in self.families.jobs.all())
        return [job for job, wish in wished if isinstance(wish, FamilyWish) and wish.case == case]

    def quoted(self, evidence: dict[str, Any]) -> dict[str, Any]:
        """A piece of evidence with the page where its words are read, marked, and the language they are in."""
        ref = page_of(self.room, evidence)
        if ref is None:
            return evidence | {"place": "", "language": ""}
        place = page_address(ref, mark=f"{evidence['start']}-{evidence['end']}")
        return evidence | {"place": place, "language": self._languages.get(ref.book, "")}

    @cached_property
    def _languages(self) -> dict[str, str]:
        with self.room.reading() as finder:
            return {str(one.book.id): one.book.language for one in finder.books}


def told_as_pages(pages: Pages) -> type[APIRoute]:
    """Routes whose errors are pages, with what went wrong and what to do."""

    class PageRoute(APIRoute):
        def get_route_handler(self) -> Handler:
            handler = super().get_route_handler()

            async def answered(request: Request) -> Response:
                try:
                    return await handler(request)
                except (KiwiError, HTTPException, RequestValidationError) as error:
                    return problem_page(pages, request, error)

            return answered

    return PageRoute


def problem_page(pages: Pages, request: Request, error: Exception) -> Response:
    """An error on a page of its own; it leads back to the case, where there is one."""
    problem = problem_of(error)
    parts = request.url.path.split("/")
    case = parts[2] if len(parts) > 3 else ""
    return pages.show(
        request,
        "family_problem.html",
        status=problem.status,
        headers=dict(problem.headers),
        problem=problem,
        back=f"/family/{percent(case)}" if case and problem.status != 404 else "/family",
    )
