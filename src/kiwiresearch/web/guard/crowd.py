"""How many requests are worked on at once."""

from __future__ import annotations

from collections import Counter

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

ANYBODY = ""
STRANGERS = "strangers"


class Crowd:
    """Asks those who come when all places are taken to come again.

    Strangers together have no more than a quarter of the places, and no user more than three quarters:
    whoever keeps requests open keeps nobody else out.
    """

    def __init__(self, app: ASGIApp, *, at_once: int) -> None:
        self._app = app
        self._free = at_once
        quarter = at_once // 4
        self._for_strangers, self._for_one = max(quarter, 1), at_once - quarter
        self._inside: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == HEALTH:  # who asks whether we are alive must hear it
            await self._app(scope, receive, send)
            return
        who = _party(scope)
        if self._free < 1 or not self._has_place(who):
            await refuse(BUSY, scope, receive, send)
            return
        self._free -= 1
        self._inside[who] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._free += 1
            self._inside[who] -= 1
            if not self._inside[who]:
                del self._inside[who]

    def _has_place(self, who: str) -> bool:
        return who == ANYBODY or self._inside[who] < (self._for_strangers if who == STRANGERS else self._for_one)


def _party(scope: Scope) -> str:
    """With whom a request is counted; where everybody may come in, or one token is for all, nobody is told apart."""
    state = scope.get("state", {})
    if state.get("is_stranger", False):
        return STRANGERS
    known = state.get("visitor")
    return f"user {known.name}" if known is not None else ANYBODY
