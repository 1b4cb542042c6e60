"""The people of a case: all of them, one with every proof, and what two are to each other."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote as percent

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from kiwiresearch.kin.fields import Living
from kiwiresearch.research import family_told as told
from kiwiresearch.research.family_living import set_living
from kiwiresearch.web.bodies import MOST_NAME
from kiwiresearch.web.desk.family_choices import people_of
from kiwiresearch.web.desk.family_frame import FamilyDesk
from kiwiresearch.web.desk.pages import go_to
from kiwiresearch.web.family import CaseId, Person, shown

PEOPLE_A_PAGE = 100

Words = Annotated[str, Query(max_length=MOST_NAME)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
OneOf = Annotated[str, Query(max_length=100)]
Why = Annotated[str, Form(min_length=1, max_length=MOST_NAME)]


def add(routes: APIRouter, desk: FamilyDesk) -> None:
    _add_lists(routes, desk)
    _add_one(routes, desk)


def _add_lists(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.get("/family/{case}/people")
    def people(request: Request, case: CaseId, q: Words = "", offset: Offset = 0) -> Response:
        with desk.families.seen(request, case, None) as (found, mode):
            ids = told.people_named(found, mode, q)
            rows = told.people_records(found, mode, ids[offset : offset + PEOPLE_A_PAGE])
        values: dict[str, Any] = {"rows": rows, "total": len(ids), "offset": offset, "step": PEOPLE_A_PAGE}
        return desk.show(request, "family_people.html", case, "people", q=q, **values)

    @routes.get("/family/{case}/relation")
    def relation(request: Request, case: CaseId, first: OneOf = "", second: OneOf = "") -> Response:
        with desk.families.seen(request, case, None) as (found, mode):
            tree, people = found.tree(mode), people_of(found, mode, second)
            pair = [shown(tree, one) for one in (first, second) if one]
            kin = told.relation_record(found, pair[0], pair[1], mode) if len(pair) == 2 else None
        values = {"people": people, "kin": kin, "first": first, "second": second}
        return desk.show(request, "family_relation.html", case, "people", **values)


def _add_one(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.get("/family/{case}/people/{person}")
    def one_person(request: Request, case: CaseId, person: Person) -> Response:
        row = desk.families.person(request, case, person)
        with desk.families.seen(request, case, None) as (found, mode):
            events = told.timeline_records(found, mode, person)
            people = people_of(found, mode)
        facts = [desk.told(fact) for fact in row["facts"]]
        values: dict[str, Any] = {
            "person": row,
            "groups": by_field(facts),
            "conflicts": [side_by_side(one, facts) for one in row["conflicts"]],
            "events": events,
            "people": people,
        }
        return desk.show(request, "family_person.html", case, "people", **values)

    @routes.post("/family/{case}/people/{person}/living")
    def living(request: Request, case: CaseId, person: Person, status: Annotated[Living, Form()], why: Why) -> Response:
        desk.families.access.owner(request)
        with desk.families.cases.changing(case) as found:
            set_living(found, shown(found.store.tree(), person), status, why)
        return go_to(f"/family/{case}/people/{percent(person)}")


def by_field(facts: list[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Facts below their fields, what is held first."""
    found: dict[str, list[dict[str, Any]]] = {}
    for fact in facts:
        found.setdefault(fact["field"], []).append(fact)
    return [(field, sorted(some, key=lambda one: not one["preferred"])) for field, some in found.items()]


def side_by_side(conflict: dict[str, Any], facts: list[dict[str, Any]]) -> dict[str, Any]:
    """A conflict whose values stand beside each other: each with its rank, the reason for it, and its quotes."""
    ranks = {one["claim_index"]: one for one in conflict["evidence_ranking"]}
    values = []
    for index, (assertion, claim) in enumerate(
        zip(conflict["competing_assertions"], conflict["competing_claims"], strict=True)
    ):
        value = assertion["value"]
        said = [fact for fact in facts if fact["field"] == conflict["field"] and fact["value"] == value]
        rank = ranks.get(index, {"rank": index + 1, "reason": ""})
        quotes = [one for fact in said for one in fact["evidence"]]
        preferred = conflict["recommended_value"] == value
        values.append(assertion | claim | rank | {"quotes": quotes, "preferred": preferred})
    return conflict | {"values": sorted(values, key=lambda one: int(one["rank"]))}
