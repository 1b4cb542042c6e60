"""What a request brings along: read whole before anything is done, and never more than is allowed."""

from __future__ import annotations

import re

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kiwiresearch.web.guard.audience import SAFE, is_for_people
from kiwiresearch.web.guard.replies import refuse
from kiwiresearch.web.problems import Problem

PATIENCE_S = 30.0
"""How long a client may take to send what it announced."""

TOO_LARGE = 413
MOST_DRAINED = 4 * 2**20
DRAIN_PATIENCE_S = 2.0

FORM = "application/x-www-form-urlencoded"

NOT_JSON = Problem(
    415, "Not JSON", "The body of a request must be JSON.", "Send it with 'Content-Type: application/json'."
)
NO_FORM = Problem(415, "Not a form", "A page takes what its own form sends.", "Programs send JSON to /api.")
TOO_SLOW = Problem(408, "Too slow", "The request did not arrive in time.", "Send it again.", (("Connection", "close"),))


UPLOAD = re.compile(r"(?:/api)?/family/(?:[^/]+/)?import")
FORM_WITH_FILE = "multipart/form-data"
UPLOAD_KINDS = ("application/octet-stream", "application/x-gedcom", "text/vnd.familysearch.gedcom", "application/zip")
NO_FORM_WITH_FILE = Problem(415, "Not a file", "The form must bring a family file.", "Choose a file in the form.")
NO_FILE = Problem(
    415, "Not a file", "The body must be a family file.", f"Send it with 'Content-Type: {UPLOAD_KINDS[0]}'."
)


def is_upload(scope: Scope) -> bool:
    """Whether a request brings a file, which is not held in memory: its route reads it part by part."""
    return scope["method"] == "POST" and UPLOAD.fullmatch(scope["path"]) is not None


def _no_upload(kind: str, *, is_form: bool) -> Problem | None:
    if is_form:
        return None if kind == FORM_WITH_FILE else NO_FORM_WITH_FILE
    return None if kind in UPLOAD_KINDS else NO_FILE


class Bodies:
    """Reads the body for the routes behind: refuses what is too large, too slow or neither JSON nor a form of ours."""

    patience_s = PATIENCE_S

    def __init__(self, app: ASGIApp, *, most_bytes: int) -> None:
        self._app = app
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        problem = self._refusal(scope)
        if problem is None and is_upload(scope):
            await self._app(scope, receive, send)
            return
        if problem is None:
            body = None
            with anyio.move_on_after(self.patience_s) as limit:
                body = await self._read(receive)
            if body is not None and len(body) <= self._most_bytes:
                await self._app(scope, _Replayed(body, receive), send)
                return
            if body is None and not limit.cancelled_caught:
                return  # the client has gone
            problem = self._too_large() if body else TOO_SLOW
        elif problem.status == TOO_LARGE and "expect" not in Headers(scope=scope):
            with anyio.move_on_after(DRAIN_PATIENCE_S):
                await self._read(receive)
        await refuse(problem, scope, receive, send)

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if is_upload(scope):
            return _no_upload(kind, is_form=is_for_people(scope))
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit() or int(length[:20]) > self._most_bytes:
            return self._too_large()
        has_body = int(length[:20]) > 0 or "transfer-encoding" in headers
        if scope["method"] in SAFE or not (kind or has_body):
            return None
        if is_for_people(scope):
            return None if kind == FORM else NO_FORM
        return None if kind == "application/json" else NOT_JSON

    async def _read(self, receive: Receive) -> bytes | None:
        """The body, or None if the client has gone.

        What is more than allowed is heard for a while and thrown away: a client
        that still sends when we hang up may never see our answer.
        """
        parts: list[bytes] = []
        size, more = 0, True
        while more and size <= self._most_bytes + MOST_DRAINED:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            more = message.get("more_body", False)
            if size <= self._most_bytes:
                parts.append(message.get("body", b""))
            size += len(message.get("body", b""))
        return b"".join(parts)

    def _too_large(self) -> Problem:
        return Problem(
            TOO_LARGE,
            "Too large",
            f"A request may bring {self._most_bytes // 1024:,} KB.",
            "Send less; 'max_body_kb' below [serve] in the settings allows more.",
            (("Connection", "close"),),
        )


class _Replayed:
    """Gives the body that was read, then whatever else comes."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._first: Message | None = {"type": "http.request", "body": body, "more_body": False}
        self._receive = receive

    async def __call__(self) -> Message:
        first, self._first = self._first, None
        return first if first is not None else await self._receive()
