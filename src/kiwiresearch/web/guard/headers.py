"""Headers that every answer carries, whoever made it."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kiwiresearch.web.guard.audience import is_of_a_book

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
IN_OUR_FRAMES = {
    "X-Frame-Options": "SAMEORIGIN",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'self'",
}
"""Pages of books, and what is told in their place, are shown in frames of our own pages."""

KEPT_BY_NOBODY = ("/api/", "/v1/", "/mcp", "/search", "/owui/", "/login")


class Headers:
    """Adds what keeps browsers careful; a route that has set one of them knows better."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in (ALWAYS | (IN_OUR_FRAMES if is_of_a_book(scope) else {})).items():
                    headers.setdefault(name, value)
                if scope["path"].startswith(KEPT_BY_NOBODY):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, send_with_headers)
