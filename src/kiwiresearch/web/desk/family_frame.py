"""What all pages of a family case share: its tabs, its jobs, links of evidence, and lists of people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fastapi import Request
from starlette.responses import Response

from kiwiresearch.cases import CachedCase, EvidenceRecord, FactRecord, NamedPerson, record_builder
from kiwiresearch.codec import JsonDict, extend, plain
from kiwiresearch.jobs import FamilyRequest, Job, JobQueue
from kiwiresearch.kin import FieldName, PersonId, Tree, birth_of
from kiwiresearch.kin.privacy import PRIVACY_MODES, PrivacyMode
from kiwiresearch.kin.report import Couples, lifespan, people_in_order
from kiwiresearch.text.dates import ENDLESS_DAY
from kiwiresearch.web.addresses import page_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import PageRenderer
from kiwiresearch.web.families import Families, page_of

MAX_ID = 100
MAX_CHOICES = 500
"""Beyond this many, finding a person by name is faster than a list."""

MAX_FOUND = 40
"""How many of the people of a family a page lists while its research goes on."""


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


def person_ids_by_distance(found: CachedCase, mode: PrivacyMode) -> tuple[PersonId, ...]:
    """Everybody, starting with the people the case was started with, even if withheld, then by distance from them."""
    tree, seeds = found.tree(mode), found.seeds()
    # People who are withheld have other ids in this tree.
    if not all(seed in tree.persons for seed in seeds):
        seeds = tuple(map(found.withheld().pseudonym, seeds))
    return people_in_order(found.derived(Couples, mode), seeds)


def person_options(found: CachedCase, mode: PrivacyMode, chosen: PersonId = "") -> PersonOptions:
    """The people of a case as far as the mode allows; the chosen person is always included."""
    tree = found.tree(mode)
    ids = person_ids_by_distance(found, mode)
    kept = list(dict.fromkeys([*ids[:MAX_CHOICES], *(item for item in (chosen,) if item in tree.persons)]))
    shown = (PersonOption(item, tree.persons[item].name, lifespan(tree, item)) for item in kept)
    return PersonOptions(tuple(shown), len(ids) - len(kept))


@dataclass(frozen=True, slots=True)
class FoundPerson(PersonOption):
    """A person of a family, with their relationship to the first starting person."""

    relation: str


@dataclass(frozen=True, slots=True)
class FoundPeople:
    """The closest people of a family as found so far, and the number of those left out."""

    shown: tuple[FoundPerson, ...]
    left_out: int


def found_people(found: CachedCase, mode: PrivacyMode) -> FoundPeople:
    """The people of a case as far as the mode allows, starting people first."""
    tree = found.tree(mode)
    ids = person_ids_by_distance(found, mode)
    rows = record_builder.people_records(found, mode, ids[:MAX_FOUND])
    shown = tuple(
        FoundPerson(person_record.id, person_record.name, lifespan(tree, person_record.id), person_record.relation)
        for person_record in rows
    )
    return FoundPeople(shown, len(ids) - len(shown))


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab of a case and its pages: the keys of their names in the catalogue, and the addresses."""

    name: str
    parts: tuple[tuple[str, str], ...]


TABS = (
    Tab("summary", (("summary", ""),)),
    Tab("tree", (("tree", "/tree"),)),
    Tab("people", (("people", "/people"),)),
    Tab("timeline", (("timeline", "/timeline"),)),
    Tab("review", (("conflicts", "/conflicts"), ("merges", "/merges"), ("changes", "/changes"))),
    Tab("sources", (("evidence", "/evidence"), ("sources", "/sources"), ("log", "/log"))),
    Tab("files", (("export", "/export"), ("import", "/import"), ("audit", "/audit"))),
)


BY_BIRTH: tuple[FieldName, ...] = ("child", "sibling")
"""Relatives that are listed by birth; of all others there are few."""


def birth_day(tree: Tree, person: PersonId) -> int:
    """A number to sort people by birth with; those whose birth is not known come last."""
    born = birth_of(tree, person) if person in tree.persons else None
    return born.earliest if born else ENDLESS_DAY


def relatives_by_birth(facts: Sequence[LinkedFact], tree: Tree) -> list[LinkedFact]:
    """Facts in their order, but children among themselves, and brothers and sisters, by birth."""
    found = list(facts)
    for field in BY_BIRTH:
        places = [place for place, fact in enumerate(found) if fact.field == field]
        ordered = sorted(
            (found[place] for place in places), key=lambda linked_fact: birth_day(tree, linked_fact.person or "")
        )
        for place, fact in zip(places, ordered, strict=True):
            found[place] = fact
    return found


def sexes_in(tree: Tree, facts: Iterable[LinkedFact], relatives: Iterable[NamedPerson] = ()) -> dict[PersonId, str]:
    """The sex of the people in facts and of relatives, as far as it is known: a child is then a son or a daughter."""
    ids = {fact.person for fact in facts if fact.person} | {person.id for person in relatives}
    return {
        identifier: tree.persons[identifier].sex
        for identifier in ids
        if identifier in tree.persons and tree.persons[identifier].sex
    }


@dataclass(frozen=True, slots=True)
class SourceOfFacts:
    """A source and what kind of evidence it gives, which is said once for all its quotes."""

    name: str
    book: str
    classes: tuple[str, ...]


def sources_of(facts: Iterable[LinkedFact]) -> list[SourceOfFacts]:
    """The sources of facts, in the order in which they are first quoted."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for fact in facts:
        for evidence in fact.evidence:
            found.setdefault((evidence.source, evidence.book), {})[evidence.class_] = None
    return [SourceOfFacts(name, book, tuple(classes)) for (name, book), classes in found.items()]


@dataclass(frozen=True, slots=True)
class FamilyState:
    """How far the research on a family is."""

    case: JsonDict
    """The record of the family."""
    job: Job | None
    """The job that goes on."""
    last: Job | None
    """The last one, if none goes on."""

    def values(self) -> JsonDict:
        """What the template that shows it needs."""
        return {"case": self.case, "job": self.job, "last": self.last}


class FamilyPages:
    """The family pages of one server; they show the same redacted data as the API."""

    def __init__(self, context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> None:
        self.context = context
        self.families = Families(context, jobs)
        self.pages = pages

    def show(self, request: Request, template: str, case: str, part: str, **values: Any) -> Response:
        """A page of a case, with its tabs."""
        state = self.state_of(request, case)
        tab = next(item for item in TABS if part in dict(item.parts))
        shared: dict[str, Any] = {**state.values(), "owner": state.case["owner"]}
        shared |= {"tab": tab, "part": part, "tabs": TABS}
        shared["notice"] = {name: request.query_params.get(name, "")[:MAX_ID] for name in ("made", "undone")}
        return self.pages.show(request, template, **shared, base=f"/family/{case}", **values)

    @property
    def has_model(self) -> bool:
        """Whether research can ask a language model."""
        return bool(self.context.workspace.settings.model_url)

    def allowed_modes(self, request: Request) -> tuple[PrivacyMode, ...]:
        """What may be shown of people who may be living, in files that this visitor makes."""
        may_see = self.families.access.may_see_living(request)
        return PRIVACY_MODES if may_see else PRIVACY_MODES[PRIVACY_MODES.index("public") :]

    def state_of(self, request: Request, case: str) -> FamilyState:
        job, jobs = self.job_of(case), self.jobs_of(case)
        return FamilyState(plain(self.families.record(request, case)), job, jobs[0] if jobs and not job else None)

    def job_of(self, case: str) -> Job | None:
        """The queued or running job of a case."""
        return next((job for job in self.jobs_of(case) if job.is_open), None)

    def jobs_of(self, case: str) -> list[Job]:
        """All jobs of a case, the newest first."""
        jobs = ((job, job.request) for job in self.families.jobs.all())
        return [job for job, request in jobs if isinstance(request, FamilyRequest) and request.case == case]

    def fact_with_links(self, fact: FactRecord) -> LinkedFact:
        """A fact whose quotes link to their pages."""
        return extend(LinkedFact, fact, evidence=tuple(map(self._linked, fact.evidence)))

    def _linked(self, evidence: EvidenceRecord) -> LinkedEvidence:
        ref = page_of(self.context, evidence)
        if ref is None:
            return extend(LinkedEvidence, evidence, place="", language="")
        place = page_address(ref, mark=f"{evidence.start}-{evidence.end}")
        return extend(LinkedEvidence, evidence, place=place, language=self._languages.get(ref.book, ""))

    @cached_property
    def _languages(self) -> dict[str, str]:
        with self.context.locked_finder() as finder:
            return {str(book.id): book.book.language for book in finder.books}
