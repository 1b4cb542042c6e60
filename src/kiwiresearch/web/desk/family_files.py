"""Families as files: what a case is written to, and how the tree of another program comes in."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.errors import KiwiError
from kiwiresearch.kin.gedcom.read import LARGEST
from kiwiresearch.kin.privacy.redact import MODES, Mode
from kiwiresearch.research.family_forms import ENDINGS, Form
from kiwiresearch.web.desk.family_frame import FamilyDesk
from kiwiresearch.web.desk.family_upload import file_of
from kiwiresearch.web.desk.pages import go_to
from kiwiresearch.web.family import CaseId
from kiwiresearch.web.family_files import exported, heard_out, taken
from kiwiresearch.web.problems import Refused

Privacy = Annotated[Mode, Query()]
Wanted = Annotated[Form, Query()]


def add(routes: APIRouter, desk: FamilyDesk) -> None:
    """Import comes first: its address is no case."""
    _add_in(routes, desk)
    _add_out(routes, desk)


def _add_in(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.get("/family/import")
    def new_import() -> Response:
        return go_to("/family#import")

    @routes.post("/family/import")
    async def import_new(request: Request) -> Response:
        return await _taken(desk, request, "")

    @routes.get("/family/{case}/import")
    def import_page(request: Request, case: CaseId) -> Response:
        return desk.show(request, "family_import.html", case, "files", largest=LARGEST)

    @routes.post("/family/{case}/import")
    async def import_into(request: Request, case: CaseId) -> Response:
        return await _taken(desk, request, case)


async def _taken(desk: FamilyDesk, request: Request, case: str) -> Response:
    """Pass the file on as it comes; who may not send one is told so before anything of it is kept."""
    stream = request.stream()
    try:
        desk.families.access.owner(request)
        file = await file_of(request, stream)
        job = await taken(desk.families, request, case, file.name, file.parts)
    except (Refused, KiwiError):
        await heard_out(stream)
        raise
    return go_to(f"/research/{job.id}")


def _add_out(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.get("/family/{case}/export")
    def export_page(request: Request, case: CaseId) -> Response:
        modes = MODES if desk.families.access.is_owner(request) else MODES[MODES.index("public") :]
        values = {"forms": list(ENDINGS.items()), "modes": modes}
        return desk.show(request, "family_export.html", case, "files", **values)

    @routes.get("/family/{case}/file")
    def file(request: Request, case: CaseId, form: Wanted, privacy: Privacy = "public") -> Response:
        return exported(desk.families, request, case, form, privacy)
