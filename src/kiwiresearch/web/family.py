"""Routes of family research: the cases there are, begun and gone on with, and what they know."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from kiwiresearch.errors import KiwiError, NothingFound
from kiwiresearch.kin.kinship import Family
from kiwiresearch.kin.privacy.redact import Mode
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.research import family_told as told
from kiwiresearch.research.family_living import living_record
from kiwiresearch.research.family_merges import merges_record
from kiwiresearch.research.family_seen import SeenCase, graph_record
from kiwiresearch.research.job import FamilyWish
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web import starting
from kiwiresearch.web.bodies import Name
from kiwiresearch.web.family_access import Access, Privacy
from kiwiresearch.web.family_replies import (
    CaseReply,
    CasesReply,
    LineReply,
    MergesReply,
    OnePersonReply,
    PeopleReply,
    RelationReply,
    RowsReply,
    RunBody,
    StartBody,
    TreeReply,
)
from kiwiresearch.web.problems import without_places
from kiwiresearch.web.replies import Json
from kiwiresearch.web.research import Limit, Offset
from kiwiresearch.web.research_replies import JobReply, case_url, job_record, job_url
from kiwiresearch.web.room import Room
from kiwiresearch.zim.entry import EntryRef

SCHEME = "zim://"
ALL_STEPS = RunBody()
UNREAD: dict[str, Any] = {
    name: [] if name == "seeds" else "" if name in ("title", "stop", "why") else 0
    for name in CaseReply.model_fields
    if name not in ("id", "privacy", "owner", "problem", "url")
}
"""What is said of a case that cannot be read."""

CaseId = Annotated[str, Path(max_length=40, description="The `id` of a case.", examples=["5f0c9a3be812"])]
Person = Annotated[str, Path(max_length=100, description="The `id` of a person of the case.")]
OnePerson = Annotated[str, Query(max_length=100, description="The `id` of a person of the case.")]
Direction = Annotated[Literal["ancestors", "descendants"], Query()]
Words = Annotated[Name, Query(description="Only people whose name holds this.")]


class Families:
    """What the routes of families share."""

    def __init__(self, room: Room, jobs: Jobs) -> None:
        self.room = room
        self.jobs = jobs
        self.cases = jobs.cases
        self.access = Access(room.desk.settings.serve)

    @contextlib.contextmanager
    def seen(self, request: Request, case: str, privacy: Mode | None) -> Iterator[tuple[SeenCase, Mode]]:
        """A case, and the mode in which this request may see it."""
        mode = self.access.mode(request, privacy)
        with self.cases.seen(case) as found:
            yield found, mode

    def record(self, request: Request, case: str, privacy: Mode | None = None) -> dict[str, Any]:
        mode = self.access.mode(request, privacy)
        return self._whole(request, case, mode, self.cases.summary(case, mode))

    def person(self, request: Request, case: str, person: str, privacy: Mode | None = None) -> dict[str, Any]:
        """A person with every fact and tie, the words that say so, and what speaks against it."""
        with self.seen(request, case, privacy) as (found, mode):
            tree = found.tree(mode)
            shown(tree, person)
            seed = next((one for one in found.seeds() if one in tree.persons and one != person), None)
            row = told.person_record(tree, person, Family(tree).kinship(seed, person).words if seed else "")
            facts = told.evidence_records(found, person, None, mode)
            conflicts = [one for one in told.conflict_records(found, mode) if one["person"] == person]
            why = living_record(found, person)["why"] if mode == "owner" else ""
        return row | {"facts": facts, "conflicts": conflicts, "living_why": why}

    def whose(self, request: Request, case: str) -> str:
        """Whom a case began with, for its owner; others are told on its page as much as they may know."""
        if not self.access.is_owner(request):
            return ""
        with contextlib.suppress(KiwiError), self.cases.seen(case) as found:
            return ", ".join(found.store.person(one).name for one in found.seeds())
        return ""

    def record_or_problem(self, request: Request, case: str) -> dict[str, Any]:
        """The same for a list, which a case that cannot be read does not spoil."""
        try:
            return self.record(request, case)
        except KiwiError as problem:
            return self._whole(request, case, self.access.mode(request), UNREAD, without_places(str(problem)))

    def _whole(
        self, request: Request, case: str, mode: Mode, known: dict[str, Any], problem: str = ""
    ) -> dict[str, Any]:
        whose = {"privacy": mode, "owner": self.access.is_owner(request)}
        return {"id": case, **known, **whose, "problem": problem, "url": case_url(case)}


def router(room: Room, jobs: Jobs) -> APIRouter:
    """All routes of families."""
    from kiwiresearch.web import family_change, family_files

    families = Families(room, jobs)
    routes = APIRouter(prefix="/api/family", tags=["family"])
    _add_cases(routes, families)
    _add_people(routes, families)
    _add_lists(routes, families)
    family_change.add(routes, families)
    family_files.add(routes, families)
    return routes


def _add_cases(routes: APIRouter, families: Families) -> None:
    @routes.get("", response_class=Json, responses={200: {"model": CasesReply}})
    def cases_there_are(request: Request, limit: Limit = 100, offset: Offset = 0) -> Response:
        """All cases of the server."""
        ids = families.cases.ids()
        shown = [families.record_or_problem(request, one) for one in ids[offset : offset + limit]]
        return Json({"cases": shown, "total": len(ids)})

    @routes.post("", status_code=201, response_class=Json, responses={201: {"model": CaseReply}})
    def start(request: Request, body: StartBody) -> Response:
        """Begin a case: find the people it is about, and read their pages. `run` goes on with it."""
        settings = body.settings(families.room.desk.settings.kin)
        with families.room.reading() as finder:
            case = families.cases.start(settings, finder)
        return Json(families.record(request, case), 201, {"Location": case_url(case)})

    @routes.get("/{case}", response_class=Json, responses={200: {"model": CaseReply}})
    def case_as_it_is(request: Request, case: CaseId, privacy: Privacy = None) -> Response:
        """A case in a few figures."""
        return Json(families.record(request, case, privacy))

    @routes.post("/{case}/run", status_code=202, response_class=Json, responses={202: {"model": JobReply}})
    def run(case: CaseId, body: RunBody = ALL_STEPS) -> Response:
        """Go on with a case; the answer is a job, which is followed, cancelled and resumed as those of research."""
        job = starting.start(families.jobs, FamilyWish(case, body.steps, body.model))
        return Json(job_record(job), 202, {"Location": job_url(job.id)})


def _add_people(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/people", response_class=Json, responses={200: {"model": PeopleReply}})
    def people(
        request: Request, case: CaseId, q: Words = "", privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> Response:
        """Everybody, the ones it began with first."""
        with families.seen(request, case, privacy) as (found, mode):
            ids = told.people_named(found, mode, q)
            rows = told.people_records(found, mode, ids[offset : offset + limit])
        return Json({"people": rows, "total": len(ids)})

    @routes.get("/{case}/people/{person}", response_class=Json, responses={200: {"model": OnePersonReply}})
    def one_person(request: Request, case: CaseId, person: Person, privacy: Privacy = None) -> Response:
        """A person with every fact and tie, the words that say so, where they are read, and what speaks against it."""
        row = families.person(request, case, person, privacy)
        for fact in row["facts"]:
            fact["evidence"] = [one | {"read": _read(families.room, one)} for one in fact["evidence"]]
        return Json(row)

    @routes.get("/{case}/people/{person}/line", response_class=Json, responses={200: {"model": LineReply}})
    def line(
        request: Request, case: CaseId, person: Person, of: Direction = "ancestors", privacy: Privacy = None
    ) -> Response:
        """The ancestors or descendants of a person, as rows that say how deep they stand."""
        with families.seen(request, case, privacy) as (found, mode):
            tree = found.tree(mode)
            return Json({"rows": told.branch_records(tree, shown(tree, person), down=of == "descendants")})

    @routes.get("/{case}/tree", response_class=Json, responses={200: {"model": TreeReply}})
    def tree(request: Request, case: CaseId, privacy: Privacy = None) -> Response:
        """Everybody and all ties, for a program that draws them."""
        with families.seen(request, case, privacy) as (found, mode):
            return Json(graph_record(found.tree(mode)))

    @routes.get("/{case}/relation", response_class=Json, responses={200: {"model": RelationReply}})
    def relation(
        request: Request, case: CaseId, first: OnePerson, second: OnePerson, privacy: Privacy = None
    ) -> Response:
        """What the second person is to the first, and the way there."""
        with families.seen(request, case, privacy) as (found, mode):
            pair = [shown(found.tree(mode), one) for one in (first, second)]
            return Json(told.relation_record(found, pair[0], pair[1], mode))


def _add_lists(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/timeline", response_class=Json, responses={200: {"model": RowsReply}})
    def timeline(
        request: Request, case: CaseId, privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> Response:
        """The events of everybody in the order of time, with ages."""
        with families.seen(request, case, privacy) as (found, mode):
            return _rows(told.timeline_records(found, mode), limit, offset)

    @routes.get("/{case}/conflicts", response_class=Json, responses={200: {"model": RowsReply}})
    def conflicts(
        request: Request, case: CaseId, privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> Response:
        """Values that cannot all be right, ranked with reasons, and what would settle it."""
        with families.seen(request, case, privacy) as (found, mode):
            return _rows(told.conflict_records(found, mode), limit, offset)

    @routes.get("/{case}/log", response_class=Json, responses={200: {"model": RowsReply}})
    def log(
        request: Request, case: CaseId, privacy: Privacy = None, limit: Limit = 100, offset: Offset = 0
    ) -> Response:
        """What was searched, also in vain; that is no evidence that there is nothing."""
        with families.seen(request, case, privacy) as (found, mode):
            return _rows(told.log_records(found, mode), limit, offset)

    @routes.get("/{case}/merges", response_class=Json, responses={200: {"model": MergesReply}})
    def merges(request: Request, case: CaseId, privacy: Privacy = None) -> Response:
        """Who was taken for one person and who may be, with what speaks for and against it."""
        with families.seen(request, case, privacy) as (found, mode):
            return Json(merges_record(found, found.tree(mode), found.mask(mode)))


def shown(tree: Tree, person: str) -> PersonId:
    """The id of a person whom the tree shows; one who is kept back is as unknown as one who never was."""
    if person not in tree.persons:
        raise NothingFound(f"There is no person {person!r} in this case.", remedy="Its '/people' lists them.")
    return person


def _rows(rows: list[dict[str, Any]], limit: int, offset: int) -> Response:
    return Json({"rows": rows[offset : offset + limit], "total": len(rows)})


def page_of(room: Room, evidence: dict[str, Any]) -> EntryRef | None:
    """The page of the shelf that a quote is from; a quote that is withheld leads nowhere."""
    book, _, path = evidence["url"].removeprefix(SCHEME).partition("/")
    found = next((one.id for one in room.shelf.books if one.id == book), None)
    if found is None or evidence["start"] < 0 or not evidence["url"].startswith(SCHEME):
        return None
    return EntryRef(found, path)


def _read(room: Room, evidence: dict[str, Any]) -> str:
    """Where the words of a quote are read."""
    ref = page_of(room, evidence)
    return room.page_url(ref, span=(evidence["start"], evidence["end"])) if ref else ""
