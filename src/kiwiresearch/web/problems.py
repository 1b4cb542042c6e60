"""Errors as clients get them: problem+json (RFC 9457), with a remedy and without anything of this machine."""

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

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from kiwiresearch import errors
from kiwiresearch.errors import KiwiError
from kiwiresearch.research.family_cases import wordless

MEDIA_TYPE = "application/problem+json"
SEE_API = "/openapi.json lists what can be asked here, and how."
MOST_FAULTS = 20
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


Teller = Callable[[Problem, Scope], Response]
"""How an app tells a problem to whoever sent a request."""


def told(problem: Problem, scope: Scope) -> Response:
    """The answer to a request that brought a problem: as its app tells them, else as JSON."""
    tell: Teller | None = getattr(getattr(scope.get("app"), "state", None), "tell", None)
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


KINDS: Mapping[type[KiwiError], tuple[int, str]] = {
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

OF_THE_REQUEST = (errors.BadUsage, errors.PageNotFound, errors.RedirectLoop, errors.NothingFound)
"""What these say is made of the client's own words."""

LATER_S = 60
"""When to try again what is too much now, where nobody knows better."""

PLACE = re.compile(r"""(?P<mark>['"])(?:[A-Za-z]:)?(?:[/\\][^'"/\\]*)+(?P=mark)""")
DATABASE = re.compile(r"""(['"])postgres[a-z+]*://[^'"]*\1 ?""")


def without_places(words: str) -> str:
    """Files are named without their folders, and databases not at all: where they are is nobody's business."""

    def name(place: re.Match[str]) -> str:
        mark = place["mark"]
        return mark + re.split(r"[/\\]", place[0].strip(mark).rstrip("/\\"))[-1] + mark

    return PLACE.sub(name, DATABASE.sub("", words))


def problem_of(error: BaseException) -> Problem:
    """The problem that an exception stands for."""
    if isinstance(error, KiwiError):
        status, title = next(KINDS[kind] for kind in type(error).__mro__ if kind in KINDS)
        after_s = error.after_s if isinstance(error, errors.LimitReached) else LATER_S
        later = (("Retry-After", str(max(1, round(after_s)))),) if status == 429 else ()
        problem = Problem(status, title, error.message, error.remedy, later)
        if isinstance(error, OF_THE_REQUEST):
            return problem
        return replace(problem, detail=without_places(error.message), remedy=without_places(error.remedy))
    if isinstance(error, RequestValidationError):
        return _not_valid(error)
    if isinstance(error, HTTPException):
        return _of_http(error)
    return Problem(
        500,
        "Internal error",
        "This is a fault of the program.",
        "The server's log tells more under this id.",
        more=(("id", _mark_of(error)),),
    )


def unexpected(error: BaseException, path: str = "") -> Problem:
    """The problem of an error; one that nobody foresaw is told to the server's log, with all that is known.

    What a fault says of a family may name somebody: of that, the log has the places in the program alone.
    """
    problem = problem_of(error)
    for name, mark in problem.more:
        if name == "id" and path.startswith(("/api/family", "/family")):
            log.error("Internal error %s\n%s", mark, wordless(error))
        elif name == "id":
            log.error("Internal error %s", mark, exc_info=error)
    return problem


def _mark_of(error: BaseException) -> str:
    """A short name for a fault: the same fault at the same place has the same."""
    told = "".join(traceback.format_exception(error))
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:12]


def _not_valid(error: RequestValidationError) -> Problem:
    faults = [
        {"where": ".".join(str(part) for part in fault["loc"]), "message": str(fault["msg"])}
        for fault in error.errors()[:MOST_FAULTS]
    ]
    detail = "; ".join(f"{fault['where']}: {fault['message']}" for fault in faults)
    return Problem(422, "Not valid", detail, SEE_API, more=(("errors", faults),))


def _of_http(error: HTTPException) -> Problem:
    titles = {404: "Not found", 405: "Method not allowed"}
    remedies = {404: SEE_API, 405: SEE_API, 503: "Try again in a moment."}
    title = titles.get(error.status_code) or HTTPStatus(error.status_code).phrase
    detail = "" if error.detail == HTTPStatus(error.status_code).phrase else str(error.detail)
    headers = tuple((error.headers or {}).items())
    remedy = error.remedy if isinstance(error, Refused) else remedies.get(error.status_code, "")
    return Problem(error.status_code, title, detail or title, remedy, headers)


def tell_problems(app: Starlette) -> None:
    """Let the app answer every error as a problem."""

    async def answer(request: Request, error: Exception) -> Response:
        return told(problem_of(error), request.scope)

    for kind in (KiwiError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, answer)
