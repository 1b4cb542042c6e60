"""An app that another one replaces while the server runs, when settings change that it only reads when it is made."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.web.guard.requests import HttpLayer


@dataclass(slots=True)
class Successor:
    """The app that new requests go to; None until the first one is replaced."""

    app: ASGIApp | None = None


class Handover(HttpLayer):
    """Passes new requests on to the successor, if there is one; the first app ends those it has begun."""

    def __init__(self, app: ASGIApp, *, successor: Successor) -> None:
        super().__init__(app)
        self._successor = successor

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._successor.app or self._app)(scope, receive, send)
