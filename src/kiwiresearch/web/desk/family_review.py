"""What people decide: values that cannot all be right, and who is one person."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from kiwiresearch.kin.report.words import lifespan
from kiwiresearch.kin.tree import Tree
from kiwiresearch.research import family_merges
from kiwiresearch.research import family_told as told
from kiwiresearch.web.bodies import MOST_NAME
from kiwiresearch.web.desk.family_frame import FamilyDesk
from kiwiresearch.web.desk.family_people import side_by_side
from kiwiresearch.web.desk.pages import go_to
from kiwiresearch.web.family import CaseId
from kiwiresearch.web.family_change import Among, Decide, MergeId, known

Why = Annotated[str, Form(max_length=MOST_NAME)]
Choice = Annotated[str, Form(max_length=8)]


def add(routes: APIRouter, desk: FamilyDesk) -> None:
    _add_pages(routes, desk)
    _add_decisions(routes, desk)


def _add_pages(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.get("/family/{case}/conflicts")
    def conflicts(request: Request, case: CaseId) -> Response:
        with desk.families.seen(request, case, None) as (found, mode):
            rows = told.conflict_records(found, mode)
            facts = {one["person"]: told.evidence_records(found, one["person"], None, mode) for one in rows}
        shown = [side_by_side(one, [desk.told(fact) for fact in facts[one["person"]]]) for one in rows]
        return desk.show(request, "family_conflicts.html", case, "conflicts", conflicts=shown)

    @routes.get("/family/{case}/merges")
    def merges(request: Request, case: CaseId) -> Response:
        with desk.families.seen(request, case, None) as (found, mode):
            tree = found.tree(mode)
            record = family_merges.merges_record(found, tree, found.mask(mode))
            waiting = [one | {"members": _both(tree, one["members"])} for one in record["to_review"]]
            reasons = family_merges.reasons_given(found) if mode == "owner" else {}
            apart = [one | {"members": _both(tree, one["members"])} for one in record["kept_apart"]]
        values = {"waiting": waiting, "made": record["merges"], "apart": apart, "reasons": reasons}
        return desk.show(request, "family_merges.html", case, "merges", **values)


def _both(tree: Tree, members: list[dict[str, str]]) -> list[dict[str, Any]]:
    """Each with what is known of them, so that they can be compared; of who is kept back, nothing is."""
    known_of = [told.person_record(tree, one["id"]) if one["id"] in tree.persons else {} for one in members]
    lived = [lifespan(tree, one["id"]) if one["id"] in tree.persons else "" for one in members]
    return [
        {**one, "known": record, "lived": years} for one, record, years in zip(members, known_of, lived, strict=True)
    ]


def _add_decisions(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.post("/family/{case}/merges/{merge}/accept")
    def accept(request: Request, case: CaseId, merge: MergeId, why: Why = "") -> Response:
        return _decided(desk, request, case, merge, family_merges.to_review, family_merges.accept, why)

    @routes.post("/family/{case}/merges/{merge}/reject")
    def reject(request: Request, case: CaseId, merge: MergeId, why: Why = "") -> Response:
        return _decided(desk, request, case, merge, family_merges.to_review, family_merges.reject, why)

    @routes.post("/family/{case}/merges/{merge}/take-back")
    def take_back(request: Request, case: CaseId, merge: MergeId, why: Why = "") -> Response:
        return _decided(desk, request, case, merge, family_merges.kept_apart, family_merges.take_back, why)

    @routes.post("/family/{case}/merges/{merge}/undo")
    def undo(request: Request, case: CaseId, merge: MergeId, why: Why = "", cascade: Choice = "") -> Response:
        desk.families.access.owner(request)
        with desk.families.cases.changing(case) as found:
            known(merge, [one.id for one in found.store.merges()])
            family_merges.undo(found, merge, why.strip(), cascade=cascade == "yes")
        return go_to(f"/family/{case}/merges")


def _decided(
    desk: FamilyDesk, request: Request, case: str, merge: str, among: Among, decide: Decide, why: str
) -> Response:
    """Decide upon two people of some pairs. Only the owner may."""
    desk.families.access.owner(request)
    with desk.families.cases.changing(case) as found:
        known(merge, [one.id for one in among(found)])
        decide(found, merge, why.strip())
    return go_to(f"/family/{case}/merges")
