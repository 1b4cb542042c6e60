"""The address a request was sent to: links in its answer lead back there."""

from __future__ import annotations

from contextvars import ContextVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

ADDRESS: ContextVar[str] = ContextVar("address", default="")


class Addressed:
    """Notes scheme and host of a request, whose Host header was checked before, for the time it is worked on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            host = Headers(scope=scope).get("host", "")
            ADDRESS.set(f"{scope['scheme']}://{host}" if host else "")
        await self._app(scope, receive, send)
