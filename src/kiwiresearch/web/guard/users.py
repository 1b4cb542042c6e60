"""The wall that lets users in as themselves, and counts what each of them asks."""

from __future__ import annotations

import math

from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.errors import KiwiError
from kiwiresearch.web.guard.people import Door
from kiwiresearch.web.guard.rates import Buckets, client_of, too_often
from kiwiresearch.web.guard.replies import refuse
from kiwiresearch.web.guard.token import is_open, key_in, keyed, opens_book, send_away, take_key
from kiwiresearch.web.guard.visitor import VISITOR, Visitor
from kiwiresearch.web.problems import Problem, problem_of

UNKNOWN = Problem(
    401,
    "Token needed",
    "This server answers only to its users.",
    "Send your token as 'Authorization: Bearer TOKEN'; in a browser, open /login.",
    (("WWW-Authenticate", "Bearer"),),
)


class UsersOnly:
    """Lets users in, each counted by name; others see that the server is up, and the page that asks for a token."""

    def __init__(self, app: ASGIApp, *, door: Door, buckets: Buckets) -> None:
        self._app = app
        self._door = door
        self._buckets = buckets

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        key = key_in(scope)
        try:
            known = await run_in_threadpool(self._looked_up, scope, key)
        except KiwiError as problem:
            await refuse(problem_of(problem), scope, receive, send)
            return
        scope.setdefault("state", {})["is_stranger"] = known is None
        if wait_s := self._wait(known, scope):
            await refuse(too_often(math.ceil(wait_s), "a limit of yours below [limits]"), scope, receive, send)
        elif known is None and not is_open(scope):
            await send_away(UNKNOWN, scope, receive, send)
        elif known is not None and "reading_key" not in scope["state"] and opens_book(scope):
            await RedirectResponse(keyed(scope, known.reading_key), status_code=303)(scope, receive, send)
        else:
            await self._let_in(known, scope, receive, send)

    def _looked_up(self, scope: Scope, key: str) -> Visitor | None:
        known = self._door.by_key(key) if key else None
        if key:
            take_key(scope)
        if key and known is None:  # a key of before: who is known otherwise is given one that fits
            del scope["state"]["reading_key"]
        return known or self._door.known(scope)

    def _wait(self, known: Visitor | None, scope: Scope) -> float:
        if known is None:
            return self._buckets.take(client_of(scope))
        # Whoever has a link to a page may use it, and must not use up what its user may ask.
        kind = "link of" if "reading_key" in scope["state"] else "user"
        return self._buckets.take(f"{kind} {known.name}", known.limits.requests_a_minute)

    async def _let_in(self, known: Visitor | None, scope: Scope, receive: Receive, send: Send) -> None:
        if known is None:
            await self._app(scope, receive, send)
            return
        scope["state"]["visitor"] = known
        token = VISITOR.set(known)
        try:
            await self._app(scope, receive, send)
        finally:
            VISITOR.reset(token)
