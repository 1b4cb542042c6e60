"""Routes of family research: cases, people and evidence, and what only the owner decides."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from kiwiresearch.cases import records as told
from kiwiresearch.cases import review
from kiwiresearch.cases.case import Case
from kiwiresearch.cases.record_types import (
    CaseSummary,
    EvidenceRecord,
    FactRecord,
    MergesRecord,
    RelationRecord,
    TreeRecord,
)
from kiwiresearch.cases.records import CachedCase, graph_record
from kiwiresearch.cases.review import LivingRecord, living_record, merges_record, set_living
from kiwiresearch.cases.sources import set_plugin, source_records
from kiwiresearch.codec import extend
from kiwiresearch.errors import KiwiError, NothingFound
from kiwiresearch.jobs.job import FamilyRequest
from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.kin.kinship import KinshipFinder
from kiwiresearch.kin.privacy.redaction import Mode
from kiwiresearch.kin.sources.registry import Plugins
from kiwiresearch.kin.sources.registry import load_plugins as all_plugins
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.web import job_requests
from kiwiresearch.web.bodies import Name
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.family_models import (
    BranchReply,
    CaseReply,
    CasesReply,
    ConflictsReply,
    DecisionBody,
    EvidenceReply,
    FactReply,
    LivingBody,
    LogReply,
    OnePersonReply,
    PeopleReply,
    PersonDetails,
    PluginBody,
    PluginsReply,
    RunBody,
    StartBody,
    TimelineReply,
    UndoBody,
    UndoneReply,
)
from kiwiresearch.web.guard.identity import FamilyAccess, Privacy
from kiwiresearch.web.job_requests import JobReply, case_url, job_reply, job_url
from kiwiresearch.web.problems import without_paths
from kiwiresearch.web.replies import Json, JsonRoute
from kiwiresearch.web.runs import Limit, Offset
from kiwiresearch.zim.archive import EntryRef

SCHEME = "zim://"
PREFIX = "/api/family"
ALL_STEPS = RunBody()
UNREADABLE_CASE = CaseSummary(
    title="",
    seeds=(),
    people=0,
    kept_back=0,
    facts=0,
    ties=0,
    sources=0,
    generations=0,
    budget=0,
    steps=0,
    fetched=0,
    waiting=0,
    stop="",
    why="",
)
"""What is said of a case that cannot be read."""

CaseId = Annotated[str, Path(max_length=40, description="The `id` of a case.", examples=["5f0c9a3be812"])]
Person = Annotated[str, Path(max_length=100, description="The `id` of a person of the case.")]
OnePerson = Annotated[str, Query(max_length=100, description="The `id` of a person of the case.")]
Direction = Annotated[Literal["ancestors", "descendants"], Query()]
Words = Annotated[Name, Query(description="Only people whose name holds this.")]


class Families:
    """What the routes of families share."""

    def __init__(self, room: ServerContext, jobs: JobQueue) -> None:
        self.room = room
        self.jobs = jobs
        self.cases = jobs.cases
        self.access = FamilyAccess(room.desk.settings.serve)

    @contextlib.contextmanager
    def open_case(self, request: Request, case: str, privacy: Mode | None) -> Iterator[tuple[CachedCase, Mode]]:
        """A case, and the mode in which this request may see it."""
        mode = self.access.privacy_mode(request, privacy)
        with self.cases.reading(case) as found:
            yield found, mode

    def record(self, request: Request, case: str, privacy: Mode | None = None) -> CaseReply:
        mode = self.access.privacy_mode(request, privacy)
        return self._case_record(request, case, mode, self.cases.summary(case, mode))

    def person(self, request: Request, case: str, person: str, privacy: Mode | None = None) -> PersonDetails:
        """A person with every fact and tie, the words that say so, and what speaks against it."""
        with self.open_case(request, case, privacy) as (found, mode):
            tree = found.tree(mode)
            visible_person(tree, person)
            seed = next((one for one in found.seeds() if one in tree.persons and one != person), None)
            row = told.person_record(tree, person, KinshipFinder(tree).kinship(seed, person).words if seed else "")
            facts = tuple(told.evidence_records(found, person, None, mode))
            conflicts = tuple(one for one in told.conflict_records(found, mode) if one.person == person)
            why = living_record(found, person).why if mode == "owner" else ""
        return extend(PersonDetails, row, facts=facts, conflicts=conflicts, living_why=why)

    def seed_names(self, request: Request, case: str) -> str:
        """Whom a case began with, for its owner; others are told on its page as much as they may know."""
        if not self.access.is_owner(request):
            return ""
        with contextlib.suppress(KiwiError), self.cases.reading(case) as found:
            return ", ".join(found.store.person(one).name for one in found.seeds())
        return ""

    def listed_record(self, request: Request, case: str) -> CaseReply:
        """The same for a list, which a case that cannot be read does not spoil."""
        try:
            return self.record(request, case)
        except KiwiError as problem:
            return self._case_record(
                request, case, self.access.privacy_mode(request), UNREADABLE_CASE, without_paths(str(problem))
            )

    def _case_record(self, request: Request, case: str, mode: Mode, known: CaseSummary, problem: str = "") -> CaseReply:
        owner = self.access.is_owner(request)
        return extend(CaseReply, known, id=case, privacy=mode, owner=owner, problem=problem, url=case_url(case))


def router(families: Families) -> APIRouter:
    """The JSON of families; their files have a module of their own."""
    routes = APIRouter(prefix=PREFIX, tags=["family"], route_class=JsonRoute)
    _add_cases(routes, families)
    _add_people(routes, families)
    _add_lists(routes, families)
    _add_decisions(routes, families)
    return routes


def _add_cases(routes: APIRouter, families: Families) -> None:
    @routes.get("")
    def cases_there_are(request: Request, limit: Limit = 100, offset: Offset = 0) -> CasesReply:
        """All cases of the server."""
        ids = families.cases.ids()
        shown = tuple(families.listed_record(request, one) for one in ids[offset : offset + limit])
        return CasesReply(shown, len(ids))

    @routes.post("", status_code=201, response_model=CaseReply)
    def start(request: Request, body: StartBody) -> Response:
        """Begin a case: find the people it is about, and read their pages. `run` goes on with it."""
        settings = body.settings(families.room.desk.settings.kin)
        with families.room.locked_finder() as finder:
            case = families.cases.start(settings, finder)
        return Json(families.record(request, case), 201, {"Location": case_url(case)})

    @routes.get("/{case}")
    def case_as_it_is(request: Request, case: CaseId, privacy: Privacy = None) -> CaseReply:
        """A case in a few figures."""
        return families.record(request, case, privacy)

    @routes.post("/{case}/run", status_code=202, response_model=JobReply)
    def run(case: CaseId, body: RunBody = ALL_STEPS) -> Response:
        """Go on with a case; the answer is a job, which is followed, cancelled and resumed as those of research."""
        job = job_requests.start_job(families.jobs, FamilyRequest(case, body.steps, body.model))
        return Json(job_reply(job), 202, {"Location": job_url(job.id)})


def _add_people(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/people")
    def people(
        request: Request, case: CaseId, q: Words = "", privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> PeopleReply:
        """Everybody, the ones it began with first."""
        with families.open_case(request, case, privacy) as (found, mode):
            ids = told.people_named(found, mode, q)
            rows = told.people_records(found, mode, ids[offset : offset + limit])
        return PeopleReply(tuple(rows), len(ids))

    @routes.get("/{case}/people/{person}")
    def one_person(request: Request, case: CaseId, person: Person, privacy: Privacy = None) -> OnePersonReply:
        """A person with every fact and tie, the words that say so, where they are read, and what speaks against it."""
        row = families.person(request, case, person, privacy)
        facts = tuple(_fact_reply(families.room, fact) for fact in row.facts)
        return extend(OnePersonReply, row, facts=facts)

    @routes.get("/{case}/people/{person}/line")
    def line(
        request: Request, case: CaseId, person: Person, of: Direction = "ancestors", privacy: Privacy = None
    ) -> BranchReply:
        """The ancestors or descendants of a person, as rows that say how deep they stand."""
        with families.open_case(request, case, privacy) as (found, mode):
            tree = found.tree(mode)
            rows = told.branch_records(tree, visible_person(tree, person), down=of == "descendants")
        return BranchReply(tuple(rows))

    @routes.get("/{case}/tree")
    def tree(request: Request, case: CaseId, privacy: Privacy = None) -> TreeRecord:
        """Everybody and all ties, for a program that draws them."""
        with families.open_case(request, case, privacy) as (found, mode):
            return graph_record(found.tree(mode))

    @routes.get("/{case}/relation")
    def relation(
        request: Request, case: CaseId, first: OnePerson, second: OnePerson, privacy: Privacy = None
    ) -> RelationRecord:
        """What the second person is to the first, and the way there."""
        with families.open_case(request, case, privacy) as (found, mode):
            pair = [visible_person(found.tree(mode), one) for one in (first, second)]
            return told.relation_record(found, pair[0], pair[1], mode)


def _add_lists(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/timeline")
    def timeline(
        request: Request, case: CaseId, privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> TimelineReply:
        """The events of everybody in the order of time, with ages."""
        with families.open_case(request, case, privacy) as (found, mode):
            rows = told.timeline_records(found, mode)
        return TimelineReply(tuple(rows[offset : offset + limit]), len(rows))

    @routes.get("/{case}/conflicts")
    def conflicts(
        request: Request, case: CaseId, privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> ConflictsReply:
        """Values that cannot all be right, ranked with reasons, and what would settle it."""
        with families.open_case(request, case, privacy) as (found, mode):
            rows = told.conflict_records(found, mode)
        return ConflictsReply(tuple(rows[offset : offset + limit]), len(rows))

    @routes.get("/{case}/log")
    def log(
        request: Request, case: CaseId, privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> LogReply:
        """What was searched, also in vain; that is no evidence that there is nothing."""
        with families.open_case(request, case, privacy) as (found, mode):
            rows = told.log_records(found, mode)
        return LogReply(tuple(rows[offset : offset + limit]), len(rows))

    @routes.get("/{case}/merges")
    def merges(request: Request, case: CaseId, privacy: Privacy = None) -> MergesRecord:
        """Who was taken for one person and who may be, with what speaks for and against it."""
        with families.open_case(request, case, privacy) as (found, mode):
            return merges_record(found, found.tree(mode), found.mask(mode))


def visible_person(tree: Tree, person: str) -> PersonId:
    """The id of a person whom the tree shows; one who is kept back is as unknown as one who never was."""
    if person not in tree.persons:
        raise NothingFound(f"There is no person {person!r} in this case.", remedy="Its '/people' lists them.")
    return person


def page_of(room: ServerContext, evidence: EvidenceRecord) -> EntryRef | None:
    """The page of the shelf that a quote is from; a quote that is withheld leads nowhere."""
    book, _, path = evidence.url.removeprefix(SCHEME).partition("/")
    found = next((one.id for one in room.shelf.books if one.id == book), None)
    if found is None or evidence.start < 0 or not evidence.url.startswith(SCHEME):
        return None
    return EntryRef(found, path)


def _fact_reply(room: ServerContext, fact: FactRecord) -> FactReply:
    return extend(FactReply, fact, evidence=tuple(_evidence_reply(room, one) for one in fact.evidence))


def _evidence_reply(room: ServerContext, evidence: EvidenceRecord) -> EvidenceReply:
    ref = page_of(room, evidence)
    return extend(EvidenceReply, evidence, read=room.page_url(ref, span=(evidence.start, evidence.end)) if ref else "")


Candidates = Callable[[Case], Sequence[review.WaitingMerge | review.SeparatedPair]]
Decide = Callable[[Case, str, str], object]

NO_REASON = DecisionBody()
UNDO_DEFAULTS = UndoBody()
MergeId = Annotated[
    str, Path(max_length=100, description="The `id` of a merge, of one that waits for review, or of a pair kept apart.")
]
PluginId = Annotated[str, Path(max_length=100, description="The `id` of a source.", examples=["wikidata"])]


def _add_decisions(routes: APIRouter, families: Families) -> None:
    _add_merges(routes, families)
    _add_living(routes, families)
    _add_plugins(routes, families)


def _add_merges(routes: APIRouter, families: Families) -> None:
    def decided(request: Request, case: str, merge: str, among: Candidates, decide: Decide, why: str) -> MergesRecord:
        families.access.require_owner(request)
        with families.cases.changing(case) as found:
            require_known(merge, [one.id for one in among(found)])
            decide(found, merge, why)
            return merges_record(found, found.tree(), found.mask("owner"))

    @routes.post("/{case}/merges/{merge}/accept")
    def accept(request: Request, case: CaseId, merge: MergeId, body: DecisionBody = NO_REASON) -> MergesRecord:
        """Take two for one person, as was proposed. Only the owner may."""
        return decided(request, case, merge, review.to_review, review.accept_merge, body.why)

    @routes.post("/{case}/merges/{merge}/reject")
    def reject(request: Request, case: CaseId, merge: MergeId, body: DecisionBody = NO_REASON) -> MergesRecord:
        """Keep two apart, though it was proposed. Only the owner may."""
        return decided(request, case, merge, review.to_review, review.reject_merge, body.why)

    @routes.post("/{case}/merges/{merge}/take-back")
    def take_back(request: Request, case: CaseId, merge: MergeId, body: DecisionBody = NO_REASON) -> MergesRecord:
        """Keep two apart no longer: they may be proposed again, or merged. Only the owner may."""
        return decided(request, case, merge, review.separated_pairs, review.allow_merge_again, body.why)

    @routes.post("/{case}/merges/{merge}/undo")
    def undo(request: Request, case: CaseId, merge: MergeId, body: UndoBody = UNDO_DEFAULTS) -> UndoneReply:
        """Undo a merge: everything is as it was before, and the two are not proposed again. Only the owner may."""
        families.access.require_owner(request)
        with families.cases.changing(case) as found:
            require_known(merge, [one.id for one in found.store.merges.all()])
            return UndoneReply(review.undo_merge(found, merge, body.why, cascade=body.cascade))


def _add_living(routes: APIRouter, families: Families) -> None:
    @routes.put("/{case}/people/{person}/living")
    def living(request: Request, case: CaseId, person: Person, body: LivingBody) -> LivingRecord:
        """Say whether a person lives; it wins over every rule. Only the owner may."""
        families.access.require_owner(request)
        with families.cases.changing(case) as found:
            one = visible_person(found.store.tree(), person)
            set_living(found, one, body.status, body.why)
            return living_record(found, one)


def _add_plugins(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/plugins")
    def plugins(case: CaseId) -> PluginsReply:
        """The sources there are, what each is asked, and which of them this case may ask."""
        with families.cases.reading(case) as found:
            return _plugins(all_plugins(families.cases.plugins), found.store)

    @routes.put("/{case}/plugins/{plugin}")
    def switch_plugin(request: Request, case: CaseId, plugin: PluginId, body: PluginBody) -> PluginsReply:
        """Switch a source on or off for a case; all but the books are off until then. Only the owner may."""
        families.access.require_owner(request)
        there = all_plugins(families.cases.plugins)
        with families.cases.changing(case) as found:
            require_known(plugin, [one.plugin.plugin_id for one in there.known])
            wish = {"contact": body.contact, "endpoint": body.endpoint}
            set_plugin(found.store, there.named(plugin), on=body.on, terms=body.terms_ok, **wish)
            return _plugins(there, found.store)


def _plugins(there: Plugins, store: CaseStore) -> PluginsReply:
    problems = tuple(without_paths(str(one)) for one in there.problems)
    return PluginsReply(tuple(source_records(there, store)), problems)


def require_known(wanted: str, there: list[str]) -> None:
    """Refuse an id that is none of these."""
    if wanted not in there:
        raise NothingFound(f"There is no {wanted!r} here.", remedy="Ids are given whole, as the lists have them.")
