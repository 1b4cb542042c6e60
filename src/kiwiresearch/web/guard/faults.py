"""Faults of the program: logged once, and told to the client without what is inside."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.errors import KiwiError
from kiwiresearch.web.guard.replies import Reply
from kiwiresearch.web.problems import unexpected


class Faults:
    """Nothing that is raised gets past here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reply = Reply(scope, receive, send)
        try:
            await self._app(scope, receive, reply.send)
        except Exception as error:
            # An error that was foreseen, but only after the answer had begun, comes wrapped by starlette.
            cause = error.__cause__
            await reply.cut(unexpected(cause if isinstance(cause, KiwiError) else error, scope["path"]))
