"""Where a browser shows a token once, and keeps a cookie for it until it leaves."""

from __future__ import annotations

from typing import Annotated, Any, Protocol
from urllib.parse import parse_qs, quote

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response
from starlette.types import Scope

from kiwiresearch.web.desk.pages import Pages, go_to, own_place
from kiwiresearch.web.guard.people import Door
from kiwiresearch.web.guard.rates import client_of
from kiwiresearch.web.guard.sites import is_by_hand, is_from_own_page
from kiwiresearch.web.guard.token import COOKIE, LOGIN

Next = Annotated[str, Query(max_length=8_000)]


class Doorkeeper(Protocol):
    """Who knows the right token, or the tokens of all users."""

    def is_shown(self, scope: Scope) -> bool: ...

    def cookie_for(self, text: str, client: str) -> str | None: ...


def router(keeper: Doorkeeper, pages: Pages) -> APIRouter:
    """The form, and what becomes of it."""
    routes = APIRouter(include_in_schema=False)
    has_users = isinstance(keeper, Door)

    def form(request: Request, place: str, *, status: int = 200, onwards: str = "") -> Response:
        told: dict[str, Any] = {"next": place, "is_wrong": status != 200, "onwards": onwards, "has_users": has_users}
        return pages.show(request, "login.html", status=status, **told)

    @routes.api_route(LOGIN, methods=["GET", "HEAD"])
    def ask(request: Request, next: Next = "", *, again: bool = False) -> Response:  # noqa: A002 (what addresses say)
        place = _place(next)
        if keeper.is_shown(request.scope):
            return go_to(place)
        # Who follows a link of another site, or of a book, comes without the cookie: asked by our own page, the
        # browser sends it.
        is_led = not again and not is_from_own_page(request.headers) and not is_by_hand(request.headers)
        onwards = f"{LOGIN}?again=true&next={quote(place, safe='')}" if is_led else ""
        return form(request, place, onwards=onwards)

    @routes.post(LOGIN)
    async def enter(request: Request) -> Response:
        sent = parse_qs((await request.body()).decode("utf-8", "replace"))
        place = _place(sent.get("next", [""])[-1])
        shown = sent.get("token", [""])[-1].strip()
        cookie = await run_in_threadpool(keeper.cookie_for, shown, client_of(request.scope))
        if cookie is None:
            return form(request, place, status=401)
        if isinstance(keeper, Door):
            request.state.visitor = await run_in_threadpool(keeper.by_cookie, cookie)
        answer = RedirectResponse(place, status_code=303)
        is_https = request.url.scheme == "https"
        answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=is_https)
        return answer

    if isinstance(keeper, Door):
        _add_leaving(routes)
    return routes


def _add_leaving(routes: APIRouter) -> None:
    @routes.post("/logout")
    def leave() -> Response:
        answer = RedirectResponse(LOGIN, status_code=303)
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer


def _place(wanted: str) -> str:
    """Where to go next: only to a page of ours, and not to this one again."""
    place = own_place(wanted)
    return "/" if place.partition("?")[0] == LOGIN else place
