"""Whether the visitor may use the route that was found: asked before every route of an app that has users."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.web.guard.recording import Logbook, count_question
from kiwiresearch.web.guard.roles import Rule, rule_for
from kiwiresearch.web.guard.told import ASK, action_of, rule_of
from kiwiresearch.web.guard.users import UNKNOWN
from kiwiresearch.web.guard.visitor import need
from kiwiresearch.web.problems import Refused

Admit = Callable[[Request], None]


def admitting(logbook: Logbook) -> Admit:
    """Refuses who may not use a route, by the table of roles, and questions beyond the limit of a day."""

    def admit(request: Request) -> None:
        rule = rule_of(request.scope)
        _check(rule, is_stranger=getattr(request.state, "is_stranger", True))
        if action_of(request.scope, b"") == ASK:
            count_question(logbook, request.scope)

    return admit


def _check(rule: Rule, *, is_stranger: bool) -> None:
    if rule.role == "stranger":
        return
    if is_stranger:
        raise Refused(401, UNKNOWN.detail, UNKNOWN.remedy, dict(UNKNOWN.headers))
    need(rule.role)


class Admitted:
    """The same for an app of others, which has routes of its own behind one address."""

    def __init__(self, app: ASGIApp, *, path: str) -> None:
        self._app = app
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            _check(rule_for(scope["method"], self._path), is_stranger=scope["state"].get("is_stranger", True))
        await self._app(scope, receive, send)
