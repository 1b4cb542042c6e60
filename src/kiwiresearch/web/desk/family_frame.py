"""What all pages of a family case share: its tabs, its jobs, links of evidence, and lists of people."""

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
"""Beyond this many, finding a person by name is faster than a list."""


@dataclass(frozen=True, slots=True)
class PersonOption:
    """A person by name and years."""

    id: PersonId
    name: str
    lived: str


@dataclass(frozen=True, slots=True)
class PersonOptions:
    """The people that a list shows, and the number of those left out."""

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
    """Everybody, starting with the people the case was started with, even if withheld, then by distance from them."""
    seeds = found.seeds()
    if not all(seed in tree.persons for seed in seeds):
        seeds = tuple(map(found.withheld().pseudonym, seeds))
    return people_in_order(tree, [seed for seed in seeds if seed in tree.persons])


def person_options(found: CachedCase, mode: Mode, chosen: PersonId = "") -> PersonOptions:
    """The people of a case as far as the mode allows; the chosen person is always included."""
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
"""The tabs of a case: the key of the name in the catalogue, and the address."""


class FamilyPages:
    """The family pages of one server; they show the same redacted data as the API."""

    def __init__(self, room: ServerContext, jobs: JobQueue, pages: Pages) -> None:
        self.room = room
        self.families = Families(room, jobs)
        self.pages = pages

    def show(self, request: Request, template: str, case: str, tab: str, **values: Any) -> Response:
        """A page of a case, with its tabs."""
        known = plain(self.families.record(request, case))
        shared = {"case": known, "tab": tab, "tabs": TABS, "base": f"/family/{case}", "owner": known["owner"]}
        return self.pages.show(request, template, **shared, **values)

    def job_of(self, case: str) -> Job | None:
        """The queued or running job of a case."""
        return next((one for one in self.jobs_of(case) if one.is_open), None)

    def jobs_of(self, case: str) -> list[Job]:
        """All jobs of a case, the newest first."""
        wished = ((one, one.request) for one in self.families.jobs.all())
        return [job for job, wish in wished if isinstance(wish, FamilyRequest) and wish.case == case]

    def fact_with_links(self, fact: FactRecord) -> LinkedFact:
        """A fact whose quotes link to their pages."""
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
