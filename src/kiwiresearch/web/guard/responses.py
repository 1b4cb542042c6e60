"""Applied to every response: security headers, compression, and a reply to unexpected errors."""

from __future__ import annotations

import gzip

import anyio.to_thread
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from kiwiresearch.errors import KiwiError
from kiwiresearch.web.guard.requests import MCP_PATH, HttpLayer, is_book_page
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
"""Pages of books, and errors in their place, are shown in frames of our own pages."""

UNCACHED_PATHS = ("/api/", "/v1/", MCP_PATH, "/search", "/owui/", "/login")


class SecurityHeaders(HttpLayer):
    """Adds security headers, unless a route has set them itself."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:

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
"""A smaller body fits into one packet anyway."""
GZIP_LEVEL = 5
"""Higher levels take much longer and hardly make pages smaller."""
COMPRESSIBLE = ("text/html", "text/css", "text/javascript", "text/plain", "application/json", "image/svg+xml")


class Compression(HttpLayer):
    """Compresses texts that are sent in one piece; streams are passed on as they arrive."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not accepts_gzip(Headers(scope=scope).get("accept-encoding", "")):
            await self._app(scope, receive, send)
            return
        held: Message | None = None

        async def send_compressed(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start" and _is_text(message):
                held = message  # the first part of the body decides, and both are sent together
                return
            if held is not None:
                start, held = held, None
                if not message.get("more_body", False) and len(message.get("body", b"")) >= MIN_BYTES:
                    message = await _compressed(start, message)
                await send(start)
            await send(message)

        await self._app(scope, receive, send_compressed)


def accepts_gzip(accepted: str) -> bool:
    """Whether an Accept-Encoding header allows gzip."""
    for item in accepted.lower().split(","):
        name, _, weight = item.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _is_text(start: Message) -> bool:
    """Whether a response is uncompressed text, and not a byte range, whose offsets count uncompressed bytes."""
    headers = Headers(raw=start["headers"])
    is_plain = "content-encoding" not in headers and start["status"] != 206
    return is_plain and headers.get("content-type", "").startswith(COMPRESSIBLE)


async def _compressed(start: Message, content: Message) -> Message:
    """The compressed body; the headers in `start` are changed to match."""
    # mtime=0: the same body always gives the same bytes
    body = await anyio.to_thread.run_sync(lambda: gzip.compress(content["body"], GZIP_LEVEL, mtime=0))
    headers = MutableHeaders(raw=start["headers"])
    headers["Content-Encoding"] = "gzip"
    headers["Content-Length"] = str(len(body))
    headers.add_vary_header("Accept-Encoding")
    # A strong ETag would promise the same bytes as without compression.
    if (etag := headers.get("etag")) and not etag.startswith("W/"):
        headers["ETag"] = f"W/{etag}"
    start["headers"] = headers.raw
    return {**content, "body": body}


class FaultCheck(HttpLayer):
    """Turns every unexpected error into a reply."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = WatchedReply(scope, receive, send)
        try:
            await self._app(scope, receive, reply.send)
        except Exception as error:
            # Starlette wraps an error that has a handler if it is raised after the reply has started.
            cause = error.__cause__
            await reply.end_with(logged_problem(cause if isinstance(cause, KiwiError) else error, scope["path"]))
