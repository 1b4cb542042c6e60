"""Routes for family files: pictures, exports, imports, and the verification of a case."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import anyio
from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from kiwiresearch.cases import FILE_NAMES, CaseFormat, VerificationRecord, import_records, verify_case
from kiwiresearch.errors import BadUsage, CannotWrite, KiwiError, NothingFound
from kiwiresearch.jobs import FamilyRequest, Job
from kiwiresearch.kin.gedcom import EXPORT_AGAIN, MAX_FILE_BYTES
from kiwiresearch.kin.privacy import PrivacyMode
from kiwiresearch.kin.report import Couples, Shape, shape_picture, svg_file
from kiwiresearch.web.bodies import Name
from kiwiresearch.web.families import PREFIX, CaseId, Families, Person, visible_person
from kiwiresearch.web.family_models import ImportsReply
from kiwiresearch.web.guard import DRAIN_TIMEOUT_S, MAX_DRAINED, ExportPrivacy, Privacy, RoleRouter, requires_role
from kiwiresearch.web.job_requests import JobReply, accepted, start_job
from kiwiresearch.web.problems import Refused
from kiwiresearch.web.replies import JsonRoute
from kiwiresearch.web.runs import REPORT_POLICY, SANDBOX_POLICY
from kiwiresearch.workspace import bare_file_name

PART_TIMEOUT_S = 30.0
"""How long a client may take for the next part of a file."""
MAX_GENERATIONS = 20
TOO_LARGE_REMEDY = "Export fewer people, or exclude the pictures."
CLOSE_CONNECTION = {"Connection": "close"}
MEDIA_TYPES: dict[CaseFormat, str] = {
    "gedcom": "text/vnd.familysearch.gedcom; charset=utf-8",
    "gedcom7": "text/vnd.familysearch.gedcom; charset=utf-8",
    "gdz": "application/vnd.familysearch.gedcom+zip",
    "gedcomx": "application/x-gedcomx-v1+json",
    "json": "application/json",
    "markdown": "text/markdown; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
}
FILE_DOC: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind.partition(";")[0]: {} for kind in MEDIA_TYPES.values()}, "description": "The file."}
}
SVG_DOC: dict[int | str, dict[str, Any]] = {200: {"content": {"image/svg+xml": {}}, "description": "The picture."}}
UPLOAD_DOC: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"A GEDCOM file, or a GEDCOM zip, of at most {MAX_FILE_BYTES // 2**20} MB.",
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
SVG_HEADERS = {"Content-Security-Policy": f"{SANDBOX_POLICY}; style-src 'unsafe-inline'; img-src data:"}
Generations = Annotated[int, Query(ge=0, le=MAX_GENERATIONS, description="How many to draw; 0 draws all.")]
FormName = Annotated[CaseFormat, InPath(examples=["gedcom"])]
FileName = Annotated[Name, Query(description="File name; sources are named after it.")]
AuditHead = Annotated[str, Query(max_length=200, description="Log fingerprint from an earlier export.")]


def router(families: Families) -> APIRouter:
    """Files of families."""
    routes = RoleRouter("reader", prefix=PREFIX, tags=["family"], route_class=JsonRoute)
    _add_exports(routes, families)
    _add_imports(routes, families)
    return routes


def _add_exports(routes: APIRouter, families: Families) -> None:
    @routes.get("/{case}/people/{person}/picture", response_class=Response, responses=SVG_DOC)
    def picture(
        request: Request,
        case: CaseId,
        person: Person,
        of: Shape = "ancestors",
        generations: Generations = 0,
        privacy: Privacy = None,
    ) -> Response:
        """A family tree as a picture: ancestors in columns or as a fan, descendants, or both as an hourglass."""
        with families.open_case(request, case, privacy) as (found, mode):
            chosen = visible_person(found.tree(mode), person)
            svg = shape_picture(of, found.derived(Couples, mode), chosen, generations)
        if not svg:
            raise NothingFound(
                "No relatives of this person are known that this tree could show.",
                remedy="Continue the research, or choose another person.",
            )
        return Response(svg_file(svg), headers=SVG_HEADERS, media_type="image/svg+xml")

    @routes.get("/{case}/export/{form}", response_class=Response, responses=FILE_DOC)
    @requires_role("reader", "export")
    def export(request: Request, case: CaseId, form: FormName, privacy: ExportPrivacy = "public") -> Response:
        """The family as a file. People who may be living are hidden unless `privacy` shows more."""
        return export_response(families, request, case, form, privacy)

    @routes.get("/{case}/verify")
    def verify(request: Request, case: CaseId, head: AuditHead = "") -> VerificationRecord:
        """Verify a case: its log, every quote, its texts against the books, and its GEDCOM files."""
        return verification_record(families, request, case, head)


def export_response(
    families: Families, request: Request, case: str, form: CaseFormat, privacy: PrivacyMode
) -> Response:
    """A case as a file to download, as far as the sender of the request may see it."""
    with families.open_case(request, case, privacy) as (found, mode):
        content, head = found.export_file(form, mode), found.store.head
    headers = {
        "Content-Disposition": f'attachment; filename="{FILE_NAMES[form]}"',
        "Content-Security-Policy": REPORT_POLICY if form == "html" else SANDBOX_POLICY,
        "X-Audit-Head": head,
    }
    return Response(content, headers=headers, media_type=MEDIA_TYPES[form])


def verification_record(families: Families, request: Request, case: str, head: str = "") -> VerificationRecord:
    """The verification of a case, without the names of people whom the sender of the request may not see."""
    with families.open_case(request, case, None) as (found, mode):
        with families.context.locked_finder() as finder:
            found.finder = finder  # verify_case locks it again while it reads books
        proof = verify_case(found, head, families.context.locked_finder).record()
        mask = found.mask(mode)
    return replace(proof, failures=tuple(map(mask.text, proof.failures)), notes=tuple(map(mask.text, proof.notes)))


def _add_imports(routes: APIRouter, families: Families) -> None:
    upload = {"status_code": 202, "response_model": JobReply}

    @routes.get("/{case}/imports")
    def imports(request: Request, case: CaseId) -> ImportsReply:
        """The reports on imported files: what was kept, and what was left out. Others than the owner see none."""
        with families.open_case(request, case, None) as (found, mode):
            # Names of files, and what is wrong in them, may name living people.
            return ImportsReply(import_records(found.store) if mode == "owner" else ())

    @routes.post("/import", openapi_extra=UPLOAD_DOC, **upload)  # type: ignore[arg-type]
    @requires_role("researcher", "case")
    async def import_new(request: Request, name: FileName = "family.ged") -> Response:
        """Start a case from the family tree of another program. The reply is a job. Only the owner can."""
        return accepted(await receive_upload(families, request, "", name, request.stream()))

    @routes.post("/{case}/import", openapi_extra=UPLOAD_DOC, **upload)  # type: ignore[arg-type]
    @requires_role("researcher", "case")
    async def import_into(request: Request, case: CaseId, name: FileName = "family.ged") -> Response:
        """Import the family tree of another program into a case. The reply is a job. Only the owner can."""
        return accepted(await receive_upload(families, request, case, name, request.stream()))


async def receive_upload(
    families: Families, request: Request, case: str, name: str, parts: AsyncGenerator[bytes, None]
) -> Job:
    """Receive a family file for a case, or for a new one, and queue the job that reads it. Only the owner may."""
    try:
        families.access.require_family_owner(request)
        if case:
            await run_in_threadpool(families.cases.require_free, case)
        with _upload_file(families.cases.root) as part:
            digest = await _save_upload(parts, part)
            return await run_in_threadpool(
                _queue_import, families, case, Path(part.name), digest, bare_file_name(name)[:80] or "family.ged"
            )
    except (Refused, KiwiError):
        await drain_body(parts)
        raise


async def next_part(parts: AsyncGenerator[bytes, None], timeout_s: float) -> bytes | None:
    """The next part of a body; None at its end, TimeoutError if it does not arrive."""
    with anyio.fail_after(timeout_s):
        return await anext(parts, None)


async def drain_body(parts: AsyncGenerator[bytes, None]) -> None:
    """Read for a while whatever a client still sends: if the connection is cut, it may never see our reply."""
    size = 0
    with anyio.move_on_after(DRAIN_TIMEOUT_S):
        async for data in parts:
            size += len(data)
            if size > MAX_DRAINED:
                return


@contextlib.contextmanager
def _upload_file(root: Path) -> Iterator[BinaryIO]:
    """A temporary file in the folder of the cases, removed whatever happens."""
    part = root / f".upload-{secrets.token_hex(8)}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        with part.open("xb") as stream:
            yield stream
    except OSError as problem:
        raise CannotWrite(
            f"The file cannot be saved: {problem.strerror or problem}.",
            remedy="Free up disk space for the folder that holds the cases.",
        ) from problem
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


async def _save_upload(parts: AsyncGenerator[bytes, None], part: BinaryIO) -> str:
    """Write a body to the disk as it arrives, and return its hash."""
    size, digest, head = 0, hashlib.sha256(), b""
    try:
        while True:
            data = await next_part(parts, PART_TIMEOUT_S)
            if data is None:
                break
            size += len(data)
            if size > MAX_FILE_BYTES:
                raise Refused(
                    413,
                    f"A family file can be {MAX_FILE_BYTES // 2**20} MB at most.",
                    TOO_LARGE_REMEDY,
                    CLOSE_CONNECTION,
                )
            head = (head + data)[:HEAD_BYTES]
            digest.update(data)
            await run_in_threadpool(part.write, data)
    except TimeoutError as problem:
        raise Refused(408, "The file did not arrive in time.", "Send it again.", CLOSE_CONNECTION) from problem
    _check_kind(head)
    part.flush()
    return digest.hexdigest()[:16]


HEAD_BYTES = 256
FILE_SIGNATURES = (b"0 HEAD", b"PK\x03\x04")


def _check_kind(head: bytes) -> None:
    """Refuse at once anything that cannot be a family file; other errors are found when the job reads it."""
    # UTF-16 has a NUL beside each ASCII letter: without byte order marks and NULs, all encodings begin alike.
    plain = head.lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\0").replace(b"\0", b"")
    if not plain.startswith(FILE_SIGNATURES):
        raise BadUsage("This is not a GEDCOM file: it does not start with a HEAD record.", remedy=EXPORT_AGAIN)


def _queue_import(families: Families, case: str, part: Path, digest: str, name: str) -> Job:
    """Move the file to where the job looks for it, and queue the job."""
    chosen = case or families.cases.start_empty(name.rpartition(".")[0] or name)
    place = families.cases.location(chosen)
    is_new = place.add_upload(digest, part, name)
    try:
        return start_job(families.jobs, FamilyRequest(chosen, upload=digest))
    except KiwiError:
        # A file that was there before belongs to another job, which has yet to import it.
        if is_new:
            place.drop_upload(digest)
        raise
