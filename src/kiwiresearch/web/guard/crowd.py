"""How many requests are worked on at once."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.web.guard.replies import refuse
from kiwiresearch.web.guard.token import HEALTH
from kiwiresearch.web.problems import Problem

BUSY = Problem(
    503,
    "Busy",
    "All hands are busy.",
    "Ask again in a moment; 'at_once' below [serve] in the settings allows more.",
    (("Retry-After", "2"),),
)


class Crowd:
    """Asks those who come when all places are taken to come again."""

    def __init__(self, app: ASGIApp, *, at_once: int) -> None:
        self._app = app
        self._free = at_once

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == HEALTH:  # who asks whether we are alive must hear it
            await self._app(scope, receive, send)
            return
        if self._free < 1:
            await refuse(BUSY, scope, receive, send)
            return
        self._free -= 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._free += 1
