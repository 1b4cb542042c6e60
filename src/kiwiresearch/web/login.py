"""Where a browser shows the token once, and keeps a cookie for it."""

from __future__ import annotations

from html import escape
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from kiwiresearch.web.guard.token import COOKIE, LOGIN, Token
from kiwiresearch.web.pages import page


def router(token: Token) -> APIRouter:
    """The form, and what becomes of it."""
    routes = APIRouter()

    @routes.api_route(LOGIN, methods=["GET", "HEAD"], include_in_schema=False)
    def ask(request: Request) -> Response:
        return _form(request.query_params.get("next", ""))

    @routes.post(LOGIN, include_in_schema=False)
    async def enter(request: Request) -> Response:
        sent = parse_qs((await request.body()).decode("utf-8", "replace"))
        wanted = sent.get("next", [""])[-1]
        if not token.is_right(sent.get("token", [""])[-1].strip()):
            return _form(wanted, "<p>That is not the token.</p>", status=401)
        answer = RedirectResponse(_place(wanted), status_code=303)
        is_https = request.url.scheme == "https"
        answer.set_cookie(COOKIE, token.cookie, httponly=True, samesite="strict", secure=is_https)
        return answer

    return routes


def _place(wanted: str) -> str:
    """Where to go next: only to a page of ours."""
    return wanted if wanted.startswith("/read/") else "/"


def _form(wanted: str, note: str = "", *, status: int = 200) -> Response:
    return page(
        "Token needed",
        f"{note}<p>This server answers only to those who have its token.</p>"
        f'<form method="post" action="{LOGIN}"><input type="hidden" name="next" value="{escape(_place(wanted))}">'
        '<label>Token <input type="password" name="token" required autofocus autocomplete="current-password"></label> '
        "<button>Enter</button></form>",
        status=status,
    )
