"""Routes for changing a family: edits with undo and redo, and files attached to people. Only the owner may."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Iterator
from typing import Annotated, Any
from urllib.parse import quote as percent

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from kiwiresearch.cases import MAX_ATTACHMENT_BYTES, PICTURES, Basis, Case, EditRecord, edit_history, editing
from kiwiresearch.errors import KiwiError, NothingFound
from kiwiresearch.kin import PersonId
from kiwiresearch.kin.store import Attachment, AttachmentRole
from kiwiresearch.web import family_edit_models as models
from kiwiresearch.web.bodies import Name
from kiwiresearch.web.families import PREFIX, CaseId, Families, Person, visible_person
from kiwiresearch.web.family_files import CLOSE_CONNECTION, PART_TIMEOUT_S, drain_body, next_part
from kiwiresearch.web.guard import RoleRouter, current_visitor, requires_role
from kiwiresearch.web.problems import Refused
from kiwiresearch.web.replies import Json, JsonRoute
from kiwiresearch.web.runs import SANDBOX_POLICY, Limit, Offset

EditId = Annotated[str, InPath(max_length=100, description="The `id` of a change.")]
AttachmentId = Annotated[str, InPath(max_length=100, description="The `id` of an attachment.")]
FileName = Annotated[Name, Query(description="The name of the file.")]
Role = Annotated[AttachmentRole, Query(description="A picture of the person, or a scan or transcript of a source.")]
Caption = Annotated[Name, Query(description="What it shows.")]
SourceOf = Annotated[Name, Query(description="The `id` of the source that it is a scan of.")]
UNDO_ONE = models.UndoEditBody()
FILE_DOC: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {}}, "description": "The file, as it was attached."}
}
UPLOAD_DOC: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A PNG, JPEG, WebP, GIF, PDF or text file of at most "
        f"{MAX_ATTACHMENT_BYTES // 2**20} MB. Positions and comments in pictures are not stored.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@contextlib.contextmanager
def editing_case(families: Families, request: Request, case: str, *, with_books: bool = False) -> Iterator[Case]:
    """A case for a change by its owner, which research on it does not hinder."""
    families.access.require_family_owner(request)
    with contextlib.ExitStack() as stack:
        found = stack.enter_context(families.cases.opened_for_edit(case))
        if with_books:
            found.finder = stack.enter_context(families.context.locked_finder())
        yield found


def make_edit(families: Families, request: Request, case: str, body: models.EditBody) -> models.EditReply:
    """Make a change in the name of the visitor."""
    # The books, which others may be using, are needed only for a quote from a page.
    with editing_case(families, request, case, with_books=bool(body.page)) as found:
        with found.store.step("user"):
            person = body.apply(found, body.basis(current_visitor().name))
            latest = edit_history.history(found, found.tree())[0]
        return models.EditReply(latest, person)


def undo_edit(families: Families, request: Request, case: str, edit: str, *, cascade: bool) -> tuple[EditRecord, ...]:
    with editing_case(families, request, case) as found:
        undone = {one.id for one in edit_history.undo(found, edit, cascade=cascade)}
        return tuple(record for record in edit_history.history(found, found.tree()) if record.id in undone)


def redo_edit(families: Families, request: Request, case: str, edit: str) -> EditRecord:
    with editing_case(families, request, case) as found:
        redone = edit_history.redo(found, edit).id
        return next(record for record in edit_history.history(found, found.tree()) if record.id == redone)


def attachments_of(case: Case, case_id: str, person: PersonId) -> tuple[models.AttachmentRecord, ...]:
    """The files of a person. For the owner only, since a picture or its name may show anybody."""
    return tuple(
        models.AttachmentRecord(
            item.id,
            item.role,
            item.name,
            item.caption,
            item.media_type,
            item.source,
            item.added_at,
            f"{PREFIX}/{case_id}/attachments/{item.id}",
        )
        for item in case.store.attachments.all()
        if item.person == person
    )


def attachment_response(families: Families, request: Request, case: str, attachment: str) -> Response:
    """A file as it is, for its owner; it can do nothing in a browser, and only pictures are shown there."""
    with families.open_case(request, case, None) as (found, mode):
        item = _attachment(found, attachment) if mode == "owner" else None
        if item is None or item.person not in found.tree(mode).persons:
            raise NothingFound("The file was not found.", remedy="It may have been detached.")
        body = found.store.attachments.content(item.id)
    shown = "inline" if item.media_type in PICTURES else "attachment"
    kind = f"{item.media_type}; charset=utf-8" if item.media_type.startswith("text/") else item.media_type
    headers = {
        "Content-Disposition": f"{shown}; filename*=UTF-8''{percent(item.name, safe='')}",
        "Content-Security-Policy": SANDBOX_POLICY,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-cache",
    }
    return Response(body, headers=headers, media_type=kind)


def _attachment(case: Case, wanted: str) -> Attachment | None:
    return next((item for item in case.store.attachments.all() if item.id == wanted), None)


async def receive_attachment(
    families: Families,
    request: Request,
    case: str,
    person: PersonId,
    name: str,
    parts: AsyncGenerator[bytes, None],
    *,
    role: AttachmentRole = "photo",
    caption: str = "",
    source: str = "",
    note: str = "",
) -> str:
    """Receive a file, attach it to a person, and return the id of the change. Only the owner may."""
    try:
        families.access.require_family_owner(request)
        body = await _received(parts)
    except (Refused, KiwiError):
        await drain_body(parts)
        raise
    basis = Basis(note=note, author=current_visitor().name)

    def attach() -> str:
        with editing_case(families, request, case) as found:
            visible_person(found.tree(), person)
            editing.attach(found, person, body, name, basis, role=role, caption=caption, source=source)
            return found.store.edits.all()[-1].id

    return await run_in_threadpool(attach)


async def _received(parts: AsyncGenerator[bytes, None]) -> bytes:
    body = bytearray()
    try:
        while (data := await next_part(parts, PART_TIMEOUT_S)) is not None:
            body += data
            if len(body) > MAX_ATTACHMENT_BYTES:
                most = f"A file can be {MAX_ATTACHMENT_BYTES // 2**20} MB at most."
                raise Refused(413, most, "Choose a smaller file.", CLOSE_CONNECTION)
    except TimeoutError as problem:
        raise Refused(408, "The file did not arrive in time.", "Send it again.", CLOSE_CONNECTION) from problem
    return bytes(body)


def router(families: Families) -> APIRouter:
    """The routes for changes of families."""
    routes = RoleRouter("reader", prefix=PREFIX, tags=["family"], route_class=JsonRoute)
    _add_edits(routes, families)
    _add_attachments(routes, families)
    return routes


def _add_edits(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/edits")
    def edits(request: Request, case: CaseId, limit: Limit = 100, offset: Offset = 0) -> models.EditsReply:
        """All changes, the latest first. Only the owner sees what was entered, by whom and why."""
        with families.open_case(request, case, None) as (found, mode):
            rows = edit_history.history(found, found.tree(mode))
        return models.EditsReply(rows[offset : offset + limit], len(rows))

    @routes.post("/{case}/edits", status_code=201, response_model=models.EditReply)
    @requires_role("researcher", "case")
    def make(request: Request, case: CaseId, body: models.EditRequest) -> models.EditReply:
        """Change a family: people, names, facts, relationships. Research may be running. Only the owner can."""
        return make_edit(families, request, case, body)

    @routes.post("/{case}/edits/{edit}/undo")
    @requires_role("researcher", "case")
    def undo(request: Request, case: CaseId, edit: EditId, body: models.UndoEditBody = UNDO_ONE) -> models.EditsReply:
        """Undo a change. Only the owner can."""
        undone = undo_edit(families, request, case, edit, cascade=body.cascade)
        return models.EditsReply(undone, len(undone))

    @routes.post("/{case}/edits/{edit}/redo")
    @requires_role("researcher", "case")
    def redo(request: Request, case: CaseId, edit: EditId) -> EditRecord:
        """Make an undone change again. Only the owner can."""
        return redo_edit(families, request, case, edit)


def _add_attachments(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/people/{person}/attachments")
    def attachments(request: Request, case: CaseId, person: Person) -> models.AttachmentsReply:
        """The files attached to a person. Others than the owner see none."""
        with families.open_case(request, case, None) as (found, mode):
            visible_person(found.tree(mode), person)
            return models.AttachmentsReply(attachments_of(found, case, person) if mode == "owner" else ())

    @routes.post(
        "/{case}/people/{person}/attachments",
        status_code=201,
        response_model=models.EditReply,
        openapi_extra=UPLOAD_DOC,
    )
    @requires_role("researcher", "case")
    async def attach(
        request: Request,
        case: CaseId,
        person: Person,
        name: FileName = "file",
        role: Role = "photo",
        caption: Caption = "",
        source: SourceOf = "",
    ) -> Response:
        """Attach a file to a person. The reply is the change. Only the owner can."""
        made = await receive_attachment(
            families, request, case, person, name, request.stream(), role=role, caption=caption, source=source
        )
        return await run_in_threadpool(_made_reply, families, request, case, made, person)

    @routes.get("/{case}/attachments/{attachment}", response_class=Response, responses=FILE_DOC)
    def attachment(request: Request, case: CaseId, attachment: AttachmentId) -> Response:
        """An attached file. Only the owner gets it."""
        return attachment_response(families, request, case, attachment)


def _made_reply(families: Families, request: Request, case: str, edit: str, person: str) -> Response:
    with families.open_case(request, case, None) as (found, mode):
        record = next(item for item in edit_history.history(found, found.tree(mode)) if item.id == edit)
    return Json(models.EditReply(record, person), 201)
