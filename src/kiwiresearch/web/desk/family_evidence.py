"""The evidence of a case, person by person, and the proof that all of it holds."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.report.words import FIELDS
from kiwiresearch.kin.tree import PersonId, Tree
from kiwiresearch.research import family_told as told
from kiwiresearch.web.desk.family_choices import ids_in_order, people_of
from kiwiresearch.web.desk.family_frame import FamilyDesk
from kiwiresearch.web.family import CaseId, shown
from kiwiresearch.web.family_files import Head, proved

PEOPLE_A_PAGE = 10

OneOf = Annotated[str, Query(max_length=100)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
Wanted = Annotated[str, Query(max_length=40)]
Asked = Annotated[str, Query(max_length=8)]


def add(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.get("/family/{case}/evidence")
    def evidence(
        request: Request, case: CaseId, person: OneOf = "", field: Wanted = "", offset: Offset = 0
    ) -> Response:
        wanted: FieldName | None = told.checked_field(field) if field else None
        with desk.families.seen(request, case, None) as (found, mode):
            tree = found.tree(mode)
            ids = (shown(tree, person),) if person else ids_in_order(found, tree)
            if wanted:
                ids = tuple(filter(spoken_of(found.tree(mode, everything=True), wanted).__contains__, ids))
            some = ids[offset : offset + PEOPLE_A_PAGE]
            facts = [(tree.persons[one], told.evidence_records(found, one, wanted, mode)) for one in some]
            people = people_of(found, mode, person)
        values: dict[str, Any] = {
            "rows": [(who, [desk.told(fact) for fact in said]) for who, said in facts],
            "people": people,
            "fields": list(FIELDS),
            "person": person,
            "field": wanted or "",
            "total": len(ids),
            "offset": offset,
            "step": PEOPLE_A_PAGE,
        }
        return desk.show(request, "family_evidence.html", case, "evidence", **values)

    @routes.get("/family/{case}/audit")
    def audit(request: Request, case: CaseId, check: Asked = "", head: Head = "") -> Response:
        proof = proved(desk.families, request, case, head.strip()) if check else None
        return desk.show(request, "family_audit.html", case, "audit", proof=proof, head=head)


def spoken_of(tree: Tree, field: FieldName) -> set[PersonId]:
    """The people of whom something is told in a field."""
    parent: dict[str, FieldName] = {"male": "father", "female": "mother", "": "parent"}
    found = {fact.person for fact in tree.facts if fact.field == field}
    for tie in tree.relationships:
        if tie.first not in tree.persons or tie.second not in tree.persons:
            continue
        if tie.kind != "parent_of":
            found |= {tie.first, tie.second} if tie.kind == f"{field}_of" else set()
        elif field == "child":
            found.add(tie.first)
        elif field == parent[tree.persons[tie.first].sex]:
            found.add(tie.second)
    return found
