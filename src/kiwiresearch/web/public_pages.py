"""Pages shown before or instead of others: the sign-in form, that of a sign-in link, and errors in any language."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Protocol, Self
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from kiwiresearch.errors import LimitReached
from kiwiresearch.messages import Catalogue
from kiwiresearch.web.addresses import safe_return_address
from kiwiresearch.web.context import catalogue_for
from kiwiresearch.web.desk import POLICY, PageRenderer, problem_key, redirect
from kiwiresearch.web.guard import (
    COOKIE,
    FRAMES,
    SIGN_IN_PATH,
    RoleRouter,
    UserAuthenticator,
    client_of,
    is_book_page,
    is_browser_path,
    is_from_own_page,
    is_top_level_navigation,
    is_typed_or_bookmarked,
    requires_role,
    set_sign_in_cookie,
)
from kiwiresearch.web.problems import Problem, ProblemRenderer, RequestFault, log
from kiwiresearch.web.users import MAX_NAME
from kiwiresearch.workspace import LINK_PATH

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

# "/family/5f0c9a3be812/people" has the case "/family/5f0c9a3be812"; "/family/import" and the case's own page only
# have "/family", the page above them.
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


def problem_renderer(pages: PageRenderer) -> ProblemRenderer:
    """Renders problems as pages for people, and as JSON for programs."""

    def render(problem: Problem, scope: Scope) -> Response:
        if not wants_page(scope):
            return problem.response(scope["path"])
        try:
            return problem_page(pages, problem, Request(scope))
        except Exception:  # an error in our page must not hide the problem itself
            log.exception("The page for an error could not be rendered.")
            return problem.response(scope["path"])

    return render


def wants_page(scope: Scope) -> bool:
    """Whether a browser opens a page of ours or of a book, and not a script within one."""
    headers = Headers(scope=scope)
    is_seen = is_top_level_navigation(headers) or headers.get("sec-fetch-dest") in FRAMES
    return is_browser_path(scope) and is_seen and "text/html" in headers.get("accept", "")


def problem_page(pages: PageRenderer, problem: Problem, request: Request) -> Response:
    """The problem as a page; in place of a book's page, one that may be shown in a frame."""
    is_framed = is_book_page(request.scope)
    catalogue = catalogue_for(request)
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
        kind=problem_key(problem, catalogue),
        faults=[_shown_fault(fault, catalogue) for fault in problem.faults],
        id=problem.log_id,
        above="/family" if is_gone else family["case"] if family else _run_of(problem, request),
    )


def _run_of(problem: Problem, request: Request) -> str:
    """The address of the run that a problem is about a part of; empty for other problems."""
    run = RUN_PATH.match(request.url.path)
    return run[0] if run and run[0] != request.url.path and problem.kind in RUN_PART_KINDS else ""


def _shown_fault(fault: RequestFault, catalogue: Catalogue) -> ShownFault:
    steps = [step for step in fault.place[1:] if isinstance(step, str) and not step.isdigit()]
    # A name without words is that of a parameter, which means nothing to readers of other languages.
    is_named = bool(steps) and (catalogue.has(f"fields.{steps[0]}") or catalogue.language == "en")
    field = catalogue.named("fields", steps[0]) if is_named else ""
    key = FAULT_KEYS.get(fault.kind)
    if key is None:
        return ShownFault(field, fault.message, is_english=True)
    values = {FAULT_VALUES[name]: str(value) for name, value in fault.values.items() if name in FAULT_VALUES}
    if "choices" in values:
        values["choices"] = values["choices"].replace("' or '", "', '")  # pydantic lists them in English
    return ShownFault(field, catalogue(f"problems.faults.{key}", **values))


LINK_ROUTE = f"{LINK_PATH}{{secret}}"
LinkSecret = Annotated[str, Path(max_length=100)]
NextPage = Annotated[str, Query(max_length=8_000)]


class Authenticator(Protocol):
    """Checks the server's token, or the tokens and passwords of its users."""

    def is_authenticated(self, scope: Scope) -> bool: ...

    def cookie_for(self, text: str, client: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class LoginForm:
    """What the sign-in page sends: a token, or a name and a password."""

    next: str = "/"
    name: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)

    @classmethod
    async def sent_with(cls, request: Request) -> Self:
        sent = parse_qs((await request.body()).decode("utf-8", "replace"))
        name, password, token, place = (sent.get(key, [""])[-1] for key in ("name", "password", "token", "next"))
        return cls(_safe_next(place), name.strip()[:MAX_NAME], password, token.strip())

    def cookie(self, authenticator: Authenticator, client: str) -> str | None:
        if self.token or not isinstance(authenticator, UserAuthenticator):
            return authenticator.cookie_for(self.token, client)
        return authenticator.cookie_for_password(self.name, self.password, client)


def router(authenticator: Authenticator, pages: PageRenderer) -> APIRouter:
    """The sign-in form, and the route that handles it."""
    routes = RoleRouter("reader", include_in_schema=False)
    users = authenticator if isinstance(authenticator, UserAuthenticator) else None

    def form(request: Request, sent: LoginForm, *, status: int = 200, wait_s: int = 0, onwards: str = "") -> Response:
        by_token = users is None or bool(sent.token) or not users.has_passwords()
        values: dict[str, Any] = {"sent": sent, "is_wrong": status == 401, "wait_s": wait_s, "onwards": onwards}
        headers = {"Retry-After": str(wait_s)} if wait_s else {}
        return pages.show(
            request,
            "sign_in.html",
            status=status,
            headers=headers,
            has_users=users is not None,
            by_token=by_token,
            **values,
        )

    @routes.api_route(SIGN_IN_PATH, methods=["GET", "HEAD"])
    @requires_role("stranger")
    def ask(request: Request, next: NextPage = "", *, again: bool = False) -> Response:  # noqa: A002 (what addresses say)
        place = _safe_next(next)
        if authenticator.is_authenticated(request.scope):
            return redirect(place)
        # A browser that follows a link from another site, or from a book, does not send the cookie. It does so when
        # our own page asks again.
        came_by_link = (
            not again and not is_from_own_page(request.headers) and not is_typed_or_bookmarked(request.headers)
        )
        onwards = f"{SIGN_IN_PATH}?again=true&next={quote(place, safe='')}" if came_by_link else ""
        return form(request, LoginForm(place), onwards=onwards)

    @routes.post(SIGN_IN_PATH)
    @requires_role("stranger")
    async def enter(request: Request) -> Response:
        sent = await LoginForm.sent_with(request)
        try:
            cookie = await run_in_threadpool(sent.cookie, authenticator, client_of(request.scope))
        except LimitReached as limit:
            wait_s = math.ceil(limit.retry_after_s)
            return await run_in_threadpool(form, request, sent, status=429, wait_s=wait_s)
        if cookie is None:
            return await run_in_threadpool(form, request, sent, status=401)
        # For the audit log, which records who has signed in.
        if users is not None:
            request.state.visitor = await run_in_threadpool(users.by_cookie, cookie)
        answer = RedirectResponse(sent.next, status_code=303)
        set_sign_in_cookie(answer, request, cookie)
        return answer

    if users is not None:
        _add_links(routes, users, pages)
        _add_logout(routes)
    return routes


def _add_links(routes: APIRouter, users: UserAuthenticator, pages: PageRenderer) -> None:
    """The page that a sign-in link leads to. Only its button uses the link up: previews of messages open links, too."""

    def page(request: Request, name: str | None, *, wait_s: int = 0) -> Response:
        status = 429 if wait_s else 200 if name else 404
        headers = {"Retry-After": str(wait_s)} if wait_s else {}
        return pages.show(request, "link.html", status=status, headers=headers, name=name or "", wait_s=wait_s)

    @routes.api_route(LINK_ROUTE, methods=["GET", "HEAD"])
    @requires_role("stranger")
    def show_link(request: Request, secret: LinkSecret) -> Response:
        try:
            return page(request, users.user_of_link(secret, client_of(request.scope)))
        except LimitReached as limit:
            return page(request, None, wait_s=math.ceil(limit.retry_after_s))

    @routes.post(LINK_ROUTE)
    @requires_role("stranger")
    def use_link(request: Request, secret: LinkSecret) -> Response:
        try:
            cookie = users.cookie_for_link(secret, client_of(request.scope))
        except LimitReached as limit:
            return page(request, None, wait_s=math.ceil(limit.retry_after_s))
        if cookie is None:
            # Somebody who clicked twice is signed in by the first click.
            return redirect("/") if users.is_authenticated(request.scope) else page(request, None)
        request.state.visitor = users.by_cookie(cookie)
        answer = RedirectResponse("/", status_code=303)
        set_sign_in_cookie(answer, request, cookie)
        return answer


def _add_logout(routes: APIRouter) -> None:
    @routes.post("/logout")
    def leave() -> Response:
        answer = RedirectResponse(SIGN_IN_PATH, status_code=303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer


def _safe_next(wanted: str) -> str:
    """Where to go next: only to a page of ours, and not to this one again."""
    place = safe_return_address(wanted)
    return "/" if place.partition("?")[0] == SIGN_IN_PATH else place
