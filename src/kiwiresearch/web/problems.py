"""Errors as clients get them: problem+json (RFC 9457), before an answer begins or in the midst of it."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

import anyio
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from kiwiresearch import errors
from kiwiresearch.cases.registry import traceback_without_message
from kiwiresearch.errors import KiwiError
from kiwiresearch.messages.message import rewritten

MEDIA_TYPE = "application/problem+json"
SEE_API = "/openapi.json lists what can be asked here, and how."
MAX_FAULTS = 20
log = logging.getLogger("kiwiresearch.web")


@dataclass(frozen=True, slots=True)
class Problem:
    """One error: what kind it is, what went wrong this time, and what to do about it."""

    status: int
    title: str
    detail: str = ""
    remedy: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    more: tuple[tuple[str, Any], ...] = ()
    """Members that only some kinds have."""

    @property
    def kind(self) -> str:
        """Its title as programs and catalogues name it."""
        return "-".join(re.findall(r"[a-z0-9]+", self.title.lower()))

    def record(self) -> dict[str, Any]:
        known = {
            "type": f"urn:kiwiresearch:problem:{self.kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "remedy": self.remedy,
        }
        return known | dict(self.more)

    def response(self, path: str = "") -> Response:
        """The error as an answer to a request of this path."""
        body = self.record() | (openai_error(self) if path.startswith("/v1/") else {})
        return Response(json.dumps(body), self.status, dict(self.headers), MEDIA_TYPE)


ProblemRenderer = Callable[[Problem, Scope], Response]
"""How an app tells a problem to whoever sent a request."""


def problem_response(problem: Problem, scope: Scope) -> Response:
    """The answer to a request that brought a problem: as its app tells them, else as JSON."""
    tell: ProblemRenderer | None = getattr(getattr(scope.get("app"), "state", None), "tell", None)
    return tell(problem, scope) if tell else problem.response(scope["path"])


def openai_error(problem: Problem) -> dict[str, Any]:
    """What clients made for OpenAI look for; a problem may carry it beside its own members."""
    words = f"{problem.detail} {problem.remedy}".strip() or problem.title
    kind = "invalid_request_error" if problem.status < 500 else "server_error"
    code = "_".join(problem.title.lower().split())
    return {"error": {"message": words, "type": kind, "param": None, "code": code}}


class Refused(HTTPException):
    """A refusal that no class of ours stands for, with what to do about it."""

    def __init__(self, status: int, detail: str, remedy: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail, headers)
        self.remedy = remedy


class NoAtlas(errors.RunNotFound):
    """No book here has an atlas of this address."""


class NotInRun(errors.RunNotFound):
    """The run is there, but not the claim or the page of it that an address names."""


STATUS_BY_ERROR: Mapping[type[KiwiError], tuple[int, str]] = {
    KiwiError: (500, "Failed"),
    errors.BadUsage: (400, "Bad request"),
    errors.BadSettings: (500, "Bad settings"),
    errors.BookError: (503, "Book not usable"),
    errors.BookNotFound: (404, "Book not found"),
    errors.BookHidden: (403, "Hidden by policy"),
    errors.BookUnreachable: (502, "Book unreachable"),
    errors.NotOffered: (400, "Not offered by this book"),
    errors.PageNotFound: (404, "Page not found"),
    errors.PageHidden: (403, "Hidden by policy"),
    errors.RedirectLoop: (404, "Page leads only to itself"),
    errors.NothingFound: (404, "Nothing found"),
    errors.NotAllowed: (403, "Not allowed"),
    errors.LimitReached: (429, "Limit reached"),
    errors.Interrupted: (503, "Interrupted"),
    errors.RunError: (500, "Run not usable"),
    errors.FolderTaken: (409, "Already under way"),
    errors.CannotWrite: (503, "Cannot write"),
    errors.NoteChanged: (409, "Note changed"),
    errors.RunNotFound: (404, "Run not found"),
    NoAtlas: (404, "Atlas not found"),
    NotInRun: (404, "Not in this run"),
    errors.TooManyRuns: (429, "Too many runs"),
    errors.StoreUnreachable: (503, "Store unreachable"),
    errors.EmbedderError: (502, "Embedder unreachable"),
    errors.ModelError: (502, "Model failed"),
    errors.ModelUnreachable: (502, "Model unreachable"),
    errors.PromptTooLong: (400, "Too long for the model"),
}
"""Status and title of each class of error; a class that is not here has those of its parent."""

WORDED_FROM_REQUEST = (errors.BadUsage, errors.PageNotFound, errors.RedirectLoop, errors.NothingFound)
"""What these say is made of the client's own words."""

RETRY_AFTER_S = 60
"""When to try again what is too much now, where nobody knows better."""

QUOTED_PATH = re.compile(r"""(?P<mark>['"])(?:[A-Za-z]:)?(?:[/\\][^'"/\\]*)+(?P=mark)""")
QUOTED_DATABASE = re.compile(r"""(['"])postgres[a-z+]*://[^'"]*\1 ?""")


def without_paths(words: str) -> str:
    """Files are named without their folders, and databases not at all: where they are is nobody's business."""

    def name(place: re.Match[str]) -> str:
        mark = place["mark"]
        return mark + re.split(r"[/\\]", place[0].strip(mark).rstrip("/\\"))[-1] + mark

    return rewritten(words, lambda text: QUOTED_PATH.sub(name, QUOTED_DATABASE.sub("", text)))


def problem_of(error: BaseException) -> Problem:
    """The problem that an exception stands for."""
    if isinstance(error, KiwiError):
        status, title = next(STATUS_BY_ERROR[kind] for kind in type(error).__mro__ if kind in STATUS_BY_ERROR)
        after_s = error.after_s if isinstance(error, errors.LimitReached) else RETRY_AFTER_S
        later = (("Retry-After", str(max(1, round(after_s)))),) if status == 429 else ()
        problem = Problem(status, title, error.message, error.remedy, later)
        if isinstance(error, WORDED_FROM_REQUEST):
            return problem
        return replace(problem, detail=without_paths(error.message), remedy=without_paths(error.remedy))
    if isinstance(error, RequestValidationError):
        return _validation_problem(error)
    if isinstance(error, HTTPException):
        return _http_problem(error)
    return Problem(
        500,
        "Internal error",
        "This is a fault of the program.",
        "The server's log tells more under this id.",
        more=(("id", _fault_id(error)),),
    )


def logged_problem(error: BaseException, path: str = "") -> Problem:
    """The problem of an error; one that nobody foresaw is told to the server's log, with all that is known.

    What a fault says of a family may name somebody: of that, the log has the places in the program alone.
    """
    problem = problem_of(error)
    for name, mark in problem.more:
        if name == "id" and path.startswith(("/api/family", "/family")):
            log.error("Internal error %s\n%s", mark, traceback_without_message(error))
        elif name == "id":
            log.error("Internal error %s", mark, exc_info=error)
    return problem


def _fault_id(error: BaseException) -> str:
    """A short name for a fault: the same fault at the same place has the same."""
    told = "".join(traceback.format_exception(error))
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:12]


def _validation_problem(error: RequestValidationError) -> Problem:
    faults = [
        {"where": ".".join(str(part) for part in fault["loc"]), "message": str(fault["msg"])}
        for fault in error.errors()[:MAX_FAULTS]
    ]
    detail = "; ".join(f"{fault['where']}: {fault['message']}" for fault in faults)
    return Problem(422, "Not valid", detail, SEE_API, more=(("errors", faults),))


def _http_problem(error: HTTPException) -> Problem:
    titles = {404: "Not found", 405: "Method not allowed"}
    remedies = {404: SEE_API, 405: SEE_API, 503: "Try again in a moment."}
    title = titles.get(error.status_code) or HTTPStatus(error.status_code).phrase
    detail = "" if error.detail == HTTPStatus(error.status_code).phrase else str(error.detail)
    headers = tuple((error.headers or {}).items())
    remedy = error.remedy if isinstance(error, Refused) else remedies.get(error.status_code, "")
    return Problem(error.status_code, title, detail or title, remedy, headers)


def install_problem_responses(app: Starlette) -> None:
    """Let the app answer every error as a problem."""

    async def answer(request: Request, error: Exception) -> Response:
        return problem_response(problem_of(error), request.scope)

    for kind in (KiwiError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, answer)


LAST_SEND_S = 2.0
"""A client that does not read is not waited for any longer."""


async def refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request with a problem, and with nothing else."""
    await problem_response(problem, scope)(scope, receive, send)


class WatchedReply:
    """The answer to one request, watched on its way out."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._is_stream = False
        self._is_cut = False
        self.has_begun = False
        self.has_ended = False

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on; after a cut, nobody hears it."""
        if self._is_cut:
            return
        if message["type"] == "http.response.start":
            self.has_begun = True
            kinds = [value for name, value in message["headers"] if name.lower() == b"content-type"]
            self._is_stream = any(kind.startswith(b"text/event-stream") for kind in kinds)
        elif message["type"] == "http.response.body":
            self.has_ended = not message.get("more_body", False)
        await self._send(message)

    async def end_with(self, problem: Problem) -> None:
        """End the answer now: with the problem where none has begun, with a last event where events are sent.

        Anything else is left incomplete, so that nobody takes a part for the whole.
        """
        if self._is_cut or self.has_ended:
            return
        self._is_cut = True
        with anyio.move_on_after(LAST_SEND_S):
            if not self.has_begun:
                await refuse(problem, self._scope, self._receive, self._send)
            elif self._is_stream:
                body = _last_event(problem, self._scope["path"])
                await self._send({"type": "http.response.body", "body": body, "more_body": False})


def _last_event(problem: Problem, path: str) -> bytes:
    if path.startswith("/v1/"):
        return f"data: {json.dumps(openai_error(problem))}\n\ndata: [DONE]\n\n".encode()
    return f"event: error\ndata: {json.dumps(problem.record())}\n\n".encode()
