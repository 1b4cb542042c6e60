"""Changing a family by forms: people, facts, relationships, pictures, with undo and redo, and all changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote as percent
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kiwiresearch.cases import edit_history, record_builder, statements
from kiwiresearch.errors import BadUsage, KiwiError, OutOfDate
from kiwiresearch.kin.report import FIELD_LABELS
from kiwiresearch.kin.store import ATTACHMENT_ROLES, AttachmentRole, EditKind
from kiwiresearch.web.bodies import MAX_NAME
from kiwiresearch.web.desk.family_frame import FamilyPages
from kiwiresearch.web.desk.form_file import CHOOSE, uploaded_file
from kiwiresearch.web.desk.pages import redirect
from kiwiresearch.web.families import CaseId, Person
from kiwiresearch.web.family_edit_models import EDIT_FORM
from kiwiresearch.web.family_edits import (
    AttachmentId,
    EditId,
    attachment_response,
    make_edit,
    receive_attachment,
    redo_edit,
    undo_edit,
)
from kiwiresearch.web.family_files import drain_body
from kiwiresearch.web.guard import requires_role
from kiwiresearch.web.problems import Refused

CHANGES_PER_PAGE = 50
MAX_FIELDS = 1_200
Offset = Annotated[int, Query(ge=0, le=10_000_000)]
YesNo = Annotated[str, Form(max_length=8)]
BackTo = Annotated[str, Form(max_length=100)]


def add_edit_pages(routes: APIRouter, pages: FamilyPages) -> None:
    _add_changes(routes, pages)
    _add_edits(routes, pages)
    _add_files(routes, pages)


def _add_changes(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/changes")
    def changes(request: Request, case: CaseId, offset: Offset = 0) -> Response:
        with pages.families.open_case(request, case, None) as (found, mode):
            rows = edit_history.history(found, found.tree(mode))
        shown = rows[offset : offset + CHANGES_PER_PAGE]
        values: dict[str, Any] = {"total": len(rows), "offset": offset, "step": CHANGES_PER_PAGE}
        return pages.show(request, "family_changes.html", case, "changes", rows=shown, **values)


def _add_edits(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.post("/family/{case}/edits")
    @requires_role("researcher", "case")
    async def edit(request: Request, case: CaseId) -> Response:
        sent = await request.form(max_fields=MAX_FIELDS)
        given: dict[str, Any] = {name: str(value) for name, value in sent.items() if value != ""}
        if "facts" in given:
            given["facts"] = [str(value) for value in sent.getlist("facts")]
        return await run_in_threadpool(_make, pages, request, case, given)

    @routes.post("/family/{case}/edits/{edit}/undo")
    @requires_role("researcher", "case")
    def undo(request: Request, case: CaseId, edit: EditId, person: BackTo = "", cascade: YesNo = "") -> Response:
        undo_edit(pages.families, request, case, edit, cascade=cascade == "yes")
        return _back(pages, request, case, person, undone=edit)

    @routes.post("/family/{case}/edits/{edit}/redo")
    @requires_role("researcher", "case")
    def redo(request: Request, case: CaseId, edit: EditId, person: BackTo = "") -> Response:
        redo_edit(pages.families, request, case, edit)
        return _back(pages, request, case, person, made=edit)


def _make(pages: FamilyPages, request: Request, case: str, given: dict[str, Any]) -> Response:
    pages.families.access.require_family_owner(request)
    # A form sends texts, and the model of the API accepts only a number.
    if "seen" in given and given["seen"].isdecimal():
        given["seen"] = int(given["seen"])
    try:
        body = EDIT_FORM.validate_python(given)
    except ValidationError as problem:
        fields = ", ".join(sorted({str(error["loc"][-1]) for error in problem.errors() if error["loc"]}))
        raise BadUsage(f"Something is missing or too long: {fields}.", remedy="Fill in the form again.") from problem
    try:
        made = make_edit(pages.families, request, case, body)
    except OutOfDate:
        return _changed_since(pages, request, case, given)
    return _back(pages, request, case, made.person, made=made.edit.id)


KINDS: Mapping[str, EditKind] = {
    "add_relative": "add_person",
    "remove": "remove_fact",
    "accept": "accept_fact",
    "prefer": "prefer_fact",
}
"""The kinds of edits whose forms are called otherwise."""
SHOWN = frozenset({"field", "value", "name", "sex", "role", "since", "until"})


def _changed_since(pages: FamilyPages, request: Request, case: str, given: dict[str, Any]) -> Response:
    """Both changes side by side: what the visitor wrote, and what others changed since. It may be made all the same."""
    with pages.families.open_case(request, case, None) as (found, mode):
        tree = found.tree(mode)
        details = {name: value for name, value in given.items() if name in SHOWN}
        people = [given[name] for name in ("person", "other") if name in given]
        if "other" in given and given["other"] in tree.persons:
            details["name"] = tree.persons[given["other"]].name
        if "id" in given and (item := statements.find_statement_or_none(found, given["id"])):
            people, details = [*people, *item.people], item.details | details
        wanted = next((field for field in FIELD_LABELS if field == details.get("field")), None)
        person = next((one for one in people if one in tree.persons), "")
        facts = record_builder.evidence_records(found, person, wanted, mode) if wanted and person else ()
        values: dict[str, Any] = {
            "since": edit_history.edits_since(found, tree, given["seen"], *people),
            "seen": edit_history.version_of(found, *people),
            "person": person,
        }
    mine = {"kind": KINDS.get(given["kind"], given["kind"]), "details": details, "note": given.get("note", "")}
    now = [pages.fact_with_links(fact) for fact in facts]
    return pages.show(
        request, "family_changed.html", case, "changes", status=409, mine=mine, given=given, now=now, **values
    )


def _back(pages: FamilyPages, request: Request, case: str, person: str, **notice: str) -> Response:
    """The page of a person after a change, or all changes if the person is not there any more."""
    with pages.families.open_case(request, case, None) as (found, mode):
        person = found.store.canonical_or_same(person)
        part = f"people/{percent(person)}" if person in found.tree(mode).persons else "changes"
    return redirect(f"/family/{case}/{part}?{urlencode(notice)}")


def _add_files(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.post("/family/{case}/people/{person}/attachments")
    @requires_role("researcher", "case")
    async def attach(request: Request, case: CaseId, person: Person) -> Response:
        stream = request.stream()
        try:
            pages.families.access.require_family_owner(request)
            file = await uploaded_file(request, stream, empty_remedy=CHOOSE)
        except (Refused, KiwiError):
            await drain_body(stream)
            raise
        role: AttachmentRole = next((one for one in ATTACHMENT_ROLES if one == file.fields.get("role")), "photo")
        caption, note = (file.fields.get(name, "")[:MAX_NAME] for name in ("caption", "note"))
        made = await receive_attachment(
            pages.families, request, case, person, file.name, file.parts, role=role, caption=caption, note=note
        )
        return await run_in_threadpool(_back, pages, request, case, person, made=made)

    @routes.get("/family/{case}/attachments/{attachment}")
    def attachment(request: Request, case: CaseId, attachment: AttachmentId) -> Response:
        return attachment_response(pages.families, request, case, attachment)
