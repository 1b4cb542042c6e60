"""Routes for family research: cases, people and evidence, and the owner's decisions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, cast

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from kiwiresearch.cases import (
    CachedCase,
    Case,
    CaseSummary,
    EvidenceRecord,
    FactRecord,
    LivingRecord,
    MergesRecord,
    ProposedMerge,
    RelationRecord,
    TreeRecord,
    graph_record,
    living_record,
    merges_record,
    record_builder,
    review,
    set_living,
    set_plugin,
    source_records,
)
from kiwiresearch.codec import JsonDict, extend, plain
from kiwiresearch.errors import KiwiError, NothingFound, without_paths
from kiwiresearch.jobs import FamilyRequest, JobQueue
from kiwiresearch.kin import KinshipFinder, PersonId, Tree
from kiwiresearch.kin.privacy import PrivacyMode
from kiwiresearch.kin.report import Couples
from kiwiresearch.kin.sources import Plugins, load_plugins
from kiwiresearch.kin.store import CaseStore
from kiwiresearch.web import family_models as models
from kiwiresearch.web.bodies import Name
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard import FamilyAccess, Privacy, RoleRouter, requires_role
from kiwiresearch.web.job_requests import JobReply, accepted, case_url, start_job
from kiwiresearch.web.replies import Json, JsonRoute
from kiwiresearch.web.runs import Limit, Offset
from kiwiresearch.zim import SCHEME, EntryRef

PREFIX = "/api/family"
ALL_STEPS = models.RunBody()
NO_COUNTS = dict.fromkeys(
    ("people", "kept_back", "facts", "ties", "sources", "generations", "budget", "steps", "fetched", "waiting"), 0
)
UNREADABLE_CASE = CaseSummary(title="", seeds=(), stop="", why="", **NO_COUNTS)
"""What is shown of an unreadable case."""

CaseId = Annotated[str, Path(max_length=40, description="The `id` of a case.", examples=["5f0c9a3be812"])]
Person = Annotated[str, Path(max_length=100, description="The `id` of a person of the case.")]
OnePerson = Annotated[str, Query(max_length=100, description="The `id` of a person of the case.")]
Direction = Annotated[Literal["ancestors", "descendants"], Query()]
Words = Annotated[Name, Query(description="Only people whose name contains this.")]


class Families:
    """What the family routes share."""

    def __init__(self, context: ServerContext, jobs: JobQueue) -> None:
        self.context = context
        self.jobs = jobs
        self.cases = jobs.cases
        self.access = FamilyAccess(context.workspace.settings.serve)

    @contextlib.contextmanager
    def open_case(
        self, request: Request, case: str, privacy: PrivacyMode | None
    ) -> Iterator[tuple[CachedCase, PrivacyMode]]:
        """A case, and the privacy mode in which this request may see it."""
        mode = self.access.privacy_mode(request, privacy)
        with self.cases.reading(case) as found:
            yield found, mode

    def record(self, request: Request, case: str, privacy: PrivacyMode | None = None) -> models.CaseReply:
        mode = self.access.privacy_mode(request, privacy)
        return self._case_record(request, case, mode, self.cases.summary(case, mode))

    def person(
        self, request: Request, case: str, person: str, privacy: PrivacyMode | None = None
    ) -> models.PersonDetails:
        """A person with all facts and ties, their quotes, and the conflicts."""
        with self.open_case(request, case, privacy) as (found, mode):
            tree = found.tree(mode)
            visible_person(tree, person)
            seed = next((item for item in found.seeds() if item in tree.persons and item != person), None)
            row = record_builder.person_record(
                tree, person, KinshipFinder(tree).kinship(seed, person).words if seed else ""
            )
            facts = tuple(record_builder.evidence_records(found, person, None, mode))
            conflicts = tuple(
                conflict for conflict in record_builder.conflict_records(found, mode) if conflict.person == person
            )
            why = living_record(found, person).why if mode == "owner" else ""
            version = found.store.edits.latest_version_for([person]) if mode == "owner" else 0
        return extend(models.PersonDetails, row, facts=facts, conflicts=conflicts, living_why=why, version=version)

    def seed_names(self, request: Request, case: str) -> str:
        """The people a case was started with, for its owner; empty for others."""
        if not self.access.may_see_living(request):
            return ""
        with contextlib.suppress(KiwiError), self.cases.reading(case) as found:
            return ", ".join(found.store.person(seed).name for seed in found.seeds())
        return ""

    def named_record(self, request: Request, case: str) -> JsonDict | None:
        """A case for a heading, with the names that this visitor may read; None if it cannot be read."""
        with contextlib.suppress(KiwiError):
            return cast("JsonDict", plain(self.record(request, case)))
        return None

    def listed_record(self, request: Request, case: str) -> models.CaseReply:
        """A case for a list, even if it cannot be read."""
        try:
            return self.record(request, case)
        except KiwiError as problem:
            return self._case_record(
                request, case, self.access.privacy_mode(request), UNREADABLE_CASE, without_paths(str(problem))
            )

    def _case_record(
        self, request: Request, case: str, mode: PrivacyMode, known: CaseSummary, problem: str = ""
    ) -> models.CaseReply:
        owner = self.access.may_see_living(request)
        return extend(models.CaseReply, known, id=case, privacy=mode, owner=owner, problem=problem, url=case_url(case))


def router(families: Families) -> APIRouter:
    """All family routes except those for files."""
    routes = RoleRouter("reader", prefix=PREFIX, tags=["family"], route_class=JsonRoute)
    _add_cases(routes, families)
    _add_people(routes, families)
    _add_lists(routes, families)
    _add_merges(routes, families)
    _add_living(routes, families)
    _add_plugins(routes, families)
    return routes


def _add_cases(routes: APIRouter, families: Families) -> None:
    @routes.get("")
    def list_cases(request: Request, limit: Limit = 100, offset: Offset = 0) -> models.CasesReply:
        """All cases of the server."""
        ids = families.cases.ids()
        shown = tuple(families.listed_record(request, identifier) for identifier in ids[offset : offset + limit])
        return models.CasesReply(shown, len(ids))

    @routes.post("", status_code=201, response_model=models.CaseReply)
    @requires_role("researcher", "case")
    def start(request: Request, body: models.StartBody) -> Response:
        """Start a case: find the people you name and read their pages. `run` continues it."""
        settings = body.settings(families.context.workspace.settings.kin)
        with families.context.locked_finder() as finder:
            case = families.cases.start(settings, finder)
        return Json(families.record(request, case), 201, {"Location": case_url(case)})

    @routes.get("/{case}")
    def get_case(request: Request, case: CaseId, privacy: Privacy = None) -> models.CaseReply:
        """A case in numbers."""
        return families.record(request, case, privacy)

    @routes.post("/{case}/run", status_code=202, response_model=JobReply)
    @requires_role("researcher", "case")
    def run(case: CaseId, body: models.RunBody = ALL_STEPS) -> Response:
        """Continue a case. The reply is a job that you can follow, cancel and resume like a research job."""
        return accepted(start_job(families.jobs, FamilyRequest(case, body.steps, body.model)))


def _add_people(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/people")
    def people(
        request: Request, case: CaseId, q: Words = "", privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> models.PeopleReply:
        """Everyone in the case, starting people first."""
        with families.open_case(request, case, privacy) as (found, mode):
            ids = record_builder.people_named(found, mode, q)
            rows = record_builder.people_records(found, mode, ids[offset : offset + limit])
        return models.PeopleReply(tuple(rows), len(ids))

    @routes.get("/{case}/people/{person}")
    def one_person(request: Request, case: CaseId, person: Person, privacy: Privacy = None) -> models.OnePersonReply:
        """A person with every fact and relationship, the quotes and pages they come from, and the conflicts."""
        row = families.person(request, case, person, privacy)
        facts = tuple(_fact_reply(families.context, fact) for fact in row.facts)
        return extend(models.OnePersonReply, row, facts=facts)

    @routes.get("/{case}/people/{person}/line")
    def line(
        request: Request, case: CaseId, person: Person, of: Direction = "ancestors", privacy: Privacy = None
    ) -> models.BranchReply:
        """The ancestors or descendants of a person, as rows with their depth."""
        with families.open_case(request, case, privacy) as (found, mode):
            chosen = visible_person(found.tree(mode), person)
            rows = record_builder.branch_records(found.derived(Couples, mode), chosen, down=of == "descendants")
        return models.BranchReply(tuple(rows))

    @routes.get("/{case}/tree")
    def tree(request: Request, case: CaseId, privacy: Privacy = None) -> TreeRecord:
        """Everyone and all relationships, for programs that draw a tree."""
        with families.open_case(request, case, privacy) as (found, mode):
            return graph_record(found.tree(mode))

    @routes.get("/{case}/relation")
    def relation(
        request: Request, case: CaseId, first: OnePerson, second: OnePerson, privacy: Privacy = None
    ) -> RelationRecord:
        """How the second person is related to the first, and through whom."""
        with families.open_case(request, case, privacy) as (found, mode):
            pair = [visible_person(found.tree(mode), item) for item in (first, second)]
            return record_builder.relation_record(found, pair[0], pair[1], mode)


def _add_lists(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/timeline")
    def timeline(
        request: Request, case: CaseId, privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> models.TimelineReply:
        """Everyone's events in order, with ages."""
        with families.open_case(request, case, privacy) as (found, mode):
            rows = record_builder.timeline_records(found, mode)
        return models.TimelineReply(tuple(rows[offset : offset + limit]), len(rows))

    @routes.get("/{case}/conflicts")
    def conflicts(
        request: Request, case: CaseId, privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> models.ConflictsReply:
        """Values that cannot all be right, ranked with reasons, and what would settle them."""
        with families.open_case(request, case, privacy) as (found, mode):
            rows = record_builder.conflict_records(found, mode)
        return models.ConflictsReply(tuple(rows[offset : offset + limit]), len(rows))

    @routes.get("/{case}/log")
    def log(
        request: Request, case: CaseId, privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> models.LogReply:
        """All searches, including those without results. Finding nothing does not prove that there is nothing."""
        with families.open_case(request, case, privacy) as (found, mode):
            rows = record_builder.log_records(found, mode)
        return models.LogReply(tuple(rows[offset : offset + limit]), len(rows))

    @routes.get("/{case}/merges")
    def merges(request: Request, case: CaseId, privacy: Privacy = None) -> MergesRecord:
        """Merges and possible duplicates, with the reasons for and against."""
        with families.open_case(request, case, privacy) as (found, mode):
            return merges_record(found, found.tree(mode), found.mask(mode))


def visible_person(tree: Tree, person: str) -> PersonId:
    """The id of a person whom the tree shows; a withheld person is reported as not found."""
    if person not in tree.persons:
        raise NothingFound(f"No person has the ID {person!r}.", remedy="'/people' lists everyone.")
    return person


def page_of(context: ServerContext, evidence: EvidenceRecord) -> EntryRef | None:
    """The page on the shelf that a quote comes from; None for a withheld quote."""
    return page_at(context, evidence.url) if evidence.start >= 0 else None


def page_at(context: ServerContext, url: str) -> EntryRef | None:
    """The page on the shelf that a source's address names, if its book is there."""
    book, _, path = url.removeprefix(SCHEME).partition("/")
    found = next((listed_book.id for listed_book in context.shelf.books if listed_book.id == book), None)
    return EntryRef(found, path) if found is not None and url.startswith(SCHEME) else None


def _fact_reply(context: ServerContext, fact: FactRecord) -> models.FactReply:
    return extend(models.FactReply, fact, evidence=tuple(_evidence_reply(context, record) for record in fact.evidence))


def _evidence_reply(context: ServerContext, evidence: EvidenceRecord) -> models.EvidenceReply:
    ref = page_of(context, evidence)
    read = context.page_url(ref, span=(evidence.start, evidence.end)) if ref else ""
    return extend(models.EvidenceReply, evidence, read=read)


Candidates = Callable[[Case], Sequence[ProposedMerge | review.SeparatedPair]]
Decide = Callable[[Case, str, str], object]
MergeDecision = Literal["accept", "reject", "take-back"]
MERGE_DECISIONS: Mapping[MergeDecision, tuple[Candidates, Decide]] = {
    "accept": (review.proposed_merges, review.accept_merge),
    "reject": (review.proposed_merges, review.reject_merge),
    "take-back": (review.separated_pairs, review.allow_merge_again),
}
"""What an owner may decide about a pair: among which pairs it must be, and what that does."""

NO_REASON = models.DecisionBody()
UNDO_DEFAULTS = models.UndoBody()
MergeId = Annotated[
    str,
    Path(max_length=100, description="The `id` of a merge, of a possible duplicate, or of a pair kept separate."),
]
PluginId = Annotated[str, Path(max_length=100, description="The `id` of a source.", examples=["wikidata"])]


def decide_on_pair(
    families: Families, request: Request, case: str, decision: MergeDecision, pair: str, why: str
) -> MergesRecord:
    """Decide about two people who may be one, or are kept separate; only the owner may. Returns what is left."""
    families.access.require_family_owner(request)
    among, decide = MERGE_DECISIONS[decision]
    with families.cases.opened_for_edit(case) as found:
        require_known(pair, [item.id for item in among(found)])
        decide(found, pair, why)
        return merges_record(found, found.tree(), found.mask("owner"))


def undo_merge(
    families: Families, request: Request, case: str, merge: str, why: str, *, cascade: bool
) -> tuple[str, ...]:
    """Undo a merge, and return the ids of all that were undone; only the owner may."""
    families.access.require_family_owner(request)
    with families.cases.opened_for_edit(case) as found:
        require_known(merge, [cluster.id for cluster in found.store.merges.all()])
        return review.undo_merge(found, merge, why, cascade=cascade)


def _add_merges(routes: APIRouter, families: Families) -> None:
    @routes.post("/{case}/merges/{merge}/accept")
    @requires_role("researcher", "case")
    def accept(request: Request, case: CaseId, merge: MergeId, body: models.DecisionBody = NO_REASON) -> MergesRecord:
        """Merge a possible duplicate. Only the owner can."""
        return decide_on_pair(families, request, case, "accept", merge, body.why)

    @routes.post("/{case}/merges/{merge}/reject")
    @requires_role("researcher", "case")
    def reject(request: Request, case: CaseId, merge: MergeId, body: models.DecisionBody = NO_REASON) -> MergesRecord:
        """Keep a possible duplicate separate. Only the owner can."""
        return decide_on_pair(families, request, case, "reject", merge, body.why)

    @routes.post("/{case}/merges/{merge}/take-back")
    @requires_role("researcher", "case")
    def take_back(
        request: Request, case: CaseId, merge: MergeId, body: models.DecisionBody = NO_REASON
    ) -> MergesRecord:
        """Undo the decision to keep two separate: they may be suggested again, or merged. Only the owner can."""
        return decide_on_pair(families, request, case, "take-back", merge, body.why)

    @routes.post("/{case}/merges/{merge}/undo")
    @requires_role("researcher", "case")
    def undo(
        request: Request, case: CaseId, merge: MergeId, body: models.UndoBody = UNDO_DEFAULTS
    ) -> models.UndoneReply:
        """Undo a merge: everything is as it was before, and the two are not suggested again. Only the owner can."""
        return models.UndoneReply(undo_merge(families, request, case, merge, body.why, cascade=body.cascade))


def _add_living(routes: APIRouter, families: Families) -> None:
    @routes.put("/{case}/people/{person}/living")
    @requires_role("researcher", "case")
    def living(request: Request, case: CaseId, person: Person, body: models.LivingBody) -> LivingRecord:
        """Set whether a person is living. This overrides every rule. Only the owner can."""
        families.access.require_family_owner(request)
        with families.cases.opened_for_edit(case) as found:
            person_id = visible_person(found.store.tree(), person)
            set_living(found, person_id, body.status, body.why)
            return living_record(found, person_id)


def _add_plugins(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/plugins")
    def plugins(case: CaseId) -> models.PluginsReply:
        """All sources, what each one receives, and which of them this case uses."""
        with families.cases.reading(case) as found:
            return _plugins(load_plugins(families.cases.plugins), found.store)

    @routes.put("/{case}/plugins/{plugin}")
    @requires_role("researcher", "case")
    def switch_plugin(request: Request, case: CaseId, plugin: PluginId, body: models.PluginBody) -> models.PluginsReply:
        """Turn a source on or off for a case. All sources except the books start turned off. Only the owner can."""
        families.access.require_family_owner(request)
        plugins = load_plugins(families.cases.plugins)
        with families.cases.opened_exclusively(case) as found:
            require_known(plugin, [known_plugin.plugin.plugin_id for known_plugin in plugins.known])
            chosen = plugins.named(plugin)
            options = {"contact": body.contact, "endpoint": body.endpoint}
            set_plugin(found.store, chosen, on=body.on, terms=body.terms_ok, **options)
            return _plugins(plugins, found.store)


def _plugins(plugins: Plugins, store: CaseStore) -> models.PluginsReply:
    problems = tuple(without_paths(str(bad_settings)) for bad_settings in plugins.problems)
    return models.PluginsReply(tuple(source_records(plugins, store)), problems)


def require_known(wanted: str, known: list[str]) -> None:
    """Refuse an id that is not among these."""
    if wanted not in known:
        raise NothingFound(f"The ID {wanted!r} was not found.", remedy="Use the full ID from the list.")
