"""The people of a case, their relations, their conflicting values, and which records are one person."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any
from urllib.parse import quote as percent

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from kiwiresearch.cases import (
    PROOF_FILES,
    QUALIFIERS,
    ROLES,
    NamedConflict,
    NamedPerson,
    PersonRecord,
    ProofFormat,
    proof_file,
    proof_summary,
    record_builder,
    review,
    set_living,
)
from kiwiresearch.codec import extend
from kiwiresearch.kin import (
    DISCARDED,
    RELATION_FIELDS,
    FieldName,
    LivingStatus,
    Standing,
    Tree,
    ValueRank,
    confidence_level,
)
from kiwiresearch.kin.report import FIELD_LABELS, lifespan
from kiwiresearch.kin.store import ATTACHMENT_ROLES
from kiwiresearch.web.bodies import MAX_NAME
from kiwiresearch.web.context import catalogue_for
from kiwiresearch.web.desk.family_drawing import close_family
from kiwiresearch.web.desk.family_frame import (
    FamilyPages,
    LinkedEvidence,
    LinkedFact,
    birth_day,
    person_options,
    relatives_by_birth,
    sexes_in,
    sources_of,
)
from kiwiresearch.web.desk.pages import redirect
from kiwiresearch.web.desk.place_map import PlaceMap, place_map
from kiwiresearch.web.families import (
    CaseId,
    MergeDecision,
    MergeId,
    Person,
    decide_on_pair,
    undo_merge,
    visible_person,
)
from kiwiresearch.web.family_edits import attachments_of
from kiwiresearch.web.guard import requires_role
from kiwiresearch.web.runs import REPORT_POLICY

PEOPLE_PER_PAGE = 100
EDITABLE_FIELDS: tuple[FieldName, ...] = tuple(field for field in FIELD_LABELS if field not in RELATION_FIELDS)

NameQuery = Annotated[str, Query(max_length=MAX_NAME)]
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
ProofFormQuery = Annotated[ProofFormat, Query()]
Why = Annotated[str, Form(min_length=1, max_length=MAX_NAME)]


def add_people_pages(routes: APIRouter, pages: FamilyPages) -> None:
    _add_lists(routes, pages)
    _add_one(routes, pages)


def _add_lists(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/people")
    def people(request: Request, case: CaseId, q: NameQuery = "", offset: Offset = 0) -> Response:
        with pages.families.open_case(request, case, None) as (found, mode):
            ids = record_builder.people_named(found, mode, q)
            rows = record_builder.people_records(found, mode, ids[offset : offset + PEOPLE_PER_PAGE])
        values: dict[str, Any] = {"rows": rows, "total": len(ids), "offset": offset, "step": PEOPLE_PER_PAGE}
        return pages.show(request, "family_people.html", case, "people", q=q, **values)


def _map(pages: FamilyPages, request: Request, living: LivingStatus, facts: list[LinkedFact]) -> PlaceMap | None:
    """The places of a life; none of anybody who may be living."""
    return place_map(pages.context, catalogue_for(request), facts) if living == "deceased" else None


def _add_one(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/people/{person}")
    def one_person(request: Request, case: CaseId, person: Person) -> Response:
        row = pages.families.person(request, case, person)
        with pages.families.open_case(request, case, None) as (found, mode):
            events = record_builder.timeline_records(found, mode, person)
            people = person_options(found, mode)
            tree, close = found.tree(mode), close_family(pages, request, found, mode, person)
            files = attachments_of(found, case, person) if mode == "owner" else ()
        row = replace(row, siblings=tuple(sorted(row.siblings, key=lambda record: birth_day(tree, record.id))))
        facts = relatives_by_birth([pages.fact_with_links(fact) for fact in row.facts], tree)
        values: dict[str, Any] = {
            "person": row,
            "sexes": sexes_in(tree, facts, [*row.parents, *row.children, *row.siblings]),
            "sources": sources_of(facts),
            "groups": by_field(facts, [side_by_side(conflict, facts) for conflict in row.conflicts]),
            "events": events,
            "people": people,
            "close": close,
            "pictures": [file for file in files if file.role == "photo"],
            "documents": [file for file in files if file.role != "photo"],
            "roles": ROLES,
            "editable_fields": EDITABLE_FIELDS,
            "qualifiers": [qualifier for qualifier in QUALIFIERS if qualifier],
            "attachment_roles": ATTACHMENT_ROLES,
            "map": _map(pages, request, row.living, facts),
        }
        return pages.show(request, "family_person.html", case, "people", **values)

    @routes.get("/family/{case}/people/{person}/proof")
    def proof(request: Request, case: CaseId, person: Person, form: ProofFormQuery = "html") -> Response:
        with pages.families.open_case(request, case, None) as (found, mode):
            visible_person(found.tree(mode), person)
            content = proof_file(proof_summary(found, person, mode), form, catalogue_for(request))
        if form == "html":
            return Response(content, headers={"Content-Security-Policy": REPORT_POLICY}, media_type="text/html")
        name = f'attachment; filename="{PROOF_FILES[form]}"'
        return Response(content, headers={"Content-Disposition": name}, media_type="text/markdown; charset=utf-8")

    @routes.post("/family/{case}/people/{person}/living")
    @requires_role("researcher", "case")
    def living(
        request: Request, case: CaseId, person: Person, status: Annotated[LivingStatus, Form()], why: Why
    ) -> Response:
        pages.families.access.require_family_owner(request)
        with pages.families.cases.opened_for_edit(case) as found:
            set_living(found, visible_person(found.store.tree(), person), status, why)
        return redirect(f"/family/{case}/people/{percent(person)}")


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """A competing value with its rank, the reason for it, and its quotes."""

    value: str
    source: str
    rank: int
    reason: str
    quotes: tuple[LinkedEvidence, ...]
    standing: Standing
    facts: tuple[LinkedFact, ...]
    """The facts that state it, which the owner may change."""


@dataclass(frozen=True, slots=True)
class ConflictView(NamedConflict):
    """A conflict whose values are shown side by side."""

    values: tuple[ConflictSide, ...]


def side_by_side(conflict: NamedConflict, facts: list[LinkedFact]) -> ConflictView:
    """A conflict with its values in the order of their ranks, each with its quotes."""
    ranks = {value_rank.claim_index: value_rank for value_rank in conflict.evidence_ranking}
    sides = []
    for index, (assertion, claim) in enumerate(
        zip(conflict.competing_assertions, conflict.competing_claims, strict=True)
    ):
        value, confidence, rank = (
            assertion.value,
            assertion.confidence,
            ranks.get(index, ValueRank(index, index + 1, "")),
        )
        stated = [fact for fact in facts if (fact.field, fact.value) == (conflict.field, value)]
        quotes = tuple(evidence for fact in stated for evidence in fact.evidence)
        standing = (
            stated[0].standing
            if stated
            else Standing(
                "accepted" if conflict.recommended_value == value else "competing", confidence_level(confidence)
            )
        )
        side = ConflictSide(value, claim.source, rank.rank, rank.reason, quotes, standing, tuple(stated))
        sides.append(side)
    return extend(ConflictView, conflict, values=tuple(sorted(sides, key=lambda item: item.rank)))


@dataclass(frozen=True, slots=True)
class FieldView:
    """What is known about one field of a person: the values that cannot all be right, and all other facts."""

    field: FieldName
    conflict: ConflictView | None
    facts: tuple[LinkedFact, ...]
    entered: tuple[LinkedFact, ...]
    """What a person entered, which is shown apart from what books say."""


def by_field(facts: list[LinkedFact], conflicts: list[ConflictView]) -> list[FieldView]:
    """Facts grouped by field, preferred ones first; values of a conflict are only in the conflict."""
    conflict_of = {conflict.field: conflict for conflict in conflicts}
    values = {(conflict.field, side.value) for conflict in conflicts for side in conflict.values}
    found: dict[FieldName, list[LinkedFact]] = {}
    for fact in facts:
        found.setdefault(fact.field, []).append(fact)
    views = []
    for field, some in found.items():
        shown = [
            fact
            for fact in sorted(some, key=lambda linked_fact: not linked_fact.preferred)
            if (field, fact.value) not in values or fact.status in DISCARDED
        ]
        read, entered = (tuple(fact for fact in shown if is_entered(fact) is wanted) for wanted in (False, True))
        views.append(FieldView(field, conflict_of.get(field), read, entered))
    return views


def is_entered(fact: LinkedFact) -> bool:
    """Whether a person entered it."""
    return any(evidence.method == "user" for evidence in fact.evidence)


OptionalWhy = Annotated[str, Form(max_length=MAX_NAME)]
YesNo = Annotated[str, Form(max_length=8)]


def add_review_pages(routes: APIRouter, pages: FamilyPages) -> None:
    _add_pages(routes, pages)
    _add_decisions(routes, pages)


def _add_pages(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/conflicts")
    def conflicts(request: Request, case: CaseId) -> Response:
        with pages.families.open_case(request, case, None) as (found, mode):
            rows = record_builder.conflict_records(found, mode)
            facts = {
                conflict.person: record_builder.evidence_records(found, conflict.person, None, mode)
                for conflict in rows
            }
        shown = [
            side_by_side(conflict, [pages.fact_with_links(fact) for fact in facts[conflict.person]])
            for conflict in rows
        ]
        return pages.show(request, "family_conflicts.html", case, "conflicts", conflicts=shown)

    @routes.get("/family/{case}/merges")
    def merges(request: Request, case: CaseId) -> Response:
        with pages.families.open_case(request, case, None) as (found, mode):
            tree = found.tree(mode)
            record = review.merges_record(found, tree, found.mask(mode))
            waiting = [
                replace(proposed_merge_record, members=_compared_members(tree, proposed_merge_record.members))
                for proposed_merge_record in record.to_review
            ]
            reasons = review.user_reasons(found) if mode == "owner" else {}
            apart = [
                replace(separated_record, members=_compared_members(tree, separated_record.members))
                for separated_record in record.kept_apart
            ]
        values = {"waiting": waiting, "made": record.merges, "apart": apart, "reasons": reasons}
        return pages.show(request, "family_merges.html", case, "merges", **values)


@dataclass(frozen=True, slots=True)
class ComparedMember(NamedPerson):
    """A record that may be merged, with the facts about its person; a withheld person has none."""

    known: PersonRecord | None
    lived: str


def _compared_members(tree: Tree, members: tuple[NamedPerson, ...]) -> tuple[ComparedMember, ...]:
    return tuple(
        extend(
            ComparedMember, person, known=record_builder.person_record(tree, person.id), lived=lifespan(tree, person.id)
        )
        if person.id in tree.persons
        else extend(ComparedMember, person, known=None, lived="")
        for person in members
    )


def _add_decisions(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.post("/family/{case}/merges/{merge}/undo")
    @requires_role("researcher", "case")
    def undo(request: Request, case: CaseId, merge: MergeId, why: OptionalWhy = "", cascade: YesNo = "") -> Response:
        undo_merge(pages.families, request, case, merge, why.strip(), cascade=cascade == "yes")
        return redirect(f"/family/{case}/merges")

    @routes.post("/family/{case}/merges/{merge}/{decision}")
    @requires_role("researcher", "case")
    def decide(
        request: Request, case: CaseId, merge: MergeId, decision: MergeDecision, why: OptionalWhy = ""
    ) -> Response:
        decide_on_pair(pages.families, request, case, decision, merge, why.strip())
        return redirect(f"/family/{case}/merges")
