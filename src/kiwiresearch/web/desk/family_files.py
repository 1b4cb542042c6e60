"""Family files: downloads in each format, and the upload of a GEDCOM file, read as it arrives."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.cases import FILE_NAMES, CaseFormat, import_records, proposed_merges
from kiwiresearch.errors import KiwiError
from kiwiresearch.kin.gedcom import EXPORT_AGAIN, MAX_FILE_BYTES
from kiwiresearch.kin.privacy import PrivacyMode
from kiwiresearch.web.desk.family_frame import FamilyPages
from kiwiresearch.web.desk.form_file import uploaded_file
from kiwiresearch.web.desk.pages import redirect
from kiwiresearch.web.families import CaseId
from kiwiresearch.web.family_files import drain_body, export_response, receive_upload
from kiwiresearch.web.guard import requires_role
from kiwiresearch.web.problems import Refused

Privacy = Annotated[PrivacyMode, Query()]
FormatQuery = Annotated[CaseFormat, Query()]


def add_file_pages(routes: APIRouter, pages: FamilyPages) -> None:
    """Add the routes for files; imports come first, since 'import' would also match as the id of a case."""
    _add_in(routes, pages)
    _add_out(routes, pages)


def _add_in(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/import")
    @requires_role("researcher", "case")
    def new_import() -> Response:
        return redirect("/family#import")

    @routes.post("/family/import")
    @requires_role("researcher", "case")
    async def import_new(request: Request) -> Response:
        return await _receive_file(pages, request, "")

    @routes.get("/family/{case}/import")
    @requires_role("researcher", "case")
    def import_page(request: Request, case: CaseId) -> Response:
        with pages.families.open_case(request, case, None) as (found, mode):
            # The reports are for the owner: names of files, and what is wrong in them, may name living people.
            reports = import_records(found.store) if mode == "owner" else ()
            waiting = len(proposed_merges(found)) if reports else 0
        values = {"reports": reports, "waiting": waiting}
        return pages.show(request, "family_import.html", case, "import", largest=MAX_FILE_BYTES, **values)

    @routes.post("/family/{case}/import")
    @requires_role("researcher", "case")
    async def import_into(request: Request, case: CaseId) -> Response:
        return await _receive_file(pages, request, case)


async def _receive_file(pages: FamilyPages, request: Request, case: str) -> Response:
    """Pass the file on as it arrives; only the owner may send one, which is checked before any of it is stored."""
    stream = request.stream()
    try:
        pages.families.access.require_family_owner(request)
        file = await uploaded_file(request, stream, empty_remedy=EXPORT_AGAIN)
        job = await receive_upload(pages.families, request, case, file.name, file.parts)
    except (Refused, KiwiError):
        await drain_body(stream)
        raise
    return redirect(f"/research/{job.id}")


def _add_out(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/export")
    def export_page(request: Request, case: CaseId) -> Response:
        values = {"forms": list(FILE_NAMES.items()), "modes": pages.allowed_modes(request)}
        return pages.show(request, "family_export.html", case, "export", **values)

    @routes.get("/family/{case}/file")
    @requires_role("reader", "export")
    def file(request: Request, case: CaseId, form: FormatQuery, privacy: Privacy = "public") -> Response:
        return export_response(pages.families, request, case, form, privacy)
