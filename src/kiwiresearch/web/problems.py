"""Errors as clients get them: problem+json (RFC 9457), before a reply begins or in the middle of it."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
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
from kiwiresearch.cases import traceback_without_message
from kiwiresearch.codec import OMIT_DEFAULT, Record, plain
from kiwiresearch.errors import KiwiError, without_paths

MEDIA_TYPE = "application/problem+json"
SEE_API = "/openapi.json describes all addresses and their parameters."
MAX_FAULTS = 20
log = logging.getLogger("kiwiresearch.web")


@dataclass(frozen=True, slots=True)
class ProblemReply(Record):
    """What went wrong, and what to do about it."""

    type: str
    """The kind of problem, for programs."""
    title: str
    """The kind of problem, for people."""
    status: int
    detail: str
    """What went wrong this time."""
    remedy: str
    """What to do about it; may be empty."""
    id: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """The ID of an internal error in the server's log."""
    errors: tuple[dict[str, str], ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    """Fields that are not valid, and why."""


@dataclass(frozen=True, slots=True)
class RequestFault:
    """A fault that pydantic finds in one field of a request."""

    place: tuple[str | int, ...]
    """Where the field is, from 'body', 'query' or 'path' on."""
    message: str
    kind: str
    """pydantic's `type` of the error, such as 'string_too_long'."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """pydantic's `ctx`, such as {'max_length': 500}."""

    @property
    def where(self) -> str:
        return ".".join(map(str, self.place))


@dataclass(frozen=True, slots=True)
class Problem:
    """One error: what kind it is, what went wrong this time, and what to do about it."""

    status: int
    title: str
    detail: str = ""
    remedy: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    log_id: str = ""
    """The id of an unexpected error in the server's log."""
    faults: tuple[RequestFault, ...] = ()

    @property
    def kind(self) -> str:
        """The title as programs and catalogues name it."""
        return "-".join(re.findall(r"[a-z0-9]+", self.title.lower()))

    def record(self) -> ProblemReply:
        errors = tuple({"where": fault.where, "message": fault.message} for fault in self.faults)
        kind = f"urn:kiwiresearch:problem:{self.kind}"
        return ProblemReply(
            kind, self.title, self.status, self.detail, self.remedy, self.log_id or None, errors or None
        )

    def response(self, path: str = "") -> Response:
        """The error as the reply to a request for this path."""
        body = plain(self.record()) | (plain(openai_error(self)) if path.startswith("/v1/") else {})
        # ASCII escapes: the words of an error may hold lone surrogates, which UTF-8 cannot encode.
        return Response(json.dumps(body), self.status, dict(self.headers), MEDIA_TYPE)


ProblemRenderer = Callable[[Problem, Scope], Response]
"""How an app shows a problem to the sender of a request."""


def problem_response(problem: Problem, scope: Scope) -> Response:
    """The reply to a failed request: as its app renders problems, or else as JSON."""
    render: ProblemRenderer | None = getattr(getattr(scope.get("app"), "state", None), "render_problem", None)
    return render(problem, scope) if render else problem.response(scope["path"])


@dataclass(frozen=True, slots=True)
class OpenAIError(Record):
    """An error as OpenAI's API words it."""

    message: str
    type: str
    param: str | None
    code: str


@dataclass(frozen=True, slots=True)
class OpenAIErrorReply(Record):
    """What clients made for OpenAI look for; a problem may carry it besides its own members."""

    error: OpenAIError


def openai_error(problem: Problem) -> OpenAIErrorReply:
    words = f"{problem.detail} {problem.remedy}".strip() or problem.title
    return openai_error_reply(words, problem.status, "_".join(problem.title.lower().split()))


def openai_error_reply(message: str, status: int, code: str, param: str | None = None) -> OpenAIErrorReply:
    kind = "invalid_request_error" if status < 500 else "server_error"
    return OpenAIErrorReply(OpenAIError(message, kind, param, code))


class Refused(HTTPException):
    """A refusal that has no class of its own, with what to do about it."""

    def __init__(self, status: int, detail: str, remedy: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, detail, headers)
        self.remedy = remedy


class NoAtlas(errors.RunNotFound):
    """No book has an atlas at this address."""


class NotInRun(errors.RunNotFound):
    """The run exists, but not the claim or page that the address names."""


STATUS_BY_ERROR: Mapping[type[KiwiError], tuple[int, str]] = {
    KiwiError: (500, "Failed"),
    errors.BadUsage: (400, "Bad request"),
    errors.BadSettings: (500, "Bad settings"),
    errors.ProgramMissing: (503, "Program missing"),
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
    errors.OutOfDate: (409, "Changed in the meantime"),
    errors.FolderTaken: (409, "Already under way"),
    errors.WrongJobState: (409, "Already under way"),
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
"""Status and title of each class of error; a class that is missing here has those of its parent."""

WORDED_FROM_REQUEST = (errors.BadUsage, errors.PageNotFound, errors.RedirectLoop, errors.NothingFound)
"""Their messages quote the client's own words, so a path in them is not ours and stays."""

RETRY_AFTER_S = 60
"""When to try again after a 429 that names no time of its own."""


def problem_of(error: BaseException) -> Problem:
    """The problem that an exception is shown as."""
    if isinstance(error, KiwiError):
        status, title = next(STATUS_BY_ERROR[kind] for kind in type(error).__mro__ if kind in STATUS_BY_ERROR)
        after_s = error.retry_after_s if isinstance(error, errors.LimitReached) else RETRY_AFTER_S
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
        "This is an error in kiwiresearch.",
        "For details, look for this ID in the server log.",
        log_id=_log_id(error),
    )


def logged_problem(error: BaseException, path: str = "") -> Problem:
    """The problem of an error; an unexpected one is written to the server's log with its traceback.

    The message of an error in family research may name a living person: there, the log gets the traceback alone.
    """
    problem = problem_of(error)
    if problem.log_id and path.startswith(("/api/family", "/family")):
        log.error("Internal error %s\n%s", problem.log_id, traceback_without_message(error))
    elif problem.log_id:
        log.error("Internal error %s", problem.log_id, exc_info=error)
    return problem


def _log_id(error: BaseException) -> str:
    """A short name for an unexpected error: the same error at the same place has the same."""
    trace = "".join(traceback.format_exception(error))
    return hashlib.sha256(trace.encode("utf-8", "replace")).hexdigest()[:12]


def _validation_problem(error: RequestValidationError) -> Problem:
    faults = tuple(
        RequestFault(tuple(fault["loc"]), str(fault["msg"]), str(fault["type"]), fault.get("ctx") or {})
        for fault in error.errors()[:MAX_FAULTS]
    )
    detail = "; ".join(f"{fault.where}: {fault.message}" for fault in faults)
    return Problem(422, "Not valid", detail, SEE_API, faults=faults)


def _http_problem(error: HTTPException) -> Problem:
    titles = {404: "Not found", 405: "Method not allowed"}
    remedies = {404: SEE_API, 405: SEE_API, 503: "Try again in a moment."}
    title = titles.get(error.status_code) or HTTPStatus(error.status_code).phrase
    detail = "" if error.detail == HTTPStatus(error.status_code).phrase else str(error.detail)
    headers = tuple((error.headers or {}).items())
    remedy = error.remedy if isinstance(error, Refused) else remedies.get(error.status_code, "")
    return Problem(error.status_code, title, detail or title, remedy, headers)


def install_problem_responses(app: Starlette) -> None:
    """Make the app reply to every error with a problem."""

    async def answer(request: Request, error: Exception) -> Response:
        return problem_response(problem_of(error), request.scope)

    for kind in (KiwiError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, answer)


LAST_SEND_S = 2.0
"""How long to wait for a client that does not read."""


async def refuse(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    """Reply to a request with a problem, and with nothing else."""
    await problem_response(problem, scope)(scope, receive, send)


class WatchedReply:
    """The reply to one request, watched on its way out."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._is_stream = False
        self._is_ended_early = False
        self.has_begun = False
        self.has_ended = False

    async def send(self, message: Message) -> None:
        """Pass a part of the reply on; after `end_with`, parts are dropped."""
        if self._is_ended_early:
            return
        if message["type"] == "http.response.start":
            self.has_begun = True
            kinds = [value for name, value in message["headers"] if name.lower() == b"content-type"]
            self._is_stream = any(kind.startswith(b"text/event-stream") for kind in kinds)
        elif message["type"] == "http.response.body":
            self.has_ended = not message.get("more_body", False)
        await self._send(message)

    async def end_with(self, problem: Problem) -> None:
        """End the reply now: with the problem if it has not started, with a last event if it is a stream of events.

        Any other reply is left incomplete, so that nobody mistakes a part for the complete reply.
        """
        if self._is_ended_early or self.has_ended:
            return
        self._is_ended_early = True
        with anyio.move_on_after(LAST_SEND_S):
            if not self.has_begun:
                await refuse(problem, self._scope, self._receive, self._send)
            elif self._is_stream:
                body = _last_event(problem, self._scope["path"])
                await self._send({"type": "http.response.body", "body": body, "more_body": False})


def _last_event(problem: Problem, path: str) -> bytes:
    if path.startswith("/v1/"):
        return f"data: {json.dumps(plain(openai_error(problem)))}\n\ndata: [DONE]\n\n".encode()
    return f"event: error\ndata: {json.dumps(plain(problem.record()))}\n\n".encode()
