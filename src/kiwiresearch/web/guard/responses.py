"""What is done to every response: security headers, compression, and faults of the program."""

from __future__ import annotations

import gzip

import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kiwiresearch.errors import KiwiError
from kiwiresearch.web.guard.requests import is_book_page
from kiwiresearch.web.problems import WatchedReply, logged_problem

DEFAULT_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
FRAME_HEADERS = {
    "X-Frame-Options": "SAMEORIGIN",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'self'",
}
"""Pages of books, and what is told in their place, are shown in frames of our own pages."""

UNCACHED_PATHS = ("/api/", "/v1/", "/mcp", "/search", "/owui/", "/login")


class SecurityHeaders:
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
                for name, value in (DEFAULT_HEADERS | (FRAME_HEADERS if is_book_page(scope) else {})).items():
                    headers.setdefault(name, value)
                if scope["path"].startswith(UNCACHED_PATHS):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, send_with_headers)


MIN_BYTES = 1000
"""Less than this fits into one packet anyway."""
LEVEL = 5
"""Beyond it pages become hardly smaller and take much longer."""
COMPRESSIBLE = ("text/html", "text/css", "text/javascript", "text/plain", "application/json", "image/svg+xml")


class Compression:
    """Packs answers of text that come in one piece; what comes bit by bit goes out as it comes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not accepts_gzip(Headers(scope=scope).get("accept-encoding", "")):
            await self._app(scope, receive, send)
            return
        held: Message | None = None

        async def send_packed(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start" and _is_text(message):
                held = message  # goes out with the first of its content, which decides
                return
            if held is not None:
                start, held = held, None
                if not message.get("more_body", False) and len(message.get("body", b"")) >= MIN_BYTES:
                    message = await _compressed(start, message)
                await send(start)
            await send(message)

        await self._app(scope, receive, send_packed)


def accepts_gzip(accepted: str) -> bool:
    """Whether a header of what a client takes names gzip, and not as something it refuses."""
    for one in accepted.lower().split(","):
        name, _, weight = one.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _is_text(start: Message) -> bool:
    """Whether an answer is text and whole; a part of a file is told by its place in the file as it is."""
    headers = Headers(raw=start["headers"])
    is_plain = "content-encoding" not in headers and start["status"] != 206
    return is_plain and headers.get("content-type", "").startswith(COMPRESSIBLE)


async def _compressed(start: Message, content: Message) -> Message:
    """The content packed; what tells of it in the head of the answer is changed with it."""
    body = await anyio.to_thread.run_sync(_gzip, content["body"])
    headers = MutableHeaders(raw=start["headers"])
    headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(body))
    headers.add_vary_header("Accept-Encoding")
    # Other bytes for the same content: a strong mark would say that they are the same.
    if (mark := headers.get("etag")) and not mark.startswith("W/"):
        headers["ETag"] = f"W/{mark}"
    start["headers"] = headers.raw
    return {**content, "body": body}


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)


class FaultCheck:
    """Nothing that is raised gets past here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reply = WatchedReply(scope, receive, send)
        try:
            await self._app(scope, receive, reply.send)
        except Exception as error:
            # An error that was foreseen, but only after the answer had begun, comes wrapped by starlette.
            cause = error.__cause__
            await reply.end_with(logged_problem(cause if isinstance(cause, KiwiError) else error, scope["path"]))
