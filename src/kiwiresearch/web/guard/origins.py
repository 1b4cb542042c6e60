"""The site a request comes from: other sites may link to pages here, and nothing else."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.web.guard.audience import SAFE, is_for_people, is_of_a_book
from kiwiresearch.web.guard.replies import refuse
from kiwiresearch.web.guard.sites import is_from_elsewhere, is_from_own_page, is_link
from kiwiresearch.web.problems import Problem

CROSS_SITE = Problem(
    403,
    "Cross-site request",
    "A page of another site may not use this server.",
    "Ask from a program, or from a page that this server itself has served.",
)
NOT_FROM_A_PAGE = Problem(
    403,
    "Not from a page of ours",
    "A form is taken only from a page of this server, and nothing says that this one is.",
    "Open the page again and send its form; programs send JSON to /api.",
)


class Origins:
    """Refuses what a browser sends for another site; programs, which tell of no site, are let into their addresses."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        problem = _refusal(scope) if scope["type"] == "http" else None
        if problem is None:
            await self._app(scope, receive, send)
        else:
            await refuse(problem, scope, receive, send)


def _refusal(scope: Scope) -> Problem | None:
    headers = Headers(scope=scope)
    if scope["method"] in SAFE and is_of_a_book(scope):
        return None  # a page of a book has no origin: to a browser its own pictures and links come from elsewhere
    if is_from_elsewhere(headers):
        is_linked = scope["method"] in SAFE and is_for_people(scope) and is_link(headers)
        return None if is_linked else CROSS_SITE
    if scope["method"] in SAFE or not is_for_people(scope) or is_from_own_page(headers):
        return None
    return NOT_FROM_A_PAGE
