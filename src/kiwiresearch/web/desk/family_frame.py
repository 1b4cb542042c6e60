"""What all pages of a family case share: its tabs, its jobs, links of evidence, and lists of people to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fastapi import Request
from starlette.responses import Response

from kiwiresearch.cases import CachedCase, EvidenceRecord, FactRecord
from kiwiresearch.codec import extend, plain
from kiwiresearch.jobs import FamilyRequest, Job, JobQueue
from kiwiresearch.kin import PersonId
from kiwiresearch.kin.privacy import Mode, RedactedTree
from kiwiresearch.kin.report import lifespan, people_in_order
from kiwiresearch.web.addresses import page_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.families import Families, page_of

MAX_CHOICES = 500
"""A list of more is found faster by name."""


@dataclass(frozen=True, slots=True)
class PersonOption:
    """A person by name and years."""

    id: PersonId
    name: str
    lived: str


@dataclass(frozen=True, slots=True)
class PersonOptions:
    """Those whom a list shows, and how many it does not."""

    shown: tuple[PersonOption, ...]
    left_out: int


@dataclass(frozen=True, slots=True)
class LinkedEvidence(EvidenceRecord):
    """Evidence with the address of its page, where its words are marked, and the language they are in."""

    place: str
    language: str


@dataclass(frozen=True, slots=True)
class LinkedFact(FactRecord):
    """A fact whose quotes lead to their pages."""

    evidence: tuple[LinkedEvidence, ...]


def person_ids_by_distance(found: CachedCase, tree: RedactedTree) -> tuple[PersonId, ...]:
    """Everybody, those first whom the case began with, be they kept back or not, then who is nearest to them."""
    seeds = found.seeds()
    if not all(seed in tree.persons for seed in seeds):
        seeds = tuple(map(found.withheld().pseudonym, seeds))
    return people_in_order(tree, [seed for seed in seeds if seed in tree.persons])


def person_options(found: CachedCase, mode: Mode, chosen: PersonId = "") -> PersonOptions:
    """The people of a case as far as the mode allows; the one who is chosen is always among them."""
    tree = found.tree(mode)
    ids = person_ids_by_distance(found, tree)
    kept = list(dict.fromkeys([*ids[:MAX_CHOICES], *(one for one in (chosen,) if one in tree.persons)]))
    shown = (PersonOption(one, tree.persons[one].name, lifespan(tree, one)) for one in kept)
    return PersonOptions(tuple(shown), len(ids) - len(kept))


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


class FamilyPages:
    """The pages of families on one server; what they show comes through the same doors as the API's answers."""

    def __init__(self, room: ServerContext, jobs: JobQueue, pages: Pages) -> None:
        self.room = room
        self.families = Families(room, jobs)
        self.pages = pages

    def show(self, request: Request, template: str, case: str, tab: str, **values: Any) -> Response:
        """A page of a case, within its tabs."""
        known = plain(self.families.record(request, case))
        shared = {"case": known, "tab": tab, "tabs": TABS, "base": f"/family/{case}", "owner": known["owner"]}
        return self.pages.show(request, template, **shared, **values)

    def job_of(self, case: str) -> Job | None:
        """The job that works on a case, or waits to."""
        return next((one for one in self.jobs_of(case) if one.is_open), None)

    def jobs_of(self, case: str) -> list[Job]:
        """All jobs of a case, the newest first."""
        wished = ((one, one.request) for one in self.families.jobs.all())
        return [job for job, wish in wished if isinstance(wish, FamilyRequest) and wish.case == case]

    def fact_with_links(self, fact: FactRecord) -> LinkedFact:
        """A fact whose quotes lead to their pages."""
        return extend(LinkedFact, fact, evidence=tuple(map(self._linked, fact.evidence)))

    def _linked(self, evidence: EvidenceRecord) -> LinkedEvidence:
        ref = page_of(self.room, evidence)
        if ref is None:
            return extend(LinkedEvidence, evidence, place="", language="")
        place = page_address(ref, mark=f"{evidence.start}-{evidence.end}")
        return extend(LinkedEvidence, evidence, place=place, language=self._languages.get(ref.book, ""))

    @cached_property
    def _languages(self) -> dict[str, str]:
        with self.room.locked_finder() as finder:
            return {str(one.book.id): one.book.language for one in finder.books}
