"""The site a request comes from: other sites may link to pages here, and nothing else."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.web.guard.replies import refuse
from kiwiresearch.web.problems import Problem

SAFE = frozenset({"GET", "HEAD"})
OURS = frozenset({"same-origin", "none"})
"""What a browser says of requests that come from our own pages, or from the user's own hand."""

PORTS = {"http": ":80", "https": ":443"}

CROSS_SITE = Problem(
    403,
    "Cross-site request",
    "A page of another site may not use this server.",
    "Ask from a program, or from a page that this server itself has served.",
)


def is_page(scope: Scope) -> bool:
    """Whether this asks for a page to be read, which a link from anywhere may do."""
    path: str = scope["path"]
    return scope["method"] in SAFE and (path in ("/", "/login") or path.startswith("/read/"))


def is_for_people(scope: Scope) -> bool:
    """Whether this is a page for people, which the cookie opens: those above, and the one to ask on."""
    return is_page(scope) or (scope["method"] in SAFE and scope["path"] == "/ask")


def is_same(origin: str, host: str) -> bool:
    """Whether an Origin is the server that the Host header names."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    port = PORTS.get(parts.scheme)
    if port is None or parts.path or parts.query or parts.fragment or "@" in parts.netloc:
        return False
    return parts.netloc.lower().removesuffix(port) == host.lower().removesuffix(port)


class Origins:
    """Refuses what a browser sends for another site; programs send no Origin and are let in."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_page(scope) or self._is_ours(Headers(scope=scope)):
            await self._app(scope, receive, send)
        else:
            await refuse(CROSS_SITE, scope, receive, send)

    def _is_ours(self, headers: Headers) -> bool:
        same = all(is_same(origin, headers.get("host", "")) for origin in headers.getlist("origin"))
        return same and OURS.issuperset(headers.getlist("sec-fetch-site"))
