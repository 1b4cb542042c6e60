"""Pages shown before or instead of the desk's own: the login form, and errors in the reader's language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from kiwiresearch.messages.catalogue import Catalogue
from kiwiresearch.web.context import catalogue_for
from kiwiresearch.web.desk.addresses import safe_return_address
from kiwiresearch.web.desk.pages import POLICY, Pages, redirect
from kiwiresearch.web.desk.translations import problem_key
from kiwiresearch.web.guard.identity import COOKIE, LOGIN
from kiwiresearch.web.guard.limits import client_of
from kiwiresearch.web.guard.requests import is_book_page, is_by_hand, is_for_people, is_from_own_page
from kiwiresearch.web.guard.users import UserAuthenticator
from kiwiresearch.web.problems import Problem, ProblemRenderer, log

DOCUMENT_DESTINATIONS = frozenset({"document", "iframe", "frame"})
"""What a browser says of a request whose answer somebody will look at."""

FRAMED_POLICY = POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")

PYDANTIC_MESSAGES = (
    ("required", re.compile(r"Field required")),
    ("too_long", re.compile(r"String should have at most (?P<most>[0-9]+) characters?")),
    ("too_short", re.compile(r"String should have at least (?P<least>[0-9]+) characters?")),
    ("too_large", re.compile(r"Input should be less than or equal to (?P<most>[0-9.]+)")),
    ("too_small", re.compile(r"Input should be greater than or equal to (?P<least>[0-9.]+)")),
    ("too_many", re.compile(r"List should have at most (?P<most>[0-9]+) items? .*")),
    ("no_number", re.compile(r"Input should be a (?:valid )?(?:integer|number|finite number)\b.*")),
    ("no_choice", re.compile(r"Input should be (?P<choices>'.+)")),
    ("not_so", re.compile(r"(?:String should match pattern|Input should be a valid) .*")),
)
"""What is wrong with a field, as pydantic words it, by the name under which the catalogue has it."""

RUN_PATH = re.compile(r"/runs/[^/]+")
RUN_PART_KINDS = frozenset({"not-in-this-run", "run-not-usable", "cannot-write", "bad-request"})
"""Problems with a part of a run, whose other parts can be read."""

FAMILY_PATH = re.compile(r"(?P<case>/family(?:/[0-9a-f]+(?=/))?)(?:/|$)")
"""Addresses of families, and the case where they are of one."""
MISSING_KINDS = frozenset({"not-found", "nothing-found"})
"""Problems with what such an address names; a book or a page of one that is gone has words of its own."""


@dataclass(frozen=True, slots=True)
class RequestFault:
    """What is wrong with one field of a form or an address; words without a translation are English."""

    field: str
    words: str
    is_english: bool = False


def problem_renderer(pages: Pages) -> ProblemRenderer:
    """Tells problems as pages where a person is to read them, and as JSON everywhere else."""

    def tell(problem: Problem, scope: Scope) -> Response:
        if not wants_page(scope):
            return problem.response(scope["path"])
        try:
            return problem_page(pages, problem, Request(scope))
        except Exception:  # whatever is wrong with our page, the reader hears what was wrong before
            log.exception("A page that tells of a problem could not be drawn.")
            return problem.response(scope["path"])

    return tell


def wants_page(scope: Scope) -> bool:
    """Whether a browser opens a page of ours, or of a book, and no script of it asks."""
    headers = Headers(scope=scope)
    is_opened = headers.get("sec-fetch-dest", "document") in DOCUMENT_DESTINATIONS
    return is_for_people(scope) and is_opened and "text/html" in headers.get("accept", "")


def problem_page(pages: Pages, problem: Problem, request: Request) -> Response:
    """The problem as a page; in place of a page of a book it is one that fits into a frame."""
    is_framed = is_book_page(request.scope)
    words = catalogue_for(request)
    family = FAMILY_PATH.match(request.url.path)
    is_gone = family is not None and problem.kind in MISSING_KINDS
    if is_gone:
        problem = replace(problem, title="Not in this family")
    headers = dict(problem.headers) | ({"Content-Security-Policy": FRAMED_POLICY} if is_framed else {})
    return pages.show(
        request,
        "problem_framed.html" if is_framed else "problem.html",
        status=problem.status,
        headers=headers,
        problem=problem,
        kind=problem_key(problem, words),
        faults=list(_faults(problem, words)),
        id=str(dict(problem.more).get("id", "")),
        above="/family" if is_gone else family["case"] if family else _run_of(problem, request),
    )


def _run_of(problem: Problem, request: Request) -> str:
    """Where the run is in which something was not found, or could not be done; empty of other problems."""
    run = RUN_PATH.match(request.url.path)
    return run[0] if run and run[0] != request.url.path and problem.kind in RUN_PART_KINDS else ""


def _faults(problem: Problem, words: Catalogue) -> Iterator[RequestFault]:
    rows = dict(problem.more).get("errors") or ()
    for row in rows if isinstance(rows, list) else ():
        steps = [step for step in row["where"].split(".")[1:] if not step.isdigit()]
        field = words.named("fields", steps[0]) if steps else ""
        yield _fault(field, str(row["message"]), words)


def _fault(field: str, message: str, words: Catalogue) -> RequestFault:
    for name, form in PYDANTIC_MESSAGES:
        if found := form.fullmatch(message):
            return RequestFault(field, words(f"problems.faults.{name}", **found.groupdict()))
    return RequestFault(field, message, is_english=True)


NextPage = Annotated[str, Query(max_length=8_000)]


class Authenticator(Protocol):
    """Who knows the right token, or the tokens of all users."""

    def is_authenticated(self, scope: Scope) -> bool: ...

    def cookie_for(self, text: str, client: str) -> str | None: ...


def router(authenticator: Authenticator, pages: Pages) -> APIRouter:
    """The form, and what becomes of it."""
    routes = APIRouter(include_in_schema=False)
    has_users = isinstance(authenticator, UserAuthenticator)

    def form(request: Request, place: str, *, status: int = 200, onwards: str = "") -> Response:
        told: dict[str, Any] = {"next": place, "is_wrong": status != 200, "onwards": onwards, "has_users": has_users}
        return pages.show(request, "login.html", status=status, **told)

    @routes.api_route(LOGIN, methods=["GET", "HEAD"])
    def ask(request: Request, next: NextPage = "", *, again: bool = False) -> Response:  # noqa: A002 (what addresses say)
        place = _safe_next(next)
        if authenticator.is_authenticated(request.scope):
            return redirect(place)
        # Who follows a link of another site, or of a book, comes without the cookie: asked by our own page, the
        # browser sends it.
        is_led = not again and not is_from_own_page(request.headers) and not is_by_hand(request.headers)
        onwards = f"{LOGIN}?again=true&next={quote(place, safe='')}" if is_led else ""
        return form(request, place, onwards=onwards)

    @routes.post(LOGIN)
    async def enter(request: Request) -> Response:
        sent = parse_qs((await request.body()).decode("utf-8", "replace"))
        place = _safe_next(sent.get("next", [""])[-1])
        shown = sent.get("token", [""])[-1].strip()
        cookie = await run_in_threadpool(authenticator.cookie_for, shown, client_of(request.scope))
        if cookie is None:
            return form(request, place, status=401)
        if isinstance(authenticator, UserAuthenticator):
            request.state.visitor = await run_in_threadpool(authenticator.by_cookie, cookie)
        answer = RedirectResponse(place, status_code=303)
        is_https = request.url.scheme == "https"
        answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=is_https)
        return answer

    if isinstance(authenticator, UserAuthenticator):
        _add_logout(routes)
    return routes


def _add_logout(routes: APIRouter) -> None:
    @routes.post("/logout")
    def leave() -> Response:
        answer = RedirectResponse(LOGIN, status_code=303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer


def _safe_next(wanted: str) -> str:
    """Where to go next: only to a page of ours, and not to this one again."""
    place = safe_return_address(wanted)
    return "/" if place.partition("?")[0] == LOGIN else place
