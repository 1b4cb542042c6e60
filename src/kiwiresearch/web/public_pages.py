"""Pages shown before or instead of others: the login form, and errors in the reader's language."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated, Any, Protocol
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from kiwiresearch.messages import Catalogue
from kiwiresearch.web.addresses import safe_return_address
from kiwiresearch.web.context import catalogue_for
from kiwiresearch.web.desk import POLICY, Pages, problem_key, redirect
from kiwiresearch.web.guard import (
    COOKIE,
    LOGIN,
    RoleRouter,
    UserAuthenticator,
    allow,
    client_of,
    is_book_page,
    is_by_hand,
    is_for_people,
    is_from_own_page,
)
from kiwiresearch.web.problems import Problem, ProblemRenderer, RequestFault, log

DOCUMENT_DESTINATIONS = frozenset({"document", "iframe", "frame"})
"""What a browser sends as Sec-Fetch-Dest when a person will look at the reply."""

FRAMED_POLICY = POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'")

FAULT_KEYS = {
    "missing": "required",
    "string_too_long": "too_long",
    "string_too_short": "too_short",
    "less_than_equal": "too_large",
    "greater_than_equal": "too_small",
    "too_long": "too_many",
    "int_type": "no_number",
    "int_parsing": "no_number",
    "int_from_float": "no_number",
    "float_type": "no_number",
    "float_parsing": "no_number",
    "finite_number": "no_number",
    "literal_error": "no_choice",
    "enum": "no_choice",
    "string_pattern_mismatch": "not_so",
    "string_type": "not_so",
    "list_type": "not_so",
    "bool_type": "not_so",
    "bool_parsing": "not_so",
    "dict_type": "not_so",
    "model_attributes_type": "not_so",
}
"""The key of the catalogue's sentence for each type of pydantic's errors; others are shown in English."""

FAULT_VALUES = {"max_length": "most", "le": "most", "min_length": "least", "ge": "least", "expected": "choices"}
"""The catalogue's names for the values in pydantic's `ctx`."""

RUN_PATH = re.compile(r"/runs/[^/]+")
RUN_PART_KINDS = frozenset({"not-in-this-run", "run-not-usable", "cannot-write", "bad-request"})
"""Problems with one part of a run: its page links to the run."""

FAMILY_PATH = re.compile(r"(?P<case>/family(?:/[0-9a-f]+(?=/))?)(?:/|$)")
"""Addresses of families, and their case if they have one."""
MISSING_KINDS = frozenset({"not-found", "nothing-found"})
"""Problems with what such an address names; missing books and pages have words of their own."""


@dataclass(frozen=True, slots=True)
class ShownFault:
    """The fault of one field of a form or an address; a text without a translation is English."""

    field: str
    words: str
    is_english: bool = False


def problem_renderer(pages: Pages) -> ProblemRenderer:
    """Renders problems as pages for people, and as JSON for programs."""

    def render(problem: Problem, scope: Scope) -> Response:
        if not wants_page(scope):
            return problem.response(scope["path"])
        try:
            return problem_page(pages, problem, Request(scope))
        except Exception:  # an error in our page must not hide the problem itself
            log.exception("A page that tells of a problem could not be drawn.")
            return problem.response(scope["path"])

    return render


def wants_page(scope: Scope) -> bool:
    """Whether a browser opens a page of ours or of a book, and not a script within one."""
    headers = Headers(scope=scope)
    is_opened = headers.get("sec-fetch-dest", "document") in DOCUMENT_DESTINATIONS
    return is_for_people(scope) and is_opened and "text/html" in headers.get("accept", "")


def problem_page(pages: Pages, problem: Problem, request: Request) -> Response:
    """The problem as a page; in place of a book's page, one that may be shown in a frame."""
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
        faults=[_shown_fault(fault, words) for fault in problem.faults],
        id=problem.log_id,
        above="/family" if is_gone else family["case"] if family else _run_of(problem, request),
    )


def _run_of(problem: Problem, request: Request) -> str:
    """The address of the run that a problem is about a part of; empty for other problems."""
    run = RUN_PATH.match(request.url.path)
    return run[0] if run and run[0] != request.url.path and problem.kind in RUN_PART_KINDS else ""


def _shown_fault(fault: RequestFault, words: Catalogue) -> ShownFault:
    steps = [step for step in fault.place[1:] if isinstance(step, str) and not step.isdigit()]
    field = words.named("fields", steps[0]) if steps else ""
    key = FAULT_KEYS.get(fault.kind)
    if key is None:
        return ShownFault(field, fault.message, is_english=True)
    values = {FAULT_VALUES[name]: str(value) for name, value in fault.values.items() if name in FAULT_VALUES}
    return ShownFault(field, words(f"problems.faults.{key}", **values))


NextPage = Annotated[str, Query(max_length=8_000)]


class Authenticator(Protocol):
    """Checks the server's token, or the tokens of its users."""

    def is_authenticated(self, scope: Scope) -> bool: ...

    def cookie_for(self, text: str, client: str) -> str | None: ...


def router(authenticator: Authenticator, pages: Pages) -> APIRouter:
    """The login form, and the route that handles it."""
    routes = RoleRouter("reader", include_in_schema=False)
    has_users = isinstance(authenticator, UserAuthenticator)

    def form(request: Request, place: str, *, status: int = 200, onwards: str = "") -> Response:
        values: dict[str, Any] = {"next": place, "is_wrong": status != 200, "onwards": onwards, "has_users": has_users}
        return pages.show(request, "login.html", status=status, **values)

    @routes.api_route(LOGIN, methods=["GET", "HEAD"])
    @allow("stranger")
    def ask(request: Request, next: NextPage = "", *, again: bool = False) -> Response:  # noqa: A002 (what addresses say)
        place = _safe_next(next)
        if authenticator.is_authenticated(request.scope):
            return redirect(place)
        # A browser that follows a link from another site, or from a book, does not send the cookie. It does so when
        # our own page asks again.
        came_by_link = not again and not is_from_own_page(request.headers) and not is_by_hand(request.headers)
        onwards = f"{LOGIN}?again=true&next={quote(place, safe='')}" if came_by_link else ""
        return form(request, place, onwards=onwards)

    @routes.post(LOGIN)
    @allow("stranger")
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
        answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=request.url.scheme == "https")
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
