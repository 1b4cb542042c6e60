"""What all pages of families share: the case they stand in, and its tabs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from fastapi import Request
from starlette.responses import Response

from kiwiresearch.research.job import FamilyWish, Job
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.desk.telling import page_address
from kiwiresearch.web.family import Families, page_of
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

    def told(self, fact: dict[str, Any]) -> dict[str, Any]:
        """A fact whose quotes lead to their pages."""
        return fact | {"evidence": [self.quoted(one) for one in fact["evidence"]]}

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
