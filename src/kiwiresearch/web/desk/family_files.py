"""Family files: downloads in each format, and the upload of a GEDCOM file, read as it arrives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated

import anyio
from fastapi import APIRouter, Query, Request
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.responses import Response

from kiwiresearch.cases import FILE_NAMES, CaseFormat
from kiwiresearch.errors import BadUsage, KiwiError
from kiwiresearch.kin.gedcom import EXPORT_AGAIN, MAX_FILE_BYTES
from kiwiresearch.kin.privacy import MODES, Mode
from kiwiresearch.web.desk.family_frame import FamilyPages
from kiwiresearch.web.desk.pages import redirect
from kiwiresearch.web.families import CaseId
from kiwiresearch.web.family_files import CLOSE_CONNECTION, PART_TIMEOUT_S, drain_body, export_response, receive_upload
from kiwiresearch.web.guard import allow
from kiwiresearch.web.problems import Refused

FIELD = b"file"
MAX_FORM_OVERHEAD = 64 * 1024
"""How many bytes a form may have apart from its file."""
CHOOSE = "Choose a file, and send the form again."


@dataclass(frozen=True, slots=True)
class FormFile:
    """The file of a form: its name, and its content as it arrives."""

    name: str
    parts: AsyncGenerator[bytes, None]


@dataclass(slots=True)
class _FormParts:
    """The parts of the form that the parser has found so far."""

    name: str = ""
    data: list[bytes] = field(default_factory=list)
    around: int = 0
    is_file: bool = False
    _header: bytes = b""
    _value: bytes = b""
    _said: bytes = b""

    def begin(self) -> None:
        self.is_file, self._said = False, b""

    def header(self, data: bytes, start: int, end: int) -> None:
        self.around += end - start
        self._header += data[start:end]

    def value(self, data: bytes, start: int, end: int) -> None:
        self.around += end - start
        self._value += data[start:end]

    def header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._said = self._value
        self._header = self._value = b""

    def headers_end(self) -> None:
        _, options = parse_options_header(self._said)
        if options.get(b"name") == FIELD and not self.name:
            self.name = options.get(b"filename", b"").decode("utf-8", "replace")
            self.is_file = bool(self.name)

    def content(self, data: bytes, start: int, end: int) -> None:
        if self.is_file:
            self.data.append(data[start:end])
        else:
            self.around += end - start

    def take_data(self) -> bytes:
        found, self.data = b"".join(self.data), []
        return found


async def uploaded_file(request: Request, stream: AsyncIterator[bytes]) -> FormFile:
    """The file in the form that a request sends; refused if it has none."""
    heard = _FormParts()
    parts = _content(stream, _parser(request, heard), heard)
    try:
        with anyio.fail_after(PART_TIMEOUT_S):
            first = await anext(parts, None)
    except TimeoutError as problem:
        raise Refused(408, "The file did not arrive in time.", "Send it again.", CLOSE_CONNECTION) from problem
    if first is None and heard.name:
        raise BadUsage(f"The file {heard.name!r} is empty.", remedy=EXPORT_AGAIN)
    if first is None:
        raise BadUsage("The form brought no file.", remedy=CHOOSE)
    return FormFile(heard.name, _joined(first, parts))


async def _joined(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    yield first
    async for part in rest:
        yield part


def _parser(request: Request, heard: _FormParts) -> MultipartParser:
    _, options = parse_options_header(request.headers.get("content-type", ""))
    try:
        return MultipartParser(
            options.get(b"boundary", b""),
            {
                "on_part_begin": heard.begin,
                "on_header_field": heard.header,
                "on_header_value": heard.value,
                "on_header_end": heard.header_end,
                "on_headers_finished": heard.headers_end,
                "on_part_data": heard.content,
            },
        )
    except MultipartParseError as problem:
        raise BadUsage("The form cannot be read.", remedy=CHOOSE) from problem


async def _content(
    stream: AsyncIterator[bytes], parser: MultipartParser, heard: _FormParts
) -> AsyncGenerator[bytes, None]:
    async for chunk in stream:
        try:
            parser.write(chunk)
        except MultipartParseError as problem:
            raise BadUsage("The form cannot be read.", remedy=CHOOSE) from problem
        if heard.around > MAX_FORM_OVERHEAD:
            raise BadUsage("The form brings more than a file.", remedy=CHOOSE)
        if found := heard.take_data():
            yield found


Privacy = Annotated[Mode, Query()]
FormatQuery = Annotated[CaseFormat, Query()]


def add_file_pages(routes: APIRouter, pages: FamilyPages) -> None:
    """Add the routes for files; imports come first, since 'import' would also match as the id of a case."""
    _add_in(routes, pages)
    _add_out(routes, pages)


def _add_in(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/import")
    @allow("researcher", "case")
    def new_import() -> Response:
        return redirect("/family#import")

    @routes.post("/family/import")
    @allow("researcher", "case")
    async def import_new(request: Request) -> Response:
        return await _receive_file(pages, request, "")

    @routes.get("/family/{case}/import")
    @allow("researcher", "case")
    def import_page(request: Request, case: CaseId) -> Response:
        return pages.show(request, "family_import.html", case, "files", largest=MAX_FILE_BYTES)

    @routes.post("/family/{case}/import")
    @allow("researcher", "case")
    async def import_into(request: Request, case: CaseId) -> Response:
        return await _receive_file(pages, request, case)


async def _receive_file(pages: FamilyPages, request: Request, case: str) -> Response:
    """Pass the file on as it arrives; only the owner may send one, which is checked before any of it is stored."""
    stream = request.stream()
    try:
        pages.families.access.require_owner(request)
        file = await uploaded_file(request, stream)
        job = await receive_upload(pages.families, request, case, file.name, file.parts)
    except (Refused, KiwiError):
        await drain_body(stream)
        raise
    return redirect(f"/research/{job.id}")


def _add_out(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family/{case}/export")
    def export_page(request: Request, case: CaseId) -> Response:
        modes = MODES if pages.families.access.is_owner(request) else MODES[MODES.index("public") :]
        values = {"forms": list(FILE_NAMES.items()), "modes": modes}
        return pages.show(request, "family_export.html", case, "files", **values)

    @routes.get("/family/{case}/file")
    @allow("reader", "export")
    def file(request: Request, case: CaseId, form: FormatQuery, privacy: Privacy = "public") -> Response:
        return export_response(pages.families, request, case, form, privacy)
